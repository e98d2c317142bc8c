//! Figures of topics.

use super::{latency_us, Instants, Repeat, Series, NS_PER_US};
use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::summary::{Distribution, TopicFigures};
use tacho_tables::{Delivery, Endpoint, EndpointKind, Note, Sizes};

/// What became of the messages of one subscription.
#[derive(Default)]
struct Received {
    received: u64,
    /// Of them, those whose publication is not known.
    unlinked: u64,
    lost: u64,
    uncertainty_ns: Option<i64>,
}

#[derive(Default)]
struct Topic {
    publishers: BTreeSet<String>,
    subscribers: BTreeSet<String>,
    sent: u64,
    received: u64,
    /// Of them, those whose publication is not known.
    unlinked: u64,
    lost: u64,
    losses_known: bool,
    /// Pending, before, after, unknown.
    ends: [u64; 4],
    /// Whether they are known of all subscriptions.
    ends_known: bool,
    series: Series,
    message_type: Option<String>,
    sizes: Sizes,
    uncertainty_ns: Option<i64>,
}

/// Rates, losses and latencies of each topic, by name.
pub(crate) fn topics(repeats: &[Repeat<'_>], notes: &mut Vec<Note>) -> Vec<TopicFigures> {
    let mut topics: BTreeMap<&str, Topic> = BTreeMap::new();
    let mut to_take = 0;
    for Repeat { tables, info, .. } in repeats {
        for endpoint in &tables.endpoints {
            let topic = topics.entry(&endpoint.topic).or_insert_with(|| Topic {
                losses_known: true,
                ends_known: true,
                ..Topic::default()
            });
            if topic.message_type.is_none() {
                topic.message_type.clone_from(&endpoint.message_type);
            }
            let node = &tables.nodes[endpoint.node];
            let names = match endpoint.kind {
                EndpointKind::Publisher => &mut topic.publishers,
                EndpointKind::Subscription => &mut topic.subscribers,
            };
            names.insert(node.name.clone());
            if endpoint.kind == EndpointKind::Subscription {
                let own = [endpoint.pending, endpoint.before, endpoint.after, endpoint.unknown];
                topic.ends_known &= own.iter().all(Option::is_some);
                topic.ends.iter_mut().zip(own).for_each(|(sum, own)| *sum += own.unwrap_or(0));
            }
            topic.losses_known &= tables.processes[node.process].dropped_events == 0 && endpoint.linked != Some(false);
            topic.losses_known &= info.is_none_or(|info| info.gaps.is_empty());
        }
        // By endpoint first: a topic is looked up once for each, not for each message.
        let mut published: Column<Endpoint, Instants> =
            Column::of(tables.endpoints.iter().map(|_| Instants::default()));
        let mut sizes: Column<Endpoint, Sizes> = Column::of(vec![Sizes::default(); tables.endpoints.len()]);
        for publication in &tables.publications {
            published[publication.publisher].add(publication.publish_ns);
            if let Some(bytes) = publication.size_bytes {
                sizes[publication.publisher].add(bytes);
            }
        }
        for (endpoint, own) in tables.endpoints.iter().zip(sizes.iter()) {
            topics.entry(&endpoint.topic).or_default().sizes.join(own);
        }
        let mut of_topic: BTreeMap<&str, Instants> = BTreeMap::new();
        for (endpoint, own) in tables.endpoints.iter().zip(published.iter()).filter(|(_, own)| own.count > 0) {
            of_topic.entry(&endpoint.topic).or_default().join(own);
        }
        for (name, instants) in of_topic {
            let topic = topics.entry(name).or_default();
            topic.sent += instants.count;
            topic.series.add(&instants);
        }
        let mut received: Column<Endpoint, Received> = Column::of(tables.endpoints.iter().map(|_| Received::default()));
        let process = |e: Row<Endpoint>| tables.nodes[tables.endpoints[e].node].process;
        for message in &tables.messages {
            let of = &mut received[message.subscription];
            if message.delivery == Delivery::Lost {
                of.lost += 1;
                continue;
            }
            of.received += 1;
            of.unlinked += u64::from(message.publish_ns.get().is_none());
            to_take += u64::from(message.callback_ns.get().is_none() && message.publish_ns.get().is_some());
            if let Some(publisher) = message.publisher.filter(|_| !tables.clocks.is_empty()) {
                let between = tables.clock_uncertainty_ns(process(publisher), process(message.subscription));
                of.uncertainty_ns = of.uncertainty_ns.max(between);
            }
        }
        for (endpoint, own) in tables.endpoints.iter().zip(received.iter()) {
            let topic = topics.entry(&endpoint.topic).or_default();
            topic.received += own.received;
            topic.unlinked += own.unlinked;
            topic.lost += own.lost;
            topic.uncertainty_ns = topic.uncertainty_ns.max(own.uncertainty_ns);
        }
    }
    if to_take > 0 {
        let text =
            "messages without a callback event: their latency ends at the take, not at the first line of a callback";
        notes.push(Note { name: "latency-to-take".into(), count: to_take, text: text.into() });
    }
    let numbers: HashMap<&str, Row<Topic>> =
        topics.keys().enumerate().map(|(n, name)| (*name, Row::behind(n))).collect();
    let mut latencies = Grouped::new(topics.len(), || {
        repeats.iter().flat_map(|repeat| {
            let number = |e: &Endpoint| numbers[e.topic.as_str()];
            let of: Column<Endpoint, Row<Topic>> = Column::of(repeat.tables.endpoints.iter().map(number));
            repeat.tables.messages.iter().filter_map(move |m| Some((of[m.subscription], latency_us(m)?)))
        })
    });
    let end = |topic: &Topic, which: usize| {
        (topic.ends_known && !topic.publishers.is_empty() && !topic.subscribers.is_empty()).then(|| topic.ends[which])
    };
    let figures = |(number, (name, topic)): (usize, (&str, Topic))| TopicFigures {
        topic: name.to_string(),
        pending: end(&topic, 0),
        before: end(&topic, 1),
        after: end(&topic, 2),
        unknown: end(&topic, 3),
        lost: (topic.losses_known && !topic.publishers.is_empty() && !topic.subscribers.is_empty())
            .then_some(topic.lost)
            .filter(|lost| is_told(*lost, topic.unlinked, topic.received)),
        publishers: topic.publishers.into_iter().collect(),
        subscribers: topic.subscribers.into_iter().collect(),
        sent: topic.sent,
        received: topic.received,
        message_type: topic.message_type,
        mean_size_bytes: topic.sizes.mean(),
        rate_hz: topic.series.period_ns().map(|ns| 1e9 / ns),
        latency_us: Distribution::of_slice(latencies.of_mut(Row::behind(number))),
        latency_uncertainty_us: topic.uncertainty_ns.map(|ns| ns as f64 / NS_PER_US),
    };
    topics.into_iter().enumerate().map(figures).collect()
}

/// Whether losses are given: not if most of what was received has no publication, and nothing else was seen to be lost.
pub(crate) fn is_told(lost: u64, unlinked: u64, received: u64) -> bool {
    lost > 0 || unlinked * 2 <= received
}
