//! Simulated time: what events tell of it.
//!
//! Every time in the tables is CLOCK_MONOTONIC, whatever a node calls time. A node with `use_sim_time` subscribes to /clock
//! (rclcpp's and rclpy's TimeSource do); what stands in those messages is not recorded, so neither is how fast simulated time runs.

use crate::observe::Observed;
use crate::tables::{Endpoint, EndpointKind, Note};

/// The topic of simulated time (ROS design, "Clock and Time").
pub(crate) const CLOCK: &str = "/clock";

/// Whether it is a subscription to simulated time.
pub(crate) fn is_clock(endpoint: &Endpoint) -> bool {
    endpoint.kind == EndpointKind::Subscription && endpoint.topic == CLOCK
}

/// Says which nodes follow simulated time.
pub(crate) fn note(seen: &Observed) -> Option<Note> {
    let clocks = seen
        .endpoints
        .iter()
        .filter(|e| e.kind == EndpointKind::Subscription && seen.topics.names[e.topic as usize] == CLOCK && !seen.ours[seen.nodes[e.node as usize].process as usize]);
    let mut nodes: Vec<&str> = clocks.map(|e| seen.nodes[e.node as usize].name.as_str()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let shown = nodes.iter().take(5).copied().collect::<Vec<_>>().join(", ");
    let more = if nodes.len() > 5 { format!(" and {} more", nodes.len() - 5) } else { String::new() };
    (!nodes.is_empty()).then(|| Note {
        name: "simulated-time".into(),
        count: nodes.len() as u64,
        text: format!(
            "nodes that subscribe to {CLOCK}, as those with use_sim_time do: {shown}{more}. All times here are real time; their timers may follow \
             simulated time, whose speed the events do not tell, so lints that compare with a timer's period leave them out and no chain runs over {CLOCK}"
        ),
    })
}
