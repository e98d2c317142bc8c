//! Reports what failed with a file, and names the file.

use std::io;
use std::path::{Path, PathBuf};

/// A file or folder could not be read, written or created.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {cause}")]
pub struct FileError {
    /// The file or folder.
    pub path: PathBuf,
    /// The system's error.
    pub cause: io::Error,
}

/// Adds the name of the file, for `map_err`.
pub fn at(path: &Path) -> impl FnOnce(io::Error) -> FileError + '_ {
    move |cause| FileError { path: path.to_owned(), cause }
}
