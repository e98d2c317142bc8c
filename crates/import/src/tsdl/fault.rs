//! A fault of the metadata, and its place.

/// Why a part of the metadata could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Byte offset in the text.
    pub at: usize,
    /// What was found there.
    pub found: String,
    /// What was expected there.
    pub expected: String,
}

impl Fault {
    pub(super) fn new(at: usize, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Fault { at, found: found.into(), expected: expected.into() }
    }
}
