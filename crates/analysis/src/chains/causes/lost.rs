//! Why inputs led to no output.

use super::{callback_name, Explainer};
use crate::link::fate::Fate;
use crate::link::queue::{published_before_next_take, Traffic};
use crate::observe::lifecycle::state_at;
use crate::observe::{PublicationSeen, TakeSeen, Topic, INTERNAL};
use std::collections::{BTreeMap, HashMap};
use tacho_tables::row::Row;
use tacho_tables::rows::far_apart;
use tacho_tables::{CauseKind, Endpoint, LinkRule, LostIn, Node, NodeState};

/// Of a subscription: publish and take time of each message that it took, and publish times of its topic.
type TrafficSeen = (Vec<(i64, i64)>, Vec<i64>);

impl Explainer<'_> {
    /// Why inputs led to no output: one row a reason and place.
    pub(super) fn lost(&self) -> BTreeMap<(u32, CauseKind, String), u64> {
        let path = &self.made_of.path;
        if self.made_of.lost.is_empty() && self.made_of.on_their_way.is_empty() {
            return BTreeMap::new();
        }
        // Takes of each node on the path, by publication.
        let taken: Vec<Vec<(Row<PublicationSeen>, Row<TakeSeen>)>> = (1..path.nodes.len())
            .map(|i| {
                let takes = self.tracer.usage.takes(path.nodes[i], path.topics[i - 1]);
                let linked =
                    far_apart(takes.iter()).filter_map(|t| Some((self.tracer.seen.takes[*t].publication?, *t)));
                let mut taken: Vec<(Row<PublicationSeen>, Row<TakeSeen>)> = linked.collect();
                taken.sort_unstable();
                taken
            })
            .collect();
        let mut traffic: HashMap<Row<Endpoint>, TrafficSeen> = HashMap::new();
        let mut reasons: BTreeMap<(u32, CauseKind, String), u64> = BTreeMap::new();
        for publication in far_apart(self.made_of.lost.iter()) {
            *reasons.entry(self.end_of(*publication, &taken, &mut traffic)).or_default() += 1;
        }
        for publication in &self.made_of.on_their_way {
            let end = self.end_of(*publication, &taken, &mut traffic);
            // Of a trace: how a process ended is not in it.
            let process = self.tracer.seen.nodes[path.nodes[end.0 as usize]].process;
            let untold = self.tracer.seen.processes[process].ended.is_none();
            if end.1 == CauseKind::Pending || end.1 == CauseKind::Ended && untold {
                *reasons.entry(end).or_default() += 1;
            }
        }
        reasons
    }

    /// Where the way of a publication of the first node ends.
    fn end_of(
        &self,
        mut publication: Row<PublicationSeen>,
        taken: &[Vec<(Row<PublicationSeen>, Row<TakeSeen>)>],
        traffic: &mut HashMap<Row<Endpoint>, TrafficSeen>,
    ) -> (u32, CauseKind, String) {
        let (tracer, path) = (self.tracer, &self.made_of.path);
        let (seen, usage) = (tracer.seen, tracer.usage);
        for position in 1..path.nodes.len() {
            let (node, topic, tie) =
                (path.nodes[position], path.topics[position - 1], &self.made_of.ties[position - 1]);
            let ended = |kind, by| (position as u32, kind, by);
            let of_node = &taken[position - 1];
            // The last one, where several subscriptions of the node took it.
            let last = of_node.partition_point(|of| of.0 <= publication).checked_sub(1).map(|last| &of_node[last]);
            let Some((_, take)) = last.filter(|of| of.0 == publication) else {
                let (kind, by) = self.not_taken(publication, node, topic, traffic);
                let unmet = matches!(kind, CauseKind::Unmatched | CauseKind::Untold | CauseKind::Pending);
                return match self.not_active(node, seen.publications[publication].time).filter(|_| unmet) {
                    Some(by) => ended(CauseKind::NotActive, by),
                    None => ended(kind, by),
                };
            };
            let row = &seen.takes[*take];
            let name = seen.nodes[node].name.clone();
            let on_next = |p: &&Row<PublicationSeen>| {
                let endpoint = seen.publications[**p].endpoint.filter(|e| *e != INTERNAL);
                let endpoint = endpoint.map(|e| &seen.endpoints[e]);
                endpoint.is_some_and(|e| e.node == node && path.output_of(position).is_none_or(|t| e.topic == t))
            };
            let next = match tie.rule {
                LinkRule::SameCallback => {
                    let by = row.execution.map_or(name, |e| callback_name(seen, seen.executions[e].callback));
                    let published = row.execution.and_then(|e| usage.published_in(e).iter().rfind(on_next));
                    published.copied().ok_or((CauseKind::NoOutput, by))
                }
                _ => {
                    let takes = usage.takes(node, topic);
                    let younger = takes.get(takes.partition_point(|t| *t <= *take)).map(|t| seen.takes[*t].time);
                    let time = |p: &Row<PublicationSeen>| seen.publications[*p].time;
                    let publishing = usage.publishing(node);
                    let after = publishing
                        .partition_point(|e| usage.published_in(*e).first().is_some_and(|p| time(p) < row.time));
                    // An execution that published before the take may publish again after it.
                    let from = &publishing[after.saturating_sub(4)..];
                    let until_younger = from.iter().flat_map(|e| usage.published_in(*e));
                    let output = until_younger
                        .skip_while(|p| time(p) < row.time)
                        .take_while(|p| younger.is_none_or(|y| time(p) < y))
                        .find(on_next);
                    let kind = if younger.is_some() { CauseKind::Superseded } else { CauseKind::NoOutput };
                    output.copied().ok_or((kind, name))
                }
            };
            match next {
                Ok(next) => publication = next,
                Err((kind, by)) => {
                    return match self.not_active(node, row.time).filter(|_| kind == CauseKind::NoOutput) {
                        Some(by) => ended(CauseKind::NotActive, by),
                        None => ended(kind, by),
                    }
                }
            }
        }
        // Its output was made, and a later input of the same callback was followed instead.
        let last = path.nodes.len() - 1;
        (last as u32, CauseKind::Superseded, seen.nodes[path.nodes[last]].name.clone())
    }

    /// A managed node and its state at an instant, where that is another than active.
    fn not_active(&self, node: Row<Node>, instant: i64) -> Option<String> {
        let seen = self.tracer.seen;
        let state = state_at(&seen.lifecycle.states, node, instant).filter(|state| *state != NodeState::ACTIVE)?;
        Some(format!("{} ({state})", seen.nodes[node].name))
    }

    fn not_taken(
        &self,
        publication: Row<PublicationSeen>,
        node: Row<Node>,
        topic: Row<Topic>,
        traffic: &mut HashMap<Row<Endpoint>, TrafficSeen>,
    ) -> (CauseKind, String) {
        let seen = self.tracer.seen;
        let of = &seen.by_topic[topic];
        let name = seen.nodes[node].name.clone();
        let lost = (CauseKind::Lost, seen.topics.names[topic].clone());
        let Some(subscription) = of.subscriptions.iter().copied().find(|s| seen.endpoints[*s].node == node) else {
            return (CauseKind::Untold, name);
        };
        let queue_of = |endpoint: Row<Endpoint>| {
            let owner = &seen.nodes[seen.endpoints[endpoint].node].name;
            match seen.endpoints[endpoint].depth {
                Some(depth) => format!("queue of depth {depth} of {owner}"),
                None => format!("queue of {owner}"),
            }
        };
        let (taken, published) = traffic.entry(subscription).or_insert_with(|| {
            let takes = far_apart(self.tracer.usage.takes(node, topic).iter()).map(|t| &seen.takes[*t]);
            let own = takes.filter(|t| t.endpoint == subscription);
            let mut taken: Vec<(i64, i64)> =
                own.filter_map(|t| Some((seen.publications[t.publication?].time, t.time))).collect();
            taken.sort_unstable();
            (taken, far_apart(of.publications.iter()).map(|p| seen.publications[*p].time).collect())
        });
        let row = &seen.publications[publication];
        let since = published_before_next_take(&Traffic { taken, published }, row.time);
        match self.fates.of(publication, subscription, !taken.is_empty(), since.is_some()) {
            Fate::Lost(Some(LostIn::PublisherQueue)) => (
                CauseKind::Overwritten,
                format!("publisher's {}", row.endpoint.map_or_else(|| "queue".into(), queue_of)),
            ),
            Fate::Lost(Some(LostIn::SubscriptionQueue)) => (CauseKind::Overwritten, queue_of(subscription)),
            Fate::Lost(Some(LostIn::Transport)) => lost,
            Fate::Lost(None) => match since.zip(seen.endpoints[subscription].depth) {
                Some((since, depth)) if since >= depth => (CauseKind::Overwritten, queue_of(subscription)),
                _ => lost,
            },
            Fate::Unmatched => (CauseKind::Unmatched, name),
            Fate::Ended => (CauseKind::Ended, name),
            Fate::Pending => (CauseKind::Pending, name),
            Fate::Untold => (CauseKind::Untold, name),
        }
    }
}
