//! State that all streams share.

use crate::gap::Gaps;
use crate::kinds::WORDS;
use crate::names::Names;
use crate::process::Registry;
use std::collections::HashSet;
use tacho_events::{Problems, ProcessIndex};

/// Everything that reading an event of any stream may add to.
#[derive(Default)]
pub(crate) struct Shared {
    pub registry: Registry,
    pub names: Names,
    pub problems: Problems,
    pub gaps: Gaps,
    /// Skipped events, by class.
    pub skipped: Vec<u64>,
    /// Bytes of stream files read.
    pub bytes: u64,
    /// Entities that CARET need not repeat. Kept only if CARET's events may occur.
    pub initialised: Option<HashSet<Initialised>>,
}

/// Process, kind, and payload of an event that announces an entity that exists; the last word is the time of its
/// creation, if CARET wrote the event.
pub(crate) type Initialised = (ProcessIndex, u16, [u64; WORDS]);
