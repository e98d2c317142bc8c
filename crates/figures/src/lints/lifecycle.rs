//! Managed nodes that do not work.

use super::facts::time;
use super::{Case, Lint};
use tacho_tables::row::{Column, Row};
use tacho_tables::{named, Chain, Endpoint, Node, NodeState};

/// The state of a node that was shut down in order.
const FINALIZED: &str = "finalized";

/// A node that was active and left that state so short before its end, and a tenth of its active time at the most, was
/// shut down with its system: managers deactivate and clean up their nodes before these end.
const SHUT_DOWN_NS: i64 = 5_000_000_000;

/// Chains that are named; of more it is said how many.
const NAMED: usize = 4;

pub const NOT_ACTIVE: Lint = Lint {
    name: "node-not-active",
    finds: "a managed node ended in another state than active",
    check: |facts| {
        let tables = facts.tables;
        // Start of each chain's last instance.
        let mut last_start: Column<Chain, i64> = Column::of(tables.chains.iter().map(|_| i64::MIN));
        if !facts.states.is_empty() {
            for instance in &tables.instances {
                let last = &mut last_start[instance.chain];
                *last = instance.start_ns.max(*last);
            }
        }
        let case = |(node, stretches): (Row<Node>, &Vec<(&str, i64, i64)>)| {
            let (state, _, end) = *stretches.last()?;
            let in_active: i64 = stretches.iter().filter(|s| s.0 == NodeState::ACTIVE).map(|s| s.2 - s.1).sum();
            let began = stretches[0].1;
            let left = stretches.iter().rev().find(|s| s.0 == NodeState::ACTIVE).map_or(began, |s| s.2);
            let shut_down = in_active > 0 && (state == FINALIZED || end - left <= SHUT_DOWN_NS.min(in_active / 10));
            if state == NodeState::ACTIVE || shut_down {
                return None;
            }
            let name = &tables.nodes[node].name;
            let on_path = |chain: &tacho_tables::Chain| chain.path.iter().step_by(2).any(|of| of == name);
            let silent = tables.chains.iter().zip(&last_start).filter(|(chain, last)| on_path(chain) && **last < left);
            let mut chains: Vec<&str> = silent.map(|(chain, _)| chain.name.as_str()).collect();
            chains.sort_unstable();
            chains.dedup();
            let of_node = |publisher: Row<Endpoint>| tables.endpoints[publisher].node == node;
            let published = tables.publications.iter().filter(|p| p.publish_ns >= left && of_node(p.publisher)).count();
            Some(Case {
                subject: name.clone(),
                evidence: format!(
                    "{state} in the end, not active for the last {}; active for {} of {}",
                    time(end - left),
                    time(in_active),
                    time(end - began)
                ),
                cost: match chains.is_empty() {
                    true => format!("it published {published} messages in that time"),
                    false => {
                        format!("chains through it have no instance that began in that time: {}", named(chains, NAMED))
                    }
                },
                next: format!(
                    "ros2 lifecycle get {name}, and ros2 lifecycle set {name} activate (configure before); its log \
                     says why a transition failed"
                ),
                weight: (end - left) as f64,
                delays: None,
            })
        };
        facts.states.numbered().filter_map(case).collect()
    },
};
