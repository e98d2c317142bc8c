//! Rows of publications and messages inside the measured window.

use super::lost::{self, Ends};
use super::{promise, Matched};
use crate::observe::serving::Ended;
use crate::observe::{EndpointSeen, PublicationSeen, Seen, TakeSeen, Topic, INTERNAL};
use crate::Options;
use tacho_tables::in_order::both;
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::Rows;
use tacho_tables::{Delivery, Endpoint, EndpointKind, Message, Note, Publication};
use tacho_workload::model::Workload;

/// Rows inside the measured window.
pub(crate) struct Messages {
    pub publications: Rows<Publication>,
    pub messages: Rows<Message>,
    /// Of each message; `None` for one that was lost.
    pub takes: Rows<Option<Row<TakeSeen>>>,
    /// Of each subscription, what became of those that have no row.
    pub ends: Column<Endpoint, Option<Ends>>,
    pub notes: Vec<Note>,
}

/// Publish calls and messages inside the measured window.
pub(crate) fn messages(
    seen: &Seen,
    matched: &Matched,
    ended: &Ended,
    options: &Options,
    workload: Option<&Workload>,
) -> Messages {
    let (publications, taken) = both(|| publications(seen, options), || taken(seen, matched, ended, options, workload));
    Messages { publications, ..taken }
}

/// Publish calls inside the measured window.
fn publications(seen: &Seen, options: &Options) -> Rows<Publication> {
    let mut publications = Rows::new();
    for publication in &seen.publications {
        match publication.endpoint {
            Some(publisher) if publisher != INTERNAL && options.measures(publication.belongs_ns()) => publications
                .push(Publication {
                    publisher,
                    publish_ns: publication.time,
                    due_ns: publication.due_ns.get().into(),
                    sequence: publication.id.map(|id| id.1),
                    size_bytes: publication.size_bytes,
                    execution: publication.execution,
                }),
            _ => {}
        }
    }
    publications
}

/// Messages inside the measured window, without the publish calls.
fn taken(seen: &Seen, matched: &Matched, ended: &Ended, options: &Options, workload: Option<&Workload>) -> Messages {
    let mut notes = Vec::new();
    let deadlines = deadlines_ns(seen, matched, options, workload);
    let publication_of = |take: &TakeSeen| take.publication.map(|p| &seen.publications[p]);
    let mut lost: Rows<Message> = Rows::new();
    lost.extend(matched.ros1.lost_messages(seen, options));
    let mut not_recorded = 0;
    // When each was sent, and its row among the takes, or that many behind them its place among the lost.
    let mut order: Rows<(i64, u32)> = Rows::new();
    for (row, take) in seen.takes.numbered() {
        let publication = publication_of(take);
        if !options.measures(publication.map_or(take.time, PublicationSeen::belongs_ns)) {
            continue;
        }
        let told = matched.ros1.latched.contains(&row) || matched.doubts.has(take.endpoint);
        not_recorded += u64::from(publication.is_none() && !told);
        order.push((publication.map_or(take.time, |p| p.time), row.number()));
    }
    if not_recorded > 0 {
        let text = "messages taken whose publication was not recorded: counted as received, without latency";
        notes.push(Note { name: "publication-not-recorded".into(), count: not_recorded, text: text.into() });
    }
    let (ends, not_taken) = lost::lost(seen, matched, ended, options, workload, &mut notes);
    lost.extend(not_taken);
    let takes_end = seen.takes.len() as u32;
    order.extend(lost.iter().zip(takes_end..).map(|(m, row)| (m.publish_ns.get().unwrap_or(i64::MIN), row)));
    // Time, then subscription: the same at every reading.
    let place = |row: u32| match row.checked_sub(takes_end) {
        None => (seen.takes[row as usize].endpoint, Some(seen.takes[row as usize].time)),
        Some(lost_row) => (lost[lost_row as usize].subscription, None),
    };
    let order = order.sorted_by(|a, b| a.0.cmp(&b.0).then_with(|| place(a.1).cmp(&place(b.1))));
    let message = |take: &TakeSeen| {
        let publication = publication_of(take);
        let start = take.execution.map(|e| seen.executions[e].start_ns);
        // A polling take happens inside a callback: the message has no first line of its own.
        let callback_ns = take.first_line.get().or(start.filter(|s| *s >= take.time));
        let latency = publication.map(|p| callback_ns.unwrap_or(take.time) - p.time);
        let publisher = publication.and_then(|p| p.endpoint).filter(|e| *e != INTERNAL);
        let deadline = publisher.and_then(|p| deadlines[p]);
        let late = latency.zip(deadline).is_some_and(|(latency, deadline)| latency > deadline);
        let emulated = seen.is_emulated(seen.process_of(take.endpoint))
            || publication.is_some_and(|p| seen.is_emulated(p.process));
        Message {
            publisher,
            subscription: take.endpoint,
            sequence: take.id.map(|id| id.1),
            publish_ns: publication.map(|p| p.time).into(),
            arrival_ns: take.arrival.get().into(),
            take_ns: take.time.into(),
            callback_ns: callback_ns.into(),
            execution: take.execution,
            published_in: publication.and_then(|p| p.execution),
            delivery: if emulated {
                Delivery::Taken
            } else if late {
                Delivery::Late
            } else {
                Delivery::InTime
            },
            lost_in: None,
            emulated,
        }
    };
    let (mut messages, mut takes) = (Rows::new(), Rows::new());
    for (_, row) in order.iter() {
        let take = (*row < takes_end).then(|| Row::new(*row));
        messages.push(take.map_or_else(|| lost[(row - takes_end) as usize], |take| message(&seen.takes[take])));
        takes.push(take);
    }
    Messages { publications: Rows::new(), messages, takes, ends, notes }
}

/// Deadline of each publisher's messages: the workload's, else its period, else the mean distance of the publications
/// of its topic.
fn deadlines_ns(
    seen: &Seen,
    matched: &Matched,
    options: &Options,
    workload: Option<&Workload>,
) -> Column<Endpoint, Option<i64>> {
    let mean_distances: Column<Topic, Option<i64>> =
        Column::of(matched.by_topic.iter().map(|of| mean_distance_ns(seen, &of.publications, options)));
    let promises = workload.map(promise::Promises::of);
    let deadline = |endpoint: &EndpointSeen| {
        if endpoint.kind != EndpointKind::Publisher {
            return None;
        }
        let topic = &seen.topics.names[endpoint.topic];
        let promised = promises.as_ref().and_then(|all| all.by(&seen.nodes[endpoint.node].name, topic));
        promised.and_then(|p| p.deadline_ns()).or(mean_distances[endpoint.topic])
    };
    Column::of(seen.endpoints.iter().map(deadline))
}

fn mean_distance_ns(seen: &Seen, publications: &[Row<PublicationSeen>], options: &Options) -> Option<i64> {
    let measured = publications.iter().map(|p| &seen.publications[*p]).filter(|p| options.measures(p.belongs_ns()));
    let (mut count, mut first, mut last) = (0, i64::MAX, i64::MIN);
    for publication in measured {
        count += 1;
        first = first.min(publication.time);
        last = last.max(publication.time);
    }
    (count > 1).then(|| (last - first) / (count - 1))
}
