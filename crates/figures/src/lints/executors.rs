//! Executors that have more to do than time, or that take time for nothing.

use super::facts::{time, Facts};
use super::ran::{Executor, Ran, Thread};
use super::{Case, Lint};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;
use tacho_tables::row::Row;
use tacho_tables::{named, Callback, ExecutorThread};

/// Part of the window inside callbacks from which a thread counts as full: beyond it, waiting grows without bound
/// (queueing theory's knee).
const FULL: f64 = 0.8;
/// Threads that a case names.
const NAMED: usize = 8;

pub const BOTTLENECK: Lint = Lint {
    name: "single-threaded-bottleneck",
    finds:
        "an executor's one thread, or all of them, run several callbacks and have a fifth of their time left or less",
    check: |facts| {
        let waits = message_waits(facts);
        facts.executors().iter().filter_map(|executor| bottleneck(facts, executor, &waits)).collect()
    },
};

/// What ran at once: callbacks that did beside any other execution, those beside one of their own, and the time in
/// which any ran.
fn at_once(ran: &[Ran], until: i64) -> (BTreeSet<Row<Callback>>, BTreeSet<Row<Callback>>, i64) {
    let (mut beside, mut beside_itself, mut union_ns, mut end) = (BTreeSet::new(), BTreeSet::new(), 0, i64::MIN);
    let mut running: Vec<Ran> = Vec::new();
    for one in ran {
        running.retain(|other| other.end_ns > one.start_ns);
        for other in &running {
            beside.extend([one.callback, other.callback]);
            beside_itself.extend((one.callback == other.callback).then_some(one.callback));
        }
        running.push(*one);
        let to = one.end_ns.min(until);
        union_ns += (to - one.start_ns.max(end)).max(0);
        end = end.max(to);
    }
    (beside, beside_itself, union_ns)
}

fn bottleneck(facts: &Facts<'_>, executor: &Executor, waits: &HashMap<Thread, (i64, i64)>) -> Option<Case> {
    let (window, threads) = (facts.window_ns(), executor.threads);
    let mut by_callback: HashMap<Row<Callback>, i64> = HashMap::default();
    let clipped = |r: &Ran| r.end_ns.min(facts.window.1) - r.start_ns;
    executor.ran.iter().for_each(|r| *by_callback.entry(r.callback).or_default() += clipped(r));
    if by_callback.len() < 2 || window == 0 {
        return None;
    }
    let busy: i64 = by_callback.values().sum();
    let mut most: Vec<(Row<Callback>, i64)> = by_callback.into_iter().collect();
    most.sort_by_key(|(callback, ns)| (std::cmp::Reverse(*ns), *callback));
    let first = facts.callback(most[0].0);
    let (beside, beside_itself, union_ns) = at_once(&executor.ran, facts.window.1);
    let is_full = busy as f64 >= FULL * (window * threads as i64) as f64;
    let (of, next) = match threads {
        1 if is_full => (
            String::new(),
            format!(
                "{first} in an executor, with its thread, or a process of its own: on one thread a callback group \
                 changes nothing"
            ),
        ),
        1 => return None,
        // A thread for each callback, and none that runs beside itself: nobody waits for a thread.
        _ if is_full && (most.len() > threads || !beside_itself.is_empty()) => {
            let next = format!(
                "more threads than {threads}, where CPUs are free; or {first} in an executor or a process of its own"
            );
            (format!(" of {threads} threads together"), next)
        }
        _ if beside.is_empty() && union_ns as f64 >= FULL * window as f64 => (
            format!(" on {threads} threads, never two at once"),
            if facts.tables.is_in_python(most[0].0) {
                facts.apart_in_python(&first, "")
            } else {
                format!(
                    "{first} in a callback group of its own: callbacks of one mutually exclusive group, as all are by \
                     default, run in turn on any number of threads"
                )
            },
        ),
        _ => return None,
    };
    let time_of = window * if of.ends_with("together") { threads as i64 } else { 1 };
    let share = |ns: i64| 100.0 * ns as f64 / time_of as f64;
    let names: Vec<String> =
        most.iter().take(3).map(|(c, ns)| format!("{} {:.0} %", facts.callback(*c), share(*ns))).collect();
    let (because, next) = match facts.doubt(executor.ran.iter(), "them") {
        Some(doubt) => (doubt.evidence, doubt.next),
        None => (String::new(), next),
    };
    let of_threads = executor.tids.iter().filter_map(|tid| waits.get(&(executor.process, *tid)));
    let (sum, count) = of_threads.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    Some(Case {
        subject: subject(facts, executor),
        evidence: format!(
            "{:.0} % of {}{of} inside {} callbacks: {}{because}",
            share(busy),
            time(window),
            most.len(),
            names.join(", ")
        ),
        cost: match count {
            0 => format!("{} are left for whatever else comes to it", time(time_of - busy)),
            _ => format!(
                "messages wait {} for their callback on the average, from their arrival or, where that is not \
                 recorded, publish call",
                time(sum / count)
            ),
        },
        next,
        weight: busy as f64,
        delays: None,
    })
}

fn subject(facts: &Facts<'_>, executor: &Executor) -> String {
    let pid = facts.tables.processes[executor.process].pid;
    match executor.tids.as_slice() {
        [tid] => format!("process {pid} thread {tid}"),
        tids => format!("process {pid} threads {}", named(tids, NAMED)),
    }
}

/// Of each thread, what messages waited from their arrival, or publish call where that is not recorded, to the start of
/// their callback, together, and how many did. What a callback took that ran already did not wait for it.
pub(super) fn message_waits(facts: &Facts<'_>) -> HashMap<Thread, (i64, i64)> {
    let mut waits: HashMap<Thread, (i64, i64)> = HashMap::default();
    for message in facts.messages() {
        let Some((execution, there)) = message.execution.zip(message.arrival_ns.get().or(message.publish_ns.get()))
        else {
            continue;
        };
        let execution = &facts.tables.executions[execution];
        let process = facts.tables.callbacks[execution.callback].process;
        if there <= execution.start_ns {
            let (sum, count) = waits.entry((process, execution.tid)).or_default();
            *sum += execution.start_ns - there;
            *count += 1;
        }
    }
    waits
}

/// Waits a second that find nothing, from which on a thread counts as spinning: an executor that waits for something is
/// woken as often as it has work.
const SPINS_HZ: f64 = 1_000.0;
/// Waits for each callback, beyond which they are not wake-ups by other threads of the executor, of which each callback
/// may cause one.
const SPINS_A_CALLBACK: u64 = 10;

pub const SPINNING: Lint = Lint {
    name: "spinning-executor",
    finds: "an executor looks for work over and over and finds none",
    check: |facts| {
        let ran: HashMap<Thread, &[Ran]> = facts.threads().collect();
        let case = |thread: &ExecutorThread| {
            let span_ns = thread.to_ns - thread.from_ns;
            let (empty, waiting_ns) = (thread.empty_waits?, thread.waiting_ns?);
            let ran = ran.get(&(thread.process, thread.tid)).map_or(0, |ran| ran.len() as u64);
            let hz = empty as f64 / (span_ns as f64 / 1e9);
            if hz < SPINS_HZ || empty < SPINS_A_CALLBACK * ran {
                return None;
            }
            let idle_ns = thread.running_ns.map(|running| (running - thread.executing_ns).max(0));
            Some(Case {
                subject: format!("process {} thread {}", facts.tables.processes[thread.process].pid, thread.tid),
                evidence: format!("{empty} waits ended with nothing to run, {hz:.0} a second, beside {ran} callbacks"),
                cost: match idle_ns {
                    Some(ns) => format!("on a CPU for {} of {} outside of callbacks", time(ns), time(span_ns)),
                    None => format!(
                        "of {} it was in waits for {} and in callbacks for {}, and in neither for the rest",
                        time(span_ns),
                        time(waiting_ns),
                        time(thread.executing_ns)
                    ),
                },
                next: "spin() in place of spin_some() in a loop; where rclcpp's multi-threaded executor has messages \
                       for a callback group that is busy: shorter callbacks in that group, a reentrant group, or an \
                       executor of its own"
                    .into(),
                weight: hz,
                delays: None,
            })
        };
        facts.tables.executors.iter().filter_map(case).collect()
    },
};
