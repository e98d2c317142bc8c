//! Which timers a node has, on real middleware and in the simulator alike.

use std::time::Duration;
use tacho_workload::callbacks::{Answer, Load, Turns};
use tacho_workload::model::{Executor, Node};

/// A timer of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedTimer {
    /// Activations a second.
    pub hz: f64,
    /// When a recorded source sent; empty of a periodic one.
    pub sent_at: Vec<Duration>,
    /// What it does, for the name of its callback.
    pub what: String,
    /// What it computes and sleeps before it publishes.
    pub load: Load,
    /// Publications that it serves.
    pub serves: Vec<Served>,
}

/// A publication that a timer serves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Served {
    /// Which, and in which of the activations.
    pub answer: Answer,
    /// Whether the clock alone says when it is due, so that a send can be skipped.
    pub is_clocked: bool,
}

impl Served {
    fn always(publication: usize) -> Served {
        Served { answer: Answer { publication, turns: Turns::all() }, is_clocked: true }
    }
}

/// The timers of a node; of a spinning one that of its wakes.
pub fn timers(node: &Node) -> Vec<PlannedTimer> {
    let all = |hz: f64, what: &str| {
        let serves = (0..node.publishes.len()).map(Served::always).collect();
        vec![PlannedTimer { hz, sent_at: vec![], what: what.into(), load: node.load(), serves }]
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
                let load = node.load_of_publication(&node.publishes[index]);
                let sent_at = node.publishes[index].sent_at.clone();
                PlannedTimer { hz, sent_at, what, load, serves: vec![Served::always(index)] }
            };
            let own = node.timers.iter().map(|timer| {
                let is_clocked = |answer: &Answer| node.clocked_hz(&node.publishes[answer.publication]).is_some();
                let serves = node.answers_to_timer(timer).into_iter();
                PlannedTimer {
                    hz: timer.hz,
                    sent_at: vec![],
                    what: format!("timer {}", timer.name),
                    load: node.load_of_timer(timer),
                    serves: serves.map(|answer| Served { answer, is_clocked: is_clocked(&answer) }).collect(),
                }
            });
            rates().map(of).chain(own).collect()
        }
    }
}
