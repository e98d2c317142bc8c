//! How long executors take to wake up and to look around.

use super::Simulation;
use crate::spread::Spread;
use crate::warmth::Warmth;

/// Costs of an executor that do not depend on the topic.
#[derive(Clone)]
pub(crate) struct Latencies {
    pub timer: Spread,
    /// From the end of a sleep inside of a callback.
    pub sleep: Spread,
    pub wake_up: Spread,
    /// From the end of a callback to the next one of the same look; 0 if no run shows it.
    pub take_ns: i64,
    /// What the next look takes.
    pub look_ns: Option<i64>,
}

impl Latencies {
    /// What a thread that has looked around computes before it looks again or waits, of what is left around callbacks;
    /// `None` if it computes nothing more.
    pub(super) fn spent(&self, ran: bool, is_ready: bool, around_ns: i64) -> Option<i64> {
        let ns = match ran {
            true => self.look_ns.map_or(around_ns, |look_ns| look_ns.min(around_ns)),
            false if is_ready => 0,
            false => around_ns,
        };
        (ns > 0).then_some(ns)
    }
}

impl Simulation {
    /// Draws how long a thread takes to wake up.
    pub(super) fn wake_up_ns(&mut self, worker: usize) -> i64 {
        let of = self.executors[self.workers[worker].executor].latencies;
        self.latencies[of].wake_up.draw(&mut self.draws)
    }

    /// How long a process has neither sent nor received.
    pub(super) fn pause_of(&self, process: usize, now: i64) -> Option<i64> {
        (!self.warmth.is_empty()).then(|| self.processes[process].pause.until(now)).flatten()
    }

    /// Counts that a process sends or receives now.
    pub(super) fn end_pause(&mut self, process: usize, now: i64) {
        if !self.warmth.is_empty() {
            self.processes[process].pause.end(now);
        }
    }

    /// What is left of the costs of a process, after a pause of the system.
    pub(super) fn warmth(&self, process: usize, of_system_ns: Option<i64>, now: i64) -> Warmth {
        // Whoever has measured none needs no look at the process, which of thousands is in no cache.
        if self.warmth.is_empty() {
            return Warmth::WHOLE;
        }
        Warmth::after(&self.warmth, &[of_system_ns, self.pause_of(process, now)])
    }
}
