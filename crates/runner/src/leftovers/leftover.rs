//! Results of looking for leftovers.

use serde::Serialize;

/// An object that a run left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Leftover {
    /// Its path; for System V shared memory, its name in `ipcs -m`.
    pub what: String,
    /// Memory or disk that it uses, bytes.
    pub bytes: u64,
    /// The run that left it.
    pub run: String,
    /// Why it stays; absent if it was or will be removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stays: Option<String>,
}

/// Whether to remove anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Only list.
    List,
    /// Remove whatever is not in doubt.
    Remove,
}
