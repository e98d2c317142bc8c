//! Accuses programs that usually have the CPU while nodes of a chain need it.

use super::late::Late;
use super::{advice, ms, Suspect};
use std::collections::BTreeMap;
use tacho_tables::summary::Culprit;
use tacho_tables::{Cause, CauseKind};

/// Part of the usual end-to-end time without a CPU from which on it is reported, and ms.
const WITHOUT_A_CPU: (f64, f64) = (0.08, 1.0);

/// By scheduler events who had the CPUs; without them, that callbacks were off the CPU while others used much.
pub(super) fn suspect(late: &Late<'_>) -> Option<Suspect> {
    by_name(late).or_else(|| unnamed(late))
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
