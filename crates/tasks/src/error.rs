//! Errors of loading and running tasks, by cause.

use std::path::PathBuf;

/// Why a task cannot be used, or why it failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder of libraries cannot be read.
    #[error("{}: {source}", folder.display())]
    Folder {
        /// Folder.
        folder: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// The file that says why a library was not built cannot be read.
    #[error("{}: {source}", path.display())]
    Missing {
        /// File.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// The dynamic linker refused it, most often because a library that it needs is missing.
    #[error("{}: cannot be loaded: {source}", path.display())]
    Load {
        /// Library.
        path: PathBuf,
        /// The dynamic linker's words.
        source: libloading::Error,
    },
    /// It was built against another task.h.
    #[error("{}: speaks ABI {found} of task.h, expected {expected}: build it again", path.display())]
    Abi {
        /// Library.
        path: PathBuf,
        /// The ABI that it has.
        found: u32,
        /// The ABI that this program expects.
        expected: u32,
    },
    /// Two libraries have a task of one name.
    #[error("task {name:?} is in {} and in {}: expected it in one library", first.display(), second.display())]
    Twice {
        /// Task.
        name: String,
        /// A library.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
    },
    /// The library has no such task.
    #[error("{}: no task {name:?}; there are: {}", path.display(), found.join(", "))]
    Unknown {
        /// Library.
        path: PathBuf,
        /// Task.
        name: String,
        /// Its tasks.
        found: Vec<String>,
    },
    /// A parameter cannot be used.
    #[error("{0}")]
    Parameter(String),
    /// A text with a NUL inside cannot be passed to C.
    #[error("{0:?} has a NUL inside")]
    Text(String),
    /// The task failed; the text is its own.
    #[error("task {name}: {cause}")]
    Failed {
        /// Task.
        name: String,
        /// What it found and expected.
        cause: String,
    },
}
