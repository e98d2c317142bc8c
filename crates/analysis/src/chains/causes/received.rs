//! What subscriptions took of what was published, looked up for the lost inputs of all chains.

use crate::chains::usage::Usage;
use crate::link::queue::Traffic;
use crate::observe::{PublicationSeen, TakeSeen, Topic};
use crate::stages::Ways;
use std::sync::OnceLock;
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::rows::Rows;
use tacho_tables::{Endpoint, Node};

pub(super) struct Received<'a> {
    seen: &'a Ways,
    usage: &'a Usage,
    takes: Grouped<PublicationSeen, Row<TakeSeen>>,
    /// Of subscriptions that were asked for.
    traffic: Column<Endpoint, OnceLock<TrafficSeen>>,
}

/// Of a subscription: publish and take time of each message that it took, and publish times of its topic.
struct TrafficSeen {
    taken: Rows<(i64, i64)>,
    published: Rows<i64>,
}

impl<'a> Received<'a> {
    pub fn new(seen: &'a Ways, usage: &'a Usage) -> Received<'a> {
        let linked = || seen.takes.numbered().filter_map(|(row, take)| Some((take.publication?, row)));
        Received {
            seen,
            usage,
            takes: Grouped::new(seen.publications.len(), linked),
            traffic: Column::of(seen.endpoints.iter().map(|_| OnceLock::new())),
        }
    }

    /// The take of a publication by a node, the last one if several of its subscriptions took it.
    pub fn take_of(
        &self,
        publication: Row<PublicationSeen>,
        node: Row<Node>,
        topic: Row<Topic>,
    ) -> Option<Row<TakeSeen>> {
        let by_node = |take: &Row<TakeSeen>| {
            let endpoint = &self.seen.endpoints[self.seen.takes[*take].endpoint];
            (endpoint.node, endpoint.topic) == (node, topic)
        };
        self.takes.of(publication).iter().copied().rfind(by_node)
    }

    /// What a subscription took of all that was published for it.
    pub fn traffic_of(&self, subscription: Row<Endpoint>) -> Traffic<'_> {
        let seen = self.seen;
        let TrafficSeen { taken, published } = self.traffic[subscription].get_or_init(|| {
            let endpoint = &seen.endpoints[subscription];
            let takes = self.usage.takes(endpoint.node, endpoint.topic).iter().map(|take| &seen.takes[*take]);
            let own = takes.filter(|take| take.endpoint == subscription);
            let taken = own.filter_map(|take| Some((seen.publications[take.publication?].time, take.time)));
            let published = &seen.by_topic[endpoint.topic].publications;
            TrafficSeen {
                taken: taken.collect::<Rows<_>>().sorted_by(Ord::cmp),
                published: published.iter().map(|row| seen.publications[*row].time).collect(),
            }
        });
        Traffic { taken, published }
    }
}
