//! Findings: what is wrong with the timing of a system, with the evidence, what it costs, and what to try next.
//!
//! A lint looks at the tables alone. docs/lints.md documents every one; `tests` below compare the two.

mod callbacks;
mod calls;
mod chains;
mod clock;
mod executors;
mod facts;
mod held;
mod kept;
mod lifecycle;
mod overhead;
mod publishers;
mod queues;
mod ran;
mod slow_cpu;
mod stalled;
mod timers;

use crate::figures::Repeat;
pub(crate) use callbacks::ON_AVERAGE;
use facts::Facts;
pub(crate) use facts::{time, POOL_DELAYS};
use rustc_hash::FxHashMap as HashMap;
pub(crate) use slow_cpu::{NEXT as SLOW_CPU_NEXT, SLOW_CPU};
use std::collections::hash_map::Entry;
use tacho_tables::in_order::in_order;
use tacho_tables::summary::{Finding, FindingCase};
use tacho_workload::model::Workload;

/// Cases of a finding that the summary tells; the others, which a topic with hundreds of both ends may have, are
/// counted.
const TOLD: usize = 1_000;

/// A named check.
pub struct Lint {
    /// Short and stable; `--allow` and `--deny` name it.
    pub name: &'static str,
    /// What it finds, in half a line.
    pub finds: &'static str,
    check: fn(&Facts<'_>) -> Vec<Case>,
}

/// One place where a lint found something.
struct Case {
    /// What it is about: a subscription, a callback, a thread, a chain.
    subject: String,
    /// Figures with units.
    evidence: String,
    /// What it costs.
    cost: String,
    /// What to try.
    next: String,
    /// Greater is worse; compares cases of one lint.
    weight: f64,
    /// The callback that delays the subject, and by how much in all, ms.
    delays: Option<(String, f64)>,
}

/// Every lint, in the order in which findings are reported.
pub static LINTS: &[Lint] = &[
    chains::DEADLINE,
    queues::TOO_SHORT,
    queues::LOSSY_BEST_EFFORT,
    queues::NEVER_RECEIVED,
    lifecycle::NOT_ACTIVE,
    callbacks::EXCEEDS_PERIOD,
    callbacks::STARVED,
    timers::LATE_TIMER,
    timers::IN_STEP,
    calls::CALL_BLOCKS,
    executors::BOTTLENECK,
    executors::SPINNING,
    stalled::STALLED,
    overhead::OVERHEAD,
    slow_cpu::SLOW_CPU,
    callbacks::PREEMPTED,
    kept::OFF_CPU,
    callbacks::TIMER_DRIFT,
    clock::STALLS,
    publishers::BEHIND,
    publishers::LARGE_OVER_UDP,
    held::STALE_INPUT,
    held::FILTER_DROPS,
    chains::UNCERTAIN_LINK,
];

/// What all lints find. A case that several repeats show is one, told as in the worst of them.
pub(crate) fn findings(repeats: &[Repeat<'_>], workload: Option<&Workload>) -> Vec<Finding> {
    let facts: Vec<Facts<'_>> = repeats.iter().map(|repeat| Facts::new(repeat, workload)).collect();
    let find = |lint: &Lint| {
        // By subject and, where a run has several of one name, which of them by weight: of each the worst, and the
        // repeats that have it.
        let mut known: HashMap<(String, usize), (Case, u64)> = HashMap::default();
        for facts in &facts {
            let mut of_name: HashMap<String, usize> = HashMap::default();
            for case in worst_first((lint.check)(facts)) {
                let place = of_name.entry(case.subject.clone()).or_default();
                let key = (case.subject.clone(), *place);
                *place += 1;
                match known.entry(key) {
                    Entry::Vacant(entry) => drop(entry.insert((case, 1))),
                    Entry::Occupied(mut entry) => {
                        let (worst, repeats) = entry.get_mut();
                        *repeats += 1;
                        if case.weight > worst.weight {
                            *worst = case;
                        }
                    }
                }
            }
        }
        let mut cases: Vec<((String, usize), (Case, u64))> = known.into_iter().collect();
        cases.sort_by(|(a, (left, _)), (b, (right, _))| right.weight.total_cmp(&left.weight).then_with(|| a.cmp(b)));
        Finding {
            lint: lint.name.into(),
            finds: lint.finds.into(),
            count: cases.len() as u64,
            cases: cases
                .into_iter()
                .take(TOLD)
                .map(|(_, (case, in_repeats))| told(case, in_repeats, repeats.len()))
                .collect(),
        }
    };
    let mut found: Vec<Finding> = Vec::new();
    in_order(LINTS.iter(), find, |finding| found.extend(Some(finding).filter(|finding| finding.count > 0)));
    found
}

fn worst_first(mut cases: Vec<Case>) -> Vec<Case> {
    cases.sort_by(|a, b| {
        b.weight.total_cmp(&a.weight).then_with(|| (&a.subject, &a.evidence).cmp(&(&b.subject, &b.evidence)))
    });
    cases
}

fn told(case: Case, in_repeats: u64, repeats: usize) -> FindingCase {
    let (by, delay_ms) = case.delays.unzip();
    FindingCase {
        by,
        delay_ms,
        subject: case.subject,
        evidence: case.evidence,
        cost: case.cost,
        next: case.next,
        repeats: (repeats > 1).then_some(in_repeats),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_lint_is_documented_and_every_documented_one_exists() {
        let page = include_str!("../../../../docs/lints.md");
        let documented: BTreeSet<&str> =
            page.lines().filter_map(|line| line.strip_prefix("## `")?.strip_suffix('`')).collect();
        let names: BTreeSet<&str> = LINTS.iter().map(|lint| lint.name).collect();
        assert_eq!(documented, names);
        assert_eq!(names.len(), LINTS.len(), "each name once");
    }
}
