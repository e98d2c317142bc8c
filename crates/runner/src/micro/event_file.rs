//! Writes the events that a board sends on its topic of events as its event file.
//!
//! A message holds a head of 24 bytes and records of 34 (docs/micro.md). A take names its writer by GUID and RTPS
//! sequence number; the board reports once which publisher of the run that is (`NODE_NAMED`). Times are those of the
//! board's clock. Each message bounds that clock from one side, and each received beacon from the other.

use super::plan::{Row, CLOCK_ROW, OWN_ROWS};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use tacho_events::layout::{FileHeader, Sync, TickSource};
use tacho_events::number as written;
use tacho_events::writer::EventFile;
use tacho_recording::machine::file_header;

const RECORD: usize = 34;
/// Kinds in `enum micro_event_kind` and `enum node_event`.
mod kind {
    pub const PUBLISH: u8 = 1;
    pub const TAKE: u8 = 2;
    pub const MATCHED: u8 = 3;
    pub const INIT: u8 = 4;
    pub const NAMED: u8 = 128;
    pub const TAKEN: u8 = 129;
    pub const TIMER: u8 = 130;
    pub const TIMER_END: u8 = 131;
    pub const SENDS: u8 = 132;
    pub const SKIPS: u8 = 133;
    pub const READY: u8 = 134;
}
/// A board has one thread.
const THREAD: u32 = 1;

// Handles of the board's only node, by row or timer.
const NODE: u64 = 0x1000;
fn endpoint(row: usize) -> u64 {
    0x2000 + row as u64
}
fn object(row: usize) -> u64 {
    0x3000 + row as u64
}
fn callback(row: usize) -> u64 {
    0x4000 + row as u64
}
fn timer(index: usize) -> u64 {
    0x5000 + index as u64
}
fn timer_callback(index: usize) -> u64 {
    0x6000 + index as u64
}

/// Identity of a board's node, for the file.
#[derive(Debug, Clone)]
pub struct Who {
    pub node: String,
    pub rows: Vec<Row>,
    pub timers: Vec<f64>,
    /// Description of the board.
    pub machine: String,
    pub image: String,
}

/// A parsed message of events.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// Its sequence number, from 0.
    pub sequence: u64,
    /// When the board sent it, ns of its clock.
    pub board_ns: i64,
    /// Events dropped so far because its ring was full.
    pub dropped: u32,
    /// When tacho received it.
    pub arrival_ns: i64,
    /// Records.
    pub data: &'a [u8],
}

/// Times of the board's own activities, ns of its clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marks {
    pub init_ns: Option<u64>,
    pub matched_ns: Option<u64>,
    pub first_message_ns: Option<u64>,
}

/// The event file of a board.
pub struct BoardEvents {
    who: Who,
    /// The path of the file; `None` if nothing is recorded.
    path: Option<PathBuf>,
    writer: Option<EventFile>,
    /// Publisher of each writer, and by how much RTPS counts higher.
    named: HashMap<[u8; 16], (u32, u32)>,
    taking: Option<(u64, usize, [u8; 16], u64)>,
    next_message: u64,
    dropped: u64,
    pub marks: Marks,
}

impl BoardEvents {
    /// Writes nothing before the first message.
    pub fn new(who: Who, path: Option<PathBuf>) -> BoardEvents {
        BoardEvents {
            who,
            path,
            writer: None,
            named: HashMap::new(),
            taking: None,
            next_message: 0,
            dropped: 0,
            marks: Marks::default(),
        }
    }

    /// Adds a message. `beacons` holds the time at which each beacon was sent, in order.
    pub fn take_in(&mut self, message: &Message<'_>, beacons: &[i64]) -> io::Result<()> {
        if self.writer.is_none() {
            self.begin(message)?;
        }
        // The topic is reliable, and the board sends only after an acknowledgement. A gap should therefore not occur;
        // if one does, its number of events is unknown.
        let gap = message.sequence.saturating_sub(self.next_message);
        self.next_message = message.sequence.saturating_add(1);
        self.dropped = self.dropped.max(u64::from(message.dropped)).saturating_add(gap);
        for record in message.data.chunks_exact(RECORD) {
            self.record(record, beacons)?;
        }
        self.write(
            message.board_ns as u64,
            written::board_to_host,
            &[message.board_ns as u64, message.arrival_ns as u64],
        )?;
        self.writer.as_mut().map_or(Ok(()), EventFile::flush)
    }

    /// Completes the file; returns the number of missing events.
    pub fn finish(mut self) -> io::Result<u64> {
        self.end_taking()?;
        if let Some(mut writer) = self.writer.take() {
            writer.header.dropped = self.dropped;
            writer.finish()?;
        }
        Ok(self.dropped)
    }

    fn begin(&mut self, message: &Message<'_>) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let of_host = file_header();
        let start = Sync {
            ticks: message.board_ns as u64,
            monotonic_ns: message.arrival_ns,
            realtime_ns: message.arrival_ns + of_host.start.realtime_ns - of_host.start.monotonic_ns,
            bound_ns: 0,
        };
        let header = FileHeader {
            ticks: TickSource::Board,
            pid: std::process::id(),
            ppid: std::os::unix::process::parent_id(),
            start,
            host: self.who.node.clone(),
            executable: self.who.image.clone(),
            command: self.who.machine.clone(),
            ..of_host
        };
        self.writer = Some(EventFile::create(path, header)?);
        let at = message.data.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        self.introduce(at)
    }

    /// Writes the node and its entities.
    fn introduce(&mut self, at: u64) -> io::Result<()> {
        let Who { node, rows, timers, .. } = self.who.clone();
        self.write_named(at, written::rcl_node_init, &[NODE, 0], &[&node, "/"])?;
        for (index, row) in rows.iter().enumerate() {
            let words = [endpoint(index), NODE, endpoint(index), u64::from(row.depth)];
            if !row.reads {
                self.write_named(at, written::rcl_publisher_init, &words, &[&row.topic])?;
                continue;
            }
            self.write_named(at, written::rcl_subscription_init, &words, &[&row.topic])?;
            self.write(at, written::rclcpp_subscription_init, &[endpoint(index), object(index)])?;
            self.write(at, written::rclcpp_subscription_callback_added, &[object(index), callback(index)])?;
            self.write_named(
                at,
                written::rclcpp_callback_register,
                &[callback(index)],
                &[&format!("/{node} on {}", row.topic)],
            )?;
        }
        for (index, hz) in timers.iter().enumerate() {
            self.write(at, written::rcl_timer_init, &[timer(index), (1e9 / hz).round() as u64])?;
            self.write(at, written::rclcpp_timer_callback_added, &[timer(index), timer_callback(index)])?;
            self.write_named(
                at,
                written::rclcpp_callback_register,
                &[timer_callback(index)],
                &[&format!("/{node} timer")],
            )?;
            self.write(at, written::rclcpp_timer_link_node, &[timer(index), NODE])?;
        }
        Ok(())
    }

    fn record(&mut self, record: &[u8], beacons: &[i64]) -> io::Result<()> {
        let number =
            |at: usize| record[at..at + 8].iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
        let (at, count, kind, index) = (number(0), number(8), record[32], record[33]);
        let mut guid = [0; 16];
        guid.copy_from_slice(&record[16..32]);
        if kind == kind::NAMED {
            self.named.insert(guid, ((count >> 32) as u32, count as u32));
        }
        self.end_taking()?;
        let Some(row) = (index as usize).checked_sub(OWN_ROWS) else {
            return self.own(at, kind, index, count, beacons);
        };
        match kind {
            kind::PUBLISH => {
                let Some(of) = self.who.rows.get(row).cloned() else { return Ok(()) };
                self.write(
                    at,
                    written::node_publish,
                    &[endpoint(row), of.publisher_id.into(), count.wrapping_sub(1), of.size_bytes],
                )
            }
            kind::TAKE => {
                self.taking = Some((at, row, guid, count));
                self.marks.first_message_ns.get_or_insert(at);
                Ok(())
            }
            kind::TAKEN => self.write(at, written::callback_end, &[callback(row)]),
            kind::MATCHED => self.write(at, written::board_matched, &[endpoint(row), count]),
            kind::SENDS => self.write(at, written::node_due, &[endpoint(row), count, number(16)]),
            kind::SKIPS => self.write(at, written::node_skipped, &[endpoint(row), count]),
            _ => self.own(at, kind, index, count, beacons),
        }
    }

    /// Adds a count of the rows before the workload's, of timers, or of the node as a whole.
    fn own(&mut self, at: u64, kind: u8, index: u8, count: u64, beacons: &[i64]) -> io::Result<()> {
        match kind {
            kind::INIT => self.marks.init_ns = Some(at),
            kind::READY => self.marks.matched_ns = Some(at),
            kind::TIMER => self.write(at, written::callback_start, &[timer_callback(index as usize), 0])?,
            kind::TIMER_END => self.write(at, written::callback_end, &[timer_callback(index as usize)])?,
            kind::TAKE if index == CLOCK_ROW => {
                if let Some(sent_ns) = beacons.get((count as usize).wrapping_sub(1)) {
                    self.write(at, written::host_to_board, &[*sent_ns as u64, at])?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes a take, once its publisher is known.
    fn end_taking(&mut self) -> io::Result<()> {
        let Some((at, row, guid, sequence)) = self.taking.take() else { return Ok(()) };
        let half =
            |from: usize| guid[from..from + 8].iter().rev().fold(0u64, |value, byte| value << 8 | u64::from(*byte));
        self.write(at, written::board_take, &[endpoint(row), half(0), half(8), sequence])?;
        let Some((publisher, ahead)) = self.named.get(&guid).copied() else { return Ok(()) };
        self.write(at, written::rclcpp_executor_execute, &[endpoint(row)])?;
        self.write(at, written::rclcpp_take, &[0])?;
        self.write(at, written::callback_start, &[callback(row), 0])?;
        self.write(at, written::node_take, &[endpoint(row), publisher.into(), sequence.wrapping_sub(ahead.into()), 0])
    }

    fn write(&mut self, at: u64, kind: u16, words: &[u64]) -> io::Result<()> {
        self.write_named(at, kind, words, &[])
    }

    fn write_named(&mut self, at: u64, kind: u16, words: &[u64], texts: &[&str]) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), |writer| writer.put(THREAD, at, kind, words, texts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_events::{Payload, Reader};

    fn row(topic: &str, reads: bool) -> Row {
        Row {
            topic: topic.into(),
            reads,
            expected: 1,
            size_bytes: 12,
            publisher_id: 4,
            depth: 10,
            timer: (!reads).then_some(0),
        }
    }

    fn record(at: u64, count: u64, guid: u8, kind: u8, index: u8) -> Vec<u8> {
        [&at.to_le_bytes()[..], &count.to_le_bytes(), &[guid; 16], &[kind, index]].concat()
    }

    #[test]
    fn a_boards_records_become_the_events_of_a_node() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.events");
        let who = Who {
            node: "m4".into(),
            rows: vec![row("/in", true), row("/out", false)],
            timers: vec![10.0],
            machine: "mps2".into(),
            image: "node.elf".into(),
        };
        let mut events = BoardEvents::new(who, Some(path.clone()));
        let first = [
            record(100, 0, 0, kind::INIT, 0),
            record(500, 0, 0, kind::READY, 0),
            record(600, 2, 9, kind::TAKE, CLOCK_ROW),
        ]
        .concat();
        // One take that the next record names, and one whose writer was never named.
        let second = [
            record(1_000, 8, 7, kind::TAKE, 2),
            record(1_001, 3 << 32 | 2, 7, kind::NAMED, 2),
            record(1_500, 0, 0, kind::TAKEN, 2),
            record(2_000, 0, 0, kind::TIMER, 0),
            record(2_001, 41, 0, kind::SENDS, 3),
            record(2_002, 42, 5, kind::PUBLISH, 3),
            record(2_100, 0, 0, kind::TIMER_END, 0),
            record(3_000, 1, 66, kind::TAKE, 2),
        ]
        .concat();
        let message =
            |sequence, board_ns, arrival_ns, data| Message { sequence, board_ns, dropped: 0, arrival_ns, data };
        events.take_in(&message(0, 700, 1_000_700, &first), &[50, 60]).unwrap();
        events.take_in(&message(2, 3_100, 1_003_100, &second), &[50, 60]).unwrap();
        let Marks { init_ns, matched_ns, first_message_ns } = events.marks;
        assert_eq!((init_ns, matched_ns, first_message_ns), (Some(100), Some(500), Some(1_000)));
        assert_eq!(events.finish().unwrap(), 1, "a message between the two is missing");

        let mut reader = Reader::open_files(vec![path], None).unwrap();
        let (mut names, mut takes, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(event) = reader.next_event() {
            match event.payload {
                Payload::NodeTake { publisher_id, sequence, .. } => {
                    takes.push((event.time.as_ns(), publisher_id, sequence))
                }
                Payload::HostToBoard { monotonic_ns, board_ns } => bounds.push((board_ns, monotonic_ns)),
                Payload::BoardToHost { board_ns, monotonic_ns } => bounds.push((board_ns, monotonic_ns)),
                Payload::NodePublish { publisher_id, sequence, size_bytes, .. } => {
                    assert_eq!((publisher_id, sequence, size_bytes), (4, 41, 12))
                }
                _ => {}
            }
            names.push(event.payload.name());
        }
        assert_eq!(takes, [(1_001_000, 3, 6)]);
        assert_eq!(bounds, [(600, 60), (700, 1_000_700), (3_100, 1_003_100)]);
        let of = |name: &str| names.iter().filter(|n| **n == name).count();
        assert_eq!((of("callback_start"), of("callback_end"), of("board_take"), of("node_due")), (2, 2, 2, 1));
    }
}
