//! What is recorded of the messages of topics: sizes, types, QoS.

use super::Maker;
use std::collections::BTreeMap;
use tacho_tables::row::Column;
use tacho_tables::{Endpoint, EndpointKind, Sizes, Tables};
use tacho_workload::model::{Publication, Qos};
use tacho_workload::units::format_size;

/// Size of messages if the recording has none, bytes.
pub(super) const UNKNOWN_SIZE: u64 = 64;
/// Sizes that differ by less than this part of their mean are one size.
const ALIKE: f64 = 0.02;

/// What is recorded of the messages of each topic.
#[derive(Default)]
pub struct Messages {
    sizes: BTreeMap<String, Sizes>,
    types: BTreeMap<String, String>,
}

impl Messages {
    /// Those of a run.
    pub fn of(tables: &Tables) -> Messages {
        let mut found = Messages::default();
        let mut sizes: Column<Endpoint, Sizes> = Column::of(vec![Sizes::default(); tables.endpoints.len()]);
        for publication in &tables.publications {
            publication.size_bytes.into_iter().for_each(|bytes| sizes[publication.publisher].add(bytes));
        }
        for (of, own) in tables.endpoints.iter().zip(sizes.iter()).filter(|(_, own)| own.mean().is_some()) {
            found.sizes.entry(of.topic.clone()).or_default().join(own);
        }
        let publishers = tables.endpoints.iter().filter(|of| of.kind == EndpointKind::Publisher);
        found.types = publishers.filter_map(|of| Some((of.topic.clone(), of.message_type.clone()?))).collect();
        found
    }

    /// What no topic has.
    pub fn unknown(&self, endpoints: &[Endpoint]) -> impl Iterator<Item = &'static str> {
        let has_qos = endpoints.iter().any(|of| of.reliable.is_some());
        let sizes = self.sizes.is_empty().then_some("sizes (64 B here)");
        let types = self.types.is_empty().then_some("types");
        sizes.into_iter().chain(types).chain((!has_qos).then_some("QoS except the depth"))
    }

    /// A publication on this topic, which the twin calls `named`, and what there is to say about its messages.
    pub fn publication(&self, topic: &str, named: String) -> (Publication, Option<String>) {
        let sizes = self.sizes.get(topic);
        let mean = sizes.and_then(Sizes::mean).map(|mean| mean.round() as u64);
        let range = sizes.and_then(Sizes::range).zip(mean);
        let spread = range.filter(|((least, most), mean)| (most - least) as f64 > ALIKE * *mean as f64);
        let spread = spread.map(|((least, most), _)| format!("{} to {}", format_size(least), format_size(most)));
        let unknown = (mean.is_none() && !self.sizes.is_empty()).then(|| "size not recorded".to_owned());
        let words: Vec<String> = self.types.get(topic).cloned().into_iter().chain(spread).chain(unknown).collect();
        let remark = (!words.is_empty()).then(|| format!("Messages of {named}: {}.", words.join(", ")));
        let size_bytes = mean.map_or(UNKNOWN_SIZE, |mean| mean.max(1));
        (Publication { topic: named, size_bytes, ..Publication::default() }, remark)
    }
}

impl Maker<'_> {
    /// A workload has no publisher and subscription of a topic that do not match. A subscription that matches no
    /// publisher got nothing, and is left out; one that matches some asks for what all of them offer.
    pub(super) fn match_qos(&mut self) {
        let mut offered: BTreeMap<String, Vec<Qos>> = BTreeMap::new();
        for publication in self.nodes.iter().flat_map(|(node, _)| &node.publishes) {
            offered.entry(publication.topic.clone()).or_default().push(publication.qos);
        }
        let Maker { nodes, lacks, .. } = self;
        for (node, remarks) in nodes {
            let name = node.name.clone();
            node.subscribes.retain_mut(|subscription| {
                let (topic, asked) = (&subscription.topic, &mut subscription.qos);
                let of = offered.get(topic).map_or(&[][..], Vec::as_slice);
                match of.iter().filter(|qos| qos.unmet(asked).next().is_none()).count() {
                    served if served == of.len() => true,
                    0 => {
                        remarks.push(format!("{topic} is left out: its QoS match no publisher."));
                        false
                    }
                    _ => {
                        lacks
                            .push(format!("{name} does not hear all publishers of {topic}: QoS of some do not match."));
                        asked.reliable &= of.iter().all(|qos| qos.reliable);
                        asked.transient_local &= of.iter().all(|qos| qos.transient_local);
                        true
                    }
                }
            });
        }
    }
}

/// The QoS of an endpoint; the default of ROS 2 for what was not recorded.
pub fn qos(of: &Endpoint) -> Qos {
    let default = Qos::default();
    let keep_all = of.keep_all.unwrap_or(default.keep_all);
    let depth = of.depth.filter(|depth| (1..=1_000_000).contains(depth) && !keep_all);
    Qos {
        reliable: of.reliable.unwrap_or(default.reliable),
        transient_local: of.transient_local.unwrap_or(default.transient_local),
        keep_all,
        depth: depth.map_or(default.depth, |depth| depth as u32),
    }
}
