//! Outputs followed back to the input of the first node that they descend from.

use super::step::{Edge, Tied};
use super::ties::Tie;
use super::wait::{Arrival, Split};
use super::Tracer;
use crate::graph::Path;
use crate::observe::PublicationSeen;
use std::collections::HashMap;
use tacho_tables::row::Row;
use tacho_tables::{Callback, Chain, Execution, Hop, Instance, Parts};

/// A chain's last output, or that of a node on the way: where it came about, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Output {
    pub execution: Option<Row<Execution>>,
    /// Its publish call; absent where it is the end of a callback.
    pub publication: Option<Row<PublicationSeen>>,
    pub time: i64,
}

/// One instance while it is followed back, last hop first.
pub(crate) struct Trail {
    pub hops: Vec<Hop>,
    /// Of each hop but the first node's, last first.
    pub waits: Vec<Wait>,
    pub arrival: Option<Arrival>,
    /// Publication of the first node.
    pub origin: Option<Row<PublicationSeen>>,
}

/// What an input waited for, from its publish call to the callback that used it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    pub split: Split,
    /// Thread that took it.
    pub stream: Option<u32>,
    /// Callback that took it.
    pub callback: Option<Row<Callback>>,
    /// The input.
    pub input: Row<PublicationSeen>,
    pub published: i64,
    /// When the callback that took it began, or the take outside of callbacks; the rest of the wait it was kept.
    pub began: i64,
    pub start: i64,
}

/// The chain passes through a publish call that no callback made.
pub(crate) struct PublishedOutside;

/// A path, and of each of its nodes but the first the edge from the node before, among those of its follower.
pub(crate) struct Route<'p> {
    path: &'p Path,
    edges: Vec<usize>,
}

/// Follows outputs, best in order. Paths that share edges share what was found on them.
pub(crate) struct Follower<'t> {
    tracer: &'t Tracer<'t>,
    edges: Vec<Edge<'t>>,
    places: HashMap<Tied, usize>,
}

impl<'t> Follower<'t> {
    pub fn new(tracer: &'t Tracer<'t>) -> Follower<'t> {
        Follower { tracer, edges: Vec::new(), places: HashMap::new() }
    }

    /// The route along a path whose nodes but the first have these ties.
    pub fn route<'p>(&mut self, path: &'p Path, ties: &[Tie]) -> Route<'p> {
        let mut edge = |position: usize| {
            let tied = Tied::of(path, position, ties[position - 1].rule);
            *self.places.entry(tied).or_insert_with(|| {
                self.edges.push(Edge::new(self.tracer, tied));
                self.edges.len() - 1
            })
        };
        let edges = (1..path.nodes.len()).map(&mut edge).collect();
        Route { path, edges }
    }

    /// Follows an output back to the first node. `Ok(None)`: it does not descend from this path.
    pub fn follow(&mut self, route: &Route<'_>, output: Output) -> Result<Option<Trail>, PublishedOutside> {
        let (tracer, path, nodes) = (self.tracer, route.path, route.path.nodes.len());
        let (hops, waits) = (Vec::with_capacity(nodes), Vec::with_capacity(nodes - 1));
        let mut trail = Trail { hops, waits, origin: output.publication, arrival: None };
        let mut at = output;
        for position in (1..nodes).rev() {
            let Some(running) = at.execution else { return Err(PublishedOutside) };
            let Some(step) = self.edges[route.edges[position - 1]].back(tracer, running, at) else { return Ok(None) };
            if !step.by.iter().any(|callback| path.may_run(position, *callback)) {
                return Ok(None);
            }
            trail.arrival = trail.arrival.max(Some(step.wait.split.evidence));
            trail.waits.push(step.wait);
            trail.hops.push(Hop { position: position as u32, ..step.hop });
            at = step.source;
            trail.origin = at.publication;
        }
        let start = at.execution.map_or(at.time, |e| tracer.seen.executions[e].start_ns);
        if !path.may_run(0, at.execution.map(|e| tracer.seen.executions[e].callback)) {
            return Ok(None);
        }
        let first = Hop {
            instance: Row::new(0),
            position: 0,
            execution: at.execution,
            published_ns: None,
            arrival_ns: None,
            start_ns: start,
            output_ns: at.time,
            queueing_ns: 0,
            alignment_ns: None,
            kept_ns: None,
            off_cpu_ns: None,
            preemption_ns: None,
        };
        trail.hops.push(tracer.with_off_cpu(first));
        same_of_all(&mut trail.hops);
        Ok(Some(trail))
    }
}

/// Leaves the time off the CPU to an instance where it is known of all its hops, and divides it only where it is
/// divided in all.
fn same_of_all(hops: &mut [Hop]) {
    let known = hops.iter().all(|hop| hop.off_cpu_ns.is_some()) && hops.iter().any(|hop| hop.execution.is_some());
    let divided = known && hops.iter().all(|hop| hop.preemption_ns.is_some());
    if divided {
        return;
    }
    for hop in hops {
        let preemption = hop.preemption_ns.take().unwrap_or(0);
        hop.off_cpu_ns = hop.off_cpu_ns.filter(|_| known).map(|off| off + preemption);
    }
}

impl Trail {
    /// Its hops as rows of this instance, first node first.
    pub fn rows(&self, instance: Row<Instance>) -> impl Iterator<Item = Hop> + '_ {
        self.hops.iter().rev().map(move |hop| Hop { instance, ..*hop })
    }

    /// Its row: the parts of all hops added up.
    pub fn instance(&self, chain: Row<Chain>) -> Instance {
        let (first, end) = (&self.hops[self.hops.len() - 1], &self.hops[0]);
        let parts: Parts = self.hops.iter().map(Hop::parts).sum();
        Instance {
            chain,
            start_ns: first.start_ns,
            end_ns: end.output_ns,
            end_to_end_ns: end.output_ns - first.start_ns,
            computation_ns: parts.computation,
            off_cpu_ns: parts.off_cpu,
            preemption_ns: parts.preemption,
            alignment_ns: parts.alignment,
            queueing_ns: parts.queueing,
            kept_ns: parts.kept,
            transport_ns: parts.transport,
        }
    }
}
