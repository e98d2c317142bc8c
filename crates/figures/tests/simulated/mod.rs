//! Small systems by chance: their events, and what truly happened in them.
//!
//! Sources publish on timers, relays in the callback of their first input or on a timer, sinks only take. Each node is
//! a process with one executor's thread and a CPU of its own, which others have now and then. Messages take time, get
//! lost on the way, are overwritten in queues.
#![allow(dead_code, unused_imports)] // each test file uses its part

mod simulation;
mod truth;

pub use simulation::Simulation;
pub use truth::{Ran, Sent, Taken, Truth};

use tacho_analysis::Options;
use tacho_events::RunDirectory;
use tacho_figures::{summarise, Repeat};
use tacho_tables::Tables;

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From `low` to `high`, both among them.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }
}

/// Name of a node.
pub fn name(node: usize) -> String {
    format!("/n{node}")
}

/// Topic that a node publishes.
pub fn topic(node: usize) -> String {
    format!("/t{node}")
}

pub fn analysed(run: &RunDirectory) -> Tables {
    tacho_analysis::analyse(run, None, &mut |_| {}).expect("analyse")
}

/// Everything that figures are made of, in an order that does not depend on that of processes.
pub fn figures(tables: &Tables) -> String {
    let summary = summarise(&[Repeat { tables, options: Options::default(), info: None }], None);
    let mut value = serde_json::to_value(&summary).expect("JSON");
    for of in value.as_object_mut().expect("an object").values_mut().filter_map(|v| v.as_array_mut()) {
        of.sort_by_key(|entry| entry.to_string());
    }
    serde_json::to_string_pretty(&value).expect("JSON")
}
