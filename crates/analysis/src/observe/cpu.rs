//! CPU time of callbacks by the CPU-time clock of their thread, and for how long that had no CPU by the kernel's run
//! delay (`tacho record` reads both unless `--cpu-time=off`). Where scheduler events are there, these tell it.

use tacho_events::{Duration, Payload};
use tacho_tables::row::Row;
use tacho_tables::Execution;

/// What was read of a thread beside a callback, or how much that grew over one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Of its CPU-time clock.
    pub cpu_ns: i64,
    /// Ready to run and without a CPU; `None`: the kernel does not report it.
    pub run_delay_ns: Option<i64>,
}

impl Reading {
    pub fn of(cpu_ns: i64, run_delay_ns: Option<i64>) -> Reading {
        Reading { cpu_ns, run_delay_ns }
    }

    /// What a callback had that took so long. The reading itself takes CPU time (some 0.2 us), so that it may exceed
    /// the wall time, which it cannot in truth. Nor was the thread without a CPU for longer than it was off the CPU.
    fn since(self, before: Reading, wall: Duration) -> Reading {
        let Reading { cpu_ns, run_delay_ns } = self.less(before);
        let cpu_ns = cpu_ns.min(wall.as_ns());
        Reading { cpu_ns, run_delay_ns: run_delay_ns.map(|ns| ns.min((wall.as_ns() - cpu_ns).max(0))) }
    }

    fn less(self, before: Reading) -> Reading {
        // The recorder subtracts waits outside of the callback, and steal may be in these.
        let delay = self.run_delay_ns.zip(before.run_delay_ns).map(|(after, before)| (after - before).max(0));
        Reading { cpu_ns: self.cpu_ns - before.cpu_ns, run_delay_ns: delay }
    }
}

/// Whether an event is a reading.
pub(crate) fn is_reading(payload: &Payload) -> bool {
    matches!(payload, Payload::CallbackCpu { .. } | Payload::CallbackCpuAndDelay { .. })
}

/// Readings of one thread around its callbacks.
#[derive(Debug, Default)]
pub(crate) struct CpuClock {
    /// Read, and no callback has begun since.
    before: Option<Reading>,
    /// Of each running callback, outermost first: the reading before it.
    running: Vec<Option<Reading>>,
    /// The last reading after a callback.
    after: Option<Reading>,
    /// The callback that ended last: its execution, when it took, and the reading before it.
    ended: Option<(Row<Execution>, Duration, Reading)>,
}

impl CpuClock {
    /// A reading before a callback.
    pub fn read_before(&mut self, read: Reading) {
        self.before = Some(read);
        self.ended = None;
    }

    /// Something else happened: what was read is of no callback.
    pub fn forget(&mut self) {
        self.before = None;
        self.ended = None;
    }

    /// A callback begins: `depth` run already. What the thread had since the last one that no other contains; `None`
    /// inside of one.
    pub fn starts(&mut self, depth: usize) -> Option<Reading> {
        self.running.resize(depth, None);
        let (before, after) = (self.before.take(), self.after.take());
        self.running.push(before);
        self.ended = None;
        before.zip(after).map(|(before, after)| before.less(after)).filter(|used| used.cpu_ns >= 0)
    }

    /// The callback at `depth` ends.
    pub fn ends(&mut self, depth: usize, execution: Row<Execution>, wall: Duration) {
        let before = self.running.get(depth).copied().flatten();
        self.running.truncate(depth);
        self.before = None;
        self.ended = before.map(|before| (execution, wall, before));
    }

    /// A reading after a callback: the execution that it ends, and what that had.
    pub fn read_after(&mut self, read: Reading) -> Option<(Row<Execution>, Reading)> {
        self.after = self.running.is_empty().then_some(read);
        let (execution, wall, before) = self.ended.take()?;
        Some((execution, read.since(before, wall)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(ns: i64) -> Duration {
        Duration::from_ns(ns)
    }

    fn at(cpu_ns: i64) -> Reading {
        Reading::of(cpu_ns, None)
    }

    #[test]
    fn nested_callbacks_have_their_own_time_and_the_outer_one_that_of_both() {
        let mut clock = CpuClock::default();
        clock.read_before(at(100));
        clock.starts(0);
        clock.read_before(at(150));
        clock.starts(1);
        clock.ends(1, Row::new(8), ns(1_000));
        assert_eq!(clock.read_after(at(250)), Some((Row::new(8), at(100))));
        clock.ends(0, Row::new(7), ns(2_000));
        assert_eq!(clock.read_after(at(400)), Some((Row::new(7), at(300))));
    }

    #[test]
    fn a_missing_reading_gives_no_time_and_the_reading_of_the_next_callback_is_not_taken_for_it() {
        let mut clock = CpuClock::default();
        clock.read_before(at(100));
        clock.starts(0);
        clock.ends(0, Row::new(1), ns(1_000));
        clock.read_before(at(900)); // the one after was dropped
        assert_eq!(clock.read_after(at(950)), None);
        clock.starts(0);
        clock.ends(0, Row::new(2), ns(1_000));
        assert_eq!(clock.read_after(at(1_000)), Some((Row::new(2), at(100))));
        clock.starts(0);
        clock.ends(0, Row::new(3), ns(1_000));
        assert_eq!(clock.read_after(at(2_000)), None, "the one before was dropped");
    }

    #[test]
    fn what_a_thread_computed_between_two_callbacks_is_known_if_both_were_read() {
        let mut clock = CpuClock::default();
        let mut run = |before: Option<i64>, after: Option<i64>| {
            before.into_iter().for_each(|ns| clock.read_before(at(ns)));
            let since = clock.starts(0);
            // One inside of it.
            assert_eq!(clock.starts(1), None);
            clock.ends(1, Row::new(2), ns(1));
            clock.forget();
            clock.ends(0, Row::new(1), ns(1_000));
            after.into_iter().for_each(|ns| _ = clock.read_after(at(ns)));
            clock.forget();
            since.map(|used| used.cpu_ns)
        };
        assert_eq!(run(Some(100), Some(250)), None, "nothing ran before");
        assert_eq!(run(Some(300), Some(400)), Some(50));
        assert_eq!(run(None, Some(900)), None);
        assert_eq!(run(Some(910), None), Some(10));
        assert_eq!(run(Some(950), Some(960)), None, "when the one before ended was not read");
    }

    #[test]
    fn cpu_time_is_never_more_than_wall_time() {
        let mut clock = CpuClock::default();
        clock.read_before(at(0));
        clock.starts(0);
        clock.ends(0, Row::new(1), ns(50));
        assert_eq!(clock.read_after(at(250)), Some((Row::new(1), at(50))));
    }

    #[test]
    fn time_without_a_cpu_is_at_most_what_the_cpu_time_leaves() {
        let took = |delay: [Option<i64>; 2]| {
            let mut clock = CpuClock::default();
            clock.read_before(Reading::of(100, delay[0]));
            clock.starts(0);
            clock.ends(0, Row::new(1), ns(50));
            clock.read_after(Reading::of(120, delay[1])).unwrap().1.run_delay_ns
        };
        assert_eq!(took([Some(1_000), Some(1_010)]), Some(10));
        assert_eq!(took([Some(1_000), Some(1_000)]), Some(0));
        assert_eq!(took([Some(1_000), Some(1_090)]), Some(30), "waited outside, too");
        assert_eq!(took([None, Some(1_010)]), None);
        assert_eq!(took([Some(1_000), Some(990)]), Some(0), "as much as it waited outside, and steal, was subtracted");
    }
}
