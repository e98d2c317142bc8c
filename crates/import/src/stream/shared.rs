//! What all streams fill together.

use crate::gap::Gaps;
use crate::kinds::WORDS;
use crate::names::Names;
use crate::process::Registry;
use std::collections::HashSet;
use tacho_events::{Problems, ProcessIndex};

/// What all streams share.
#[derive(Default)]
pub(crate) struct Shared {
    pub registry: Registry,
    pub names: Names,
    pub problems: Problems,
    pub gaps: Gaps,
    /// Events stepped over, by class.
    pub skipped: Vec<u64>,
    /// Bytes of stream files read.
    pub bytes: u64,
    /// What CARET need not repeat. Kept only where CARET's events may occur.
    pub initialised: Option<HashSet<Initialised>>,
}

/// Process, kind, and payload of an event that says of an entity that it is there; its last word is since when, if that
/// is CARET's.
pub(crate) type Initialised = (ProcessIndex, u16, [u64; WORDS]);
