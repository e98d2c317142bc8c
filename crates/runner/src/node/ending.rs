//! Decides when a node ends: at the end of its window, later while messages of the window still arrive, at once when it
//! is stopped.

use crate::instant::StopTime;
use crate::window::{LINGERING_NS, LONGEST_LINGERING_NS};
use std::sync::Arc;

/// The end of one node; instants are CLOCK_MONOTONIC.
pub struct Ending {
    stop: Arc<StopTime>,
    /// When sources end.
    sources_ns: i64,
    /// When the node ends, unless it is stopped before or lingers.
    end_ns: i64,
    /// Whether a message sent before sources ended has arrived since the last check.
    heard: bool,
    /// The end of lingering, while such messages still arrive.
    lingers_to_ns: i64,
}

impl Ending {
    /// Ends only by `stop`.
    pub fn by(stop: Arc<StopTime>) -> Ending {
        Ending { stop, sources_ns: i64::MAX, end_ns: i64::MAX, heard: false, lingers_to_ns: i64::MIN }
    }

    /// Sets a window in which sources end at `sources_ns`, and this node at `end_ns`.
    pub fn set(&mut self, sources_ns: i64, end_ns: i64) {
        (self.sources_ns, self.end_ns) = (sources_ns, end_ns);
    }

    /// Notes that a message arrived.
    pub fn hear(&mut self, stamp_ns: i64) {
        self.heard |= stamp_ns < self.sources_ns;
    }

    /// When to end, as known at `now_ns`.
    pub fn at(&mut self, now_ns: i64) -> i64 {
        if std::mem::take(&mut self.heard) {
            self.lingers_to_ns = now_ns + LINGERING_NS;
        }
        self.ns()
    }

    /// When to end, as known at the last call of [`at`](Ending::at).
    pub fn ns(&self) -> i64 {
        let lingers_to_ns = self.lingers_to_ns.min(self.end_ns.saturating_add(LONGEST_LINGERING_NS));
        self.end_ns.max(lingers_to_ns).min(self.stop.ns())
    }

    /// Whether the node may sleep until it is [interrupted](crate::node::signal::Interrupt) at its end: it was not
    /// stopped, and does not linger.
    pub fn is_awaited(&self, now_ns: i64) -> bool {
        now_ns < self.end_ns && !self.is_stopped(now_ns)
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self, now_ns: i64) -> bool {
        self.stop.ns() <= now_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn ending() -> (Ending, Arc<StopTime>) {
        let stop = Arc::new(StopTime::never());
        let mut ending = Ending::by(stop.clone());
        ending.set(1000 * MS, 1200 * MS);
        (ending, stop)
    }

    #[test]
    fn a_node_that_hears_nothing_late_ends_in_time() {
        let (mut ending, _) = ending();
        ending.hear(900 * MS);
        assert_eq!(ending.at(990 * MS), 1200 * MS);
        // Sent by a node that continues after sources ended.
        ending.hear(1100 * MS);
        assert_eq!(ending.at(1110 * MS), 1200 * MS);
    }

    #[test]
    fn what_was_sent_in_time_and_comes_late_puts_the_end_off_but_not_for_ever() {
        let (mut ending, _) = ending();
        let mut now = 1190 * MS;
        while now < ending.ns() {
            ending.hear(999 * MS);
            assert_eq!(ending.at(now), (now + 200 * MS).min(3200 * MS));
            now += 100 * MS;
        }
        assert_eq!(ending.ns(), 3200 * MS);
    }

    #[test]
    fn a_stop_ends_it_whatever_comes() {
        let (mut ending, stop) = ending();
        ending.hear(999 * MS);
        stop.set(500 * MS);
        assert_eq!(ending.at(1190 * MS), 500 * MS);
        assert!(ending.is_stopped(500 * MS) && !ending.is_stopped(499 * MS));
        assert!(ending.is_awaited(499 * MS) && !ending.is_awaited(500 * MS));
    }

    #[test]
    fn nobody_interrupts_a_node_that_lingers() {
        let (mut ending, _) = ending();
        ending.hear(999 * MS);
        assert_eq!(ending.at(1190 * MS), 1390 * MS);
        assert!(ending.is_awaited(1199 * MS) && !ending.is_awaited(1200 * MS));
    }
}
