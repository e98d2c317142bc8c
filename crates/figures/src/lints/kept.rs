//! Wall time of callbacks that was no CPU time of their thread: then it is not their work that took long, and a lint
//! says so.

use super::facts::{time, Facts};
use super::ran::Ran;
use super::{Case, Lint};
use std::collections::BTreeSet;
use tacho_tables::row::{numbered, rows_of, Row};
use tacho_tables::Callback;

/// Part of the wall time without CPU time beyond which the work is not what took most of it.
const MOST: f64 = 0.5;

/// Executions that are judged together, and wall time without CPU time that each loses on the average.
const EXECUTIONS: usize = 10;
const OFF_NS: i64 = 1_000_000;
/// Part of the window that they lose together.
const OFF_PART: f64 = 0.01;

pub const OFF_CPU: Lint = Lint {
    name: "callback-off-cpu",
    finds: "most of the time inside a callback is no CPU time of its thread",
    check: |facts| rows_of(&facts.tables.callbacks).filter_map(|callback| off_cpu(facts, callback)).collect(),
};

fn off_cpu(facts: &Facts<'_>, callback: Row<Callback>) -> Option<Case> {
    let ran = facts.ran(callback);
    let off_ns: Vec<i64> =
        ran.iter().filter_map(|ran| Some((ran.end_ns - ran.start_ns - ran.cpu_ns.get()?).max(0))).collect();
    let sum: i64 = off_ns.iter().sum();
    let count = off_ns.len() as i64;
    // What others' use of its CPU took is preempted-callback.
    let (runnable, blocked) = facts.off_cpu_ns(callback);
    let is_told = off_ns.len() >= EXECUTIONS
        && sum >= OFF_NS * count
        && sum as f64 >= OFF_PART * facts.window_ns() as f64
        && runnable <= blocked
        // Without scheduler events, other processes may have kept the thread from its CPU.
        && (blocked > 0 || facts.others().is_none());
    let doubt = facts.doubt(ran.iter(), "it").filter(|_| is_told)?;
    Some(Case {
        subject: facts.callback(callback),
        evidence: format!("{count} executions{}", doubt.evidence),
        cost: format!("{} a call on the average that its executor waits and nobody computes", time(sum / count)),
        next: doubt.next,
        weight: sum as f64,
        delays: None,
    })
}

const OR_INTERPRETER: &str = ". Or it waited for Python's interpreter: interpreter_busy among the causes names the \
                              callback that had it";

/// What a lint says in place of advice to work less.
pub struct Doubt {
    /// Follows its evidence.
    pub evidence: String,
    /// What to try instead.
    pub next: String,
}

impl Facts<'_> {
    /// Whether most of what these executions took was something else than their work, or may have been. `None`: it was
    /// their work, or nothing speaks against that. `what` are they: `them`, `/ndt /points`.
    pub fn doubt<'r>(&self, ran: impl Iterator<Item = &'r Ran>, what: &str) -> Option<Doubt> {
        let (mut wall, mut off, mut known, mut callbacks) = (0, 0, false, BTreeSet::new());
        let (mut runnable, mut blocked) = (0, 0);
        for ran in ran {
            let Some(cpu_ns) = ran.cpu_ns.get() else { continue };
            known = true;
            let off_ns = (ran.end_ns - ran.start_ns - cpu_ns).max(0);
            wall += ran.end_ns - ran.start_ns;
            off += off_ns;
            if let Some(runnable_ns) = ran.runnable_ns.get() {
                runnable += runnable_ns;
                blocked += (off_ns - runnable_ns).max(0);
            }
            callbacks.insert(ran.callback);
        }
        if !known {
            return self.others().map(|much| Doubt {
                evidence: format!(
                    "; CPU time is not recorded, and {much}: how much of this time was work is not known"
                ),
                next:
                    "the same with less beside it, or with --cpu-time or --scheduler on, which separate its work from \
                       what it was kept for"
                        .into(),
            });
        }
        if off as f64 <= MOST * wall as f64 {
            return None;
        }
        let part = format!(
            "; of {} inside {what} {} ({:.0} %) was wall time without CPU time",
            time(wall),
            time(off),
            100.0 * off as f64 / wall as f64
        );
        let or_interpreter =
            if callbacks.iter().any(|row| self.shares_interpreter(*row)) { OR_INTERPRETER } else { "" };
        let meanwhile = self.meanwhile();
        Some(match (runnable, blocked) {
            _ if runnable + blocked == 0 || !self.are_told_apart(runnable, blocked) => Doubt {
                evidence: format!(
                    "{part}: whether its thread was kept from its CPU or slept cannot be known {}{meanwhile}",
                    match self.tables.preemptions.is_empty() {
                        true => "without scheduler events",
                        false => "as scheduler events do not show all of it",
                    }
                ),
                next: format!(
                    "--scheduler on shows whether the thread was kept from its CPU (then a CPU of its own, \
                     SCHED_FIFO, or less beside it) or slept in the callback (then what it waits for, moved out of \
                     it){or_interpreter}"
                ),
            },
            (runnable, blocked) if runnable >= blocked => Doubt {
                evidence: format!("{part}: its thread was kept from its CPU{meanwhile}"),
                next: "a CPU of its own (taskset), SCHED_FIFO, or less beside it".into(),
            },
            _ => Doubt {
                evidence: format!("{part}: its thread slept or was blocked in the callback"),
                next: format!(
                    "what it waits for inside the callback (a lock, a device, a reply, a sleep), moved out of \
                     it{or_interpreter}"
                ),
            },
        })
    }

    /// Whether callbacks in Python computed on other threads of the process of one in Python.
    fn shares_interpreter(&self, row: Row<Callback>) -> bool {
        let own = &self.tables.callbacks[row];
        let tids: BTreeSet<u32> = self.ran(row).iter().map(|ran| ran.tid).collect();
        let computes = |ran: &Ran| ran.cpu_ns.get().is_some_and(|cpu_ns| 2 * cpu_ns >= ran.end_ns - ran.start_ns);
        let others = numbered(&self.tables.callbacks);
        let mut others = others.filter(|(_, other)| other.process == own.process && other.is_python());
        own.is_python()
            && others.any(|(other, _)| self.ran(other).iter().any(|ran| !tids.contains(&ran.tid) && computes(ran)))
    }

    /// What others took of the machine, to be added to evidence; empty if that was little.
    pub fn meanwhile(&self) -> String {
        self.others().map_or(String::new(), |much| format!("; {much}"))
    }

    /// What others took of the machine, in words, where that was much.
    pub fn others(&self) -> Option<String> {
        self.load.and_then(|load| load.much())
    }
}
