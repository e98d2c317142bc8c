//! Publishers that do not keep up, and messages that their transport does not carry well.

use super::facts::{percent, time, Facts};
use super::ran::Ran;
use super::{Case, Lint};
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use tacho_analysis::{promise, udpros};
use tacho_tables::row::{numbered, rows_of, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::{Delivery, Endpoint, EndpointKind};

/// Part of the due sends that may be late or skipped before it is reported.
const BEHIND_PART: f64 = 0.01;
/// Most that one UDP datagram over IPv4 holds (RFC 768, RFC 791): 65,535 less 20 and 8.
const DATAGRAM_BYTES: u64 = 65_507;

pub const BEHIND: Lint = Lint {
    name: "publisher-behind",
    finds: "a publisher sends late, or skips sends that were due",
    check: |facts| {
        let mut sends = Grouped::new(facts.tables.endpoints.len(), || {
            facts.publications().filter_map(|row| Some((row.publisher, (row.due_ns.get()?, row.publish_ns))))
        });
        numbered(&facts.tables.endpoints).for_each(|(publisher, _)| sends.of_mut(publisher).sort_unstable());
        let executions = &facts.tables.executions;
        let publishing = Grouped::new(facts.tables.endpoints.len(), || {
            facts.publications().filter_map(|row| Some((row.publisher, Ran::of(&executions[row.execution?])?)))
        });
        let promises = facts.workload.map(promise::Promises::of);
        let case = |publisher: Row<Endpoint>| {
            let sends = sends.of(publisher);
            let (node, topic) = facts.endpoint(publisher);
            let skipped = facts.tables.endpoints[publisher].skipped.unwrap_or(0) as usize;
            let refused = facts.tables.endpoints[publisher].refused.unwrap_or(0) as usize;
            let due = sends.len() + refused + skipped;
            let promised = promises.as_ref().and_then(|all| all.by(&node, topic)?.period_ns());
            let period = promised.or_else(|| period_ns(sends, due)).filter(|ns| *ns > 0)?;
            let late = sends.iter().filter(|(due, sent)| sent - due >= period).count();
            if late + skipped < 2 || (late + skipped) as f64 <= BEHIND_PART * due as f64 {
                return None;
            }
            let worst = sends.iter().map(|(due, sent)| sent - due).max()?;
            let doubt = facts.doubt(publishing.of(publisher).iter(), "the callbacks that send");
            let (because, next) = match doubt {
                Some(doubt) => (doubt.evidence, doubt.next),
                None => (
                    String::new(),
                    "a lower rate, smaller messages, fewer reliable subscribers, or publishing from a thread of its own"
                        .into(),
                ),
            };
            Some(Case {
                subject: format!("{node} {topic}"),
                evidence: format!(
                    "of {due} sends due every {} {skipped} were skipped and {late} a period or more late ({}); the \
                     latest {}{because}",
                    time(period),
                    percent(late + skipped, due),
                    time(worst)
                ),
                cost: match skipped {
                    0 => format!(
                        "latencies begin at the publish call: up to {} of lateness are not in them",
                        time(worst)
                    ),
                    _ => format!("{skipped} messages never existed: no figure of loss or latency has them"),
                },
                next,
                weight: (late + skipped) as f64,
                delays: None,
            })
        };
        rows_of(&facts.tables.endpoints).filter_map(case).collect()
    },
};

/// Period of sends, (due, sent) in order, of which others were due as well: the least gap holds a whole number of
/// periods, about as many as the number of all that were due says.
fn period_ns(sends: &[(i64, i64)], due: usize) -> Option<i64> {
    let gap = sends.windows(2).map(|pair| pair[1].0 - pair[0].0).filter(|gap| *gap > 0).min()?;
    let about = (sends.last()?.0 - sends.first()?.0) as f64 / (due as f64 - 1.0);
    Some(gap / (gap as f64 / about).round().max(1.0) as i64)
}

pub const LARGE_OVER_UDP: Lint = Lint {
    name: "large-message-over-udp",
    finds: "messages larger than a datagram go over UDP",
    check: |facts| {
        let mut largest: HashMap<Row<Endpoint>, u64> = HashMap::default();
        for row in facts.publications() {
            if let Some(size) = row.size_bytes.filter(|size| *size > DATAGRAM_BYTES) {
                let most = largest.entry(row.publisher).or_default();
                *most = size.max(*most);
            }
        }
        largest.into_iter().filter_map(|(publisher, size)| large(facts, publisher, size)).collect()
    },
};

fn large(facts: &Facts<'_>, publisher: Row<Endpoint>, size: u64) -> Option<Case> {
    let (node, topic) = facts.endpoint(publisher);
    let subscriptions = numbered(&facts.tables.endpoints);
    let of_topic = subscriptions.filter(|(_, e)| e.kind == EndpointKind::Subscription && e.topic == topic);
    let over: BTreeMap<Row<Endpoint>, String> =
        of_topic.filter_map(|(s, _)| Some((s, over_udp(facts, publisher, s)?))).collect();
    let ways: BTreeSet<&String> = over.values().collect();
    let how = over.values().next()?;
    let more = if ways.len() > 1 { format!(" and {} more ways", ways.len() - 1) } else { String::new() };
    let mine = facts.messages().filter(|m| m.publisher == Some(publisher) && over.contains_key(&m.subscription));
    let (mut all, mut lost, mut latencies) = (0, 0, Vec::new());
    for message in mine {
        all += 1;
        lost += usize::from(message.delivery == Delivery::Lost);
        let end = message.callback_ns.get().or(message.take_ns.get());
        latencies.extend(end.zip(message.publish_ns.get()).map(|(end, publish)| end - publish));
    }
    latencies.sort_unstable();
    let p99 = latencies.get((latencies.len() * 99).div_ceil(100).saturating_sub(1)).copied();
    let datagrams = match facts.workload {
        Some(w) if udpros::carries(w) => udpros::datagrams(size).to_string(),
        _ => format!("at least {}", size.div_ceil(DATAGRAM_BYTES)),
    };
    Some(Case {
        subject: format!("{node} {topic}"),
        evidence: format!(
            "messages of up to {size} B, {how}{more}: {datagrams} datagrams, of which each can be lost; {lost} of \
             {all} messages did not arrive ({})",
            percent(lost, all)
        ),
        cost: match p99 {
            Some(p99) => format!("one lost datagram costs the message, or a resend: latency p99 {}", time(p99)),
            None => "one lost datagram costs the message, or a resend".into(),
        },
        next: "shared memory or a loaned message on one host; else TCP, larger socket buffers, smaller messages".into(),
        weight: size as f64,
        delays: None,
    })
}

/// How it is known that a message to this subscription goes over UDP: two hosts, or what the workload chose, be it by
/// leaving it to the middleware.
fn over_udp(facts: &Facts<'_>, publisher: Row<Endpoint>, subscription: Row<Endpoint>) -> Option<String> {
    let host = |endpoint: Row<Endpoint>| {
        let name = facts.endpoint(endpoint).0;
        let placed = facts.node(&name).map(|node| &node.host).filter(|host| !host.is_empty());
        placed.unwrap_or(&facts.tables.processes[facts.process_of(endpoint)].host)
    };
    if facts.process_of(publisher) == facts.process_of(subscription) {
        return None;
    }
    if facts.transport.starts_with("tcp") {
        return None;
    }
    let (from, to) = (host(publisher), host(subscription));
    if from != to {
        return Some(format!("from {from} to {to}"));
    }
    facts.transport.starts_with("udp").then(|| "over UDP as the workload chose".into())
}
