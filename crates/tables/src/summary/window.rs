//! The part of a run that counts.

use serde::{Deserialize, Serialize};

/// From when on, and until when, things count; in seconds since the begin of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct WindowFigures {
    /// Length of the run, from its first to its last event. Of several repeats the longest.
    pub run_s: f64,
    /// What happened before counts nowhere.
    pub from_s: f64,
    /// What happened from then on counts nowhere.
    pub to_s: f64,
    /// Chains and findings count from then on: the system started before. Absent if no start-up was found, or if the
    /// window was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start_up_s: Option<f64>,
}

impl WindowFigures {
    /// What does not count, in a sentence; `None`: all counts.
    pub fn sentence(&self) -> Option<String> {
        let WindowFigures { run_s, from_s, to_s, start_up_s } = self;
        if let Some(start_up_s) = start_up_s {
            let start_up =
                if *start_up_s < 1.0 { format!("{:.0} ms", 1e3 * start_up_s) } else { format!("{start_up_s:.1} s") };
            return Some(format!(
                "The first {start_up} of {run_s:.1} s are start-up and do not count in chains and findings; \
                 --skip 0s counts them."
            ));
        }
        let is_whole = *from_s <= 0.0 && to_s >= run_s;
        (!is_whole).then(|| {
            format!("Only what happened from {from_s:.3} s to {to_s:.3} s counts; the run is {run_s:.3} s long.")
        })
    }
}
