//! Service calls and goals of actions as hops of chains: a request goes from client to server like a message, its
//! response comes back like another.
//!
//! The two ways of a service stand as topics of their own, `/name request` and `/name response`, among the topics that
//! chains run over, and nowhere else: tables of messages and endpoints are made before. docs/figures.md, "services",
//! says what of it is inferred.

mod goals;
mod legs;
mod services;

pub(crate) use legs::Legs;

use crate::link::OfTopic;
use crate::observe::actions::Actions;
use crate::observe::services::Services;
use crate::observe::{EndpointSeen, PublicationSeen, Seen, TakeSeen, Topic};
use rustc_hash::FxHashMap as HashMap;
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::Rows;
use tacho_tables::{Endpoint, EndpointKind, Execution, MaybeNs, Node};

/// A way of a message: when, and in which executions.
#[derive(Clone, Copy)]
struct Passage {
    topic: Row<Topic>,
    from: Row<Node>,
    to: Row<Node>,
    sent: (i64, Option<Row<Execution>>),
    taken: Option<(i64, Option<Row<Execution>>)>,
    /// When the request that it answers was taken.
    answers_ns: Option<i64>,
}

/// When, in which execution, by which endpoint, and the publication.
type Taken = (i64, Option<Row<Execution>>, Row<Endpoint>, Row<PublicationSeen>);

/// Adds what went to and fro to the topics' endpoints, publications and takes.
pub(crate) fn join(
    services: &Services,
    actions: &Actions,
    seen: &mut Seen,
    by_topic: &mut Column<Topic, OfTopic>,
) -> Legs {
    let mut legs = Legs::default();
    let mut passages = goals::passages(actions.goals(), seen, &mut legs);
    services::passages(services.calls(), &actions.names(), seen, &mut legs, &mut passages);
    let passages = passages.sorted_by(|a, b| a.sent.0.cmp(&b.sent.0));
    while by_topic.len() < seen.topics.names.len() {
        by_topic.push(OfTopic::default());
    }
    let mut endpoints = HashMap::default();
    let mut taken: Rows<Taken> = Rows::new();
    let mut answers: Rows<(Row<PublicationSeen>, (i64, Row<Node>, Row<Topic>))> = Rows::new();
    for passage in &passages {
        let from = endpoint(seen, by_topic, &mut endpoints, passage.from, passage.topic, EndpointKind::Publisher);
        let to = endpoint(seen, by_topic, &mut endpoints, passage.to, passage.topic, EndpointKind::Subscription);
        let process = seen.process_of(from);
        let (sent_ns, sent_in) = passage.sent;
        let new = PublicationSeen { endpoint: Some(from), ..PublicationSeen::new(sent_ns, process, sent_in) };
        let publication = seen.publications.add(new);
        by_topic[passage.topic].publications.push(publication);
        let related = seen.related(process, seen.process_of(to));
        taken.extend(passage.taken.filter(|_| related).map(|(ns, execution)| (ns, execution, to, publication)));
        let request = legs.of(passage.topic).map(|leg| leg.service);
        answers.extend(passage.answers_ns.zip(request).map(|(ns, request)| (publication, (ns, passage.from, request))));
    }
    let taken = taken.sorted_by(|a, b| a.0.cmp(&b.0));
    // By when a node took it, on which topic.
    let place = |endpoint: Row<Endpoint>| (seen.endpoints[endpoint].node, seen.endpoints[endpoint].topic);
    let takes = taken.iter().zip((seen.takes.len()..).map(Row::behind));
    let rows: Rows<((i64, Row<Node>, Row<Topic>), Row<TakeSeen>)> =
        takes.map(|((ns, _, endpoint, _), row)| ((*ns, place(*endpoint).0, place(*endpoint).1), row)).collect();
    let rows = rows.sorted_by(|a, b| a.0.cmp(&b.0));
    // In the order of publications. Of several takes at once the last.
    for (publication, request) in answers {
        let last = rows.partition_point(|of| of.0 <= request).checked_sub(1).map(|last| rows[last]);
        if let Some((_, take)) = last.filter(|of| of.0 == request) {
            legs.answer(publication, take);
        }
    }
    let take = |(time, execution, endpoint, publication)| TakeSeen {
        time,
        endpoint,
        source_timestamp: 0,
        header_stamp: 0,
        message: 0,
        id: None,
        publication: Some(publication),
        arrival: MaybeNs::NONE,
        execution,
        first_line: MaybeNs::NONE,
        called_ns: MaybeNs::NONE,
        rcl_ns: MaybeNs::NONE,
        intra_process: false,
    };
    seen.takes.extend(taken.into_iter().map(take));
    legs
}

/// The end of a node on a way of a service.
fn endpoint(
    seen: &mut Seen,
    by_topic: &mut Column<Topic, OfTopic>,
    known: &mut HashMap<(Row<Node>, Row<Topic>, bool), Row<Endpoint>>,
    node: Row<Node>,
    topic: Row<Topic>,
    kind: EndpointKind,
) -> Row<Endpoint> {
    let sends = kind == EndpointKind::Publisher;
    *known.entry((node, topic, sends)).or_insert_with(|| {
        let row = seen.endpoints.push(EndpointSeen::new(node, kind, topic, None, 0));
        let of = &mut by_topic[topic];
        if sends { &mut of.publishers } else { &mut of.subscriptions }.push(row);
        row
    })
}
