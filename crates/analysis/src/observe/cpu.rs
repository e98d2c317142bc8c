//! CPU time of callbacks by the CPU-time clock of their thread (`tacho record --cpu-time`). Where scheduler events are
//! there, these tell it.

use tacho_events::Duration;
use tacho_tables::row::Row;
use tacho_tables::Execution;

/// Readings of one thread's CPU-time clock around its callbacks.
#[derive(Debug, Default)]
pub(crate) struct CpuClock {
    /// Read, and no callback has begun since.
    before: Option<i64>,
    /// Of each running callback, outermost first: the reading before it.
    running: Vec<Option<i64>>,
    /// The last reading after a callback.
    after: Option<i64>,
    /// The callback that ended last: its execution, when it took, and the reading before it.
    ended: Option<(Row<Execution>, Duration, i64)>,
}

impl CpuClock {
    /// A reading before a callback.
    pub fn read_before(&mut self, cpu_ns: i64) {
        self.before = Some(cpu_ns);
        self.ended = None;
    }

    /// Something else happened: what was read is of no callback.
    pub fn forget(&mut self) {
        self.before = None;
        self.ended = None;
    }

    /// A callback begins: `depth` run already. CPU time of the thread since the last one that no other contains, ns;
    /// `None` inside of one.
    pub fn starts(&mut self, depth: usize) -> Option<i64> {
        self.running.resize(depth, None);
        let (before, after) = (self.before.take(), self.after.take());
        self.running.push(before);
        self.ended = None;
        before.zip(after).map(|(before, after)| before - after).filter(|ns| *ns >= 0)
    }

    /// The callback at `depth` ends.
    pub fn ends(&mut self, depth: usize, execution: Row<Execution>, wall: Duration) {
        let before = self.running.get(depth).copied().flatten();
        self.running.truncate(depth);
        self.before = None;
        self.ended = before.map(|before| (execution, wall, before));
    }

    /// A reading after a callback: the execution that it ends, and its CPU time, ns. The reading itself takes CPU time
    /// (some 0.2 us), so that it may exceed the wall time, which it cannot in truth.
    pub fn read_after(&mut self, cpu_ns: i64) -> Option<(Row<Execution>, i64)> {
        self.after = self.running.is_empty().then_some(cpu_ns);
        let (execution, wall, before) = self.ended.take()?;
        Some((execution, (cpu_ns - before).min(wall.as_ns())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(ns: i64) -> Duration {
        Duration::from_ns(ns)
    }

    #[test]
    fn nested_callbacks_have_their_own_time_and_the_outer_one_that_of_both() {
        let mut clock = CpuClock::default();
        clock.read_before(100);
        clock.starts(0);
        clock.read_before(150);
        clock.starts(1);
        clock.ends(1, Row::new(8), ns(1_000));
        assert_eq!(clock.read_after(250), Some((Row::new(8), 100)));
        clock.ends(0, Row::new(7), ns(2_000));
        assert_eq!(clock.read_after(400), Some((Row::new(7), 300)));
    }

    #[test]
    fn a_missing_reading_gives_no_time_and_the_reading_of_the_next_callback_is_not_taken_for_it() {
        let mut clock = CpuClock::default();
        clock.read_before(100);
        clock.starts(0);
        clock.ends(0, Row::new(1), ns(1_000));
        clock.read_before(900); // the one after was dropped
        assert_eq!(clock.read_after(950), None);
        clock.starts(0);
        clock.ends(0, Row::new(2), ns(1_000));
        assert_eq!(clock.read_after(1_000), Some((Row::new(2), 100)));
        clock.starts(0);
        clock.ends(0, Row::new(3), ns(1_000));
        assert_eq!(clock.read_after(2_000), None, "the one before was dropped");
    }

    #[test]
    fn what_a_thread_computed_between_two_callbacks_is_known_if_both_were_read() {
        let mut clock = CpuClock::default();
        let mut run = |before: Option<i64>, after: Option<i64>| {
            before.into_iter().for_each(|ns| clock.read_before(ns));
            let since = clock.starts(0);
            // One inside of it.
            assert_eq!(clock.starts(1), None);
            clock.ends(1, Row::new(2), ns(1));
            clock.forget();
            clock.ends(0, Row::new(1), ns(1_000));
            after.into_iter().for_each(|ns| _ = clock.read_after(ns));
            clock.forget();
            since
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
        clock.read_before(0);
        clock.starts(0);
        clock.ends(0, Row::new(1), ns(50));
        assert_eq!(clock.read_after(250), Some((Row::new(1), 50)));
    }
}
