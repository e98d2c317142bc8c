//! What a look for leftovers finds.

use serde::Serialize;

/// Something that a run left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Leftover {
    /// Its path; of System V shared memory, what `ipcs -m` calls it.
    pub what: String,
    /// Memory or disk that it takes, bytes.
    pub bytes: u64,
    /// Whose it was.
    pub run: String,
    /// Why it stays; absent: it was removed, or will be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stays: Option<String>,
}

/// Whether to remove anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Only look.
    List,
    /// Remove what is not in doubt.
    Remove,
}
