//! Chains that come too late, and chains that rest on guesses.

use super::facts::{time, Facts};
use super::{Case, Lint};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use tacho_tables::row::{Column, Row};
use tacho_tables::{named, Callback, Chain, LinkEvidence, LinkRule};

/// Below it a link is worth a look.
const CERTAIN: f64 = 0.6;
/// Chains that are named; of more it is said how many.
const NAMED: usize = 4;

pub const DEADLINE: Lint = Lint {
    name: "deadline-missed",
    finds: "instances of a chain took longer than its deadline, or none came through",
    check: |facts| {
        let tables = facts.tables;
        let mut paths: BTreeMap<&str, Vec<Path<'_>>> = BTreeMap::new();
        for chain in &tables.chains {
            let Some(deadline_ns) = chain.deadline_ns else { continue };
            paths.entry(&chain.name).or_default().push(Path {
                chain,
                deadline_ns,
                instances: 0,
                late: 0,
                worst_ns: None,
            });
        }
        if paths.is_empty() {
            return Vec::new();
        }
        // Place of each chain among the paths of its name.
        let mut next: HashMap<&str, usize> = HashMap::default();
        let place: Column<Chain, usize> = Column::of(tables.chains.iter().map(|chain| {
            let next = next.entry(&chain.name).or_default();
            *next += usize::from(chain.deadline_ns.is_some());
            next.saturating_sub(1)
        }));
        for instance in &tables.instances {
            let chain = &tables.chains[instance.chain];
            let Some(deadline_ns) = chain.deadline_ns else { continue };
            let path = &mut paths.get_mut(chain.name.as_str()).expect("made above")[place[instance.chain]];
            path.instances += 1;
            path.late += usize::from(instance.end_to_end_ns > deadline_ns);
            path.worst_ns = path.worst_ns.max(Some(instance.end_to_end_ns));
        }
        paths.values().filter_map(|paths| missed(paths)).collect()
    },
};

/// Whether chains with a deadline pass a callback, and all their instances kept it.
pub(super) fn keeps_deadlines(facts: &Facts<'_>, callback: Row<Callback>) -> bool {
    let (chains, name) = (&facts.tables.chains, facts.callback(callback));
    let with_deadline =
        Column::of(chains.iter().map(|chain| chain.deadline_ns.filter(|_| chain.callbacks.contains(&name))));
    let mut kept = facts.tables.instances.iter().filter_map(|instance| {
        with_deadline[instance.chain].map(|deadline_ns: i64| instance.end_to_end_ns <= deadline_ns)
    });
    kept.next().is_some_and(|first| first && kept.all(|is_kept| is_kept))
}

/// One of the paths that a chain with a deadline may take.
struct Path<'a> {
    chain: &'a Chain,
    deadline_ns: i64,
    instances: usize,
    late: usize,
    worst_ns: Option<i64>,
}

/// All paths of one name are one case, told as the worst of them.
fn missed(paths: &[Path<'_>]) -> Option<Case> {
    let too_late = |path: &Path<'_>| path.worst_ns.map_or(i64::MIN, |worst| worst - path.deadline_ns);
    let path = paths.iter().rev().max_by_key(|path| too_late(path))?;
    let (subject, deadline) = (path.chain.name.clone(), path.deadline_ns);
    let Some(worst) = path.worst_ns else {
        // Of several paths of one name, one that nothing takes is no failure.
        let lost: u64 = paths.iter().map(|path| path.chain.lost).max()?;
        return Some(Case {
            subject,
            evidence: format!("no instance came through; {lost} inputs without an output"),
            cost: format!("nothing kept its deadline of {}", time(deadline)),
            next: "what became of its inputs stands with the chain".into(),
            weight: lost as f64,
            delays: None,
        });
    };
    let with_late = paths.iter().filter(|path| path.late > 0).count();
    let of_paths = if paths.len() > 1 {
        format!(" (on the worst of {with_late} such paths, of {} with this name)", paths.len())
    } else {
        String::new()
    };
    (path.late > 0).then(|| Case {
        subject,
        evidence: format!(
            "{} of {} instances took longer than {}; the longest {}{of_paths}",
            path.late,
            path.instances,
            time(deadline),
            time(worst)
        ),
        cost: format!("up to {} too late", time(worst - deadline)),
        next: "the causes of its worst instances stand with the chain (--chain NAME)".into(),
        weight: path.late as f64,
        delays: None,
    })
}

/// How an input is tied to an output, in words.
fn rule(rule: LinkRule) -> &'static str {
    match rule {
        LinkRule::HeaderStamp => "the one whose stamp it carries",
        LinkRule::SameCallback => "published by the callback that took it",
        LinkRule::Latest => "the latest taken before",
        LinkRule::LatestOnce => "the latest taken before, used once",
        LinkRule::Match => "matched by a message filter",
        LinkRule::Unrelated => "unrelated",
    }
}

pub const UNCERTAIN_LINK: Lint = Lint {
    name: "uncertain-link",
    finds: "a chain rests on a tie of input to output that is only guessed",
    check: |facts| {
        let tables = facts.tables;
        let guessed = tables.links.iter().filter(|l| {
            l.confidence < CERTAIN
                && l.outputs > 0
                && l.evidence > LinkEvidence::Annotated
                && l.rule != LinkRule::SameCallback
        });
        let case = |link: &tacho_tables::Link| {
            let node = &tables.nodes[link.node].name;
            let output = link.output.as_ref()?;
            let on = |path: &[String]| path.windows(3).any(|w| w[0] == link.input && w[1] == *node && w[2] == *output);
            let mut chains: Vec<&str> = tables.chains.iter().filter(|c| on(&c.path)).map(|c| c.name.as_str()).collect();
            chains.sort_unstable();
            chains.dedup(); // several paths have one name
            (!chains.is_empty()).then(|| Case {
                subject: format!("{node} {} -> {output}", link.input),
                evidence: format!(
                    "tied as {} with confidence {:.2}; {} of {} outputs have an input by it",
                    rule(link.rule),
                    link.confidence,
                    link.followed,
                    link.outputs
                ),
                cost: format!(
                    "times of {} are only as good as that: {}",
                    if chains.len() == 1 { "a chain" } else { "chains" },
                    named(&chains, NAMED)
                ),
                next: "tacho explain RUN --suggest > links.yaml, correct it, tacho explain RUN --links links.yaml"
                    .into(),
                weight: 1.0 - link.confidence,
                delays: None,
            })
        };
        guessed.filter_map(case).collect()
    },
};
