//! Reads bags, as `ros2 bag record` and others write them: when the recorder received each message, and what its header
//! says about time.
//!
//! [`files`] finds the files of a bag; [`read`] returns its messages in either of the two formats. An unfinished or
//! damaged file is read as far as possible.

pub(crate) mod contents;
mod find;
mod sqlite;

pub use contents::Bag;
pub use find::files;

use crate::mcap;
use crate::reader::Error;
use contents::OnProgress;
use find::is_sqlite;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tacho_events::bag::BagMessage;
use tacho_events::{regular, Progress};

/// Unit of [`Progress::chunks`].
const PROGRESS_UNIT: u64 = 32 << 10;

/// Reads the files of one bag and returns its messages, in the order of the files. Damage inside them is not an error:
/// [`Bag::problems`] lists it. `on_progress` is called now and then, and ends the reading by returning false; so does
/// `stop`, even within a query of SQLite.
pub fn read(
    files: &[PathBuf],
    stop: &'static AtomicBool,
    on_message: &mut dyn FnMut(BagMessage),
    on_progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Bag, Error> {
    read_with(files, None, stop, &mut |message, _| on_message(message), on_progress)
}

/// The same, with the data of the messages of one topic as they were recorded; those of others come without theirs.
pub fn read_data(
    files: &[PathBuf],
    topic: &str,
    stop: &'static AtomicBool,
    on_message: &mut dyn FnMut(BagMessage, &[u8]),
) -> Result<Bag, Error> {
    read_with(files, Some(topic.to_owned()), stop, on_message, &mut |_| true)
}

fn read_with(
    files: &[PathBuf],
    data_of: Option<String>,
    stop: &'static AtomicBool,
    on_message: &mut dyn FnMut(BagMessage, &[u8]),
    on_progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Bag, Error> {
    let mut on_message = |message, data: &[u8]| on_message(message, data);
    if files.iter().all(|path| is_sqlite(path)) {
        let mut reading = sqlite::Reading::new(&mut on_message, data_of, stop);
        each(files, on_progress, |path, length, on_progress| {
            reading.file(path, length, on_progress);
            Ok(reading.bag.complete)
        })?;
        return Ok(reading.bag);
    }
    let mut reading = mcap::Reading::new(&mut on_message, data_of);
    each(files, on_progress, |path, length, on_progress| {
        let source = regular::open(path).map_err(|source| Error::Io { path: path.into(), source })?;
        reading.file(path, BufReader::new(source), length, on_progress);
        Ok(reading.bag.complete)
    })?;
    Ok(reading.bag)
}

/// Reads each file, given its length, until a reader returns that it has enough.
fn each(
    files: &[PathBuf],
    on_progress: &mut dyn FnMut(Progress) -> bool,
    mut file: impl FnMut(&Path, u64, &mut OnProgress<'_>) -> Result<bool, Error>,
) -> Result<(), Error> {
    let length = |path: &PathBuf| {
        std::fs::metadata(path).map(|of| of.len()).map_err(|source| Error::Io { path: path.clone(), source })
    };
    let lengths = files.iter().map(length).collect::<Result<Vec<u64>, Error>>()?;
    let (total, mut done) = (lengths.iter().sum::<u64>(), 0);
    for (path, length) in files.iter().zip(lengths) {
        let mut progress = |at: u64, messages| {
            on_progress(Progress {
                chunks: (done + at).div_ceil(PROGRESS_UNIT),
                chunks_total: total.div_ceil(PROGRESS_UNIT),
                events: messages,
            })
        };
        if !file(path, length, &mut progress)? {
            break;
        }
        done += length;
    }
    Ok(())
}
