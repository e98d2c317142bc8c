//! Tables as `RUN/tables/*.parquet`, figures as `RUN/summary.json`.
//!
//! A file is written under a temporary name and renamed, so that none is ever seen half written.
//!
//! Runs of older tachos are read: a table that they did not have is empty, and a column that they did not have is
//! absent in every row, so what is added to a table is an `Option`.

mod cell;

use crate::in_order::in_order;
use crate::rows::{self, Rows};
use crate::summary::Summary;
use crate::*;
use cell::Cell;
use parquet::basic::{Encoding, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::mem::size_of;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tacho_events::bag::{BagMessage, BagTopic};
use tacho_events::free::free_bytes;
use tacho_events::{regular, RunDirectory};

/// Writes one table.
type Write<'a> = Box<dyn FnOnce() -> Result<(), Error> + Send + 'a>;

/// Tables of which most rows are referred to once or a few times.
const LONG: [&str; 4] = ["executions", "publications", "messages", "instances"];
/// Rows of one row group, and rows that are read at once of whatever group: bounds the memory of who reads. Of equal
/// rows a file of a megabyte holds a hundred million.
const ROWS_A_GROUP: usize = 1 << 17;
/// Rows of a table that no file without a name may hold: more than any system has nodes, callbacks or findings.
const MOST_BYTES_IN_MEMORY: u64 = 1 << 30;

/// The first column of every table: the number of the row, which other tables refer to. Nobody needs to read it.
const ID: &str = "row_id";
/// Key of the metadata of each file: JSON with `rows_of`, from columns to the tables whose rows they hold.
const METADATA: &str = "tachograph";

/// Tables that all versions have written; of the others a run may be older.
const ALWAYS: [&str; 10] =
    ["processes", "nodes", "endpoints", "callbacks", "executions", "messages", "chains", "instances", "hops", "notes"];

/// Why tables or figures could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system.
    #[error("{path}: {source}")]
    Io {
        /// File.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The content of a table.
    #[error(
        "{path}: {source}; where another version of tacho wrote it (tacho_version in run.json), its events are \
         analysed anew by tacho import RUN -o NEW"
    )]
    Parquet {
        /// File.
        path: PathBuf,
        /// Cause.
        source: ParquetError,
    },
    /// The content of `summary.json`.
    #[error("{path}: {source}")]
    Json {
        /// File.
        path: PathBuf,
        /// Cause.
        source: serde_json::Error,
    },
}

/// A table whose columns are listed once, below.
trait Row: Sized {
    const NAME: &'static str;
    fn schema() -> Result<Vec<TypePtr>, ParquetError>;
    /// Columns that hold rows of other tables, with the names of these tables.
    fn references() -> BTreeMap<&'static str, &'static str>;
    /// Writes a group, whose first row has this number.
    fn write(rows: &[Self], first: usize, group: &mut SerializedRowGroupWriter<'_, File>) -> Result<(), ParquetError>;
    /// Hands on the rows of a group, so many at once.
    fn read(
        group: &dyn RowGroupReader,
        text_left: &mut usize,
        take: &mut dyn FnMut(Vec<Self>),
    ) -> Result<(), ParquetError>;
}

/// Where the rows of a table are put.
trait Held<R>: Default + Extend<R> {
    /// Bytes of rows that there is room for, and where.
    fn room() -> (u64, String);
}

impl<R> Held<R> for Vec<R> {
    fn room() -> (u64, String) {
        (MOST_BYTES_IN_MEMORY, "as this table is kept in memory".into())
    }
}

impl<R: Copy> Held<R> for Rows<R> {
    fn room() -> (u64, String) {
        let folder = rows::folder();
        (
            free_bytes(&folder).map_or(u64::MAX, |free| free.max(MOST_BYTES_IN_MEMORY)),
            format!("as are free in {}", folder.display()),
        )
    }
}

macro_rules! tables {
    ($($field:ident: $Row:ident { $($column:ident),* $(,)? })*) => {
        $(impl Row for $Row {
            const NAME: &'static str = stringify!($field);

            fn schema() -> Result<Vec<TypePtr>, ParquetError> {
                fn of<R, C: Cell>(name: &str, _: fn(R) -> C) -> Result<TypePtr, ParquetError> {
                    Ok(Arc::new(C::schema(name)?))
                }
                Ok(vec![Arc::new(u32::schema(ID)?), $(of(stringify!($column), |row: $Row| row.$column)?),*])
            }

            fn references() -> BTreeMap<&'static str, &'static str> {
                fn of<R, C: Cell>(_: fn(R) -> C) -> Option<&'static str> {
                    C::TABLE
                }
                let columns = [$((stringify!($column), of(|row: $Row| row.$column))),*];
                columns.into_iter().filter_map(|(column, table)| Some((column, table?))).collect()
            }

            fn write(
                rows: &[Self],
                first: usize,
                group: &mut SerializedRowGroupWriter<'_, File>,
            ) -> Result<(), ParquetError> {
                let ids: Vec<u32> = (first..first + rows.len()).map(|number| number as u32).collect();
                cell::write(group, ids.iter())?;
                $(cell::write(group, rows.iter().map(|row| &row.$column))?;)*
                Ok(())
            }

            fn read(
                group: &dyn RowGroupReader,
                text_left: &mut usize,
                take: &mut dyn FnMut(Vec<Self>),
            ) -> Result<(), ParquetError> {
                let columns = cell::Columns::new(group);
                $(let mut $column = columns.open(stringify!($column))?;)*
                let mut left = rows_of(group)?;
                while left > 0 {
                    let rows = left.min(ROWS_A_GROUP);
                    $(let mut $column = $column.read(rows, text_left)?.into_iter();)*
                    let mut read = Vec::with_capacity(rows);
                    for _ in 0..rows {
                        read.push($Row { $($column: $column.next().ok_or_else(cell::short)?),* });
                    }
                    take(read);
                    left -= rows;
                }
                Ok(())
            }
        })*

        /// Writes every table of a run into `folder`.
        pub fn write(folder: &Path, tables: &Tables) -> Result<(), Error> {
            std::fs::create_dir_all(folder).map_err(|source| Error::Io { path: folder.into(), source })?;
            let writes: Vec<Write<'_>> = vec![$(Box::new(|| write_table(folder, &tables.$field))),*];
            let mut all = Ok(());
            in_order(writes.into_iter(), |write| write(), |written| {
                if all.is_ok() {
                    all = written;
                }
            });
            all
        }

        /// Reads every table of a run from `folder`.
        pub fn read(folder: &Path) -> Result<Tables, Error> {
            let mut tables = Tables { $($field: read_table(folder)?),* };
            tables.callbacks.iter_mut().for_each(Callback::name_function);
            Ok(tables)
        }
    };
}

tables! {
    processes: Process {
        pid, executable, command, host, clock, events, dropped_events, ended, first_ns, last_ns, board,
        clock_error_ns,
    }
    nodes: Node { process, name }
    endpoints: Endpoint {
        node, kind, topic, message_type, depth, reliable, transient_local, keep_all, created_ns, count, skipped,
        refused, pending, before, after, unknown, linked,
    }
    callbacks: Callback {
        process, address, kind, node, topic, period_ns, armed_ns, symbol, function, location, callback_group, reentrant,
    }
    executions: Execution {
        callback, tid, queued_ns, start_ns, end_ns, cpu_ns, runnable_ns, executor_cpu_ns, executor_runnable_ns, resumes,
    }
    publications: Publication { publisher, publish_ns, due_ns, sequence, size_bytes, execution }
    messages: Message {
        publisher, subscription, sequence, publish_ns, arrival_ns, take_ns, callback_ns, execution, published_in,
        delivery, lost_in, emulated,
    }
    layers: Layers {
        message, publish_client_library_ns, publish_rcl_ns, publish_rmw_ns, publish_dds_ns, transport_ns,
        receive_dds_ns, executor_ns, take_rmw_ns, take_rcl_ns, take_client_library_ns,
    }
    services: ServiceCall {
        service, client, server, sequence, request_ns, request_taken_ns, response_ns, response_taken_ns, execution,
        requested_in, response_taken_in,
    }
    goals: Goal {
        action, id, client, server, sent_ns, taken_ns, accepted, accepted_ns, answered_ns, response_ns, executing_ns,
        cancel_sent_ns, canceling_ns, outcome, ended_ns, result_sent_ns, result_ns, feedback, first_feedback_ns,
        last_feedback_ns, execution,
    }
    states: NodeState { node, from_ns, state }
    chains: Chain { name, path, critical, lost, evidence, deadline_ns, until_ns, guessed_at, callbacks }
    instances: Instance {
        chain, start_ns, end_ns, end_to_end_ns, computation_ns, off_cpu_ns, preemption_ns, alignment_ns, queueing_ns,
        kept_ns, transport_ns,
    }
    hops: Hop {
        instance, position, execution, published_ns, arrival_ns, start_ns, output_ns, queueing_ns, alignment_ns,
        kept_ns, off_cpu_ns, preemption_ns,
    }
    preemptions: Preemption { process, tid, execution, from_ns, to_ns, state, woken, cpu, by_tid, by_comm, waits_in }
    executors: ExecutorThread {
        process, tid, executor, executor_threads, from_ns, to_ns, waiting_ns, empty_waits, ready_ns, executing_ns,
        running_ns, runnable_ns, blocked_ns, voluntary_switches, involuntary_switches,
    }
    slowdowns: Slowdown {
        process, tid, from_ns, to_ns, callbacks_factor, steps_factor, executions, callbacks, longer_ns,
    }
    links: Link { node, input, output, rule, evidence, confidence, outputs, followed, guess }
    inputs: ChainInput { chain, start_ns, previous_ns, reflected_ns, last_used_ns, replaced_ns }
    causes: Cause { chain, instance, position, kind, by, execution, from_ns, duration_ns, usual_ns, count }
    signals: Signal { node, task, name, unit, list }
    samples: Sample { signal, entry, at_ns, reported_ns, execution, value }
    clocks: HostClock { host, offset_ns, drift_ppm, uncertainty_ns, spans, sent, received }
    bag_topics: BagTopic { name, datatype, has_header }
    bag_messages: BagMessage { topic, log_ns, publish_ns, stamp_ns, size_bytes, sequence, stretch }
    notes: Note { name, count, text }
}

/// The tables of a run; of a repeated one, those of all repeats as one.
pub fn read_run(run: &RunDirectory) -> Result<Tables, Error> {
    let repeats = run.repeats().map_err(|source| Error::Io { path: run.path().into(), source })?;
    let Some((first, others)) = repeats.split_first() else { return read(&run.tables()) };
    let mut tables = read(&first.tables())?;
    for repeat in others {
        tables.append(read(&repeat.tables())?);
    }
    Ok(tables)
}

/// Writes `RUN/summary.json`.
pub fn write_summary(run: &RunDirectory, summary: &Summary) -> Result<(), Error> {
    let path = run.summary();
    let text = serde_json::to_vec_pretty(summary).map_err(|source| Error::Json { path: path.clone(), source })?;
    replace(&path, |temporary| {
        std::fs::write(temporary, text).map_err(|source| Error::Io { path: path.clone(), source })
    })
}

/// Reads `RUN/summary.json`.
pub fn read_summary(run: &RunDirectory) -> Result<Summary, Error> {
    let path = run.summary();
    let text = regular::read(&path).map_err(|source| Error::Io { path: path.clone(), source })?;
    serde_json::from_slice(&text).map_err(|source| Error::Json { path, source })
}

fn write_table<R: Row>(folder: &Path, rows: &[R]) -> Result<(), Error> {
    let path = folder.join(format!("{}.parquet", R::NAME));
    replace(&path, |temporary| {
        let file = File::create(temporary).map_err(|source| Error::Io { path: temporary.into(), source })?;
        write_rows(file, rows).map_err(|source| match source {
            // What the disk says is not of the table's content.
            ParquetError::External(cause) => match cause.downcast::<io::Error>() {
                Ok(source) => Error::Io { path: path.clone(), source: *source },
                Err(cause) => Error::Parquet { path: path.clone(), source: ParquetError::External(cause) },
            },
            source => Error::Parquet { path: path.clone(), source },
        })
    })
}

fn write_rows<R: Row>(file: File, rows: &[R]) -> Result<(), ParquetError> {
    let schema = Type::group_type_builder(R::NAME).with_fields(R::schema()?).build()?;
    let mut properties = WriterProperties::builder()
        .set_compression(parquet::basic::Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::Chunk);
    let references = R::references();
    // Times and numbers of rows of long tables hardly repeat, and follow each other closely.
    let follow = |field: &&TypePtr| {
        field.name() == ID
            || references.get(field.name()).is_some_and(|table| LONG.contains(table))
            || (field.is_primitive() && field.get_physical_type() == PhysicalType::INT64)
    };
    for field in schema.get_fields().iter().filter(follow) {
        let column = ColumnPath::from(field.name());
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
    }
    let rows_of = serde_json::json!({ "rows_of": references }).to_string();
    let metadata = KeyValue { key: METADATA.into(), value: Some(rows_of) };
    let properties = properties.set_key_value_metadata(Some(vec![metadata])).build();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
    for (number, rows) in rows.chunks(ROWS_A_GROUP).enumerate() {
        let mut group = writer.next_row_group()?;
        R::write(rows, number * ROWS_A_GROUP, &mut group)?;
        group.close()?;
    }
    writer.close().map(drop)
}

fn read_table<R: Row, T: Held<R>>(folder: &Path) -> Result<T, Error> {
    let path = folder.join(format!("{}.parquet", R::NAME));
    let file = match regular::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !ALWAYS.contains(&R::NAME) => return Ok(T::default()),
        file => file.map_err(|source| Error::Io { path: path.clone(), source })?,
    };
    let read = || {
        let reader = SerializedFileReader::new(file)?;
        let mut rows = T::default();
        let groups: Vec<_> =
            (0..reader.num_row_groups()).map(|group| reader.get_row_group(group)).collect::<Result<_, _>>()?;
        let mut count = 0u64;
        for group in &groups {
            count = count.saturating_add(rows_of(&**group)? as u64);
        }
        let (room, whose) = T::room();
        if count.saturating_mul(size_of::<R>() as u64) > room {
            let most = room / size_of::<R>() as u64;
            return Err(ParquetError::General(format!("{count} rows; expected at most {most}, {whose}")));
        }
        let mut text_left = cell::MOST_TEXT_BYTES;
        for group in &groups {
            R::read(&**group, &mut text_left, &mut |read| rows.extend(read))?;
        }
        Ok(rows)
    };
    read().map_err(|source| Error::Parquet { path, source })
}

fn rows_of(group: &dyn RowGroupReader) -> Result<usize, ParquetError> {
    let found = group.metadata().num_rows();
    usize::try_from(found)
        .map_err(|_| ParquetError::General(format!("a group of {found} rows; expected a number of them")))
}

/// Writes a file through a temporary one beside it.
fn replace(path: &Path, write: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.part", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let written = write(&temporary)
        .and_then(|()| std::fs::rename(&temporary, path).map_err(|source| Error::Io { path: path.into(), source }));
    if written.is_err() {
        // The first error is the one to tell; what cannot be removed either stays behind under its temporary name.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}
