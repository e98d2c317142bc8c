//! Accuses programs that usually have the CPU while nodes of a chain need it.

use super::callback::Named;
use super::late::{number_of, Late, LEAST_COMPUTED};
use super::{advice, ms, Suspect};
use crate::figures::Repeat;
use std::collections::BTreeMap;
use tacho_tables::own_name;
use tacho_tables::row::Row;
use tacho_tables::summary::Culprit;
use tacho_tables::{Cause, CauseKind, Execution, OffCpu};

/// Part of the usual end-to-end time without a CPU from which on it is reported, and ms.
const WITHOUT_A_CPU: (f64, f64) = (0.08, 1.0);

/// A callback that lacked a CPU for more of its time would keep up if it had the CPU.
const LACKED: f64 = 0.3;

/// By scheduler events who had the CPUs; without them, that callbacks were off the CPU while others used much.
pub(super) fn suspect(late: &Late<'_>, known: &[Suspect]) -> Option<Suspect> {
    let hungry = Hungry::among(late, known);
    let by_name = by_name(late).map(|suspect| Suspect {
        weight: hungry.as_ref().map_or(suspect.weight, |hungry| suspect.weight.max(hungry.weight())),
        ..suspect
    });
    by_name.or_else(|| hungry.as_ref()?.suspect(late)).or_else(|| unnamed(late))
}

/// A callback that outputs wait for, that lacked a CPU for much of its time, and that would keep up if it had one.
struct Hungry<'a> {
    of: &'a Suspect,
    ran_ms: f64,
    lacked_ms: f64,
    /// It was ready to run in this time; otherwise it may have slept.
    is_known: bool,
    calls: usize,
}

impl<'a> Hungry<'a> {
    fn among(late: &Late<'_>, known: &'a [Suspect]) -> Option<Hungry<'a>> {
        let busy = known.iter().filter(|suspect| suspect.culprit.kind.is_some_and(|kind| kind.is_busy()));
        busy.filter_map(|suspect| Hungry::of(late, suspect)).max_by(|a, b| a.of.weight.total_cmp(&b.of.weight))
    }

    fn of(late: &Late<'_>, suspect: &'a Suspect) -> Option<Hungry<'a>> {
        let mut own: BTreeMap<(usize, Row<Execution>), (&Repeat<'_>, u32)> = BTreeMap::new();
        for (repeat, cause) in &late.told {
            if cause.kind.is_busy() && suspect.culprit.callback.as_deref() == Some(&*cause.by) {
                own.extend(cause.execution.map(|row| ((number_of(repeat), row), (*repeat, cause.position))));
            }
        }
        let (mut ran_ns, mut lacked_ns, mut is_known) = (0, 0, true);
        for (number, repeat) in late.repeats() {
            let of_it = own.range((number, Row::new(0))..=(number, Row::LAST));
            let rows = of_it.clone().map(|((_, row), _)| &repeat.tables.executions[*row]);
            ran_ns += rows.clone().filter_map(|row| Some(row.end_ns.get()? - row.start_ns)).sum::<i64>();
            if repeat.tables.preemptions.is_empty() {
                let known = rows.clone().map(|row| row.runnable_ns.get()).sum::<Option<i64>>();
                // Off the CPU: a queue that fills with work for which a CPU is missing, else it may have slept. What
                // hardly computes slept: a thread that can run gets a CPU now and then.
                let fills =
                    || of_it.clone().all(|((_, row), (_, at))| late.is_its_own_queue(&Named::of(repeat, *row), *at));
                let times = rows.filter_map(|row| Some((row.end_ns.get()? - row.start_ns, row.cpu_ns.get()?)));
                let (wall_ns, cpu_ns) = times.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                let computes = cpu_ns as f64 >= LEAST_COMPUTED * wall_ns as f64;
                is_known &= known.is_some();
                lacked_ns += known.unwrap_or_else(|| if computes && fills() { wall_ns - cpu_ns } else { 0 });
            } else {
                let lacked = repeat.tables.preemptions.iter().filter(|row| row.state == OffCpu::Runnable);
                let lacked = lacked.filter(|row| row.execution.is_some_and(|row| own.contains_key(&(number, row))));
                lacked_ns += lacked.map(|row| row.to_ns - row.from_ns).sum::<i64>();
            }
        }
        let (ran_ms, lacked_ms) = (ran_ns as f64 / 1e6, lacked_ns as f64 / 1e6);
        let hungry = Hungry { of: suspect, ran_ms, lacked_ms, is_known, calls: own.len() };
        let (((_, row), (repeat, _)), needs_ms) = (own.first_key_value()?, (ran_ms - lacked_ms) / own.len() as f64);
        let keeps_up = interval_ms(repeat, *row).is_none_or(|interval_ms| needs_ms < interval_ms);
        (lacked_ms > LACKED * ran_ms && keeps_up).then_some(hungry)
    }

    /// Before the callback itself.
    fn weight(&self) -> f64 {
        1.01 * self.of.weight
    }

    /// By scheduler events the program that usually has the CPU at the callback's node; without them what others used.
    fn suspect(&self, late: &Late<'_>) -> Option<Suspect> {
        let of = &self.of.culprit;
        let node = of.node.as_deref()?;
        let parts = late.usual().into_iter().map(|(_, cause)| cause).filter(|cause| {
            let lacks = matches!(cause.kind, CauseKind::Preemption | CauseKind::NoCpu);
            lacks && node == late.node(cause.position)
        });
        let most = parts.max_by(|a, b| usual_ms(a).total_cmp(&usual_ms(b)));
        let lacks = if self.is_known { "could run and has no CPU" } else { "is off the CPU" };
        let others = late.others.as_ref();
        let (kind, why, next) = match most {
            Some(most) if &*most.by != Cause::BY_UNKNOWN => {
                let why = format!(" ({} {})", most.kind.words(), most.by);
                (most.kind, why, advice::of_kind(late, most.kind, &most.by, node))
            }
            _ => {
                let kind = if self.is_known { CauseKind::Preemption } else { CauseKind::OffCpu };
                let why = others.map(|others| format!(" ({others})"));
                // It may have slept.
                let why = if self.is_known { why.unwrap_or_default() } else { why? };
                (kind, why, advice::a_cpu_of_its_own(node))
            }
        };
        let text = format!(
            "{} of {node} {lacks} for {:.0} % of its time, {} of {} a call{why}: outputs wait for it.",
            of.function.as_deref().map(own_name).or(of.callback.as_deref())?,
            100.0 * self.lacked_ms / self.ran_ms,
            ms(self.lacked_ms / self.calls as f64),
            ms(self.ran_ms / self.calls as f64),
        );
        let culprit = Culprit {
            kind: Some(kind),
            node: Some(node.to_owned()),
            share_percent: of.share_percent,
            longest_ms: of.longest_ms,
            text,
            next,
            ..Culprit::default()
        };
        Some(Suspect { culprit, weight: self.weight() })
    }
}

/// Time between two calls that are asked of the callback of an execution, on the average.
fn interval_ms(repeat: &Repeat<'_>, execution: Row<Execution>) -> Option<f64> {
    let tables = repeat.tables;
    let of = &tables.callbacks[tables.executions[execution].callback];
    if let Some(period_ns) = of.period_ns {
        return Some(period_ns as f64 / 1e6);
    }
    let topic = of.topic.as_ref()?;
    let sent = tables.publications.iter().filter(|sent| tables.endpoints[sent.publisher].topic == *topic);
    let (first, last, count) = sent.fold((i64::MAX, i64::MIN, 0), |(first, last, count), sent| {
        (first.min(sent.publish_ns), last.max(sent.publish_ns), count + 1)
    });
    (count > 1).then(|| (last - first) as f64 / 1e6 / f64::from(count - 1))
}

/// Parts of the same kinds, whose usual time together matters.
struct Taken<'a> {
    most: &'a Cause,
    all_ms: f64,
    share: f64,
}

impl<'a> Taken<'a> {
    fn of(late: &Late<'a>, parts: Vec<&'a Cause>) -> Option<Taken<'a>> {
        let all_ms: f64 = parts.iter().copied().map(usual_ms).sum();
        let most = parts.into_iter().max_by(|a, b| usual_ms(a).total_cmp(&usual_ms(b)))?;
        let share = all_ms / late.median_ms.max(1e-9);
        (share >= WITHOUT_A_CPU.0 && all_ms >= WITHOUT_A_CPU.1).then_some(Taken { most, all_ms, share })
    }

    fn suspect(&self, late: &Late<'_>, text: String, next: String) -> Suspect {
        let culprit = Culprit {
            kind: Some(self.most.kind),
            node: Some(late.node(self.most.position).to_owned()),
            share_percent: Some(100.0 * self.share.min(1.0)),
            longest_ms: Some(self.all_ms),
            worst_without_ms: Some((late.worst_ms - self.all_ms).max(0.0)),
            text,
            next,
            ..Culprit::default()
        };
        Suspect { culprit, weight: self.share }
    }
}

fn usual_ms(cause: &Cause) -> f64 {
    cause.usual_ns.get().unwrap_or(0) as f64 / 1e6
}

fn by_name(late: &Late<'_>) -> Option<Suspect> {
    let mut by_program: BTreeMap<&str, Vec<&Cause>> = BTreeMap::new();
    for (_, cause) in late.usual() {
        if matches!(cause.kind, CauseKind::Preemption | CauseKind::NoCpu) && &*cause.by != Cause::BY_UNKNOWN {
            by_program.entry(&cause.by).or_default().push(cause);
        }
    }
    let taken = by_program.into_values().filter_map(|parts| Taken::of(late, parts));
    let taken = taken.max_by(|a, b| a.all_ms.total_cmp(&b.all_ms))?;
    let (by, node) = (&taken.most.by, late.node(taken.most.position));
    let text = format!(
        "{by} usually has the CPU for {} while nodes of the chain are ready to run, {:.0} % of the usual {}: most at \
         {node} ({} {by} for {}).",
        ms(taken.all_ms),
        100.0 * taken.share,
        ms(late.median_ms),
        taken.most.kind.words(),
        ms(usual_ms(taken.most)),
    );
    Some(taken.suspect(late, text, advice::of_kind(late, taken.most.kind, by, node)))
}

/// Without scheduler events.
fn unnamed(late: &Late<'_>) -> Option<Suspect> {
    let others = late.others.as_ref();
    let ready = late.usual().into_iter().map(|(_, cause)| cause);
    let lacks = |cause: &&Cause| matches!(cause.kind, CauseKind::Preemption | CauseKind::NoCpu);
    let ready = ready.filter(lacks).filter(|cause| &*cause.by == Cause::BY_UNKNOWN);
    let why = others.map_or(String::new(), |others| format!(": {others}"));
    if let Some(taken) = Taken::of(late, ready.collect()) {
        let node = late.node(taken.most.position);
        let text = format!(
            "Nodes of the chain usually could run and have no CPU for {}, {:.0} % of the usual {}, most at {node} \
             ({}){why}.",
            ms(taken.all_ms),
            100.0 * taken.share,
            ms(late.median_ms),
            ms(usual_ms(taken.most))
        );
        return Some(taken.suspect(late, text, advice::a_cpu_of_its_own(node)));
    }
    others?;
    let usual = late.usual().into_iter().filter(|(_, cause)| cause.kind == CauseKind::OffCpu);
    let parts = usual.filter(|(repeat, cause)| !late.slept(repeat, cause)).map(|(_, cause)| cause);
    let taken = Taken::of(late, parts.collect())?;
    let node = late.node(taken.most.position);
    let text = format!(
        "Callbacks are usually off the CPU for {}, {:.0} % of the usual {}, most in {} ({}){why}.",
        ms(taken.all_ms),
        100.0 * taken.share,
        ms(late.median_ms),
        taken.most.by,
        ms(usual_ms(taken.most))
    );
    Some(taken.suspect(late, text, advice::a_cpu_of_its_own(node)))
}
