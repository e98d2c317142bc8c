//! The verdict: the chain that matters, how late it is, and what is to blame. docs/figures-of-chains.md, "verdict".
//!
//! It accuses on good evidence alone: what delayed several instances, by enough to matter, beyond what is usual. What
//! is merely the slowest of a healthy system is nobody's fault.

mod advice;
mod asked;
mod blame;
mod callback;
mod crowded;
mod findings;
mod holder;
mod lacking;
mod late;
mod late_start;
mod lost;
mod machine;
mod overhead;
mod pool;
mod ran;
mod slow_cpu;
mod steady;

use crate::figures::Repeat;
use late::Late;
use ran::Ran;
use rustc_hash::FxHashSet as HashSet;
use tacho_tables::ends::ends;
use tacho_tables::in_order::in_order;
use tacho_tables::summary::{CallbackFigures, ChainFigures, Culprit, Finding, Verdict};
use tacho_tables::LinkEvidence;

/// Below it a link of a chain counts as a guess; as the lint `uncertain-link` has it.
const CERTAIN: f64 = 0.6;
/// Chains that are looked at; those with the longest times.
const LOOKED_AT: usize = 8;
/// Culprits that are named.
const NAMED: usize = 10;

/// A culprit, and how much it matters: a part of all time or of all inputs.
struct Suspect {
    culprit: Culprit,
    weight: f64,
}

/// What is said of one chain.
#[derive(Default)]
struct OfChain {
    verdict: Verdict,
    suspects: Vec<Suspect>,
    /// What its late instances took above the usual, ms.
    late_ms: f64,
    /// Whether others had much of the machine.
    among_others: bool,
}

/// What stands out in a run; `None` for one without chains, callbacks and topics.
pub(crate) fn verdict(
    repeats: &[Repeat<'_>],
    chains: &[ChainFigures],
    callbacks: &[CallbackFigures],
    findings: &[Finding],
) -> Option<Verdict> {
    if chains.is_empty() && callbacks.is_empty() {
        return None;
    }
    let ran = Ran::of(repeats);
    let of_chain = first_guilty(repeats, &ran, &that_matter(chains)).unwrap_or_default();
    let found = findings::suspects(findings, callbacks, &of_chain);
    let OfChain { mut verdict, mut suspects, .. } = of_chain;
    suspects.extend(found);
    suspects.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let mut named = HashSet::default();
    suspects.retain(|Suspect { culprit, .. }| {
        named.insert((culprit.kind, culprit.node.clone(), culprit.callback.clone(), culprit.topic.clone()))
    });
    verdict.culprits = suspects.into_iter().take(NAMED).map(|suspect| suspect.culprit).collect();
    verdict.text = text(&verdict, chains);
    Some(verdict)
}

/// What is said of the first chain that missed its deadline or accuses anybody, else of the first. The others are
/// looked at only if the first does neither.
fn first_guilty(repeats: &[Repeat<'_>], ran: &Ran, chains: &[&ChainFigures]) -> Option<OfChain> {
    let is_guilty = |of: &OfChain| missed(&of.verdict) || !of.suspects.is_empty();
    let (first, others) = chains.split_first()?;
    let first = of_chain(repeats, ran, first);
    if is_guilty(&first) {
        return Some(first);
    }
    let mut guilty = None;
    in_order(
        others.iter(),
        |chain| of_chain(repeats, ran, chain),
        |of| {
            if guilty.is_none() && is_guilty(&of) {
                guilty = Some(of);
            }
        },
    );
    guilty.or(Some(first))
}

/// Chains with instances, those that missed a deadline first, then by their worst; those that rest on a guess only if
/// there are no others.
fn that_matter(chains: &[ChainFigures]) -> Vec<&ChainFigures> {
    let came_through = |chain: &&ChainFigures| chain.instances > 0 || chain.deadline_ms.is_some();
    let mut found: Vec<&ChainFigures> = chains.iter().filter(came_through).collect();
    if found.iter().any(|chain| !is_guess(chain)) {
        found.retain(|chain| !is_guess(chain));
    }
    let worst = |chain: &ChainFigures| chain.end_to_end_ms.as_ref().map_or(f64::INFINITY, |times| times.max);
    let missed = |chain: &ChainFigures| chain.late_instances.is_some_and(|late| late > 0);
    found.sort_by(|a, b| {
        (missed(b), b.critical).cmp(&(missed(a), a.critical)).then_with(|| worst(b).total_cmp(&worst(a)))
    });
    found.truncate(LOOKED_AT);
    found
}

fn is_guess(chain: &ChainFigures) -> bool {
    chain.links.iter().any(|link| link.evidence == LinkEvidence::Inferred && link.confidence < CERTAIN)
}

/// What is said of one chain, and whom its instances and inputs accuse.
fn of_chain(repeats: &[Repeat<'_>], ran: &Ran, chain: &ChainFigures) -> OfChain {
    let late = Late::of(repeats, ran, chain);
    let first = accused(repeats, &late, chain);
    if !first.suspects.is_empty() {
        return first;
    }
    let second = late.among_late(repeats, chain).map(|late| accused(repeats, &late, chain));
    second.filter(|second| !second.suspects.is_empty()).unwrap_or(first)
}

/// Whom some instances accuse, and inputs.
fn accused(repeats: &[Repeat<'_>], late: &Late<'_>, chain: &ChainFigures) -> OfChain {
    let mut suspects = blame::suspects(late);
    let steady = steady::suspects(late, &suspects);
    suspects.extend(steady);
    suspects.extend(crowded::suspect(late));
    let full = crowded::full(late, &suspects);
    suspects.extend(full);
    let machine = machine::suspect(late, &suspects);
    suspects.extend(machine);
    let lost = lost::suspects(repeats, late, chain, &suspects);
    suspects.extend(lost);
    suspects.extend(late_start::suspects(repeats, chain));
    suspects.extend(slow_cpu::suspect(repeats, late, chain));
    pool::behind_what_blocks(late, &mut suspects);
    let times = chain.end_to_end_ms.as_ref();
    let verdict = Verdict {
        chain: Some(chain.name.clone()),
        path: chain.path.clone(),
        instances: chain.instances,
        late_instances: late.instances,
        late_cases: late.cases.len() as u64,
        late_above_ms: late.above_ms,
        deadline_ms: chain.deadline_ms,
        usual_ms: times.map(|times| times.median),
        worst_ms: times.map(|times| times.max),
        ..Verdict::default()
    };
    OfChain { verdict, suspects, late_ms: late.all_ms(), among_others: late.others.is_some() }
}

fn missed(verdict: &Verdict) -> bool {
    verdict.deadline_ms.is_some() && verdict.late_instances > 0
}

/// The sentence at the top.
fn text(verdict: &Verdict, chains: &[ChainFigures]) -> String {
    let Some((usual, worst)) = verdict.usual_ms.zip(verdict.worst_ms) else {
        return match (verdict.culprits.is_empty(), chains.is_empty()) {
            (true, true) => "No chain was seen, and nothing stands out in callbacks and topics.".into(),
            (true, false) => "No chain has an end-to-end time, and nothing stands out in callbacks and topics.".into(),
            (false, _) => "No chain has an end-to-end time; what is wrong stands below.".into(),
        };
    };
    let ends = ends(&verdict.path).or_else(|| verdict.chain.clone()).unwrap_or_default();
    let times = format!("usually {}, at worst {}", ms(usual), ms(worst));
    let (late, all) = (verdict.late_instances, verdict.instances);
    match verdict.deadline_ms {
        Some(deadline) if late > 0 => {
            format!("{ends} misses its deadline of {deadline} ms in {late} of {all} outputs; {times}.")
        }
        Some(deadline) => format!("{ends} keeps its deadline of {deadline} ms in all {all} outputs: {times}."),
        None if verdict.culprits.is_empty() => format!("Nothing stands out: {ends} takes {times} ({all} outputs)."),
        None => match verdict.late_above_ms.filter(|_| late > 0) {
            Some(above) => format!("{ends}: {times}; {late} of {all} outputs took over {}.", ms(above)),
            None => format!("{ends}: {times} ({all} outputs)."),
        },
    }
}

/// `121.3 ms`.
fn ms(value: f64) -> String {
    match value {
        _ if value >= 100.0 => format!("{value:.0} ms"),
        _ if value >= 10.0 => format!("{value:.1} ms"),
        _ => format!("{value:.2} ms"),
    }
}

/// Singular or plural.
fn count(number: u64, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}
