//! Accuses programs that usually have the CPU while nodes of a chain need it.

use super::callback::Named;
use super::lacking::{interval_ms, Lacking};
use super::late::{number_of, Late, LEAST_COMPUTED};
use super::{advice, ms, Suspect};
use crate::figures::Repeat;
use std::collections::BTreeMap;
use tacho_tables::own_name;
use tacho_tables::row::Row;
use tacho_tables::summary::Culprit;
use tacho_tables::{Cause, CauseKind, Execution};

/// Part of the usual end-to-end time without a CPU from which on it is reported, and ms.
const WITHOUT_A_CPU: (f64, f64) = (0.08, 1.0);

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
    lacking: Lacking,
    /// It was ready to run in this time; otherwise it may have slept.
    is_known: bool,
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
        let (mut lacking, mut is_known) = (Lacking::default(), true);
        for (number, repeat) in late.repeats() {
            let of_it = own.range((number, Row::new(0))..=(number, Row::LAST));
            let rows = of_it.clone().map(|((_, row), _)| &repeat.tables.executions[*row]);
            if rows.clone().next().is_none() {
                continue;
            }
            let of_repeat = Lacking::of(rows.clone()).unwrap_or_else(|| {
                // Off the CPU: a queue that fills with work for which a CPU is missing, else it may have slept. What
                // hardly computes slept: a thread that can run gets a CPU now and then.
                let fills =
                    || of_it.clone().all(|((_, row), (_, at))| late.is_its_own_queue(&Named::of(repeat, *row), *at));
                let times = rows.clone().filter_map(|row| Some((row.end_ns.get()? - row.start_ns, row.cpu_ns.get()?)));
                let (wall_ns, cpu_ns) = times.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                let computes = cpu_ns as f64 >= LEAST_COMPUTED * wall_ns as f64;
                is_known = false;
                Lacking {
                    ran_ns: rows.filter_map(|row| Some(row.end_ns.get()? - row.start_ns)).sum(),
                    lacked_ns: if computes && fills() { wall_ns - cpu_ns } else { 0 },
                    calls: of_it.clone().count(),
                }
            });
            lacking.ran_ns += of_repeat.ran_ns;
            lacking.lacked_ns += of_repeat.lacked_ns;
            lacking.calls += of_repeat.calls;
        }
        let ((_, row), (repeat, _)) = own.first_key_value()?;
        let interval_ms = interval_ms(repeat, repeat.tables.executions[*row].callback);
        let keeps_up = interval_ms.is_none_or(|interval_ms| lacking.needs_ms() < interval_ms);
        (lacking.calls > 0 && lacking.is_much() && keeps_up).then_some(Hungry { of: suspect, lacking, is_known })
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
                (kind, why, advice::a_cpu_of_its_own(late, node))
            }
        };
        let text = format!(
            "{} of {node} {lacks} for {}{why}: outputs wait for it.",
            of.function.as_deref().map(own_name).or(of.callback.as_deref())?,
            self.lacking.words(),
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
        return Some(taken.suspect(late, text, advice::a_cpu_of_its_own(late, node)));
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
    Some(taken.suspect(late, text, advice::a_cpu_of_its_own(late, node)))
}
