//! Threads whose CPU was slower for a while.

use super::facts::{time, Facts};
use super::{Case, Lint};
use tacho_tables::row::Row;
use tacho_tables::{Process, Slowdown, Slowdowns};

/// What may slow a CPU, as advice of the lint and of the verdict.
pub(crate) const NEXT: &str =
    "heat and frequency of the CPU (cpupower monitor, tegrastats), other programs on its core, \
     and %st in top on a virtual machine";

pub const SLOW_CPU: Lint = Lint {
    name: "slow-cpu",
    finds: "a thread's CPU was slower for a while: its callbacks and fixed steps of the client library took longer",
    check: |facts| {
        let slow = Slowdowns::of(&facts.tables.slowdowns);
        slow.by_thread().filter_map(|(process, tid, rows)| case(facts, process, tid, rows)).collect()
    },
};

fn case(facts: &Facts<'_>, process: Row<Process>, tid: u32, rows: &[&Slowdown]) -> Option<Case> {
    let longest = rows.iter().max_by_key(|row| row.to_ns - row.from_ns)?;
    let all_ns: i64 = rows.iter().map(|row| row.to_ns - row.from_ns).sum();
    let longer_ns: i64 = rows.iter().map(|row| row.longer_ns).sum();
    let times = match rows.len() {
        1 => format!("for {}", time(all_ns)),
        several => format!("{several} times, for {} in all", time(all_ns)),
    };
    Some(Case {
        subject: format!("process {} thread {tid}", facts.tables.processes[process].pid),
        evidence: format!(
            "{times}; the longest time {} from {:.3} s on: {} calls of {} took {:.2} times as long as they usually do, \
             and the client library's own steps {:.2} times",
            time(longest.to_ns - longest.from_ns),
            longest.from_ns as f64 / 1e9,
            longest.executions,
            if longest.callbacks == 1 { "one callback".into() } else { format!("{} callbacks", longest.callbacks) },
            longest.callbacks_factor,
            longest.steps_factor
        ),
        cost: format!("its callbacks took {} longer in all", time(longer_ns)),
        next: NEXT.into(),
        weight: longer_ns as f64,
        delays: None,
    })
}
