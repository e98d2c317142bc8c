//! The late instances of a chain, with the parts that they consist of.

use super::callback::{full_name, Named};
use super::ran::Ran;
use crate::figures::Repeat;
use std::collections::{BTreeMap, BTreeSet};
use tacho_events::run::Load;
use tacho_tables::late::late_above_ns;
use tacho_tables::row::{numbered, Row};
use tacho_tables::summary::ChainFigures;
use tacho_tables::{Callback, Cause, CauseKind, Chain, Execution, Instance, Name};

const NS_PER_MS: f64 = 1e6;

/// Part of its time for which a callback computes at least, if it lacks a CPU and nothing says for how long: 20 threads
/// would have to share one.
pub(super) const LEAST_COMPUTED: f64 = 0.05;

/// A late instance with what it consists of.
pub(super) struct Case<'a> {
    pub end_to_end_ms: f64,
    /// Its start and its end.
    pub span_ns: (i64, i64),
    /// Repeat of each of its parts.
    pub parts: Vec<(&'a Repeat<'a>, &'a Cause)>,
}

impl<'a> Case<'a> {
    /// What kept the next message away while an old one was used again: without it, the next would have been used.
    pub fn holder(&self, cause: &Cause) -> Option<&'a Cause> {
        use CauseKind::{Blocked, NoCpu, NoNewer, OffCpu, Preemption};
        let execution = cause.execution.filter(|_| cause.kind == NoNewer)?;
        let others = self.parts.iter().map(|(_, part)| *part).filter(|part| part.execution == Some(execution));
        let held = others.filter(|part| match part.kind {
            Preemption | NoCpu | Blocked | OffCpu => true,
            kind => kind.is_busy() && part.position == cause.position,
        });
        held.max_by_key(|part| part.duration_ns.get())
    }
}

/// All instances of a chain that are explained, and which of them are late.
pub(super) struct Late<'a> {
    pub ran: &'a Ran,
    pub cases: Vec<Case<'a>>,
    /// Every part that is reported, of instances that are not late, too.
    pub told: Vec<(&'a Repeat<'a>, &'a Cause)>,
    /// Late ones, with those that are not explained.
    pub instances: u64,
    /// Late or not.
    pub all: u64,
    pub has_deadline: bool,
    pub above_ms: Option<f64>,
    pub median_ms: f64,
    pub worst_ms: f64,
    /// The longest that is not late.
    pub worst_of_others_ms: f64,
    /// Half of all are late, so that what is usual is no measure of what should be.
    pub mostly: bool,
    /// How often something must have delayed them to be a culprit.
    pub least_times: usize,
    pub path: &'a [String],
    /// What others had of the machine, in words, if it was much.
    pub others: Option<String>,
    /// Whether others left it no free CPU, so that whatever wakes up waits.
    pub no_cpu_is_free: bool,
    /// The hypervisor took a good part of the CPUs' time: what was seldom off the CPU may have been ready to run.
    pub is_stolen: bool,
    /// Scheduler events were recorded.
    pub has_scheduler: bool,
    /// Callbacks wait in the queues of roscpp.
    pub is_ros1: bool,
}

/// Part of all instances from which on many are late.
const MANY: f64 = 0.1;
/// How often something must have happened to be a culprit; the same among the late ones.
const LEAST_TIMES: usize = 2;
const LEAST_TIMES_AMONG_LATE: usize = 3;
/// Executions that are looked at to see that they are of ROS 1.
const SEEN: usize = 10_000;

impl<'a> Late<'a> {
    pub fn of(repeats: &'a [Repeat<'a>], ran: &'a Ran, chain: &'a ChainFigures) -> Late<'a> {
        let above = match chain.deadline_ms {
            Some(deadline) => Some((deadline * NS_PER_MS) as i64),
            None => late_above_ns(times_ns(repeats, &rows(repeats, chain)).collect()),
        };
        Late::above(repeats, ran, chain, above, LEAST_TIMES)
    }

    /// Those that are late among the late ones, if many are late: two timers whose phases drift make an output of two
    /// late by a period, and others matter beside that. `None`: few are late, or a deadline says what late is.
    pub fn among_late(&self, repeats: &'a [Repeat<'a>], chain: &'a ChainFigures) -> Option<Late<'a>> {
        let are_many = self.instances as f64 >= MANY * self.all as f64;
        let first = self.above_ms.filter(|_| are_many && !self.mostly && !self.has_deadline)?;
        let rows = rows(repeats, chain);
        let late = times_ns(repeats, &rows).filter(|ns| *ns as f64 / NS_PER_MS > first);
        let above = late_above_ns(late.collect())?;
        Some(Late::above(repeats, self.ran, chain, Some(above), LEAST_TIMES_AMONG_LATE))
    }

    fn above(
        repeats: &'a [Repeat<'a>],
        ran: &'a Ran,
        chain: &'a ChainFigures,
        above: Option<i64>,
        least_times: usize,
    ) -> Late<'a> {
        let rows = rows(repeats, chain);
        let times = || times_ns(repeats, &rows);
        let is_late = |ns: i64| above.is_some_and(|above| ns > above);
        let instances = times().filter(|ns| is_late(*ns)).count() as u64;
        let mut by_instance: BTreeMap<(usize, Row<Instance>), Vec<(&'a Repeat<'a>, &'a Cause)>> = BTreeMap::new();
        for (number, (repeat, row)) in repeats.iter().zip(&rows).enumerate() {
            for cause in repeat.tables.causes.iter().filter(|cause| Some(cause.chain) == *row) {
                if let Some(instance) = cause.instance {
                    by_instance.entry((number, instance)).or_default().push((repeat, cause));
                }
            }
        }
        let told = by_instance.values().flatten().copied().collect();
        let late = by_instance.into_iter().filter_map(|((number, instance), parts)| {
            let of = &repeats[number].tables.instances[instance];
            let end_to_end_ms = of.end_to_end_ns as f64 / NS_PER_MS;
            is_late(of.end_to_end_ns).then_some(Case { end_to_end_ms, span_ns: (of.start_ns, of.end_ns), parts })
        });
        let cases = late.collect();
        let others = times().filter(|ns| !is_late(*ns)).max();
        let figures = chain.end_to_end_ms.as_ref();
        let mut loads = repeats.iter().filter_map(|repeat| repeat.info?.load.as_ref());
        Late {
            ran,
            cases,
            told,
            instances,
            all: chain.instances,
            has_deadline: chain.deadline_ms.is_some(),
            above_ms: above.map(|ns| ns as f64 / NS_PER_MS),
            median_ms: figures.map_or(0.0, |times| times.median),
            worst_ms: figures.map_or(0.0, |times| times.max),
            worst_of_others_ms: others.map_or(0.0, |ns| ns as f64 / NS_PER_MS),
            mostly: instances * 2 > chain.instances,
            least_times,
            path: &chain.path,
            no_cpu_is_free: loads.clone().any(Load::is_full),
            is_stolen: loads.clone().any(Load::steals_much),
            others: loads.find_map(Load::much),
            has_scheduler: repeats.iter().any(|repeat| !repeat.tables.preemptions.is_empty()),
            is_ros1: repeats.iter().any(|repeat| {
                repeat.tables.executions.iter().take(SEEN).any(|execution| execution.queued_ns.get().is_some())
            }),
        }
    }

    /// What its late instances took above the usual, or at all where the usual is too late itself, together.
    pub fn all_ms(&self) -> f64 {
        self.cases.iter().map(|case| self.above_usual_ms(case)).sum()
    }

    /// The same of one of them.
    pub fn above_usual_ms(&self, case: &Case<'_>) -> f64 {
        let base = if self.mostly { 0.0 } else { self.median_ms };
        (case.end_to_end_ms - base).max(0.0)
    }

    /// What a part is above the usual, or at all where the usual is too late itself.
    pub fn excess_ms(&self, cause: &Cause) -> f64 {
        let usual = if self.mostly { 0 } else { cause.usual_ns.get().unwrap_or(0) };
        (cause.duration_ns.get().unwrap_or(0) - usual).max(0) as f64 / NS_PER_MS
    }

    /// Whether the messages that a node at a place on the path takes are those of this callback: who waits for it there
    /// waits for what came before.
    pub fn is_its_own_queue(&self, named: &Named, position: u32) -> bool {
        let place = 2 * position as usize;
        let topic = place.checked_sub(1).and_then(|before| self.path.get(before));
        named.topic.is_some() && named.topic.as_ref() == topic && named.node.as_deref() == Some(self.node(position))
    }

    /// One of each part, with its usual time: it is the same in all instances that have the part.
    pub fn usual(&self) -> Vec<(&'a Repeat<'a>, &'a Cause)> {
        let mut usual: BTreeMap<(u32, CauseKind, &str), (&Repeat<'_>, &Cause)> = BTreeMap::new();
        for (repeat, cause) in &self.told {
            usual.entry((cause.position, cause.kind, cause.by.as_str())).or_insert((repeat, cause));
        }
        usual.into_values().collect()
    }

    /// Whether a callback was off the CPU by its own will: that is known, or it usually computes too little to have
    /// been ready to run.
    pub fn slept(&self, repeat: &Repeat<'_>, off_cpu: &Cause) -> bool {
        if let Some(most_ns) = self.most_runnable_ns(repeat, off_cpu) {
            return 2 * most_ns <= off_cpu.duration_ns.get().unwrap_or(0);
        }
        let ns_of = |cause: &Cause| cause.usual_ns.get().unwrap_or(0);
        let own = self.usual().into_iter().filter(|(_, cause)| {
            (cause.position, &cause.by) == (off_cpu.position, &off_cpu.by) && cause.kind == CauseKind::Computation
        });
        let computed_ns: i64 = own.map(|(_, cause)| ns_of(cause)).sum();
        (computed_ns as f64) < LEAST_COMPUTED * (computed_ns + ns_of(off_cpu)) as f64
    }

    /// Of a part in which a callback was off the CPU, for how long it was ready to run at most, ns: what is in no part
    /// of its own may have been before or after its publish call. `None`: it is another part, or nothing says it.
    pub fn most_runnable_ns(&self, repeat: &Repeat<'_>, part: &Cause) -> Option<i64> {
        let execution = part.execution.filter(|_| part.kind == CauseKind::OffCpu)?;
        let runnable_ns = repeat.tables.executions[execution].runnable_ns.get()?;
        let told = self.told.iter().filter(|(of, cause)| {
            let is_of_it = (cause.execution, cause.instance) == (part.execution, part.instance);
            number_of(of) == number_of(repeat) && is_of_it && cause.kind == CauseKind::Preemption
        });
        let told_ns: i64 = told.filter_map(|(_, cause)| cause.duration_ns.get()).sum();
        Some((runnable_ns - told_ns).max(0).min(part.duration_ns.get()?))
    }

    /// All repeats with a part that is reported, by the number that stands for each.
    pub fn repeats(&self) -> BTreeMap<usize, &'a Repeat<'a>> {
        self.told.iter().map(|(repeat, _)| (number_of(repeat), *repeat)).collect()
    }

    /// Executions that parts of one culprit name, with the numbers of their repeats.
    pub fn executions(&self, key: &Key) -> BTreeSet<(usize, Row<Execution>)> {
        let own =
            self.told.iter().filter(|(repeat, cause)| cause.execution.is_some() && Key::of(repeat, cause) == *key);
        own.filter_map(|(repeat, cause)| Some((number_of(repeat), cause.execution?))).collect()
    }

    /// Node at a place on the path.
    pub fn node(&self, position: u32) -> &'a str {
        self.path.get(2 * position as usize).map_or("", String::as_str)
    }
}

/// Row of a chain in each repeat.
fn rows(repeats: &[Repeat<'_>], chain: &ChainFigures) -> Vec<Option<Row<Chain>>> {
    repeats.iter().map(|repeat| repeat.tables.chain(&chain.name, &chain.path)).collect()
}

/// End-to-end times of all instances of a chain, ns.
fn times_ns<'a>(repeats: &'a [Repeat<'a>], rows: &'a [Option<Row<Chain>>]) -> impl Iterator<Item = i64> + 'a {
    repeats.iter().zip(rows).flat_map(|(repeat, row)| {
        let own = repeat.tables.instances.iter().filter(move |instance| Some(instance.chain) == *row);
        own.map(|instance| instance.end_to_end_ns)
    })
}

/// The callbacks of a node.
pub(super) fn callbacks<'a>(repeat: &'a Repeat<'a>, node: &'a str) -> impl Iterator<Item = Row<Callback>> + 'a {
    let tables = repeat.tables;
    let is_own = move |callback: &Callback| callback.node.is_some_and(|of| tables.nodes[of].name == node);
    numbered(&tables.callbacks).filter(move |(_, callback)| is_own(callback)).map(|(row, _)| row)
}

/// Stands for a repeat in keys.
pub(super) fn number_of(repeat: &Repeat<'_>) -> usize {
    std::ptr::from_ref(repeat) as usize
}

/// What parts are one culprit's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// In whatever way it delayed anything.
    Callback(Named, Name),
    /// Those that occupied all threads of the executor at a place on the path.
    Threads(u32),
    /// A kind, by whom, and the place on the path.
    Other(CauseKind, Name, u32),
}

impl Key {
    pub fn of(repeat: &Repeat<'_>, cause: &Cause) -> Key {
        use CauseKind::{Blocked, Computation, ExecutorBusy, GroupBusy, InterpreterBusy, OffCpu};
        match (cause.kind, cause.execution) {
            (ExecutorBusy, Some(_)) if cause.by.ends_with(" threads)") => Key::Threads(cause.position),
            // One callback is one culprit, whatever it waited in.
            (Blocked, Some(execution)) => {
                let name = full_name(repeat, repeat.tables.executions[execution].callback);
                Key::Callback(Named::of(repeat, execution), name.as_str().into())
            }
            (Computation | OffCpu | ExecutorBusy | GroupBusy | InterpreterBusy, Some(execution)) => {
                Key::Callback(Named::of(repeat, execution), cause.by)
            }
            (kind, _) => Key::Other(kind, cause.by, cause.position),
        }
    }
}
