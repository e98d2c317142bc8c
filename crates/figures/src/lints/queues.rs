//! Messages that were sent and not seen.

use super::facts::{percent, Facts, Received};
use super::{Case, Lint};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::fmt::Write as _;
use tacho_analysis::queue::{published_before_next_take, Traffic};
use tacho_analysis::udpros;
use tacho_tables::row::{numbered, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::{Delivery, Endpoint, EndpointKind, LostIn, Message};
use tacho_workload::model::{Qos, Unmet};

pub const TOO_SHORT: Lint = Lint {
    name: "queue-too-short",
    finds: "messages went missing that a subscription's queue had no room for",
    check: |facts| facts.received().filter_map(|(s, received)| too_short(facts, s, received)).collect(),
};

/// How many messages stood behind a lost one, if its queue had no room for it: as recorded (ROS 1), else by how many
/// were published before the next take.
fn overwritten(traffic: &Traffic<'_>, (lost_ns, lost_in): (i64, Option<LostIn>), depth: u64) -> Option<u64> {
    let later = published_before_next_take(traffic, lost_ns);
    match lost_in {
        Some(LostIn::SubscriptionQueue) => Some(later.unwrap_or(depth).max(depth)),
        Some(_) => None,
        None => later.filter(|later| *later >= depth),
    }
}

fn too_short(facts: &Facts<'_>, subscription: Row<Endpoint>, received: Received<'_>) -> Option<Case> {
    let depth = facts.tables.endpoints[subscription].depth?;
    let traffic = facts.traffic(subscription, received);
    let overwritten: Vec<u64> = received.lost.iter().filter_map(|lost| overwritten(&traffic, *lost, depth)).collect();
    let most = *overwritten.iter().max()?;
    let (node, topic) = facts.endpoint(subscription);
    let all = received.taken.len() + received.lost.len();
    Some(Case {
        subject: format!("{node} {topic}"),
        evidence: format!(
            "{} of {all} messages ({}) went missing with {depth} or more behind them before the next take; the queue \
             keeps {depth}",
            overwritten.len(),
            percent(overwritten.len(), all)
        ),
        cost: format!("{} messages that {node} never saw", overwritten.len()),
        next: format!(
            "a history depth of {} holds what came between two takes, if the callback keeps up with all of it (else it \
             only waits: callback-exceeds-period); or take sooner (see starved-callback, single-threaded-bottleneck)",
            most + 1
        ),
        weight: overwritten.len() as f64,
        delays: None,
    })
}

/// The depth of a best-effort subscription, by its workload or as recorded; `None` of a reliable one.
fn depth_of_best_effort(facts: &Facts<'_>, subscription: Row<Endpoint>) -> Option<u64> {
    let (name, topic) = facts.endpoint(subscription);
    let endpoint = &facts.tables.endpoints[subscription];
    match facts.node(&name) {
        Some(node) => {
            let qos = node.subscribes.iter().find(|s| s.topic == topic)?.qos;
            (!qos.reliable).then_some(u64::from(qos.depth))
        }
        None => (endpoint.reliable == Some(false)).then(|| endpoint.depth.unwrap_or(0)),
    }
}

pub const LOSSY_BEST_EFFORT: Lint = Lint {
    name: "lossy-best-effort",
    finds: "a best-effort subscription lost messages on the way",
    check: |facts| facts.received().filter_map(|(s, received)| lossy(facts, s, received)).collect(),
};

fn lossy(facts: &Facts<'_>, subscription: Row<Endpoint>, received: Received<'_>) -> Option<Case> {
    if received.lost.is_empty() {
        return None;
    }
    let depth = depth_of_best_effort(facts, subscription)?;
    let traffic = facts.traffic(subscription, received);
    let lost = received.lost.iter().filter(|lost| overwritten(&traffic, **lost, depth).is_none()).count();
    let all = received.taken.len() + received.lost.len();
    let (node, topic) = facts.endpoint(subscription);
    (lost > 0).then(|| Case {
        subject: format!("{node} {topic}"),
        evidence: format!(
            "{lost} of {all} messages ({}) were lost and not overwritten in the queue",
            percent(lost, all)
        ),
        cost: format!("{lost} messages that nothing sends again"),
        next: match facts.workload.is_some_and(udpros::carries) {
            true => "transport tcpros; or a larger socket buffer (net.core.rmem_default), smaller messages".into(),
            false => "reliability: reliable; or larger socket buffers (net.core.rmem_max), smaller messages, another \
                      transport"
                .into(),
        },
        weight: lost as f64,
        delays: None,
    })
}

/// Pairs of a publisher and a subscription on its topic that never exchanged a message though several were sent while
/// both were there.
fn silent<'f>(facts: &'f Facts<'_>) -> impl Iterator<Item = (Row<Endpoint>, Row<Endpoint>, usize)> + 'f {
    let endpoints = &facts.tables.endpoints;
    let of = |kind| numbered(endpoints).filter(move |(_, e)| e.kind == kind).map(|(row, _)| row);
    let mut heard: HashSet<(Row<Endpoint>, Row<Endpoint>)> = HashSet::default();
    // Of a recorded program a message is lost only between two that exchanged another one, be it outside of the window.
    let met = |m: &&Message| m.take_ns.get().is_some() || facts.workload.is_none() && m.delivery == Delivery::Lost;
    let taken = facts.messages().filter(met);
    heard.extend(taken.filter_map(|m| Some((m.publisher?, m.subscription))));
    let sent = Grouped::new(endpoints.len(), || facts.publications().map(|p| (p.publisher, p.publish_ns)));
    let mut subscriptions: HashMap<&str, Vec<Row<Endpoint>>> = HashMap::default();
    // What one took whose messages are not linked is not known.
    for s in of(EndpointKind::Subscription).filter(|s| endpoints[*s].linked != Some(false)) {
        subscriptions.entry(endpoints[s].topic.as_str()).or_default().push(s);
    }
    let publishers: Vec<Row<Endpoint>> = of(EndpointKind::Publisher).collect();
    publishers.into_iter().flat_map(move |publisher| {
        let there = subscriptions.get(endpoints[publisher].topic.as_str()).cloned().unwrap_or_default();
        let sent = sent.of(publisher);
        let quiet = there.into_iter().filter(|s| !heard.contains(&(publisher, *s))).filter_map(|s| {
            let process = &facts.tables.processes[facts.process_of(s)];
            let alive = endpoints[s].created_ns..=process.last_ns;
            let meant = sent.iter().filter(|time| alive.contains(time)).count();
            (meant >= 2 && process.dropped_events == 0).then_some((publisher, s, meant))
        });
        quiet.collect::<Vec<_>>()
    })
}

/// Why two endpoints of a topic do not match, and what would make them (DDS 1.4, section 2.2.3: requested and offered).
fn mismatch(publisher: &Endpoint, subscription: &Endpoint) -> Option<(String, String)> {
    // What was not recorded fits.
    let qos = |of: &Endpoint, unknown: bool| Qos {
        reliable: of.reliable.unwrap_or(unknown),
        transient_local: of.transient_local.unwrap_or(unknown),
        ..Qos::default()
    };
    if let Some(Unmet { asked, offered, .. }) = qos(publisher, true).unmet(&qos(subscription, false)).next() {
        let (asked, offered) = (asked.replace('_', " "), offered.replace('_', " "));
        let why = format!("the publisher offers {offered}, and the subscription asks for {asked}");
        return Some((why, format!("{offered} on the subscription, or {asked} on the publisher")));
    }
    let (sent, taken) = (publisher.message_type.as_ref()?, subscription.message_type.as_ref()?);
    let why = || format!("the publisher sends {sent}, and the subscription takes {taken}");
    (sent != taken).then(|| (why(), "one type at both ends, or another topic".into()))
}

pub const NEVER_RECEIVED: Lint = Lint {
    name: "never-received",
    finds: "a subscription got nothing from a publisher of its topic",
    check: |facts| {
        let case = |(publisher, subscription, sent): (Row<Endpoint>, Row<Endpoint>, usize)| {
            let ((from, topic), (to, _)) = (facts.endpoint(publisher), facts.endpoint(subscription));
            let mut evidence =
                format!("{sent} messages sent between its creation and the last event of its process, none taken");
            let endpoints = &facts.tables.endpoints;
            let (cost, next) = match mismatch(&endpoints[publisher], &endpoints[subscription]) {
                Some((why, next)) => {
                    write!(evidence, "; {why}").ok();
                    ("nothing counts as lost, since the two do not match".into(), next)
                }
                None => (
                    "nothing counts as lost, since whether the two ever matched is not known".into(),
                    format!(
                        "compare QoS and types of both ends, of which no difference was recorded (ROS 2: ros2 topic \
                         info --verbose {topic})"
                    ),
                ),
            };
            Case { subject: format!("{from} to {to} {topic}"), evidence, cost, next, weight: sent as f64, delays: None }
        };
        silent(facts).map(case).collect()
    },
};
