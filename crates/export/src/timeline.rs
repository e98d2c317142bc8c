//! A run as Perfetto's trace: processes, threads, callbacks as slices, flows of messages from publish call to callback,
//! the time that threads had no CPU, latency as counters, findings and worst instances as instants.
//!
//! Field numbers are those of Perfetto's `protos/perfetto/trace`: `track_event/track_event.proto` and
//! `track_event/track_descriptor.proto`.

mod packets;

use crate::{replace, Error, Watched};
use packets::{counter, instant, process_track, slice_begin, slice_end, thread_track, track, Packets};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tacho_tables::row::{numbered, Row};
use tacho_tables::summary::Summary;
use tacho_tables::timeline::{
    is_flow, off_cpu_words, process_name, publish_call, sorted_by, thread_of, threads, Thread,
};
use tacho_tables::{Message, Process, Signal, Tables};

/// Rows between two looks at who watches.
const ROWS_A_STEP: usize = 1 << 14;

/// Writes the trace of a run to `out`. Times are those of the tables: ns of CLOCK_MONOTONIC.
pub fn perfetto(tables: &Tables, summary: &Summary, out: &Path, watched: &mut Watched<'_>) -> Result<(), Error> {
    replace(out, |part| {
        let failed = |source: io::Error| Error::Io { path: part.into(), source };
        let mut trace = Trace {
            tables,
            tracks: Tracks::of(tables),
            packets: Packets::to(BufWriter::new(File::create(part).map_err(failed)?)),
        };
        let mut step = |what: &str, done: f64| watched.step(what, done, out);
        let parts: [(&str, Part<'_>); 5] = [
            ("callbacks", Trace::callbacks),
            ("messages", Trace::messages),
            ("counters", Trace::counters),
            ("signals", Trace::signals),
            ("preemptions", Trace::off_cpu),
        ];
        trace.name_tracks().map_err(failed)?;
        trace.findings(summary).map_err(failed)?;
        for (number, (what, write)) in parts.iter().enumerate() {
            let mut stopped = None;
            let written = write(&mut trace, &mut |part| {
                stopped = step(what, (number as f64 + part) / parts.len() as f64).err();
                stopped.is_none()
            });
            match stopped {
                Some(error) => return Err(error),
                None => written.map_err(failed)?,
            }
        }
        trace.packets.finish().and_then(|mut file| file.flush()).map_err(failed)
    })
}

/// Writes a part of a trace; calls what it is given with the part of its rows that is done, and ends if that is false.
type Part<'a> = fn(&mut Trace<'a>, &mut dyn FnMut(f64) -> bool) -> io::Result<()>;

struct Trace<'a> {
    tables: &'a Tables,
    tracks: Tracks,
    packets: Packets<BufWriter<File>>,
}

/// Identities of tracks. Those of processes, threads, topics and the run are apart.
struct Tracks {
    threads: BTreeMap<Thread, u64>,
    off_cpu: BTreeMap<Thread, u64>,
    topics: BTreeMap<String, u64>,
    published_outside: BTreeMap<Row<Process>, u64>,
    signals: BTreeMap<Row<Signal>, u64>,
}

const OF_FINDINGS: u64 = 1;

impl Tracks {
    fn of(tables: &Tables) -> Tracks {
        let first = 2 + tables.processes.len() as u64;
        let mut next = first..;
        let mut new = || next.next().unwrap_or(u64::MAX);
        let threads: BTreeSet<_> = tables.executions.iter().map(|one| thread_of(tables, one)).collect();
        let off_cpu: BTreeSet<_> = tables.preemptions.iter().map(|one| (one.process, one.tid)).collect();
        let topics: BTreeSet<_> = tables.endpoints.iter().map(|endpoint| endpoint.topic.clone()).collect();
        let outside: BTreeSet<_> = tables
            .messages
            .iter()
            .filter(|message| message.published_in.is_none())
            .filter_map(|message| Some(tables.nodes[tables.endpoints[message.publisher?].node].process))
            .collect();
        Tracks {
            threads: threads.into_iter().map(|key| (key, new())).collect(),
            off_cpu: off_cpu.into_iter().map(|key| (key, new())).collect(),
            topics: topics.into_iter().map(|key| (key, new())).collect(),
            published_outside: outside.into_iter().map(|key| (key, new())).collect(),
            signals: numbered(&tables.signals).filter(|(_, of)| !of.list).map(|(row, _)| (row, new())).collect(),
        }
    }

    fn process(process: Row<Process>) -> u64 {
        2 + u64::from(process.number())
    }
}

impl Trace<'_> {
    fn name_tracks(&mut self) -> io::Result<()> {
        let Trace { tables, tracks, packets } = self;
        let nodes = threads(tables);
        let pids = process_ids(&tables.processes);
        for (row, process) in numbered(&tables.processes) {
            let name = process_name(tables, row);
            packets.write(&process_track(Tracks::process(row), pids[row.index()], &name, &process.command))?;
        }
        for ((process, tid), uuid) in &tracks.threads {
            packets.write(&thread_track(*uuid, pids[process.index()], *tid, &nodes[&(*process, *tid)]))?;
        }
        for ((process, tid), uuid) in &tracks.off_cpu {
            let parent = tracks.threads.get(&(*process, *tid)).copied().unwrap_or(Tracks::process(*process));
            packets.write(&track(*uuid, Some(parent), &format!("no CPU, thread {tid}"), None))?;
        }
        for (process, uuid) in &tracks.published_outside {
            packets.write(&track(*uuid, Some(Tracks::process(*process)), "published outside of callbacks", None))?;
        }
        for (topic, uuid) in &tracks.topics {
            packets.write(&track(*uuid, None, &format!("latency {topic}"), Some("us")))?;
        }
        for (row, uuid) in &tracks.signals {
            let Signal { node, name, unit, .. } = &tables.signals[*row];
            let name = format!("{} {name}", tables.nodes[*node].name);
            packets.write(&track(*uuid, None, &name, Some(unit)))?;
        }
        packets.write(&track(OF_FINDINGS, None, "findings and worst instances", None))
    }

    /// A slice an execution, and the flows of the messages that it took.
    fn callbacks(&mut self, go_on: &mut dyn FnMut(f64) -> bool) -> io::Result<()> {
        let Trace { tables, tracks, packets } = self;
        let taken = sorted_by(tables, |message| message.execution.filter(|_| is_flow(message)));
        let names: Vec<String> =
            tables.callbacks.iter().map(|of| of.name(&tables.nodes, &tables.processes).to_string()).collect();
        let all = tables.executions.len().max(1) as f64;
        let mut next = 0;
        for (number, (row, execution)) in numbered(&tables.executions).enumerate() {
            if number.is_multiple_of(ROWS_A_STEP) && !go_on(number as f64 / all) {
                return Ok(());
            }
            let first = next;
            let takes = |message: &Row<Message>| tables.messages[message.index()].execution == Some(row);
            next += taken[first..].iter().take_while(|message| takes(message)).count();
            let thread = tracks.threads[&thread_of(tables, execution)];
            let name = &names[execution.callback.index()];
            let cpu_ms = execution.cpu_ns.get().map(|ns| ns as f64 / 1e6);
            packets.write(&slice_begin(thread, execution.start_ns, name, &taken[first..next], cpu_ms))?;
            // One without an end goes on to the end of the trace, as the process ended inside.
            if let Some(end) = execution.end_ns.get() {
                packets.write(&slice_end(thread, end))?;
            }
        }
        Ok(())
    }

    /// An instant a publication that somebody took, where the flows of its messages begin.
    fn messages(&mut self, go_on: &mut dyn FnMut(f64) -> bool) -> io::Result<()> {
        let Trace { tables, tracks, packets } = self;
        let key = |message: &Message| publish_call(message).filter(|_| is_flow(message));
        let sent = sorted_by(tables, key);
        let all = sent.len().max(1) as f64;
        let (mut at, mut step) = (0, 0);
        while at < sent.len() {
            if at >= step {
                step = at + ROWS_A_STEP;
                if !go_on(at as f64 / all) {
                    return Ok(());
                }
            }
            let message = &tables.messages[sent[at].index()];
            let same = sent[at..].iter().take_while(|other| key(&tables.messages[other.index()]) == key(message));
            let end = at + same.count();
            if let Some((publisher, publish_ns)) = key(message) {
                let endpoint = &tables.endpoints[publisher];
                let process = tables.nodes[endpoint.node].process;
                let inside = message.published_in.map(|row| &tables.executions[row]);
                let thread = inside.map(|of| tracks.threads[&thread_of(tables, of)]);
                let on = thread.or_else(|| tracks.published_outside.get(&process).copied());
                let name = format!("publish {}", endpoint.topic);
                let on = on.unwrap_or(Tracks::process(process));
                packets.write(&instant(on, publish_ns, &name, &sent[at..end], &[]))?;
            }
            at = end;
        }
        Ok(())
    }

    /// The latency of each message when its callback began.
    fn counters(&mut self, go_on: &mut dyn FnMut(f64) -> bool) -> io::Result<()> {
        let Trace { tables, tracks, packets } = self;
        let all = tables.messages.len().max(1) as f64;
        for (number, message) in tables.messages.iter().enumerate() {
            if number.is_multiple_of(ROWS_A_STEP) && !go_on(number as f64 / all) {
                return Ok(());
            }
            let reached = message.callback_ns.get().or(message.take_ns.get());
            let (Some(publish), Some(reached), false) = (message.publish_ns.get(), reached, message.emulated) else {
                continue;
            };
            let topic = tracks.topics[&tables.endpoints[message.subscription].topic];
            packets.write(&counter(topic, reached, (reached - publish) as f64 / 1e3))?;
        }
        Ok(())
    }

    /// The values of signals that are no lists, at the instants that they describe.
    fn signals(&mut self, go_on: &mut dyn FnMut(f64) -> bool) -> io::Result<()> {
        let Trace { tables, tracks, packets } = self;
        let all = tables.samples.len().max(1) as f64;
        for (number, sample) in tables.samples.iter().enumerate() {
            if number.is_multiple_of(ROWS_A_STEP) && !go_on(number as f64 / all) {
                return Ok(());
            }
            if let Some(on) = tracks.signals.get(&sample.signal).filter(|_| sample.value.is_finite()) {
                packets.write(&counter(*on, sample.at_ns, sample.value))?;
            }
        }
        Ok(())
    }

    /// When a thread could not go on, and who had its CPU.
    fn off_cpu(&mut self, go_on: &mut dyn FnMut(f64) -> bool) -> io::Result<()> {
        let Trace { tables, tracks, packets } = self;
        let all = tables.preemptions.len().max(1) as f64;
        for (number, one) in tables.preemptions.iter().enumerate() {
            if number.is_multiple_of(ROWS_A_STEP) && !go_on(number as f64 / all) {
                return Ok(());
            }
            let on = tracks.off_cpu[&(one.process, one.tid)];
            packets.write(&slice_begin(on, one.from_ns, &off_cpu_words(one), &[], None))?;
            packets.write(&slice_end(on, one.to_ns))?;
        }
        Ok(())
    }

    /// Findings have no time of their own: they stand at the beginning. Worst instances stand where they began.
    fn findings(&mut self, summary: &Summary) -> io::Result<()> {
        let begin = self.tables.processes.iter().map(|process| process.first_ns).min().unwrap_or(0);
        for finding in summary.findings.iter().flatten() {
            for case in &finding.cases {
                let notes = [("evidence", &*case.evidence), ("cost", &*case.cost), ("next", &*case.next)];
                let name = format!("{}: {}", finding.lint, case.subject);
                self.packets.write(&instant(OF_FINDINGS, begin, &name, &[], &notes))?;
            }
        }
        for chain in &summary.chains {
            for worst in chain.worst.iter().filter(|worst| worst.repeat.is_none()) {
                let name = format!("{}: {:.3} ms", chain.name, worst.end_to_end_ms);
                let parts = worst.parts.iter().map(|part| format!("{:.3} ms {}", part.ms, part.by));
                let took = parts.collect::<Vec<_>>().join("; ");
                self.packets.write(&instant(OF_FINDINGS, worst.start_ns, &name, &[], &[("took its time", &took)]))?;
            }
        }
        Ok(())
    }
}

/// Process ids, each once: Perfetto takes two processes of one id for one, as several hosts may have.
fn process_ids(processes: &[Process]) -> Vec<u32> {
    let mut taken = BTreeSet::new();
    let free = |taken: &BTreeSet<u32>, pid: u32| (0..).map(|n| pid + n * (1 << 22)).find(|pid| !taken.contains(pid));
    let ids = processes.iter().map(|process| {
        let pid = free(&taken, process.pid).unwrap_or(process.pid);
        taken.insert(pid);
        pid
    });
    ids.collect()
}
