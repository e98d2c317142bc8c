//! Reads bags in SQLite files (`.db3`), rosbag2's own format until Iron: tables `topics` and `messages`, and from Iron
//! on `message_definitions`.
//!
//! It reads schemas 1 to 4 of rosbag2_storage_sqlite3 by the columns that they share.

use super::contents::{Bag, OnMessage, OnProgress};
use crate::mcap::{begins_with_header, stamp, Schema};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::collections::HashMap;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tacho_events::bag::{BagMessage, BagTopic};

/// Messages between two progress reports.
const PROGRESS_EVERY: u64 = 1 << 12;
/// Steps of SQLite's machine between two checks for a stop: a fraction of a millisecond.
const STEPS: i32 = 1 << 12;
/// First bytes of a message that was compressed individually (RFC 8878, 3.1.1); CDR begins with a 0.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The files of one bag, one after the other.
pub(super) struct Reading<'a> {
    pub bag: Bag,
    on_message: &'a mut OnMessage<'a>,
    /// The topic whose messages are read with their data.
    data_of: Option<String>,
    numbers: HashMap<(String, String), u32>,
    stretch: u32,
    stop: &'static AtomicBool,
}

/// A topic of one file.
struct Topic {
    number: u32,
    encoding: String,
    has_header: bool,
}

impl<'a> Reading<'a> {
    /// Stops as soon as `stop` is set, even within a query.
    pub fn new(on_message: &'a mut OnMessage<'a>, data_of: Option<String>, stop: &'static AtomicBool) -> Self {
        Reading { bag: Bag::default(), on_message, data_of, numbers: HashMap::new(), stretch: 0, stop }
    }

    /// Reads one file.
    pub fn file(&mut self, path: &Path, length: u64, on_progress: &mut OnProgress<'_>) {
        let log = beside(path, "-wal").or_else(|| beside(path, "-journal"));
        if let Some((log, bytes)) = &log {
            let text = || {
                format!(
                    "{bytes} bytes of changes lie beside it in {}: it was still being written, or its writer was \
                     killed",
                    log.display()
                )
            };
            self.bag.problems.add("not-finished", path, 0, text);
        }
        let read = open(path, log.is_some(), self.stop).and_then(|database| match not_a_table(&database)? {
            Some(found) => {
                self.say("unreadable", path, 0, found);
                Ok(())
            }
            None => self.messages(path, &database, length, on_progress),
        });
        match read {
            Ok(()) => {}
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                self.bag.complete = false
            }
            Err(error) => self.say("unreadable", path, 0, format!("{error}; read up to there")),
        }
    }

    fn messages(
        &mut self,
        path: &Path,
        database: &Connection,
        length: u64,
        on_progress: &mut OnProgress<'_>,
    ) -> rusqlite::Result<()> {
        let topics = self.topics(database)?;
        let last: Option<i64> = database.query_row("SELECT max(id) FROM messages", [], |row| row.get(0))?;
        let last = last.and_then(|last| u64::try_from(last).ok()).unwrap_or(1).max(1);
        let mut statement = database.prepare("SELECT id, topic_id, timestamp, data FROM messages ORDER BY id")?;
        let (mut rows, mut count) = (statement.query([])?, 0u64);
        while let Some(row) = rows.next()? {
            let (id, topic, log_ns): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let data = row.get_ref(3)?.as_blob().map_err(|_| "a message without data".to_string());
            let topic = topics
                .get(&topic)
                .ok_or_else(|| format!("a message of topic {topic}, which the table of topics has not"));
            match topic.and_then(|topic| Ok((topic, Content::of(data?, self.is_asked_for(topic))?))) {
                Ok((topic, content)) => {
                    self.bag.count(log_ns);
                    let message = BagMessage {
                        topic: topic.number,
                        log_ns,
                        publish_ns: None,
                        stamp_ns: stamp::of(&topic.encoding, content.start()).filter(|_| topic.has_header),
                        size_bytes: content.bytes,
                        sequence: None,
                        stretch: self.stretch,
                    };
                    (self.on_message)(message, &content.data);
                }
                Err(text) => self.say("bad-record", path, id.unsigned_abs(), format!("{text}; it is left out")),
            }
            count += 1;
            if count % PROGRESS_EVERY == 0 {
                self.bag.complete =
                    on_progress((length as f64 * (count as f64 / last as f64).min(1.0)) as u64, self.bag.messages);
                if !self.bag.complete {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether the data of messages of this topic are asked for.
    fn is_asked_for(&self, topic: &Topic) -> bool {
        let name = &self.bag.topics[topic.number as usize].name;
        self.data_of.as_ref() == Some(name)
    }

    /// Reads the topics of a file, by the file's number of each.
    fn topics(&mut self, database: &Connection) -> rusqlite::Result<HashMap<i64, Topic>> {
        let definitions = definitions(database)?;
        let mut statement = database.prepare("SELECT id, name, type, serialization_format FROM topics ORDER BY id")?;
        let mut rows = statement.query([])?;
        let mut topics = HashMap::new();
        while let Some(row) = rows.next()? {
            let (id, name, datatype, encoding): (i64, String, String, String) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            let has_header = definitions.get(&datatype).and_then(begins_with_header).or_else(|| standard(&datatype));
            let has_header = has_header.filter(|_| encoding == "cdr");
            let known = &mut self.bag.topics;
            let number = *self.numbers.entry((name.clone(), datatype.clone())).or_insert_with(|| {
                known.push(BagTopic { name, datatype, has_header });
                known.len() as u32 - 1
            });
            topics.insert(id, Topic { number, encoding, has_header: has_header == Some(true) });
        }
        Ok(topics)
    }

    /// Notes damage at the message with id `offset`; messages after it belong to another stretch.
    fn say(&mut self, name: &'static str, path: &Path, offset: u64, text: String) {
        self.stretch += 1;
        self.bag.problems.add(name, path, offset, || text);
    }
}

/// Describes anything that replaces a table: a view or a virtual table is a program of the file's author, and may never
/// end.
fn not_a_table(database: &Connection) -> rusqlite::Result<Option<String>> {
    let mut statement = database.prepare(
        "SELECT name, type, rootpage FROM sqlite_schema WHERE lower(name) IN ('topics', 'messages', \
         'message_definitions')",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (name, kind, page): (String, String, Option<i64>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let kind = if kind == "table" && page.unwrap_or(0) == 0 { "virtual table".to_owned() } else { kind };
        if kind != "table" {
            return Ok(Some(format!("{name} is a {kind}; expected a table, as rosbag2 writes; nothing of it is read")));
        }
    }
    Ok(None)
}

/// Reads definitions of types, if a file has them.
fn definitions(database: &Connection) -> rusqlite::Result<HashMap<String, Schema>> {
    let there = database.table_exists(None, "message_definitions")?;
    if !there {
        return Ok(HashMap::new());
    }
    let mut statement =
        database.prepare("SELECT topic_type, encoding, encoded_message_definition FROM message_definitions")?;
    let rows = statement.query_map([], |row| {
        let name: String = row.get(0)?;
        Ok((name.clone(), Schema { id: 0, name, encoding: row.get(1)?, text: row.get(2)? }))
    })?;
    rows.collect()
}

/// Whether a type of common_interfaces begins with a header, for files without definitions (Humble and before); `None`
/// for unknown types.
fn standard(datatype: &str) -> Option<bool> {
    const SENSOR_MSGS: [&str; 20] = [
        "BatteryState",
        "CameraInfo",
        "CompressedImage",
        "FluidPressure",
        "Illuminance",
        "Image",
        "Imu",
        "JointState",
        "Joy",
        "LaserScan",
        "MagneticField",
        "MultiDOFJointState",
        "MultiEchoLaserScan",
        "NavSatFix",
        "PointCloud",
        "PointCloud2",
        "Range",
        "RelativeHumidity",
        "Temperature",
        "TimeReference",
    ];
    let (package, name) = datatype.split_once("/msg/")?;
    match package {
        "sensor_msgs" => SENSOR_MSGS.contains(&name).then_some(true),
        "nav_msgs" => ["Odometry", "OccupancyGrid", "Path", "GridCells"].contains(&name).then_some(true),
        "geometry_msgs" => Some(name.ends_with("Stamped")),
        "std_msgs" => Some(false),
        _ => None,
    }
}

/// Length and first bytes of a serialised message.
struct Content {
    bytes: u64,
    start: [u8; stamp::BYTES],
    known: usize,
    /// All of it; empty unless it was asked for.
    data: Vec<u8>,
}

impl Content {
    fn of(data: &[u8], is_asked_for: bool) -> Result<Content, String> {
        if !data.starts_with(&ZSTD_MAGIC) {
            return Content::read(data, is_asked_for).map_err(|error| error.to_string());
        }
        let bytes = ruzstd::decoding::StreamingDecoder::new(data).map_err(|error| format!("zstd: {error}"))?;
        Content::read(bytes, is_asked_for).map_err(|error| format!("zstd: {error}"))
    }

    fn read(mut from: impl Read, is_asked_for: bool) -> io::Result<Content> {
        let mut start = [0; stamp::BYTES];
        let known = crate::mcap::read_up_to(&mut from, &mut start)?;
        let mut data = Vec::new();
        let rest = if is_asked_for {
            data.extend_from_slice(&start[..known]);
            from.read_to_end(&mut data)? as u64
        } else {
            io::copy(&mut from, &mut io::sink())?
        };
        Ok(Content { bytes: known as u64 + rest, start, known, data })
    }

    fn start(&self) -> &[u8] {
        &self.start[..self.known]
    }
}

/// A file that SQLite keeps beside a database, unless it is empty.
fn beside(path: &Path, ending: &str) -> Option<(PathBuf, u64)> {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    let bytes = std::fs::metadata(&name).ok()?.len();
    (bytes > 0).then(|| (name.into(), bytes))
}

/// Opens an untrusted database for reading (sqlite.org/security.html, "Untrusted SQLite Database Files"). If no process
/// writes it, opens it as immutable, so that SQLite creates no file beside it.
fn open(path: &Path, changes: bool, stop: &'static AtomicBool) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
    let name: String = path
        .as_os_str()
        .as_bytes()
        .iter()
        .map(|byte| if plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02x}") })
        .collect();
    let database =
        Connection::open_with_flags(format!("file:{name}?{}", if changes { "mode=ro" } else { "immutable=1" }), flags)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    let limits = [
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
        (Limit::SQLITE_LIMIT_COLUMN, 100),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 20),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 3),
        (Limit::SQLITE_LIMIT_VDBE_OP, 25_000),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 8),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ];
    for (limit, most) in limits {
        database.set_limit(limit, most)?;
    }
    database.progress_handler(STEPS, Some(|| stop.load(Ordering::Relaxed)))?;
    Ok(database)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA_3: &str = "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, \
                            serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL); CREATE TABLE \
                            messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, \
                            data BLOB NOT NULL);";

    fn imu(seconds: u8) -> Vec<u8> {
        [vec![0, 1, 0, 0, seconds, 0, 0, 0, 5, 0, 0, 0], vec![7; 300]].concat()
    }

    static GO_ON: AtomicBool = AtomicBool::new(false);
    static STOP: AtomicBool = AtomicBool::new(true);

    fn read(path: &Path) -> (Bag, Vec<BagMessage>) {
        read_until(path, &GO_ON)
    }

    fn read_until(path: &Path, stop: &'static AtomicBool) -> (Bag, Vec<BagMessage>) {
        let mut messages = Vec::new();
        let mut keep = |message, _: &[u8]| messages.push(message);
        let mut reading = Reading::new(&mut keep, None, stop);
        reading.file(path, std::fs::metadata(path).expect("file").len(), &mut |_, _| true);
        let bag = reading.bag;
        (bag, messages)
    }

    #[test]
    fn messages_of_a_file_without_definitions_have_the_stamps_of_standard_types() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a bag?_0.db3");
        let database = Connection::open(&path).expect("database");
        database.execute_batch(SCHEMA_3).expect("tables");
        database
            .execute_batch(
                "INSERT INTO topics \
                 VALUES(4,'/imu','sensor_msgs/msg/Imu','cdr',''),(5,'/own','my_msgs/msg/Own','cdr','')",
            )
            .expect("topics");
        for (topic, ns) in [(4, 10), (5, 20), (4, 30), (9, 40)] {
            database
                .execute("INSERT INTO messages(topic_id, timestamp, data) VALUES(?1, ?2, ?3)", (topic, ns, imu(2)))
                .expect("message");
        }
        drop(database);
        let (bag, messages) = read(&path);
        let found: Vec<_> = messages.iter().map(|m| (m.topic, m.log_ns, m.stamp_ns, m.size_bytes)).collect();
        assert_eq!(found, [(0, 10, Some(2_000_000_005), 312), (1, 20, None, 312), (0, 30, Some(2_000_000_005), 312)]);
        assert_eq!(bag.topics.iter().map(|t| t.has_header).collect::<Vec<_>>(), [Some(true), None]);
        assert_eq!((bag.problems.count("bad-record"), bag.span_ns), (1, Some((10, 30))));
    }

    #[test]
    fn a_query_is_stopped_and_what_was_read_until_then_is_kept() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("x.db3");
        let database = Connection::open(&path).expect("database");
        let rows = "INSERT INTO topics VALUES(1,'/own','my_msgs/msg/Own','cdr',''); INSERT INTO messages WITH \
                    RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 4000) SELECT i, 1, i, \
                    x'00010000' FROM n;";
        database.execute_batch(&format!("{SCHEMA_3} {rows}")).expect("rows");
        drop(database);
        let (bag, messages) = read(&path);
        assert_eq!((bag.complete, messages.len()), (true, 4000));
        let (bag, messages) = read_until(&path, &STOP);
        assert!(!bag.complete && bag.problems.is_empty() && messages.len() < 4000, "{:?}", bag.problems);
    }

    #[test]
    fn a_view_or_a_virtual_table_is_refused_and_never_asked() {
        let folder = tempfile::tempdir().expect("folder");
        let endless = "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n)";
        let topics = "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT);";
        for (name, made, found) in [
            (
                "view",
                format!(
                    "{topics} CREATE VIEW messages AS {endless} SELECT i AS id, 1 AS topic_id, i AS timestamp, x'00' \
                     AS data FROM n"
                ),
                "messages is a view",
            ),
            (
                "topics",
                format!(
                    "CREATE VIEW Topics AS {endless} SELECT i AS id, 'a' AS name, 'b' AS type, 'cdr' AS \
                     serialization_format FROM n"
                ),
                "Topics is a view",
            ),
            (
                "virtual",
                format!("{topics} CREATE VIRTUAL TABLE messages USING fts5(topic_id, timestamp, data)"),
                "messages is a virtual table",
            ),
        ] {
            let path = folder.path().join(format!("{name}.db3"));
            Connection::open(&path).and_then(|database| database.execute_batch(&made)).expect("database");
            let (bag, messages) = read(&path);
            let said: Vec<String> = bag.problems.iter().map(ToString::to_string).collect();
            assert!(
                messages.is_empty()
                    && said.len() == 1
                    && said[0].contains(found)
                    && said[0].contains("expected a table"),
                "{said:?}"
            );
        }
    }

    #[test]
    fn what_is_no_bag_is_a_problem_and_a_file_that_was_cut_is_read_up_to_there() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("x.db3");
        Connection::open(&path)
            .and_then(|database| database.execute_batch("CREATE TABLE other(a);"))
            .expect("database");
        let (bag, messages) = read(&path);
        assert!(
            messages.is_empty() && bag.problems.iter().any(|p| p.to_string().contains("no such table")),
            "{:?}",
            bag.problems
        );
        std::fs::write(
            &path,
            b"no database at all, but long enough to have a header of its own, or so it may seem to some",
        )
        .expect("file");
        assert_eq!(read(&path).0.problems.count("unreadable"), 1);

        let path = folder.path().join("long.db3");
        let database = Connection::open(&path).expect("database");
        database
            .execute_batch(&format!("{SCHEMA_3} INSERT INTO topics VALUES(1,'/imu','sensor_msgs/msg/Imu','cdr','')"))
            .expect("topics");
        for ns in 0..500 {
            database
                .execute("INSERT INTO messages(topic_id, timestamp, data) VALUES(1, ?1, ?2)", (ns, imu(1)))
                .expect("message");
        }
        drop(database);
        let length = std::fs::metadata(&path).expect("file").len();
        std::fs::File::options().write(true).open(&path).and_then(|file| file.set_len(length / 2)).expect("cut");
        let (bag, messages) = read(&path);
        assert_eq!(bag.problems.count("unreadable"), 1);
        assert!(messages.len() < 500 && messages.iter().zip(0..).all(|(message, ns)| message.log_ns == ns));
    }
}
