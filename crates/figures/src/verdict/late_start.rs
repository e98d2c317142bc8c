//! Accuses nodes that started so late that much of their input had been sent before.

use super::Suspect;
use crate::figures::Repeat;
use tacho_tables::summary::{ChainFigures, Culprit};
use tacho_tables::{CauseKind, EndpointKind};

/// Part of the messages of a topic that were sent before, from which on they are reported, and how long they came.
const BEFORE: (f64, f64) = (0.1, 1.0);
/// It is over once the node is there, so whatever goes on is worse.
const WEIGHT: f64 = 0.5;

pub(super) fn suspects(repeats: &[Repeat<'_>], chain: &ChainFigures) -> Vec<Suspect> {
    // Node, topic, node.
    let hops = chain.path.windows(3).step_by(2);
    hops.filter_map(|hop| repeats.iter().find_map(|repeat| suspect(repeat, &hop[1], &hop[2]))).collect()
}

fn suspect(repeat: &Repeat<'_>, topic: &str, node: &str) -> Option<Suspect> {
    let tables = repeat.tables;
    let subscription = tables.endpoints.iter().find(|endpoint| {
        let name = &tables.nodes[endpoint.node].name;
        endpoint.kind == EndpointKind::Subscription && endpoint.topic == topic && name == node
    })?;
    // Nothing is published before its publisher was made, so most need no look at what was.
    let publishers = tables.endpoints.iter().filter(|e| e.kind == EndpointKind::Publisher && e.topic == topic);
    let made_ns = publishers.map(|publisher| publisher.created_ns).min()?;
    if ((subscription.created_ns - made_ns) as f64) < BEFORE.1 * 1e9 {
        return None;
    }
    let of_topic = tables.publications.iter().filter(|row| tables.endpoints[row.publisher].topic == topic);
    let times: Vec<i64> = of_topic.map(|row| row.publish_ns).collect();
    let late_s = (subscription.created_ns - times.iter().min()?) as f64 / 1e9;
    // Of ROS 1 it is not counted.
    let sent_before = || times.iter().filter(|ns| **ns < subscription.created_ns).count() as u64;
    let before = subscription.before.unwrap_or_else(sent_before);
    let (all, share) = (times.len(), before as f64 / times.len() as f64);
    if share < BEFORE.0 || late_s < BEFORE.1 {
        return None;
    }
    let culprit = Culprit {
        kind: Some(CauseKind::Unmatched),
        node: Some(node.to_owned()),
        topic: Some(topic.to_owned()),
        share_percent: Some(100.0 * share),
        instances: before,
        text: format!(
            "{node} came late, {late_s:.1} s after the first message of {topic}: {before} of {all} were sent before it \
             was matched with the publisher."
        ),
        next: format!("Start {node} before the publisher of {topic}, or see what its start waits for."),
        ..Culprit::default()
    };
    Some(Suspect { culprit, weight: WEIGHT * share })
}
