//! Threads that have more to do than time, or that take time for nothing.

use super::facts::{time, Facts};
use super::{Case, Lint};
use crate::tables::ExecutorThread;
use std::collections::HashMap;

/// Part of the window inside callbacks from which a thread counts as full: beyond it, waiting grows without bound (queueing theory's knee).
const FULL: f64 = 0.8;

pub const BOTTLENECK: Lint = Lint {
    name: "single-threaded-bottleneck",
    finds: "one thread runs several callbacks and has a fifth of its time left or less",
    check: |facts| {
        let window = facts.window_ns();
        let waits = message_waits(facts);
        let case = |((process, tid), ran): ((u32, u32), &[super::facts::Ran])| {
            let mut by_callback: HashMap<u32, i64> = HashMap::new();
            ran.iter().for_each(|r| *by_callback.entry(r.callback).or_default() += r.end_ns.min(facts.window.1) - r.start_ns);
            let busy: i64 = by_callback.values().sum();
            if by_callback.len() < 2 || window == 0 || (busy as f64) < FULL * window as f64 {
                return None;
            }
            let mut most: Vec<(u32, i64)> = by_callback.into_iter().collect();
            most.sort_by_key(|(callback, ns)| (std::cmp::Reverse(*ns), *callback));
            let share = |ns: i64| 100.0 * ns as f64 / window as f64;
            let names: Vec<String> =
                most.iter().take(3).map(|(c, ns)| format!("{} {:.0} %", facts.callback(*c), share(*ns))).collect();
            let mean = waits.get(&(process, tid)).map(|(sum, count)| sum / count);
            Some(Case {
                subject: format!("process {} thread {tid}", facts.tables.processes[process as usize].pid),
                evidence: format!("{:.0} % of {} inside {} callbacks: {}", share(busy), time(window), most.len(), names.join(", ")),
                cost: match mean {
                    Some(mean) => format!("messages wait {} for their callback on the average, from their arrival or, where that is not recorded, publish call", time(mean)),
                    None => format!("{} are left for whatever else comes to it", time(window - busy)),
                },
                next: format!("{} in a callback group and thread (or process) of its own", facts.callback(most[0].0)),
                weight: busy as f64,
            })
        };
        facts.threads().filter_map(case).collect()
    },
};

/// Of each thread, what messages waited from their arrival, or publish call where that is not recorded, to the start of their callback, together, and
/// how many did. What a callback took that ran already did not wait for it.
fn message_waits(facts: &Facts<'_>) -> HashMap<(u32, u32), (i64, i64)> {
    let mut waits: HashMap<(u32, u32), (i64, i64)> = HashMap::new();
    for message in &facts.tables.messages {
        let Some((execution, there)) = message.execution.zip(message.arrival_ns.or(message.publish_ns)) else { continue };
        let execution = &facts.tables.executions[execution as usize];
        let process = facts.tables.callbacks[execution.callback as usize].process;
        if there <= execution.start_ns {
            let (sum, count) = waits.entry((process, execution.tid)).or_default();
            *sum += execution.start_ns - there;
            *count += 1;
        }
    }
    waits
}

/// Waits a second that find nothing, from which on a thread counts as spinning: an executor that waits for something is woken as often as it has work.
const SPINS_HZ: f64 = 1_000.0;
/// Waits for each callback, beyond which they are not wake-ups by other threads of the executor, of which each callback may cause one.
const SPINS_A_CALLBACK: u64 = 10;

pub const SPINNING: Lint = Lint {
    name: "spinning-executor",
    finds: "an executor looks for work over and over and finds none",
    check: |facts| {
        let ran: HashMap<(u32, u32), &[super::facts::Ran]> = facts.threads().collect();
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
                subject: format!("process {} thread {}", facts.tables.processes[thread.process as usize].pid, thread.tid),
                evidence: format!("{empty} waits ended with nothing to run, {hz:.0} a second, beside {ran} callbacks"),
                cost: match idle_ns {
                    Some(ns) => format!("on a CPU for {} of {} outside of callbacks", time(ns), time(span_ns)),
                    None => format!(
                        "of {} it was in waits for {} and in callbacks for {}, and in neither for the rest",
                        time(span_ns), time(waiting_ns), time(thread.executing_ns)
                    ),
                },
                next: "spin() in place of spin_some() in a loop; where rclcpp's multi-threaded executor has messages for a callback group that is busy: \
                       shorter callbacks in that group, a reentrant group, or an executor of its own"
                    .into(),
                weight: hz,
            })
        };
        facts.tables.executors.iter().filter_map(case).collect()
    },
};
