//! Why a campaign cannot begin, or ends before its runs.

use anyhow::anyhow;

/// Errors, classified by who can resolve them.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user requested something impossible, such as a directory that another process writes.
    #[error("{0}")]
    Refused(String),
    /// The workload file in a run directory cannot be read.
    #[error("{0}")]
    Workload(tacho_workload::Errors),
    /// The machine failed, for example its disk.
    #[error(transparent)]
    Fault(#[from] anyhow::Error),
}

impl From<tacho_workload::Errors> for Error {
    fn from(errors: tacho_workload::Errors) -> Error {
        Error::Workload(errors)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Fault(anyhow!(error))
    }
}
