//! A trace as its streams see it.

use crate::layout::TraceLayout;
use crate::process::Host;
use std::path::PathBuf;
use std::sync::Arc;
use tacho_events::run::TraceSource;
use tacho_events::Time;

/// What the metadata says of all events of one clock.
pub(crate) struct Trace {
    pub folder: PathBuf,
    pub layout: Arc<TraceLayout>,
    /// Index of the clock that its times are of.
    pub clock: usize,
    /// Whether its metadata could be read whole.
    pub described: bool,
    pub host: Host,
    pub host_index: u32,
    /// What it says of itself.
    pub source: TraceSource,
    pub frequency_hz: u64,
    /// Added to the ns of its clock: 0 but for traces of further hosts.
    pub shift_ns: i64,
    /// Process of all its events, where the trace is of one (`env.vpid`).
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
