//! What came of the kernel's events: rows, CPU time, sums.

use super::host::{overlap, Sums, Thread};
use super::Scheduler;
use crate::observe::{Seen, StreamSeen};
use rustc_hash::FxHashMap as HashMap;
use tacho_tables::row::Row;
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::rows::Rows;
use tacho_tables::{Execution, Note, OffCpu, Preemption};

/// Part of a thread's time in which its state may be unknown, since single switches are missing, for its sums to be
/// shown.
const UNKNOWN: f64 = 0.01;

/// What came of it, by execution and by stream.
#[derive(Default)]
pub(crate) struct Scheduled {
    /// Rows in the order of time.
    pub preemptions: Rows<Preemption>,
    /// Times in which a thread that brings messages, and runs no callbacks, was ready and another had its CPU, in the
    /// order of time.
    pub receiving: Rows<Preemption>,
    /// Whether all that happened to its thread is known, by execution; empty without kernel events.
    known: Rows<bool>,
    /// In which each stream was runnable and had no CPU.
    runnable: Spans,
    /// In which each stream was blocked inside a callback.
    blocked: Spans,
    /// Off the CPU between first and last event, by stream; only where all of it is known.
    pub sums: HashMap<u32, Sums>,
    pub notes: Vec<Note>,
}

/// Intervals of each stream in order, and such time before each.
#[derive(Default)]
struct Spans(Grouped<StreamSeen, (i64, i64, i64)>);

/// Time off the CPU inside an execution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OffNs {
    /// Could have gone on.
    pub runnable: i64,
    /// Asleep or blocked.
    pub blocked: i64,
}

impl Spans {
    fn new(streams: usize, all: &Rows<(u32, (i64, i64))>) -> Spans {
        Spans(Grouped::new(streams, || {
            let mut before = vec![0; streams];
            all.iter().map(move |(stream, (from, to))| {
                let so_far = &mut before[*stream as usize];
                let span = (*from, *to, *so_far);
                *so_far += to - from;
                (Row::new(*stream), span)
            })
        }))
    }

    fn within(&self, stream: u32, from: i64, to: i64) -> i64 {
        let spans = self.0.of(Row::new(stream));
        let until = |instant: i64| match spans.partition_point(|span| span.0 <= instant).checked_sub(1) {
            Some(last) => spans[last].2 + (instant.min(spans[last].1) - spans[last].0),
            None => 0,
        };
        until(to) - until(from)
    }
}

impl Scheduler {
    /// Tables of it; gives executions of which all is known their CPU time.
    pub fn finish(self, seen: &mut Seen) -> Scheduled {
        let mut scheduled = Scheduled::default();
        if self.hosts.iter().all(|host| host.last_ns.is_none()) {
            return scheduled;
        }
        let place = |stream: u32| {
            let (host, thread) = self.threads.get(stream as usize).copied().flatten()?;
            let host = &self.hosts[host as usize];
            Some((host, &host.threads[thread as usize]))
        };
        // A thread that acted off the CPU to the end, too: it should have come back by now.
        let trusted = |stream: u32| {
            place(stream).is_some_and(|(_, thread)| {
                thread.stream == Some(stream) && !thread.contradicted && thread.acted_off.is_none()
            })
        };
        let within = |stream: u32, from: i64, to: i64| {
            place(stream).is_some_and(|(host, _)| {
                from >= host.first_ns && !overlap(&host.gaps, from, to) && host.last_ns.is_some_and(|last| to <= last)
            })
        };
        let whole = |stream: u32, from: i64, to: i64| {
            within(stream, from, to) && place(stream).is_some_and(|(_, thread)| !overlap(&thread.holes, from, to))
        };
        let (from_ns, to_ns) =
            (self.options.measured_from_ns.unwrap_or(i64::MIN), self.options.measured_to_ns.unwrap_or(i64::MAX));
        let unknown_ns = |thread: &Thread, from: i64, to: i64| -> i64 {
            thread.holes.iter().map(|hole| (hole.1.min(to) - hole.0.max(from)).max(0)).sum()
        };

        for index in 0..seen.executions.len() {
            let execution = &mut seen.executions[index];
            let stream = seen.execution_stream[index];
            let began_known = self.known_at_start.get(index).copied().unwrap_or(false);
            let end = execution
                .end_ns
                .get()
                .filter(|end| began_known && trusted(stream) && whole(stream, execution.start_ns, *end));
            scheduled.known.push(end.is_some());
            if let Some(end) = end {
                execution.runnable_ns = self.runnable_ns.get(index).copied().unwrap_or(0).into();
                execution.cpu_ns = (end - execution.start_ns - self.off_ns.get(index).copied().unwrap_or(0)).into();
            }
        }
        let (mut runnable, mut blocked) = (Rows::new(), Rows::new());
        for (stream, row) in &self.rows {
            let Some(of) = seen.streams.get(*stream as usize) else { continue };
            let executes = !of.executions.is_empty();
            if !(executes || of.receives) || !trusted(*stream) || !whole(*stream, row.from_ns, row.to_ns) {
                continue;
            }
            let row = Preemption { process: of.process, ..*row };
            if executes {
                match row.state {
                    OffCpu::Runnable => runnable.push((*stream, (row.from_ns, row.to_ns))),
                    OffCpu::Blocked => blocked.push((*stream, (row.from_ns, row.to_ns))),
                    OffCpu::Interrupted => {}
                }
                scheduled.preemptions.push(row);
            } else if row.state == OffCpu::Runnable && row.by_comm.is_some() {
                scheduled.receiving.push(row);
            }
        }
        scheduled.runnable = Spans::new(seen.streams.len(), &runnable);
        scheduled.blocked = Spans::new(seen.streams.len(), &blocked);
        let place_of = |row: &Preemption| (row.from_ns, row.process, row.tid);
        scheduled.preemptions =
            std::mem::take(&mut scheduled.preemptions).sorted_by(|a, b| place_of(a).cmp(&place_of(b)));
        scheduled.receiving = std::mem::take(&mut scheduled.receiving).sorted_by(|a, b| place_of(a).cmp(&place_of(b)));
        for (index, stream) in seen.streams.iter().enumerate() {
            let index = index as u32;
            let Some((_, thread)) = place(index).filter(|_| !stream.executions.is_empty()) else { continue };
            let (from, to) = (stream.first_ns.max(from_ns), stream.last_ns.min(to_ns));
            let unknown_ns = unknown_ns(thread, from, to);
            let known = within(index, stream.first_ns, stream.last_ns)
                && unknown_ns as f64 <= UNKNOWN * to.saturating_sub(from) as f64;
            if let (Some(first), true) = (thread.at_first, trusted(index) && known) {
                let last = thread.at_last;
                scheduled.sums.insert(
                    index,
                    Sums {
                        runnable_ns: last.runnable_ns - first.runnable_ns,
                        blocked_ns: last.blocked_ns - first.blocked_ns,
                        voluntary: last.voluntary - first.voluntary,
                        involuntary: last.involuntary - first.involuntary,
                        unknown_ns,
                    },
                );
            }
        }
        scheduled.notes = self.notes(seen, &scheduled, trusted);
        scheduled
    }

    fn notes(&self, seen: &Seen, scheduled: &Scheduled, trusted: impl Fn(u32) -> bool) -> Vec<Note> {
        let mut notes = Vec::new();
        let lost: u64 = self.hosts.iter().map(|host| host.gaps.len() as u64).sum();
        let unknown = scheduled
            .known
            .iter()
            .zip(&seen.executions)
            .filter(|(known, e)| !**known && e.end_ns.get().is_some())
            .count();
        if lost > 0 {
            let text = format!(
                "times at which the kernel had no room for its scheduler events: CPU time and preemption of callbacks \
                 that overlap one are absent ({unknown} executions without them in all)"
            );
            notes.push(Note { name: "kernel-events-lost".into(), count: lost, text });
        }
        let missing: u64 = (0..seen.streams.len() as u32)
            .filter_map(|s| {
                self.threads
                    .get(s as usize)
                    .copied()
                    .flatten()
                    .filter(|_| !seen.streams[s as usize].executions.is_empty())
            })
            .map(|(host, thread)| self.hosts[host as usize].threads[thread as usize].holes.len() as u64)
            .sum();
        if missing > 0 {
            let text = "context switches of executor threads that the kernel did not report: CPU time and preemption \
                        of callbacks about them are absent";
            notes.push(Note { name: "kernel-switches-missing".into(), count: missing, text: text.into() });
        }
        let strange = (0..seen.streams.len() as u32)
            .filter(|s| {
                !seen.streams[*s as usize].executions.is_empty()
                    && self.threads.get(*s as usize).copied().flatten().is_some()
                    && !trusted(*s)
            })
            .count();
        if strange > 0 {
            let text = "threads that acted while the kernel had them off the CPU: their ids are those of another pid \
                        namespace (a container), or were given again; their CPU time and preemption are absent";
            notes.push(Note { name: "kernel-threads-not-matched".into(), count: strange as u64, text: text.into() });
        }
        notes
    }
}

impl Scheduled {
    /// Whether all that happened to the thread of an execution is known.
    pub fn knows(&self, execution: Row<Execution>) -> bool {
        self.known.get(execution.index()).copied().unwrap_or(false)
    }

    /// Of the time from `from` to `to`, inside an execution: its thread was off the CPU. `None`: not known.
    pub fn off_ns(&self, execution: Row<Execution>, stream: u32, from: i64, to: i64) -> Option<OffNs> {
        self.knows(execution).then(|| OffNs {
            runnable: self.runnable.within(stream, from, to),
            blocked: self.blocked.within(stream, from, to),
        })
    }
}
