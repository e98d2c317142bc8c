//! A trace from the viewpoint of its streams.

use crate::layout::TraceLayout;
use crate::process::Host;
use std::path::PathBuf;
use std::sync::Arc;
use tacho_events::run::TraceSource;
use tacho_events::Time;

/// Facts that hold for all events of one clock.
pub(crate) struct Trace {
    pub folder: PathBuf,
    pub layout: Arc<TraceLayout>,
    /// Index of the clock that its times refer to.
    pub clock: usize,
    /// Whether its metadata was read completely.
    pub described: bool,
    pub host: Host,
    pub host_index: u32,
    /// Its own description.
    pub source: TraceSource,
    pub frequency_hz: u64,
    /// Added to the ns of its clock; 0 except for traces of further hosts.
    pub shift_ns: i64,
    /// Process of all its events, if the trace is of one process (`env.vpid`).
    pub pid: Option<u32>,
    pub process_name: String,
}

impl Trace {
    #[inline(always)]
    pub fn ns(&self, ticks: u64) -> i64 {
        let ns = match self.frequency_hz {
            1_000_000_000 => ticks as i64,
            frequency => (u128::from(ticks) * 1_000_000_000 / u128::from(frequency)) as i64,
        };
        ns.wrapping_add(self.shift_ns)
    }

    #[inline(always)]
    pub fn time(&self, ticks: u64) -> Time {
        Time::from_monotonic_ns(self.ns(ticks))
    }
}
