//! Waits for a CPU before callbacks, by the kernel's run delay of their thread, where no scheduler event shows them.

use super::{Explainer, Part, Pieces, Who};
use tacho_tables::CauseKind;

impl Explainer<'_> {
    /// Adds for how long a thread needed a CPU, at a place on the path, from an instant to the start of an execution,
    /// and for so long at most. Gives how long that was.
    pub(super) fn without_unseen_cpu(
        &self,
        at: u32,
        stream: u32,
        stretch: (i64, i64),
        most: i64,
        parts: &mut Pieces,
    ) -> i64 {
        let lacked = self.lacked_since(stream, stretch).unwrap_or(0).min(most);
        parts.add((at, CauseKind::NoCpu, Who::Unknown), Part::new(lacked, None, None));
        lacked
    }

    /// For how long a thread was ready to run and had no CPU from an instant to the start of an execution. The run
    /// delay tells it since the callback before. `None`: it may have been ready to run earlier, too. It was not if that
    /// callback ended later. If the thread has waited for work once since, it was ready to run when that was over, and
    /// as long as at most until it began to wait: that is left out.
    fn lacked_since(&self, stream: u32, (from, start): (i64, i64)) -> Option<i64> {
        let seen = self.tracer.seen;
        let of = &seen.streams[stream as usize];
        let place = of.executions.partition_point(|row| seen.executions[*row].start_ns < start);
        let row = *of.executions.get(place)?;
        let execution = &seen.executions[row];
        let lacked_ns = execution.executor_runnable_ns.get().filter(|_| execution.start_ns == start)?;
        let before = seen.executions[of.executions[place.checked_sub(1)?]].end_ns.get()?;
        let waits = of.waits.partition_point(|(_, until)| *until <= before);
        let mut waits = of.waits[waits..].iter().take_while(|(since, _)| *since < start);
        match (waits.next(), waits.next()) {
            _ if seen.scheduled.knows(row) => None,
            _ if before >= from => Some(lacked_ns),
            (Some((since, _)), None) => Some((lacked_ns - (since - before).max(0)).max(0)),
            _ => None,
        }
    }
}
