//! Accuses programs that usually have the CPU while nodes of a chain need it.

use super::callback::Named;
use super::late::{number_of, Late};
use super::{advice, ms, Suspect};
use std::collections::BTreeMap;
use tacho_tables::summary::Culprit;
use tacho_tables::{Cause, CauseKind};

/// Part of the usual end-to-end time without a CPU from which on it is reported, and ms.
const WITHOUT_A_CPU: (f64, f64) = (0.08, 1.0);

/// A callback with less of its time on the CPU would keep up if it had the CPU.
const ON_THE_CPU: f64 = 0.7;

/// By scheduler events who had the CPUs; without them, that callbacks were off the CPU while others used much.
pub(super) fn suspect(late: &Late<'_>, known: &[Suspect]) -> Option<Suspect> {
    let by_name = by_name(late).map(|mut suspect| {
        let full = known.iter().filter(|other| fills_its_queue_for_want_of_a_cpu(late, &other.culprit));
        suspect.weight = full.map(|other| 1.01 * other.weight).fold(suspect.weight, f64::max);
        suspect
    });
    by_name.or_else(|| unnamed(late))
}

/// Whether messages wait for earlier calls of a callback that was without a CPU for much of their time.
fn fills_its_queue_for_want_of_a_cpu(late: &Late<'_>, culprit: &Culprit) -> bool {
    let of_it = late.told.iter().filter(|(_, cause)| {
        let of_node = culprit.node.as_deref() == Some(late.node(cause.position));
        cause.kind.is_busy() && of_node && culprit.callback.as_ref() == Some(&cause.by)
    });
    let executions: BTreeMap<_, _> = of_it
        .filter_map(|(repeat, cause)| Some(((number_of(repeat), cause.execution?), (*repeat, cause.position))))
        .collect();
    let (mut ran_ns, mut cpu_ns) = (0, 0);
    for ((_, execution), (repeat, position)) in executions {
        let row = &repeat.tables.executions[execution];
        if let Some((end, cpu)) =
            row.end_ns.zip(row.cpu_ns).filter(|_| late.is_its_own_queue(&Named::of(repeat, execution), position))
        {
            ran_ns += end - row.start_ns;
            cpu_ns += cpu;
        }
    }
    (cpu_ns as f64) < ON_THE_CPU * ran_ns as f64
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
    cause.usual_ns.unwrap_or(0) as f64 / 1e6
}

fn by_name(late: &Late<'_>) -> Option<Suspect> {
    let mut by_program: BTreeMap<&str, Vec<&Cause>> = BTreeMap::new();
    for (_, cause) in late.usual() {
        if matches!(cause.kind, CauseKind::Preemption | CauseKind::NoCpu) {
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

fn unnamed(late: &Late<'_>) -> Option<Suspect> {
    let others = late.others.as_ref()?;
    let parts = late.usual().into_iter().map(|(_, cause)| cause).filter(|cause| cause.kind == CauseKind::OffCpu);
    let taken = Taken::of(late, parts.collect())?;
    let node = late.node(taken.most.position);
    let text = format!(
        "Callbacks are usually off the CPU for {}, {:.0} % of the usual {}, most in {} ({}): {others}.",
        ms(taken.all_ms),
        100.0 * taken.share,
        ms(late.median_ms),
        taken.most.by,
        ms(usual_ms(taken.most))
    );
    let next = format!(
        "See with tacho record --scheduler on who has the CPU meanwhile; give {node} CPUs of its own (taskset) or a \
         real-time priority (chrt), or end the others."
    );
    Some(taken.suspect(late, text, next))
}
