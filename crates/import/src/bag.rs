//! Bags, as `ros2 bag record` and others write them: when the recorder had each message, and what that says of its
//! time.
//!
//! [`files`] finds the files of a bag, [`read`] hands out its messages, whichever of the two formats it is in. A file
//! that was not finished, or is damaged, is read as far as it goes.

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

/// Reads the files of one bag and hands out its messages, in the order of the files. Damage inside them is no error:
/// [`Bag::problems`] has it. `on_progress` is called now and then, and ends the reading by returning false; so does
/// `stop`, in the midst of a query of SQLite's, too.
pub fn read(
    files: &[PathBuf],
    stop: &'static AtomicBool,
    on_message: &mut dyn FnMut(BagMessage),
    on_progress: &mut dyn FnMut(Progress) -> bool,
) -> Result<Bag, Error> {
    if files.iter().all(|path| is_sqlite(path)) {
        let mut reading = sqlite::Reading::new(on_message, stop);
        each(files, on_progress, |path, length, on_progress| {
            reading.file(path, length, on_progress);
            Ok(reading.bag.complete)
        })?;
        return Ok(reading.bag);
    }
    let mut reading = mcap::Reading::new(on_message);
    each(files, on_progress, |path, length, on_progress| {
        let source = regular::open(path).map_err(|source| Error::Io { path: path.into(), source })?;
        reading.file(path, BufReader::new(source), length, on_progress);
        Ok(reading.bag.complete)
    })?;
    Ok(reading.bag)
}

/// Has each file read, given its length, until one says that it is enough.
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
