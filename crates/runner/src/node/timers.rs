//! Which timers a node has, on real middleware and in the simulator alike.

use tacho_workload::model::{Executor, Node};

/// A timer of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedTimer {
    /// Activations a second.
    pub hz: f64,
    /// What it does, for the name of its callback.
    pub what: String,
    /// Publications that it serves.
    pub publishers: Vec<usize>,
}

/// The timers of a node; of a spinning one that of its wakes.
pub fn timers(node: &Node) -> Vec<PlannedTimer> {
    let all = |hz: f64, what: &str| {
        vec![PlannedTimer { hz, what: what.into(), publishers: (0..node.publishes.len()).collect() }]
    };
    let rates = || node.publishes.iter().enumerate().filter_map(|(index, p)| Some((index, p.rate_hz?)));
    match node.executor {
        Executor::Timer { hz } => all(hz, "timer"),
        // A spinning node that messages trigger has no timer: at a wake it runs its subscriptions' callbacks.
        Executor::Spin { hz } if !node.is_triggered() && !node.computes_only_when_due() => all(hz, "spin"),
        // Callbacks that run only if something is due have that rate, whatever the rate of the wakes.
        Executor::Spin { .. } => match rates().map(|(_, hz)| hz).reduce(f64::max) {
            Some(hz) => all(hz, "spin"),
            None => vec![],
        },
        Executor::Arrival => {
            let of = |(index, hz): (usize, f64)| {
                let what = format!("publish {}", node.publishes[index].topic);
                PlannedTimer { hz, what, publishers: vec![index] }
            };
            rates().map(of).collect()
        }
    }
}
