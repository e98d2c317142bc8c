//! Why inputs led to no output.

use super::callback_name;
use super::received::Received;
use crate::chains::edges::{Edges, Remembered, Tied};
use crate::chains::{MadeOf, Tracer};
use crate::link::fate::{Fate, Fates};
use crate::link::queue::published_before_next_take;
use crate::observe::lifecycle::state_at;
use crate::observe::{PublicationSeen, Topic, INTERNAL};
use std::collections::BTreeMap;
use tacho_tables::in_order::in_order;
use tacho_tables::near::partition_near;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::{Callback, CauseKind, Endpoint, LinkRule, LostIn, Node, NodeState};

/// Chains that begin alike and are looked at together.
const TOGETHER: usize = 16;
/// Inputs of a chain by where their way ends, why and by whom.
pub(super) type Reasons = BTreeMap<(u32, CauseKind, String), u64>;

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

/// A step on: the next node's output, or why there is none.
type Step<'a> = Result<Row<PublicationSeen>, (CauseKind, At<'a>)>;

/// The way on from a message to an output of the node that takes it.
struct Edge<'a> {
    tied: Tied,
    /// Where look-ups of the message before ended: among takes, and among the executions that published.
    near: [usize; 2],
    remembered: Remembered<Row<PublicationSeen>, Step<'a>>,
}

/// A chain, and what was found of its inputs.
struct Counted<'a> {
    made_of: &'a MadeOf,
    /// Its edges, among those of all.
    edges: Vec<usize>,
    ends: BTreeMap<End<'a>, u64>,
}

/// Looks up what became of messages.
pub(super) struct Lost<'a> {
    tracer: &'a Tracer<'a>,
    fates: &'a Fates<'a>,
    received: Received<'a>,
}

impl<'a> Lost<'a> {
    pub fn new(tracer: &'a Tracer<'a>, fates: &'a Fates<'a>) -> Lost<'a> {
        Lost { tracer, fates, received: Received::new(tracer.seen, tracer.usage) }
    }

    /// Why inputs led to no output, of each of these chains.
    pub fn of_chains(&'a self, chains: &'a [MadeOf]) -> Vec<Reasons> {
        let first = |of: &MadeOf| (of.path.nodes[0], of.path.topics[0]);
        let alike = chains.chunk_by(|one, other| first(one) == first(other));
        let mut reasons = Vec::new();
        in_order(alike.flat_map(|alike| alike.chunks(TOGETHER)), |of| self.of_alike(of), |of| reasons.extend(of));
        reasons
    }

    fn of_alike(&'a self, chains: &'a [MadeOf]) -> Vec<Reasons> {
        let mut edges: Edges<Edge<'a>> = Edges::default();
        let new = |tied| Edge { tied, near: [0; 2], remembered: Remembered::default() };
        let counted = chains.iter().map(|made_of| {
            let tied = (1..made_of.path.nodes.len()).map(|at| Tied::of(&made_of.path, at, made_of.ties[at - 1].rule));
            Counted { made_of, edges: tied.map(|tied| edges.place_of(tied, new)).collect(), ends: BTreeMap::new() }
        });
        let mut counted: Vec<Counted<'_>> = counted.collect();
        let lost = (0u32..).zip(chains).flat_map(|(chain, of)| of.lost.iter().map(move |input| (*input, chain)));
        let lost = lost.collect::<Rows<_>>().sorted_by(Ord::cmp);
        for (input, chain) in lost.iter() {
            let of = &mut counted[*chain as usize];
            let end = self.end_of(*input, of, &mut edges);
            *of.ends.entry(end).or_default() += 1;
        }
        for of in &mut counted {
            for input in &of.made_of.on_their_way {
                let end = self.end_of(*input, of, &mut edges);
                // Of a trace: how a process ended is not in it.
                let process = self.tracer.seen.nodes[of.made_of.path.nodes[end.0 as usize]].process;
                let untold = self.tracer.seen.processes[process].ended.is_none();
                if end.1 == CauseKind::Pending || end.1 == CauseKind::Ended && untold {
                    *of.ends.entry(end).or_default() += 1;
                }
            }
        }
        let words = |of: Counted<'_>| {
            let mut reasons = Reasons::new();
            for ((position, kind, at), count) in of.ends {
                *reasons.entry((position, kind, self.words_of(at))).or_default() += count;
            }
            reasons
        };
        counted.into_iter().map(words).collect()
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
    fn end_of(&self, input: Row<PublicationSeen>, of: &Counted<'a>, edges: &mut Edges<Edge<'a>>) -> End<'a> {
        let mut publication = input;
        for (edge, position) in of.edges.iter().zip(1..) {
            let edge = edges.at(*edge);
            let known = edge.remembered.get(publication.index(), publication);
            let step = known.unwrap_or_else(|| {
                let step = self.step(publication, edge);
                edge.remembered.put(publication.index(), publication, step)
            });
            match step {
                Ok(next) => publication = next,
                Err((kind, at)) => return (position, kind, at),
            }
        }
        // Its output was made, and a later input of the same callback was followed instead.
        let last = of.made_of.path.nodes.len() - 1;
        (last as u32, CauseKind::Superseded, At::Node(of.made_of.path.nodes[last]))
    }

    fn step(&self, publication: Row<PublicationSeen>, edge: &mut Edge<'_>) -> Step<'a> {
        let (seen, usage) = (self.tracer.seen, self.tracer.usage);
        let Tied { node, input: topic, output, rule, .. } = edge.tied;
        let [near_take, near_output] = &mut edge.near;
        let Some(take) = self.received.take_of(publication, node, topic) else {
            let (kind, at) = self.not_taken(publication, node, topic);
            let unmet = matches!(kind, CauseKind::Unmatched | CauseKind::Untold | CauseKind::Pending);
            return match self.not_active(node, seen.publications[publication].time).filter(|_| unmet) {
                Some(at) => Err((CauseKind::NotActive, at)),
                None => Err((kind, at)),
            };
        };
        let row = &seen.takes[take];
        let on_next = |p: &&Row<PublicationSeen>| {
            let endpoint = seen.publications[**p].endpoint.filter(|e| *e != INTERNAL);
            let endpoint = endpoint.map(|e| &seen.endpoints[e]);
            endpoint.is_some_and(|e| e.node == node && output.is_none_or(|topic| e.topic == topic))
        };
        let next = match rule {
            LinkRule::SameCallback => {
                let at = row.execution.map_or(At::Node(node), |e| At::Callback(seen.executions[e].callback));
                let published = row.execution.and_then(|e| usage.published_in(e).iter().rfind(on_next));
                published.copied().ok_or((CauseKind::NoOutput, at))
            }
            _ => {
                let takes = usage.takes(node, topic);
                let younger = takes.get(partition_near(takes, near_take, |t| *t <= take));
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
        let inactive = |kind: CauseKind| self.not_active(node, row.time).filter(|_| kind == CauseKind::NoOutput);
        next.map_err(|(kind, at)| inactive(kind).map_or((kind, at), |at| (CauseKind::NotActive, at)))
    }

    /// A managed node and its state at an instant, where that is another than active.
    fn not_active(&self, node: Row<Node>, instant: i64) -> Option<At<'a>> {
        let state = state_at(&self.tracer.seen.lifecycle.states, node, instant);
        state.filter(|state| *state != NodeState::ACTIVE).map(|state| At::State(node, state))
    }

    fn not_taken(&self, publication: Row<PublicationSeen>, node: Row<Node>, topic: Row<Topic>) -> (CauseKind, At<'a>) {
        let seen = self.tracer.seen;
        let of = &seen.by_topic[topic];
        let lost = (CauseKind::Lost, At::Topic(topic));
        let Some(subscription) = of.subscriptions.iter().copied().find(|s| seen.endpoints[*s].node == node) else {
            return (CauseKind::Untold, At::Node(node));
        };
        let traffic = self.received.traffic_of(subscription);
        let row = &seen.publications[publication];
        let since = published_before_next_take(&traffic, row.time);
        match self.fates.of(publication, subscription, !traffic.taken.is_empty(), since.is_some()) {
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
