//! Chains that come too late, and chains that rest on guesses.

use super::facts::time;
use super::{Case, Lint};
use crate::tables::{LinkEvidence, LinkRule};

/// Below it a link is worth a look.
const CERTAIN: f64 = 0.6;
/// Chains that are named; of more it is said how many.
const NAMED: usize = 4;

pub const DEADLINE: Lint = Lint {
    name: "deadline-missed",
    finds: "instances of a chain took longer than its deadline, or none came through",
    check: |facts| {
        let tables = facts.tables;
        let case = |(row, chain): (usize, &crate::tables::Chain)| {
            let deadline = chain.deadline_ns?;
            let all: Vec<i64> = tables.instances.iter().filter(|i| i.chain == row as u32).map(|i| i.end_to_end_ns).collect();
            let late = all.iter().filter(|ns| **ns > deadline).count();
            let Some(worst) = all.iter().max().copied() else {
                // Of several paths of one name, one that nothing takes is no failure.
                let other = |i: &crate::tables::Instance| tables.chains[i.chain as usize].name == chain.name;
                return (!tables.instances.iter().any(other)).then(|| Case {
                    subject: chain.name.clone(),
                    evidence: format!("no instance came through; {} inputs without an output", chain.lost),
                    cost: format!("nothing kept its deadline of {}", time(deadline)),
                    next: "what became of its inputs stands with the chain".into(),
                    weight: chain.lost as f64,
                });
            };
            (late > 0).then(|| Case {
                subject: chain.name.clone(),
                evidence: format!("{late} of {} instances took longer than {}; the longest {}", all.len(), time(deadline), time(worst)),
                cost: format!("up to {} too late", time(worst - deadline)),
                next: "the causes of its worst instances stand with the chain".into(),
                weight: late as f64,
            })
        };
        tables.chains.iter().enumerate().filter_map(case).collect()
    },
};

pub const UNCERTAIN_LINK: Lint = Lint {
    name: "uncertain-link",
    finds: "a chain rests on a tie of input to output that is only guessed",
    check: |facts| {
        let tables = facts.tables;
        let guessed = tables.links.iter().filter(|l| {
            l.confidence < CERTAIN && l.outputs > 0 && l.evidence > LinkEvidence::Annotated && l.rule != LinkRule::SameCallback
        });
        let case = |link: &crate::tables::Link| {
            let node = &tables.nodes[link.node as usize].name;
            let output = link.output.as_ref()?;
            let on = |path: &[String]| path.windows(3).any(|w| w[0] == link.input && w[1] == *node && w[2] == *output);
            let mut chains: Vec<&str> = tables.chains.iter().filter(|c| on(&c.path)).map(|c| c.name.as_str()).collect();
            chains.sort_unstable();
            chains.dedup(); // several paths have one name
            let more = chains.len().saturating_sub(NAMED);
            let and = if more > 0 { format!(" and {more} more") } else { String::new() };
            (!chains.is_empty()).then(|| Case {
                subject: format!("{node} {} -> {output}", link.input),
                evidence: format!("tied by rule with confidence {:.2}; {} of {} outputs have an input by it", link.confidence, link.followed, link.outputs),
                cost: format!("times of {} are only as good as that: {}{and}", if chains.len() == 1 { "a chain" } else { "chains" }, chains[..chains.len() - more].join(", ")),
                next: "tacho explain RUN --suggest > links.yaml, correct it, tacho explain RUN --links links.yaml".into(),
                weight: 1.0 - link.confidence,
            })
        };
        guessed.filter_map(case).collect()
    },
};
