//! Service calls and goals of actions as hops of chains: a request goes from client to server like a message, its response comes back like
//! another.
//!
//! The two ways of a service stand as topics of their own, `/name request` and `/name response`, among the topics that chains run over, and nowhere
//! else: tables of messages and endpoints are made before. docs/figures.md, "services", says what of it is inferred.

use crate::link::{Linked, OfTopic};
use crate::observe::{EndpointSeen, Observed, PublicationSeen, TakeSeen};
use crate::observe::services::Call;
use crate::rows::Rows;
use crate::tables::{action_of, EndpointKind, Name};
use std::collections::{HashMap, HashSet};

/// A way of a message: when, and in which executions.
#[derive(Clone, Copy)]
pub(crate) struct Passage {
    pub topic: u32,
    pub from: u32,
    pub to: u32,
    pub sent: (i64, Option<u32>),
    pub taken: Option<(i64, Option<u32>)>,
    /// When the request that it answers was taken.
    pub answers_ns: Option<i64>,
}

/// The calls whose client and server are both known; those of actions whose goals are known stand for nothing more.
pub(crate) fn passages(calls: &Rows<Call>, actions: &HashSet<&str>, seen: &mut Observed, passages: &mut Rows<Passage>) {
    let mut legs: HashMap<Name, [u32; 2]> = HashMap::new();
    for call in calls {
        if action_of(&call.row.service).is_some_and(|action| actions.contains(action)) {
            continue;
        }
        let (Some(client), Some(server), false) = (call.row.client, call.row.server, call.row.service.is_empty()) else { continue };
        let name = call.row.service;
        let [request, response] = *legs.entry(name).or_insert_with(|| seen.legs.both(&mut seen.topics, &format!("{name} request"), &format!("{name} response")));
        if let Some(sent) = call.row.requested_ns() {
            let taken = call.row.request_taken_ns.map(|ns| (ns, call.row.execution));
            passages.push(Passage { topic: request, from: client, to: server, sent: (sent, call.requested_in), taken, answers_ns: None });
        }
        if let Some(sent) = call.row.answered_ns() {
            let taken = call.row.response_taken_ns.map(|ns| (ns, call.response_taken_in));
            passages.push(Passage { topic: response, from: server, to: client, sent: (sent, call.answered_in), taken, answers_ns: call.row.request_taken_ns });
        }
    }
}

/// When, in which execution, by which endpoint, and the publication.
type Taken = (i64, Option<u32>, u32, u32);

/// Adds what went to and fro.
pub(crate) fn join(passages: Rows<Passage>, seen: &mut Observed, linked: &mut Linked) {
    let passages = passages.sorted_by(|a, b| a.sent.0.cmp(&b.sent.0));
    linked.topics.resize_with(seen.topics.names.len(), OfTopic::default);
    let mut endpoints = HashMap::new();
    let (mut taken, mut answers): (Rows<Taken>, Rows<(u32, (i64, u32, u32))>) = (Rows::new(), Rows::new());
    for passage in &passages {
        let from = endpoint(seen, linked, &mut endpoints, passage.from, passage.topic, EndpointKind::Publisher);
        let to = endpoint(seen, linked, &mut endpoints, passage.to, passage.topic, EndpointKind::Subscription);
        let (process, publication) = (seen.process_of(from), seen.publications.len() as u32);
        let (sent_ns, sent_in) = passage.sent;
        seen.publications.push(PublicationSeen { endpoint: Some(from), ..PublicationSeen::new(sent_ns, process, sent_in) });
        linked.topics[passage.topic as usize].publications.push(publication);
        let related = seen.related(process, seen.process_of(to));
        taken.extend(passage.taken.filter(|_| related).map(|(ns, execution)| (ns, execution, to, publication)));
        let request = seen.legs.of(passage.topic).map(|leg| leg.service);
        answers.extend(passage.answers_ns.zip(request).map(|(ns, request)| (publication, (ns, passage.from, request))));
    }
    let taken = taken.sorted_by(|a, b| a.0.cmp(&b.0));
    // By when a node took it, on which topic.
    let place = |endpoint: u32| (seen.endpoints[endpoint as usize].node, seen.endpoints[endpoint as usize].topic);
    let takes = taken.iter().zip(seen.takes.len() as u32..);
    let rows: Rows<((i64, u32, u32), u32)> = takes.map(|((ns, _, endpoint, _), row)| ((*ns, place(*endpoint).0, place(*endpoint).1), row)).collect();
    let rows = rows.sorted_by(|a, b| a.0.cmp(&b.0));
    // In the order of publications. Of several takes at once the last.
    for (publication, request) in answers {
        let last = rows.partition_point(|of| of.0 <= request).checked_sub(1).map(|last| rows[last]);
        if let Some((_, take)) = last.filter(|of| of.0 == request) {
            seen.legs.answer(publication, take);
        }
    }
    let take = |(time, execution, endpoint, publication)| TakeSeen {
        time,
        endpoint,
        source_timestamp: 0,
        id: None,
        publication: Some(publication),
        arrival: None,
        execution,
        first_line: None,
        called_ns: None,
        rcl_ns: None,
        intra_process: false,
    };
    seen.takes.extend(taken.into_iter().map(take));
}

/// The end of a node on a way of a service.
fn endpoint(
    seen: &mut Observed,
    linked: &mut Linked,
    known: &mut HashMap<(u32, u32, bool), u32>,
    node: u32,
    topic: u32,
    kind: EndpointKind,
) -> u32 {
    let sends = kind == EndpointKind::Publisher;
    *known.entry((node, topic, sends)).or_insert_with(|| {
        let index = seen.endpoints.len() as u32;
        seen.endpoints.push(EndpointSeen { node, kind, topic, depth: None, created_ns: 0, arrivals: Rows::new(), gid: None, is_buffered: false, called: 0 });
        let of = &mut linked.topics[topic as usize];
        if sends { &mut of.publishers } else { &mut of.subscriptions }.push(index);
        index
    })
}
