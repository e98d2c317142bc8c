//! Managed nodes that do not work.

use super::facts::time;
use super::{Case, Lint};
use crate::observe::lifecycle::ACTIVE;

/// The state of a node that was shut down in order.
const FINALIZED: &str = "finalized";

pub const NOT_ACTIVE: Lint = Lint {
    name: "node-not-active",
    finds: "a managed node ended in another state than active",
    check: |facts| {
        let tables = facts.tables;
        let case = |(node, stretches): (usize, &Vec<(&str, i64, i64)>)| {
            let (state, since, end) = *stretches.last()?;
            let in_active: i64 = stretches.iter().filter(|s| s.0 == ACTIVE).map(|s| s.2 - s.1).sum();
            if state == ACTIVE || (state == FINALIZED && in_active > 0) {
                return None;
            }
            let name = &tables.nodes[node].name;
            let on_path = |chain: &&crate::tables::Chain| chain.path.iter().step_by(2).any(|of| of == name);
            let mut chains: Vec<&str> = tables.chains.iter().filter(on_path).map(|chain| chain.name.as_str()).collect();
            chains.dedup();
            Some(Case {
                subject: name.clone(),
                evidence: format!("{state} for the last {}; active for {} of {}", time(end - since), time(in_active), time(end - stretches[0].1)),
                cost: match chains.is_empty() {
                    true => "what it would publish is not published".into(),
                    false => format!("chains through it have no instances meanwhile: {}", chains.join(", ")),
                },
                next: format!("ros2 lifecycle get {name}, and ros2 lifecycle set {name} activate (configure before); its log says why a transition failed"),
                weight: (end - since) as f64,
            })
        };
        facts.states.iter().enumerate().filter_map(case).collect()
    },
};
