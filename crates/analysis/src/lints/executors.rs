//! Threads that have more to do than time.

use super::facts::time;
use super::{Case, Lint};
use std::collections::HashMap;

/// Part of the window inside callbacks from which a thread counts as full: beyond it, waiting grows without bound (queueing theory's knee).
const FULL: f64 = 0.8;

pub const BOTTLENECK: Lint = Lint {
    name: "single-threaded-bottleneck",
    finds: "one thread runs several callbacks and has hardly any time left",
    check: |facts| {
        let window = facts.window_ns();
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
            let waits: Vec<i64> = facts.tables.messages.iter().filter_map(|m| {
                let execution = &facts.tables.executions[m.execution? as usize];
                let of = facts.tables.callbacks[execution.callback as usize].process;
                ((of, execution.tid) == (process, tid)).then_some(execution.start_ns - m.arrival_ns.or(m.publish_ns)?)
            }).collect();
            let mean = waits.iter().sum::<i64>().checked_div(waits.len() as i64);
            Some(Case {
                subject: format!("process {} thread {tid}", facts.tables.processes[process as usize].pid),
                evidence: format!("{:.0} % of {} inside {} callbacks: {}", share(busy), time(window), most.len(), names.join(", ")),
                cost: match mean {
                    Some(mean) => format!("messages to it take {} to their callback on the average", time(mean)),
                    None => "its timers start late".into(),
                },
                next: format!("{} in a callback group and thread (or process) of its own", facts.callback(most[0].0)),
                weight: busy as f64,
            })
        };
        facts.threads().filter_map(case).collect()
    },
};
