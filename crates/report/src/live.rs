//! The page of a recording that goes on: states of it, one after the other.

use crate::page::{page, Page};
use crate::{ReportRun, Result};
use serde::Serialize;

/// A recording that a page follows. The page asks for its next state at `page.json`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Live {
    /// Length of the window that the figures are made over.
    pub window_s: f64,
    /// How much of it is filled.
    pub filled_s: f64,
    /// Processes that have written.
    pub processes: usize,
    /// Events in the window, a second.
    pub events_per_s: f64,
    /// Events that could not be recorded, all processes.
    pub dropped_events: u64,
    /// Whether nothing more will come.
    pub has_ended: bool,
    /// After how long the page asks again.
    pub ask_again_ms: u64,
}

/// A state of a recording that goes on, as its page ([`crate::embed::into_live_template`]) has it inside: JSON.
pub fn state(run: &ReportRun, live: Live) -> Result<String> {
    Ok(serde_json::to_string(&Page { live: Some(live), ..page(std::slice::from_ref(run))? })?)
}
