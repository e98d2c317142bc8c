//! Simulated time: what events tell of it.
//!
//! Every time in the tables is CLOCK_MONOTONIC, whatever a node calls time. A node with `use_sim_time` subscribes to
//! /clock (rclcpp's and rclpy's TimeSource do); what stands in those messages is not recorded, so neither is how fast
//! simulated time runs.

use crate::observe::Seen;
use tacho_tables::{named, EndpointKind, Note, CLOCK_TOPIC};

/// Nodes that the note names; of more it says how many.
const NAMED: usize = 5;

/// Says which nodes follow simulated time.
pub(crate) fn note(seen: &Seen) -> Option<Note> {
    let clocks = seen.endpoints.iter().filter(|e| {
        e.kind == EndpointKind::Subscription
            && seen.topics.names[e.topic] == CLOCK_TOPIC
            && !seen.ours[seen.nodes[e.node].process]
    });
    let mut nodes: Vec<&str> = clocks.map(|e| seen.nodes[e.node].name.as_str()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let shown = named(&nodes, NAMED);
    (!nodes.is_empty()).then(|| Note {
        name: "simulated-time".into(),
        count: nodes.len() as u64,
        text: format!(
            "nodes that subscribe to {CLOCK_TOPIC}, as those with use_sim_time do: {shown}. All times here are real \
             time; their timers may follow simulated time, whose speed the events do not tell, so lints that compare \
             with a timer's period leave them out and no chain runs over {CLOCK_TOPIC}"
        ),
    })
}
