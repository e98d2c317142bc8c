//! Timers that start late, and timers that wait for each other.

use super::callbacks;
use super::facts::{percent, time, Facts};
use super::ran::{Executor, Ran};
use super::{Case, Lint};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeMap;
use tacho_tables::row::Row;
use tacho_tables::Callback;

/// Part of a period from which on a start is late.
const LATE: f64 = 0.5;
/// Late starts that are no accident: so many, and more than this part.
const LATE_STARTS: usize = 3;
const LATE_PART: f64 = 0.01;
/// Part of the time from due to start that others must have had the executor.
const BY_OTHERS: f64 = 0.5;
/// Callbacks that a case names.
const NAMED: usize = 3;

pub const LATE_TIMER: Lint = Lint {
    name: "late-timer",
    finds: "a timer starts more than half a period late, because other callbacks have its executor",
    check: |facts| {
        let executors = facts.executors();
        let of_callback = executor_of(executors);
        let case = |(callback, period, ran): (Row<Callback>, i64, &[Ran])| {
            let executor = &executors[*of_callback.get(&callback)?];
            late_timer(facts, executor, (callback, period), ran)
        };
        facts.timers().filter_map(case).collect()
    },
};

/// Place of the one executor that runs each callback; none of those that run on several.
fn executor_of(executors: &[Executor]) -> HashMap<Row<Callback>, usize> {
    let (mut of, mut several) = (HashMap::default(), HashSet::default());
    for (place, executor) in executors.iter().enumerate() {
        for ran in &executor.ran {
            if *of.entry(ran.callback).or_insert(place) != place {
                several.insert(ran.callback);
            }
        }
    }
    of.retain(|callback, _| !several.contains(callback));
    of
}

fn late_timer(
    facts: &Facts<'_>,
    executor: &Executor,
    (timer, period): (Row<Callback>, i64),
    ran: &[Ran],
) -> Option<Case> {
    // Waits of three periods and more are another lint's.
    if callbacks::starves(facts, timer, period, ran) {
        return None;
    }
    let beside = beside(executor, timer);
    let (mut late, mut by): (Vec<i64>, HashMap<Row<Callback>, i64>) = (Vec::new(), HashMap::default());
    // When the start before was due. A start that nothing held up is on the grid, which may wander.
    let (mut grid, mut near) = (ran.first()?.start_ns, 0);
    let mut others = Shares::default();
    for ran in ran[1..].iter() {
        let due = grid + period;
        let waited = ran.start_ns - due;
        others.0.clear();
        if waited > 0 {
            kept_by(executor, &beside, timer, (due, ran.start_ns), &mut near, &mut others);
        }
        let held = others.sum() as f64 >= BY_OTHERS * waited as f64 && waited > 0;
        // rcl leaves out what it missed and stays on its grid.
        grid = if held { due + waited.div_euclid(period) * period } else { ran.start_ns };
        if held && waited as f64 > LATE * period as f64 {
            late.push(waited);
            others.0.iter().for_each(|(callback, ns)| *by.entry(*callback).or_default() += ns);
        }
    }
    let starts = ran.len() - 1;
    if late.len() < LATE_STARTS || late.len() as f64 <= LATE_PART * starts as f64 {
        return None;
    }
    let (sum, longest) = (late.iter().sum::<i64>(), *late.iter().max()?);
    let mut by: Vec<(Row<Callback>, i64)> = by.into_iter().collect();
    by.sort_by_key(|(callback, ns)| (std::cmp::Reverse(*ns), *callback));
    let share = |(callback, ns): &(Row<Callback>, i64)| {
        format!("{} {:.0} %", facts.callback(*callback), 100.0 * *ns as f64 / sum as f64)
    };
    let names: Vec<String> = by.iter().take(NAMED).map(share).collect();
    let most = by.first()?.0;
    let doubt = facts.doubt(facts.ran(most).iter(), &facts.callback(most));
    Some(Case {
        subject: facts.callback(timer),
        evidence: format!(
            "{} of {starts} starts ({}) were more than half of its period of {} late, the latest {}; from due to \
             start its executor was in {}{}",
            late.len(),
            percent(late.len(), starts),
            time(period),
            time(longest),
            names.join(", "),
            doubt.as_ref().map_or("", |doubt| &doubt.evidence)
        ),
        cost: format!(
            "these start {} late on the average, and what they publish comes as late",
            time(sum / late.len() as i64)
        ),
        next: apart(facts, executor, timer, most),
        weight: sum as f64,
        delays: Some((facts.callback(most), sum as f64 / 1e6)),
    })
}

/// Callbacks that ran at the same time as this one at some time: no group keeps them apart.
fn beside(executor: &Executor, callback: Row<Callback>) -> HashSet<Row<Callback>> {
    let mut beside = HashSet::default();
    let mut running: Vec<Ran> = Vec::new();
    for one in executor.ran.iter().filter(|_| executor.threads > 1) {
        running.retain(|other| other.end_ns > one.start_ns);
        for other in &running {
            beside.extend((other.callback == callback).then_some(one.callback));
            beside.extend((one.callback == callback).then_some(other.callback));
        }
        running.push(*one);
    }
    beside
}

/// Time of each of a few callbacks, ns: looking through all is fastest.
#[derive(Default)]
struct Shares(Vec<(Row<Callback>, i64)>);

impl Shares {
    fn add(&mut self, callback: Row<Callback>, ns: i64) {
        match self.0.iter_mut().find(|(known, _)| *known == callback) {
            Some((_, sum)) => *sum += ns,
            None => self.0.push((callback, ns)),
        }
    }

    fn sum(&self) -> i64 {
        self.0.iter().map(|(_, ns)| ns).sum()
    }
}

/// What kept a callback of an executor from starting between two instants: callbacks on its one thread; of several
/// threads those that never ran at the same time as it, or else all, while they had all threads. `near`: where the
/// look-up before ended; `by`: empty.
fn kept_by(
    executor: &Executor,
    beside: &HashSet<Row<Callback>>,
    but: Row<Callback>,
    (from, to): (i64, i64),
    near: &mut usize,
    by: &mut Shares,
) {
    let clipped = |ran: &Ran| (ran.start_ns.max(from), ran.end_ns.min(to));
    let mut inside: Vec<&Ran> = Vec::new();
    for ran in executor.between(from, to, near).filter(|ran| ran.callback != but) {
        if beside.is_empty() || !beside.contains(&ran.callback) {
            let (start, end) = clipped(ran);
            by.add(ran.callback, end - start);
        }
        if executor.threads > 1 {
            inside.push(ran);
        }
    }
    if executor.threads == 1 || by.sum() as f64 >= BY_OTHERS * (to - from) as f64 {
        return;
    }
    by.0.clear();
    let mut borders: Vec<i64> = inside.iter().flat_map(|ran| [clipped(ran).0, clipped(ran).1]).collect();
    borders.sort_unstable();
    for border in borders.windows(2) {
        let there: Vec<_> = inside.iter().filter(|r| r.start_ns <= border[0] && border[1] <= r.end_ns).collect();
        if there.len() >= executor.threads {
            let each = (border[1] - border[0]) / there.len() as i64;
            there.iter().for_each(|ran| by.add(ran.callback, each));
        }
    }
}

/// What takes a callback out of the way of another.
fn apart(facts: &Facts<'_>, executor: &Executor, held: Row<Callback>, by: Row<Callback>) -> String {
    let (process, name) = (executor.process, facts.callback(by));
    let node = |callback: Row<Callback>| facts.tables.callbacks[callback].node;
    let shared = if node(held) == node(by) { " (what both use then needs a lock)" } else { "" };
    if facts.is_ros1(process) {
        return format!(
            "{name} on a callback queue and spinner of its own{shared}, or in a process of its own; or less work in \
             it"
        );
    }
    if facts.tables.is_in_python(by) {
        return facts.apart_in_python(&name, shared);
    }
    let group = |callback: Row<Callback>| facts.tables.callbacks[callback].callback_group;
    let is_reentrant = facts.tables.callbacks[by].reentrant == Some(true);
    let is_apart = group(by).zip(group(held)).is_some_and(|(by, held)| by != held || is_reentrant);
    match executor.threads {
        threads if threads > 1 && is_apart => format!("more threads than {threads}; or less work in {name}"),
        1 => format!(
            "{name} in a callback group of its own on a multi-threaded executor{shared}, or in an executor of its \
             own; or less work in it"
        ),
        threads => format!(
            "{name} in a callback group of its own: callbacks of one mutually exclusive group run in turn{shared}; \
             if groups are apart already, more threads than {threads}"
        ),
    }
}

/// Starts of a timer that steps are judged by, and the part of them that follow another timer at once.
const STEPS: usize = 10;
const STEPS_PART: f64 = 0.9;
/// Part of its period that it waits, from which on it is reported.
const STEP_COST: f64 = 0.05;
/// Part of its period within which it follows at once, and of the other's execution if that hardly varies: a phase that
/// happens to lie there is not likely.
const AT_ONCE: f64 = 0.02;
const AT_ONCE_OF_OTHER: f64 = 0.05;
const AT_ONCE_NS: i64 = 1_000_000;
/// Periods of two timers are multiples to this part.
const MULTIPLE: f64 = 0.001;

pub const IN_STEP: Lint = Lint {
    name: "timers-in-step",
    finds: "two timers of an executor are due at the same time, so that one always waits for the other",
    check: |facts| {
        let timers: HashMap<Row<Callback>, i64> =
            facts.timers().map(|(callback, period, _)| (callback, period)).collect();
        let in_turn = |executor: &&Executor| executor.threads == 1 || executor.runs_in_turn();
        let executors = facts.executors();
        executors.iter().filter(in_turn).flat_map(|executor| in_step(facts, executor, &timers)).collect()
    },
};

/// How a timer starts behind another: how long that took, and what lay between the two.
#[derive(Default)]
struct Behind {
    took: Vec<i64>,
    between: Vec<i64>,
}

fn in_step(facts: &Facts<'_>, executor: &Executor, timers: &HashMap<Row<Callback>, i64>) -> Vec<Case> {
    let mut starts: HashMap<Row<Callback>, usize> = HashMap::default();
    let mut behind: BTreeMap<(Row<Callback>, Row<Callback>), Behind> = BTreeMap::new();
    for pair in executor.ran.windows(2) {
        let [before, ran] = [pair[0], pair[1]];
        let Some(period) = timers.get(&ran.callback).copied() else { continue };
        *starts.entry(ran.callback).or_default() += 1;
        let Some(other) = timers.get(&before.callback).copied().filter(|_| before.callback != ran.callback) else {
            continue;
        };
        let ratio = period as f64 / other as f64;
        let between = ran.start_ns - before.end_ns;
        let multiple = ratio > 1.0 - MULTIPLE && (ratio - ratio.round()).abs() <= MULTIPLE * ratio;
        if multiple && between >= 0 && (between as f64) <= AT_ONCE * period as f64 {
            let of = behind.entry((ran.callback, before.callback)).or_default();
            of.took.push(before.end_ns - before.start_ns);
            of.between.push(between);
        }
    }
    let case = |((timer, other), mut of): ((Row<Callback>, Row<Callback>), Behind)| {
        let (period, other_period, starts) = (timers[&timer], timers[&other], starts[&timer]);
        let mean = of.took.iter().sum::<i64>() / of.took.len() as i64;
        of.took.sort_unstable();
        of.between.sort_unstable();
        let spread = |sorted: &[i64]| sorted[sorted.len() * 9 / 10] - sorted[sorted.len() / 10];
        let median = of.between[of.between.len() / 2];
        // It starts when the other ends, whenever that is; or so soon behind it that no phase of its own explains it.
        let waits = 2 * spread(&of.between) < spread(&of.took)
            || (median <= AT_ONCE_NS && median as f64 <= AT_ONCE_OF_OTHER * mean as f64);
        if of.took.len() < STEPS
            || (of.took.len() as f64) < STEPS_PART * starts as f64
            || (mean as f64) < STEP_COST * period as f64
            || !waits
        {
            return None;
        }
        // Behind all but the longest tenth of the other's executions.
        let phase = (other_period / 2).max(of.took[of.took.len() * 9 / 10]);
        let how = match facts.is_ros1(executor.process) {
            true => "start the timer",
            false => "create the timer, or reset() it,",
        };
        Some(Case {
            subject: facts.callback(timer),
            evidence: format!(
                "{} of {starts} starts ({}) came at once behind {}, {} later in the median: both are due together",
                of.took.len(),
                percent(of.took.len(), starts),
                facts.callback(other),
                time(median)
            ),
            cost: format!("it waits {} each time, of a period of {}", time(mean), time(period)),
            next: format!(
                "a phase: {how} {} after the other, as its period counts from there; or {}",
                time(phase),
                apart(facts, executor, timer, other)
            ),
            weight: mean as f64 / period as f64,
            delays: None,
        })
    };
    behind.into_iter().filter_map(case).collect()
}

impl Executor {
    /// Whether no two of its callbacks ever ran at once.
    fn runs_in_turn(&self) -> bool {
        self.ran.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns)
    }
}
