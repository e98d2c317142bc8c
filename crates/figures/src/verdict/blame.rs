//! Who delayed the late instances of a chain, by what exceeds the usual.

use super::asked::Asked;
use super::late::{number_of, Key, Late};
use super::{advice, count, ms, Suspect};
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::row::Row;
use tacho_tables::summary::Culprit;
use tacho_tables::{CauseKind, Execution, Name, OffCpu, Preemption};

const NS_PER_MS: f64 = 1e6;
/// Part of all lateness that a callback must account for.
const SHARE: f64 = 0.15;
/// The same of what the machine or the network did, which is everybody's.
const SHARE_OF_NOISE: f64 = 0.3;
/// The same of one without whom hardly an output less would be late, even if those who did more were gone.
const SHARE_IF_LATE_WITHOUT: f64 = 0.3;
/// Part of the late outputs that is hardly one of them.
const HARDLY_ANY: f64 = 0.1;
/// Times that it must have happened, if it is noise.
const TIMES_OF_NOISE: usize = 4;
/// The same of a callback that was off the CPU, and of what happened between callbacks, if others had much of the
/// machine: what took the CPU from one takes it from all.
const SHARE_IN_DOUBT: f64 = 0.5;
/// Part of all outputs that wake-ups and ticks of the kernel must have delayed, unless they missed a deadline: without
/// scheduler events nobody knows whose fault a rarer one was.
const OFTEN: f64 = 0.01;
/// Callbacks that occupied all threads: groups of them that are named.
const TOGETHER: usize = 2;
/// Of the usual time, and in ms: what it must have cost once.
const COST: f64 = 0.25;
const COST_MS: f64 = 5.0;

/// Everything that one did.
#[derive(Default)]
struct Blame {
    weight_ms: f64,
    by_kind: BTreeMap<CauseKind, f64>,
    /// By place among the late cases.
    cases: BTreeMap<usize, f64>,
    executions: BTreeSet<(usize, Row<Execution>)>,
    longest_ms: f64,
    /// Of the longest execution: wall and CPU time.
    wall_ms: f64,
    cpu_ms: Option<f64>,
    /// Of the longest execution: ready to run and without a CPU, if that is known.
    runnable_ms: Option<f64>,
    /// Half of all its executions take half as long as the longest or longer.
    is_usual: bool,
    position: u32,
    /// What occupied all threads together, ms.
    together: BTreeMap<Name, f64>,
}

impl Blame {
    /// What most of it was.
    fn kind(&self) -> CauseKind {
        *self.by_kind.iter().max_by(|a, b| a.1.total_cmp(b.1)).expect("a part").0
    }

    /// Whether most of its longest execution may have been a wait for a CPU.
    fn may_have_lacked_a_cpu(&self) -> bool {
        match self.runnable_ms {
            Some(runnable) => runnable >= 0.5 * self.wall_ms,
            None => self.cpu_ms.is_none_or(|cpu| cpu < 0.5 * self.wall_ms),
        }
    }
}

/// Whether a delay of this kind may be somebody's fault, and whether it takes more of it to say so.
fn counts(kind: CauseKind, mostly: bool) -> Option<bool> {
    use CauseKind::*;
    match kind {
        Computation | OffCpu | Blocked | ExecutorBusy | GroupBusy | InterpreterBusy | UsedAgain => Some(false),
        Preemption | NoCpu | Interrupt | Transport | WakeUp | TickLate | NoNewer => Some(true),
        NotDue | Kept => mostly.then_some(false),
        Overwritten | Lost | Unmatched | Ended | Pending | Untold | Superseded | NoOutput | NotActive => None,
    }
}

/// Whether a part of this kind may be a thread that waits for a CPU, of the middleware or of the node before, which no
/// event shows.
fn may_lack_a_cpu(kind: CauseKind) -> bool {
    use CauseKind::{InterpreterBusy, NoNewer, Transport, UsedAgain, WakeUp};
    matches!(kind, Transport | WakeUp | UsedAgain | NoNewer | InterpreterBusy)
}

/// Those that delayed late instances.
pub(super) fn suspects(late: &Late<'_>) -> Vec<Suspect> {
    let mut blames: BTreeMap<Key, Blame> = BTreeMap::new();
    let all_ms = late.all_ms();
    for (place, case) in late.cases.iter().enumerate() {
        for (repeat, cause) in &case.parts {
            let excess = late.excess_ms(cause);
            if excess <= 0.0 || counts(cause.kind, late.mostly).is_none() {
                continue;
            }
            let holder = case.holder(cause);
            let holder_or_own = holder.unwrap_or(cause);
            let key = Key::of(repeat, holder_or_own);
            let blame = blames.entry(key.clone()).or_default();
            blame.weight_ms += excess;
            *blame.by_kind.entry(holder_or_own.kind).or_default() += excess;
            *blame.cases.entry(place).or_default() += excess;
            if holder.is_some() {
                continue;
            }
            blame.longest_ms = blame.longest_ms.max(cause.duration_ns.get().unwrap_or(0) as f64 / NS_PER_MS);
            blame.position = cause.position;
            if matches!(key, Key::Threads(_)) {
                *blame.together.entry(cause.by).or_default() += excess;
            }
            if let Some(execution) = cause.execution {
                blame.executions.insert((number_of(repeat), execution));
                let row = &repeat.tables.executions[execution];
                let wall = row.end_ns.get().map_or(0.0, |end| (end - row.start_ns) as f64 / NS_PER_MS);
                if wall > blame.wall_ms {
                    (blame.wall_ms, blame.cpu_ms) = (wall, row.cpu_ns.get().map(|ns| ns as f64 / NS_PER_MS));
                    blame.runnable_ms = row.runnable_ns.get().map(|ns| ns as f64 / NS_PER_MS);
                }
            }
        }
    }
    let repeats = late.repeats();
    for blame in blames.values_mut() {
        if let Some((number, execution)) = blame.executions.first() {
            let repeat = repeats[number];
            let median = late.ran.median_ns(repeat, repeat.tables.executions[*execution].callback);
            blame.is_usual = median.is_none_or(|ns| ns as f64 / NS_PER_MS >= 0.5 * blame.wall_ms);
            // Of a seldom pause, the rest may be steal.
            blame.runnable_ms = blame.runnable_ms.filter(|_| blame.is_usual || !late.is_stolen);
        }
    }
    let times_ms = late.median_ms.max(1e-3);
    let mut material: Vec<(Key, Blame)> =
        blames.into_iter().filter(|(_, blame)| is_material(late, blame, all_ms)).collect();
    material.sort_by(|(_, a), (_, b)| b.weight_ms.total_cmp(&a.weight_ms));
    // What is usual is somebody's, though it takes all of them to be in time.
    if !late.mostly {
        let (mut left, mut matter) = (Left::of(late), 0);
        for (place, (_, blame)) in material.iter().enumerate() {
            let before = left.late;
            left = left.without(blame);
            let helps = (before - left.late) as f64 > HARDLY_ANY * late.cases.len() as f64;
            if helps || blame.weight_ms >= SHARE_IF_LATE_WITHOUT * all_ms {
                matter = place + 1;
            }
        }
        // Those who did more than the last that matters had to go before it could.
        material.truncate(matter);
    }
    material
        .into_iter()
        .map(|(key, blame)| {
            let weight = blame.weight_ms / (all_ms + times_ms * late.cases.len() as f64).max(1e-9);
            Suspect { culprit: culprit(late, &key, &blame, all_ms), weight }
        })
        .collect()
}

/// The late cases without some that delayed them.
struct Left<'a> {
    of: &'a Late<'a>,
    cases_ms: Vec<f64>,
    /// How many are late still.
    late: u64,
}

impl<'a> Left<'a> {
    fn of(late: &'a Late<'a>) -> Left<'a> {
        Left::with(late, late.cases.iter().map(|case| case.end_to_end_ms).collect())
    }

    fn with(of: &'a Late<'a>, cases_ms: Vec<f64>) -> Left<'a> {
        let above = of.above_ms.unwrap_or(f64::INFINITY);
        let late = cases_ms.iter().filter(|ms| **ms > above).count() as u64;
        Left { of, cases_ms, late }
    }

    fn without(&self, blame: &Blame) -> Left<'a> {
        let own_ms = |place: usize| blame.cases.get(&place).copied().unwrap_or(0.0);
        let cases_ms = self.cases_ms.iter().enumerate().map(|(place, ms)| ms - own_ms(place));
        Left::with(self.of, cases_ms.collect())
    }

    /// The longest of all instances, ms.
    fn worst_ms(&self) -> f64 {
        self.cases_ms.iter().copied().fold(self.of.worst_of_others_ms, f64::max)
    }
}

fn is_material(late: &Late<'_>, blame: &Blame, all_ms: f64) -> bool {
    let may_lack = blame.by_kind.keys().all(|kind| may_lack_a_cpu(*kind));
    // Nobody's fault: whoever wakes up waits, and whoever computes is interrupted.
    let paused = blame.kind() == CauseKind::OffCpu && !blame.is_usual && blame.may_have_lacked_a_cpu();
    if late.no_cpu_is_free && (may_lack || paused) {
        return false;
    }
    let is_noise = blame.by_kind.keys().all(|kind| counts(*kind, late.mostly) == Some(true));
    // Its own work, each time, is no doubt.
    let lacked_a_cpu = || !blame.is_usual && blame.may_have_lacked_a_cpu();
    let in_doubt = late.others.is_some() && (may_lack || (!is_noise && !blame.executions.is_empty() && lacked_a_cpu()));
    let (share, times) = match (is_noise, in_doubt) {
        (true, true) => (SHARE_IN_DOUBT, TIMES_OF_NOISE),
        (true, false) => (SHARE_OF_NOISE, TIMES_OF_NOISE),
        (false, true) => (SHARE_IN_DOUBT, late.least_times),
        (false, false) => (SHARE, late.least_times),
    };
    let happened = match blame.executions.len() {
        0 => blame.cases.len(),
        executions => executions.min(blame.cases.len()),
    };
    let of_kernel = blame.by_kind.keys().all(|kind| matches!(kind, CauseKind::WakeUp | CauseKind::TickLate));
    if of_kernel && !late.has_deadline && (blame.cases.len() as f64) < OFTEN * late.all as f64 {
        return false;
    }
    let most = blame.cases.values().fold(0.0, |most: f64, ms| most.max(*ms));
    blame.weight_ms >= share * all_ms && happened >= times && most >= COST_MS.max(COST * late.median_ms)
}

fn culprit(late: &Late<'_>, key: &Key, blame: &Blame, all_ms: f64) -> Culprit {
    let kind = blame.kind();
    let node = late.node(blame.position).to_owned();
    let (cases, all) = (blame.cases.len() as u64, late.cases.len() as u64);
    let share = (100.0 * blame.weight_ms / all_ms.max(1e-9)).min(100.0);
    let executions = blame.executions.len() as u64;
    let of = format!("{cases} of {all} late outputs waited for it, {share:.0} % of their lateness");
    let mut made = Culprit {
        kind: Some(kind),
        node: Some(node.clone()),
        share_percent: Some(share),
        instances: cases,
        executions: (executions > 0).then_some(executions),
        longest_ms: Some(blame.longest_ms),
        ..Culprit::default()
    };
    match key {
        Key::Callback(named, name) => {
            let at = named.node.clone().unwrap_or(node);
            let waits_in = waits_in(late, blame);
            let asked = Asked::of(late, &blame.executions);
            let off = match &asked {
                Some(asked) => format!(" ({})", asked.words()),
                None => blocked(blame, waits_in.as_deref()),
            };
            let took = format!("{} of {at} took up to {}{off}", named.words(name), ms(blame.wall_ms));
            let is_own_queue = late.is_its_own_queue(named, blame.position);
            let how = match kind {
                CauseKind::ExecutorBusy | CauseKind::GroupBusy if is_own_queue => "earlier calls of it",
                CauseKind::GroupBusy => "callback group busy with it",
                CauseKind::ExecutorBusy => "executor busy with it",
                CauseKind::InterpreterBusy => "Python's interpreter busy with it",
                CauseKind::OffCpu => "off the CPU inside it",
                CauseKind::Blocked => "blocked inside it",
                _ => "its own computation",
            };
            made.text = format!("{took} in {}: {of} ({how}).", count(executions, "execution", "executions"));
            let took = advice::Took {
                wall_ms: blame.wall_ms,
                cpu_ms: blame.cpu_ms,
                runnable_ms: blame.runnable_ms,
                waits_in,
                asked,
                is_own_queue,
            };
            made.next = advice::of_callback(late, kind, (named, name), &took);
            made.longest_ms = Some(blame.wall_ms.max(blame.longest_ms));
            made.node = Some(at);
            made.callback = Some(name.to_string());
            (made.function, made.location, made.topic) =
                (named.function.clone(), named.location.clone(), named.topic.clone());
        }
        Key::Threads(_) => {
            let longest = ms(blame.longest_ms);
            let mut together: Vec<(&Name, &f64)> = blame.together.iter().collect();
            together.sort_by(|a, b| b.1.total_cmp(a.1));
            let names: Vec<&str> = together.iter().take(TOGETHER).map(|(names, _)| names.as_str()).collect();
            made.text = format!(
                "All threads of the executor of {node} were busy, up to {longest}, with {}: {of}.",
                names.join("; or with ")
            );
            made.next = advice::more_threads(&node);
            made.callback = names.first().map(|names| names.to_string());
        }
        Key::Other(kind, by, _) => {
            let longest = ms(blame.longest_ms);
            made.text = format!("At {node}: {} {by}, up to {longest}: {of}.", kind.words());
            made.next = advice::of_kind(late, *kind, by, &node);
            let is_topic = matches!(kind, CauseKind::Transport | CauseKind::UsedAgain | CauseKind::NoNewer);
            made.topic = is_topic.then(|| by.split(' ').next().unwrap_or(by).to_owned());
            made.callback =
                matches!(kind, CauseKind::NotDue | CauseKind::Kept | CauseKind::TickLate).then(|| by.to_string());
        }
    }
    let left = Left::of(late).without(blame);
    made.worst_without_ms = Some(left.worst_ms());
    made.late_without = Some(left.late);
    made
}

/// What its executions were blocked in for at least half of the time that they were blocked; only scheduler events
/// show it.
fn waits_in(late: &Late<'_>, blame: &Blame) -> Option<String> {
    let mut by_call: BTreeMap<Option<&str>, i64> = BTreeMap::new();
    for (number, repeat) in late.repeats() {
        let own =
            |row: &&Preemption| row.execution.is_some_and(|execution| blame.executions.contains(&(number, execution)));
        for row in repeat.tables.preemptions.iter().filter(|row| row.state == OffCpu::Blocked).filter(own) {
            *by_call.entry(row.waits_in.as_deref()).or_default() += row.to_ns - row.from_ns;
        }
    }
    let all: i64 = by_call.values().sum();
    let (call, ns) = by_call.into_iter().max_by_key(|(_, ns)| *ns)?;
    call.filter(|_| 2 * ns >= all).map(str::to_owned)
}

/// How much of the longest execution was no CPU time, if that is most of it.
fn blocked(blame: &Blame, waits_in: Option<&str>) -> String {
    let most = 0.5 * blame.wall_ms;
    match (blame.runnable_ms, blame.cpu_ms) {
        (Some(runnable), _) if runnable >= most => format!(" (ready to run, without a CPU, for {})", ms(runnable)),
        (Some(runnable), Some(cpu)) if waits_in.is_none() && blame.wall_ms - cpu - runnable >= most => {
            format!(" (blocked or waiting for {})", ms(blame.wall_ms - cpu - runnable))
        }
        (_, Some(cpu)) if cpu < most => {
            let how = waits_in.map_or(", blocked or waiting,".to_owned(), |call| format!(", blocked in {call},"));
            format!(" (off the CPU{how} for {})", ms(blame.wall_ms - cpu))
        }
        _ => String::new(),
    }
}
