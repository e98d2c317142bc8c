//! Executor states: how the time of each thread that executes callbacks divides into waiting, ready and executing.

use crate::chains::busy::Busy;
use crate::observe::{Seen, StreamSeen};
use crate::stages::Ways;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::Execution;
use tacho_tables::ExecutorThread;

/// One row a thread that executed callbacks in the measured window.
pub(crate) fn executors(seen: &Ways, busy: &Busy) -> Vec<ExecutorThread> {
    let (scheduled, options) = (&seen.scheduled, &seen.options);
    let mut rows = Vec::new();
    for (index, stream) in seen.streams.iter().enumerate().filter(|(_, s)| !s.executions.is_empty()) {
        let from_ns = stream.first_ns.max(options.measured_from_ns.unwrap_or(i64::MIN));
        let to_ns = stream.last_ns.min(options.measured_to_ns.unwrap_or(i64::MAX));
        if to_ns <= from_ns {
            continue;
        }
        let clip = |from: i64, to: i64| (to.min(to_ns) - from.max(from_ns)).max(0);
        let spans = execution_spans(seen, stream);
        let executing_ns = spans.iter().map(|(from, to)| clip(*from, *to)).sum();
        // A callback that spins an executor of its own waits inside: that is executing.
        let outside = |instant: i64| match spans.partition_point(|span| span.0 <= instant).checked_sub(1) {
            Some(last) => spans[last].1 <= instant,
            None => true,
        };
        // Of several threads one waits for work, the others for their turn.
        let standbys = busy.team_of(index as u32).map_or(&[][..], |_| &stream.standbys);
        let waits = stream.waits.iter().filter(|wait| outside(wait.0)).chain(standbys);
        let waiting_ns = (!stream.waits.is_empty()).then(|| waits.map(|(from, to)| clip(*from, *to)).sum::<i64>());
        let sums = scheduled.sums.get(&(index as u32));
        rows.push(ExecutorThread {
            process: stream.process,
            tid: stream.tid,
            executor: busy.team_number(index as u32),
            executor_threads: busy.team_of(index as u32).map(|team| team.threads.len() as u32),
            from_ns,
            to_ns,
            waiting_ns,
            empty_waits: waiting_ns.map(|_| empty_waits(stream, &spans, outside, (from_ns, to_ns))),
            ready_ns: waiting_ns.map(|waiting| to_ns - from_ns - waiting - executing_ns),
            executing_ns,
            running_ns: sums.map(|s| to_ns - from_ns - s.runnable_ns - s.blocked_ns - s.unknown_ns),
            runnable_ns: sums.map(|s| s.runnable_ns),
            blocked_ns: sums.map(|s| s.blocked_ns),
            voluntary_switches: sums.map(|s| s.voluntary),
            involuntary_switches: sums.map(|s| s.involuntary),
        });
    }
    rows
}

/// Waits between two instants, outside of callbacks, between which and the next one no callback began. What followed
/// the last is not known.
fn empty_waits(
    stream: &StreamSeen,
    spans: &[(i64, i64)],
    outside: impl Fn(i64) -> bool,
    (from_ns, to_ns): (i64, i64),
) -> u64 {
    let began =
        |from: i64, to: i64| spans.partition_point(|span| span.0 < to) > spans.partition_point(|span| span.0 < from);
    let pairs = stream.waits.iter().zip(stream.waits.iter().skip(1));
    let empty =
        pairs.filter(|(wait, next)| wait.0 >= from_ns && next.0 < to_ns && outside(wait.0) && !began(wait.1, next.0));
    empty.count() as u64
}

/// Start and end of each outermost execution. One that never ended kept its thread until the next one began, or for
/// good.
fn execution_spans(seen: &Seen, stream: &StreamSeen) -> Rows<(i64, i64)> {
    let start = |execution: &Row<Execution>| seen.executions[*execution].start_ns;
    let end = |position: usize, execution: &Row<Execution>| {
        let next = stream.executions.get(position + 1).map_or(stream.last_ns, start);
        seen.executions[*execution].end_ns.get().unwrap_or(next).min(next.max(start(execution)))
    };
    stream.executions.iter().enumerate().map(|(position, e)| (start(e), end(position, e))).collect()
}
