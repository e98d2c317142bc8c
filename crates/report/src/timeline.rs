//! The run over time, as far as it fits: executions of callbacks by thread, messages from publish call to callback,
//! what had the CPU, and the instances of the chain that the page is about.
//!
//! Rows are columns of integers ([`columns::Column`]); times are ns since `begin_ns`. Selection and words are those of
//! [`tacho_tables::timeline`], which Perfetto gets, too.

pub(crate) mod columns;
mod lit;
mod names;
mod shape;
mod spans;

use crate::ReportRun;
use columns::Column;
use lit::Chosen;
use names::Names;
use shape::{Executions, Flows, OffCpuRows, Publications, TimelineCallback, TimelineProcess, TimelineThread};
use spans::{around, holds, joined, overlaps, Span};
use std::collections::{BTreeMap, HashMap};
use tacho_tables::row::{numbered, Row};
use tacho_tables::summary::Summary;
use tacho_tables::timeline::{is_flow, off_cpu_words, publish_call, sorted_by, thread_of, threads, Thread};
use tacho_tables::{Execution, OffCpu, Preemption, Process, Tables};

pub use shape::Timeline;

/// Bytes that the timelines of all runs of a page may take.
pub const BUDGET_BYTES: usize = 5 << 20;
/// Bytes that a row takes, about: a first guess.
const BYTES_A_ROW: usize = 14;
/// No row of the page.
const NONE: u32 = u32::MAX;

/// The timeline of a run, within so many bytes; absent if no execution of a callback was recorded.
pub fn timeline(run: &ReportRun, budget_bytes: usize) -> Option<Timeline<'_>> {
    let tables = &run.tables;
    let chosen = Chosen::of(tables, &run.summary);
    let repeats = run.directory.repeats().map_or(1, |repeats| repeats.len().max(1));
    let limits = if repeats > 1 { of_one_repeat(tables, chosen.as_ref()) } else { (i64::MIN, i64::MAX) };
    let of_limits = |process: &&Process| process.last_ns >= limits.0 && process.first_ns <= limits.1;
    let begin = tables.processes.iter().filter(of_limits).map(|process| process.first_ns).min()?;
    let end = tables.processes.iter().filter(of_limits).map(|process| process.last_ns).max()?;
    let counted = counted(&run.summary, (begin, end));
    let mut times = times(tables, counted);
    times.sort_unstable();
    let looked_for = chosen.as_ref().map(|chosen| chosen.looked_for(tables));
    let looked_for: Vec<Span> =
        looked_for.into_iter().flatten().filter(|span| holds(&[counted], span.0, span.1)).collect();

    let mut rows = budget_bytes / BYTES_A_ROW;
    let mut selected = loop {
        let spans = match times.len() <= rows {
            true => vec![counted],
            false => around(&times, &looked_for, rows),
        };
        let selected = select(tables, &spans, begin, chosen.as_ref())?;
        let bytes = selected.bytes();
        let few = rows / looked_for.len().max(1) < 100;
        if bytes <= budget_bytes || few {
            break selected;
        }
        rows = rows.min(times.len()) / 10 * 9 * budget_bytes / bytes;
    };
    selected.length_ns = end - begin;
    selected.rows = times.len();
    selected.repeats = repeats;
    Some(selected)
}

/// From the first to the last event of the processes that ran together with that of the worst instance.
fn of_one_repeat(tables: &Tables, chosen: Option<&Chosen>) -> Span {
    let at = chosen.map_or_else(
        || tables.processes.iter().map(|process| process.first_ns).min().unwrap_or(0),
        |chosen| tables.instances[chosen.worst().index()].start_ns,
    );
    let spans = tables.processes.iter().map(|process| (process.first_ns, process.last_ns)).collect();
    joined(spans).into_iter().find(|span| span.0 <= at && at <= span.1).unwrap_or((at, at))
}

/// What was asked for of a run from `begin` to `end`. What is left out as start-up is part of a drawing.
fn counted(summary: &Summary, (begin, end): Span) -> Span {
    let asked = summary.window.as_ref().filter(|window| window.start_up_s.is_none());
    asked.map_or((begin, end), |window| {
        let at = |s: f64| begin.saturating_add((s * 1e9) as i64);
        (at(window.from_s).clamp(begin, end), at(window.to_s).clamp(begin, end))
    })
}

/// A time of each row that a page could hold.
fn times(tables: &Tables, limits: Span) -> Vec<i64> {
    let executions = tables.executions.iter().map(|one| one.start_ns);
    let messages = tables.messages.iter().filter(|one| is_flow(one)).filter_map(|one| one.publish_ns.get());
    let off_cpu = tables.preemptions.iter().map(|one| one.from_ns);
    executions.chain(messages).chain(off_cpu).filter(|time| limits.0 <= *time && *time <= limits.1).collect()
}

/// The rows inside some spans; absent without an execution.
fn select<'a>(tables: &'a Tables, spans: &[Span], begin: i64, chosen: Option<&Chosen>) -> Option<Timeline<'a>> {
    let end_of = |one: &Execution| one.end_ns.get().unwrap_or(tables.processes[thread_of(tables, one).0].last_ns);
    let mut of_threads: BTreeMap<Thread, Vec<Row<Execution>>> = BTreeMap::new();
    for (row, one) in numbered(&tables.executions).filter(|(_, one)| overlaps(spans, one.start_ns, end_of(one))) {
        of_threads.entry(thread_of(tables, one)).or_default().push(row);
    }
    if of_threads.is_empty() {
        return None;
    }
    let mut numbers = vec![NONE; tables.executions.len()];
    let mut executions: Vec<&Execution> = Vec::new();
    for rows in of_threads.values_mut() {
        // Of two that start together the longer one is outside.
        rows.sort_by_key(|row| {
            let one = &tables.executions[row.index()];
            (one.start_ns, -end_of(one), *row)
        });
        for row in rows {
            numbers[row.index()] = executions.len() as u32;
            executions.push(&tables.executions[row.index()]);
        }
    }
    let number = |row: Option<Row<Execution>>| {
        row.map(|row| numbers[row.index()]).filter(|number| *number != NONE).map(i64::from)
    };
    let mut names = Names::default();
    let nodes = threads(tables);
    let (publications, flows, messages) = messages(tables, spans, begin, number, &mut names);
    let (off_cpu, intervals) = off_cpu(tables, spans, begin, of_threads.keys().copied(), &mut names);
    let chain = chosen.map(|chosen| chosen.lit(tables, spans, begin, &numbers, &mut names));
    Some(Timeline {
        begin_ns: begin.to_string(),
        length_ns: 0,
        spans: spans.iter().map(|span| (span.0 - begin, span.1 - begin)).collect(),
        rows: 0,
        rows_here: executions.len() + messages + intervals,
        repeats: 1,
        processes: processes(tables, begin),
        threads: of_threads
            .iter()
            .map(|(thread, rows)| TimelineThread {
                process: thread.0.index(),
                tid: thread.1,
                name: nodes.get(thread).cloned().unwrap_or_default(),
                executions: rows.len(),
            })
            .collect(),
        callbacks: callbacks(tables),
        executions: Executions {
            start: Column::growing(executions.iter().map(|one| one.start_ns - begin)),
            duration: Column::optional(executions.iter().map(|one| Some(one.end_ns.get()? - one.start_ns))),
            callback: Column::of(executions.iter().map(|one| i64::from(one.callback.number()))),
            cpu: Column::optional(executions.iter().map(|one| one.cpu_ns.get())),
        },
        publications,
        flows,
        off_cpu,
        chain,
        names: names.all(),
    })
}

fn processes(tables: &Tables, begin: i64) -> Vec<TimelineProcess<'_>> {
    let of = |(row, process): (Row<Process>, &'_ Process)| (row, process.pid, process.last_ns - begin);
    let named = numbered(&tables.processes).map(of);
    named
        .map(|(row, pid, last_ns)| TimelineProcess {
            pid,
            host: &tables.processes[row].host,
            name: tacho_tables::timeline::process_name(tables, row),
            last_ns,
        })
        .collect()
}

fn callbacks(tables: &Tables) -> Vec<TimelineCallback<'_>> {
    let named = tables.callbacks.iter().map(|one| {
        let name = one.name(&tables.nodes, &tables.processes);
        TimelineCallback {
            short: name.function().map_or_else(|| name.what(), |function| format!("{} {function}", name.what())),
            name: name.to_string(),
            node: one.node.map(|node| tables.nodes[node].name.as_str()),
        }
    });
    named.collect()
}

/// Messages of which both ends are inside, with their publish calls; and how many.
fn messages(
    tables: &Tables,
    spans: &[Span],
    begin: i64,
    number: impl Fn(Option<Row<Execution>>) -> Option<i64>,
    names: &mut Names,
) -> (Publications, Flows, usize) {
    let inside = |ns: i64| holds(spans, ns, ns);
    let sent = sorted_by(tables, |message| {
        let (publisher, ns) = publish_call(message).filter(|(_, ns)| inside(*ns))?;
        number(message.execution).map(|to| (ns, publisher, to))
    });
    let (mut calls, mut flows) = (Vec::new(), Vec::new());
    let mut before = None;
    for row in sent {
        let message = &tables.messages[row.index()];
        let Some((publisher, ns)) = publish_call(message) else { continue };
        if before.replace((publisher, ns)) != Some((publisher, ns)) {
            let endpoint = &tables.endpoints[publisher];
            let process = tables.nodes[endpoint.node].process;
            calls.push((ns - begin, names.number(&endpoint.topic), process, number(message.published_in)));
        }
        let taken = message.take_ns.get().map(|take| take - ns);
        flows.extend(number(message.execution).map(|to| (calls.len() as i64 - 1, to, taken)));
    }
    let publications = Publications {
        at: Column::growing(calls.iter().map(|call| call.0)),
        topic: Column::of(calls.iter().map(|call| call.1)),
        process: Column::of(calls.iter().map(|call| i64::from(call.2.number()))),
        execution: Column::optional(calls.iter().map(|call| call.3)),
    };
    let count = flows.len();
    let flows = Flows {
        publication: Column::growing(flows.iter().map(|flow| flow.0)),
        execution: Column::of(flows.iter().map(|flow| flow.1)),
        taken: Column::optional(flows.iter().map(|flow| flow.2)),
    };
    (publications, flows, count)
}

/// Intervals of the threads of the page; and how many.
fn off_cpu(
    tables: &Tables,
    spans: &[Span],
    begin: i64,
    threads: impl Iterator<Item = Thread>,
    names: &mut Names,
) -> (Option<OffCpuRows>, usize) {
    if tables.preemptions.is_empty() {
        return (None, 0);
    }
    let threads: HashMap<Thread, i64> = threads.zip(0..).collect();
    let mut rows: Vec<(i64, &Preemption)> = tables
        .preemptions
        .iter()
        .filter(|one| overlaps(spans, one.from_ns, one.to_ns))
        .filter_map(|one| Some((*threads.get(&(one.process, one.tid))?, one)))
        .collect();
    rows.sort_by_key(|(thread, one)| (one.from_ns, *thread, one.to_ns));
    let by = |one: &Preemption, names: &mut Names| match one.state {
        OffCpu::Blocked => None,
        OffCpu::Runnable | OffCpu::Interrupted => Some(names.number(&one.by_comm?)),
    };
    let columns = OffCpuRows {
        thread: Column::of(rows.iter().map(|(thread, _)| *thread)),
        from: Column::growing(rows.iter().map(|(_, one)| one.from_ns - begin)),
        duration: Column::of(rows.iter().map(|(_, one)| one.to_ns - one.from_ns)),
        state: Column::of(rows.iter().map(|(_, one)| match one.state {
            OffCpu::Runnable => 0,
            OffCpu::Blocked => 1,
            OffCpu::Interrupted => 2,
        })),
        words: Column::of(rows.iter().map(|(_, one)| names.number(&off_cpu_words(one))).collect::<Vec<_>>()),
        cpu: Column::of(rows.iter().map(|(_, one)| i64::from(one.cpu))),
        by: Column::optional(rows.iter().map(|(_, one)| by(one, names)).collect::<Vec<_>>()),
    };
    (Some(columns), rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_events::run::{RunDirectory, RunInfo};
    use tacho_tables::summary::ChainFigures;
    use tacho_tables::MaybeNs;
    use tacho_tables::{Callback, CallbackKind, Chain, Instance, Node};

    const PERIOD_NS: i64 = 1_000_000;

    /// A node whose callback runs each ms for half of one; each execution is an instance of the chain, that of number
    /// `worst` the longest.
    fn run(executions: i64, worst: i64) -> ReportRun {
        let process = Process {
            pid: 7,
            executable: "a".into(),
            command: "a".into(),
            host: "h".into(),
            clock: None,
            events: 0,
            dropped_events: 0,
            ended: None,
            first_ns: 0,
            last_ns: executions * PERIOD_NS,
            board: None,
            clock_error_ns: None,
        };
        let node = Node { process: Row::new(0), name: "/a".into() };
        let callback = Callback { node: Some(Row::new(0)), ..Callback::new(Row::new(0), 1, CallbackKind::Timer) };
        let (name, path) = ("c".to_owned(), vec!["/a".to_owned()]);
        let instance = |number: i64| Instance {
            chain: Row::new(0),
            start_ns: number * PERIOD_NS,
            end_ns: number * PERIOD_NS + PERIOD_NS / 2,
            end_to_end_ns: if number == worst { PERIOD_NS / 2 + 1 } else { PERIOD_NS / 2 - number.min(1) },
            computation_ns: PERIOD_NS / 2,
            off_cpu_ns: MaybeNs::NONE,
            preemption_ns: MaybeNs::NONE,
            alignment_ns: MaybeNs::NONE,
            queueing_ns: 0,
            kept_ns: MaybeNs::NONE,
            transport_ns: 0,
        };
        let execution = |number: i64| Execution {
            callback: Row::new(0),
            tid: 71,
            queued_ns: MaybeNs::NONE,
            start_ns: number * PERIOD_NS,
            end_ns: (number * PERIOD_NS + PERIOD_NS / 2).into(),
            cpu_ns: MaybeNs::NONE,
            runnable_ns: MaybeNs::NONE,
            executor_cpu_ns: MaybeNs::NONE,
            executor_runnable_ns: MaybeNs::NONE,
            resumes: None,
        };
        let tables = Tables {
            processes: vec![process],
            nodes: vec![node],
            callbacks: vec![callback],
            executions: (0..executions).map(execution).collect(),
            chains: vec![Chain {
                name: name.clone(),
                path: path.clone(),
                critical: true,
                lost: 0,
                evidence: String::new(),
                deadline_ns: None,
                until_ns: None,
                guessed_at: vec![],
                callbacks: vec![],
            }],
            instances: (0..executions).map(instance).collect(),
            ..Tables::default()
        };
        let chains = vec![ChainFigures { name, path, critical: true, ..ChainFigures::default() }];
        let summary = Summary { chains, ..Summary::default() };
        ReportRun::new("run", RunDirectory::new("/nonexistent/run"), RunInfo::default(), summary, tables)
    }

    #[test]
    fn a_run_that_fits_is_there_as_a_whole() {
        let run = run(1000, 700);
        let timeline = timeline(&run, 100_000).unwrap();
        assert_eq!((timeline.rows, timeline.rows_here), (1000, 1000));
        assert_eq!(timeline.spans, [(0, 1000 * PERIOD_NS)]);
        assert!(timeline.bytes() < 25 * 1000, "{} bytes for 1000 executions and instances", timeline.bytes());
    }

    #[test]
    fn of_a_longer_run_the_worst_and_the_median_instance_are_there_within_the_budget() {
        let run = run(100_000, 70_000);
        let timeline = timeline(&run, 100_000).unwrap();
        assert!(timeline.bytes() <= 100_000, "{} bytes", timeline.bytes());
        assert!(timeline.bytes() > 50_000, "the budget is used: {} bytes", timeline.bytes());
        assert_eq!(timeline.rows, 100_000);
        assert!(timeline.rows_here < 20_000);
        let chain = timeline.chain.as_ref().unwrap();
        assert!(chain.worst.is_some() && chain.median.is_some());
        assert_eq!(chain.all, 100_000);
        let holds_worst = |span: &&Span| span.0 <= 70_000 * PERIOD_NS && span.1 >= 70_000 * PERIOD_NS + PERIOD_NS / 2;
        assert_eq!(timeline.spans.iter().filter(holds_worst).count(), 1);
        assert_eq!(timeline.threads[0].executions, timeline.rows_here);
    }

    #[test]
    fn without_an_execution_there_is_no_timeline() {
        let mut run = run(3, 1);
        run.tables.executions = Default::default();
        assert!(timeline(&run, 100_000).is_none());
    }
}
