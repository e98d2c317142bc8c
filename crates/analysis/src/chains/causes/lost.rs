//! Why inputs led to no output.

use super::{callback_name, Explainer};
use crate::link::fate::Fate;
use crate::link::queue::{published_before_next_take, Traffic};
use crate::near::partition_near;
use crate::observe::lifecycle::state_at;
use crate::observe::{PublicationSeen, TakeSeen, Topic, INTERNAL};
use std::collections::{BTreeMap, HashMap};
use tacho_tables::row::Row;
use tacho_tables::rows::far_apart;
use tacho_tables::{Callback, CauseKind, Endpoint, LinkRule, LostIn, Node, NodeState};

/// Of a subscription: publish and take time of each message that it took, and publish times of its topic.
type TrafficSeen = (Vec<(i64, i64)>, Vec<i64>);

/// Where the way of an input ends, and why.
type End<'a> = (u32, CauseKind, At<'a>);

/// By whom, as an index; words are made once for all inputs that end there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum At<'a> {
    Node(Row<Node>),
    /// A managed node, and its state.
    State(Row<Node>, &'a str),
    Callback(Row<Callback>),
    Topic(Row<Topic>),
    Queue(Row<Endpoint>),
    /// Of a publisher; absent where that is not known.
    PublisherQueue(Option<Row<Endpoint>>),
}

/// A node on the path while its inputs are gone through in order.
struct Passing {
    /// What it took, by publication.
    taken: Vec<(Row<PublicationSeen>, Row<TakeSeen>)>,
    /// Where the look-ups before ended: among those, among its takes, and among the executions that published.
    near: [usize; 3],
}

impl<'a> Explainer<'a> {
    /// Why inputs led to no output: one row a reason and place.
    pub(super) fn lost(&self) -> BTreeMap<(u32, CauseKind, String), u64> {
        let path = &self.made_of.path;
        if self.made_of.lost.is_empty() && self.made_of.on_their_way.is_empty() {
            return BTreeMap::new();
        }
        let passing = |i: usize| {
            let takes = self.tracer.usage.takes(path.nodes[i], path.topics[i - 1]);
            let linked = far_apart(takes.iter()).filter_map(|t| Some((self.tracer.seen.takes[*t].publication?, *t)));
            let mut taken: Vec<(Row<PublicationSeen>, Row<TakeSeen>)> = linked.collect();
            taken.sort_unstable();
            Passing { taken, near: [0; 3] }
        };
        let mut nodes: Vec<Passing> = (1..path.nodes.len()).map(passing).collect();
        let mut traffic: HashMap<Row<Endpoint>, TrafficSeen> = HashMap::new();
        let mut ends: BTreeMap<End<'_>, u64> = BTreeMap::new();
        for publication in far_apart(self.made_of.lost.iter()) {
            *ends.entry(self.end_of(*publication, &mut nodes, &mut traffic)).or_default() += 1;
        }
        for publication in &self.made_of.on_their_way {
            let end = self.end_of(*publication, &mut nodes, &mut traffic);
            // Of a trace: how a process ended is not in it.
            let process = self.tracer.seen.nodes[path.nodes[end.0 as usize]].process;
            let untold = self.tracer.seen.processes[process].ended.is_none();
            if end.1 == CauseKind::Pending || end.1 == CauseKind::Ended && untold {
                *ends.entry(end).or_default() += 1;
            }
        }
        let mut reasons = BTreeMap::new();
        for ((position, kind, at), count) in ends {
            *reasons.entry((position, kind, self.words_of(at))).or_default() += count;
        }
        reasons
    }

    fn words_of(&self, at: At<'_>) -> String {
        let seen = self.tracer.seen;
        let node = |node: Row<Node>| &seen.nodes[node].name;
        let queue_of = |endpoint: Row<Endpoint>| {
            let owner = node(seen.endpoints[endpoint].node);
            match seen.endpoints[endpoint].depth {
                Some(depth) => format!("queue of depth {depth} of {owner}"),
                None => format!("queue of {owner}"),
            }
        };
        match at {
            At::Node(of) => node(of).clone(),
            At::State(of, state) => format!("{} ({state})", node(of)),
            At::Callback(callback) => callback_name(seen, callback),
            At::Topic(topic) => seen.topics.names[topic].clone(),
            At::Queue(endpoint) => queue_of(endpoint),
            At::PublisherQueue(endpoint) => format!("publisher's {}", endpoint.map_or("queue".into(), queue_of)),
        }
    }

    /// Where the way of a publication of the first node ends.
    fn end_of(
        &self,
        mut publication: Row<PublicationSeen>,
        nodes: &mut [Passing],
        traffic: &mut HashMap<Row<Endpoint>, TrafficSeen>,
    ) -> End<'a> {
        let (tracer, path) = (self.tracer, &self.made_of.path);
        let (seen, usage) = (tracer.seen, tracer.usage);
        for position in 1..path.nodes.len() {
            let (node, topic, tie) =
                (path.nodes[position], path.topics[position - 1], &self.made_of.ties[position - 1]);
            let ended = |kind, at| (position as u32, kind, at);
            let Passing { taken, near: [near_taken, near_take, near_output] } = &mut nodes[position - 1];
            // The last one, where several subscriptions of the node took it.
            let last = partition_near(taken, near_taken, |of| of.0 <= publication).checked_sub(1);
            let Some((_, take)) = last.map(|last| &taken[last]).filter(|of| of.0 == publication) else {
                let (kind, at) = self.not_taken(publication, node, topic, traffic);
                let unmet = matches!(kind, CauseKind::Unmatched | CauseKind::Untold | CauseKind::Pending);
                return match self.not_active(node, seen.publications[publication].time).filter(|_| unmet) {
                    Some(at) => ended(CauseKind::NotActive, at),
                    None => ended(kind, at),
                };
            };
            let row = &seen.takes[*take];
            let on_next = |p: &&Row<PublicationSeen>| {
                let endpoint = seen.publications[**p].endpoint.filter(|e| *e != INTERNAL);
                let endpoint = endpoint.map(|e| &seen.endpoints[e]);
                endpoint.is_some_and(|e| e.node == node && path.output_of(position).is_none_or(|t| e.topic == t))
            };
            let next = match tie.rule {
                LinkRule::SameCallback => {
                    let at = row.execution.map_or(At::Node(node), |e| At::Callback(seen.executions[e].callback));
                    let published = row.execution.and_then(|e| usage.published_in(e).iter().rfind(on_next));
                    published.copied().ok_or((CauseKind::NoOutput, at))
                }
                _ => {
                    let takes = usage.takes(node, topic);
                    let younger = takes.get(partition_near(takes, near_take, |t| *t <= *take));
                    let younger = younger.map(|t| seen.takes[*t].time);
                    let time = |p: &Row<PublicationSeen>| seen.publications[*p].time;
                    let publishing = usage.publishing(node);
                    let after = partition_near(publishing, near_output, |e| {
                        usage.published_in(*e).first().is_some_and(|p| time(p) < row.time)
                    });
                    // An execution that published before the take may publish again after it.
                    let from = &publishing[after.saturating_sub(4)..];
                    let until_younger = from.iter().flat_map(|e| usage.published_in(*e));
                    let output = until_younger
                        .skip_while(|p| time(p) < row.time)
                        .take_while(|p| younger.is_none_or(|y| time(p) < y))
                        .find(on_next);
                    let kind = if younger.is_some() { CauseKind::Superseded } else { CauseKind::NoOutput };
                    output.copied().ok_or((kind, At::Node(node)))
                }
            };
            match next {
                Ok(next) => publication = next,
                Err((kind, at)) => {
                    return match self.not_active(node, row.time).filter(|_| kind == CauseKind::NoOutput) {
                        Some(at) => ended(CauseKind::NotActive, at),
                        None => ended(kind, at),
                    }
                }
            }
        }
        // Its output was made, and a later input of the same callback was followed instead.
        let last = path.nodes.len() - 1;
        (last as u32, CauseKind::Superseded, At::Node(path.nodes[last]))
    }

    /// A managed node and its state at an instant, where that is another than active.
    fn not_active(&self, node: Row<Node>, instant: i64) -> Option<At<'a>> {
        let state = state_at(&self.tracer.seen.lifecycle.states, node, instant);
        state.filter(|state| *state != NodeState::ACTIVE).map(|state| At::State(node, state))
    }

    fn not_taken(
        &self,
        publication: Row<PublicationSeen>,
        node: Row<Node>,
        topic: Row<Topic>,
        traffic: &mut HashMap<Row<Endpoint>, TrafficSeen>,
    ) -> (CauseKind, At<'a>) {
        let seen = self.tracer.seen;
        let of = &seen.by_topic[topic];
        let lost = (CauseKind::Lost, At::Topic(topic));
        let Some(subscription) = of.subscriptions.iter().copied().find(|s| seen.endpoints[*s].node == node) else {
            return (CauseKind::Untold, At::Node(node));
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
            Fate::Lost(Some(LostIn::PublisherQueue)) => (CauseKind::Overwritten, At::PublisherQueue(row.endpoint)),
            Fate::Lost(Some(LostIn::SubscriptionQueue)) => (CauseKind::Overwritten, At::Queue(subscription)),
            Fate::Lost(Some(LostIn::Transport)) => lost,
            Fate::Lost(None) => match since.zip(seen.endpoints[subscription].depth) {
                Some((since, depth)) if since >= depth => (CauseKind::Overwritten, At::Queue(subscription)),
                _ => lost,
            },
            Fate::Unmatched => (CauseKind::Unmatched, At::Node(node)),
            Fate::Ended => (CauseKind::Ended, At::Node(node)),
            Fate::Pending => (CauseKind::Pending, At::Node(node)),
            Fate::Untold => (CauseKind::Untold, At::Node(node)),
        }
    }
}
