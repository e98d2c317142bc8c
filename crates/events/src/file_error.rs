//! What went wrong with a file, and with which.

use std::io;
use std::path::{Path, PathBuf};

/// A file or folder that could not be read, written or made.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {cause}")]
pub struct FileError {
    /// Which.
    pub path: PathBuf,
    /// What the system said.
    pub cause: io::Error,
}

/// For `map_err`: says which file it was.
pub fn at(path: &Path) -> impl FnOnce(io::Error) -> FileError + '_ {
    move |cause| FileError { path: path.to_owned(), cause }
}
