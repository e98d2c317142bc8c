//! Outputs followed back to the input of the first node that they descend from.

use super::edges::{Edges, Tied};
use super::step::{Edge, Step};
use super::ties::Tie;
use super::wait::{Arrival, Split};
use super::Tracer;
use crate::graph::Path;
use crate::observe::{PublicationSeen, Seen};
use tacho_tables::row::Row;
use tacho_tables::{Callback, Chain, Execution, Hop, Instance, MaybeNs, Parts};

/// A chain's last output, or that of a node on the way: where it came about, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Output {
    pub execution: Option<Row<Execution>>,
    /// Its publish call; absent where it is the end of a callback.
    pub publication: Option<Row<PublicationSeen>>,
    pub time: i64,
}

/// One instance while it is followed back.
pub(crate) struct Trail<'f> {
    /// Of each node but the first, last first.
    levels: &'f [Level],
    /// Of the first node.
    first: Hop,
    /// Parts of all hops added up.
    parts: Parts,
    /// What all hops tell of their time off the CPU.
    told: OffCpuTold,
    pub arrival: Option<Arrival>,
    /// Publication of the first node.
    pub origin: Option<Row<PublicationSeen>>,
}

/// What the hops of an instance tell of their time off the CPU.
#[derive(Debug, Clone, Copy)]
struct OffCpuTold {
    /// All of them how long it was.
    of_all: bool,
    /// All of them how much of it was preemption.
    divided: bool,
}

impl OffCpuTold {
    fn of(hop: &Hop) -> OffCpuTold {
        OffCpuTold { of_all: hop.off_cpu_ns.get().is_some(), divided: hop.preemption_ns.get().is_some() }
    }

    fn and(self, other: OffCpuTold) -> OffCpuTold {
        OffCpuTold { of_all: self.of_all && other.of_all, divided: self.divided && other.divided }
    }

    /// Time off the CPU and preemption as an instance has them: only where all its hops do, and divided only where all
    /// are.
    fn common(self, off_cpu: Option<i64>, preemption: Option<i64>) -> (Option<i64>, Option<i64>) {
        match self {
            OffCpuTold { of_all: false, .. } => (None, None),
            OffCpuTold { divided: false, .. } => (off_cpu.map(|off| off + preemption.unwrap_or(0)), None),
            OffCpuTold { .. } => (off_cpu, preemption),
        }
    }
}

/// A step back, and what was gathered up to there.
struct Level {
    edge: usize,
    step: Step,
    parts: Parts,
    told: OffCpuTold,
    arrival: Arrival,
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

/// A path, and of each of its nodes but the first the edge from the node before, last first, among those of its
/// follower.
pub(crate) struct Route<'p> {
    path: &'p Path,
    edges: Vec<usize>,
}

impl Route<'_> {
    /// Routes in this order share as much with the one before as they can.
    pub fn order(&self) -> &[usize] {
        &self.edges
    }
}

/// Follows outputs, best in order, and each over all routes before the next. Routes that share edges share what was
/// found on them.
pub(crate) struct Follower<'t> {
    tracer: &'t Tracer<'t>,
    edges: Edges<Edge<'t>>,
    /// The output that was followed last, and how far it was.
    last: Option<Output>,
    levels: Vec<Level>,
}

impl<'t> Follower<'t> {
    pub fn new(tracer: &'t Tracer<'t>) -> Follower<'t> {
        Follower { tracer, edges: Edges::default(), last: None, levels: Vec::new() }
    }

    /// The route along a path whose nodes but the first have these ties.
    pub fn route<'p>(&mut self, path: &'p Path, ties: &[Tie]) -> Route<'p> {
        let tied = (1..path.nodes.len()).rev().map(|position| Tied::of(path, position, ties[position - 1].rule));
        let edges = tied.map(|tied| self.edges.place_of(tied, |tied| Edge::new(self.tracer, tied))).collect();
        Route { path, edges }
    }

    /// Follows an output back to the first node. `Ok(None)`: it does not descend from this path.
    pub fn follow(&mut self, route: &Route<'_>, output: Output) -> Result<Option<Trail<'_>>, PublishedOutside> {
        let (tracer, path) = (self.tracer, route.path);
        if self.last.replace(output) != Some(output) {
            self.levels.clear();
        }
        let shared = self.levels.iter().zip(&route.edges).take_while(|(level, edge)| level.edge == **edge).count();
        self.levels.truncate(shared);
        let runs = |step: &Step, place: usize| {
            step.by.iter().any(|callback| path.may_run(route.edges.len() - place, *callback))
        };
        if !self.levels.iter().enumerate().all(|(place, level)| runs(&level.step, place)) {
            return Ok(None);
        }
        for (place, edge) in route.edges.iter().enumerate().skip(shared) {
            let last = self.levels.last();
            let at = last.map_or(output, |level| level.step.source);
            let Some(running) = at.execution else { return Err(PublishedOutside) };
            let Some(step) = self.edges.at(*edge).back(tracer, running, at) else { return Ok(None) };
            let (parts, told, arrival) = (step.hop.parts(), OffCpuTold::of(&step.hop), step.wait.split.evidence);
            self.levels.push(Level {
                edge: *edge,
                step,
                parts: last.map_or(parts, |last| [last.parts, parts].into_iter().sum()),
                told: last.map_or(told, |last| last.told.and(told)),
                arrival: last.map_or(arrival, |last| last.arrival.max(arrival)),
            });
            if !runs(&step, place) {
                return Ok(None);
            }
        }
        let last = self.levels.last();
        let at = last.map_or(output, |level| level.step.source);
        let start = at.execution.map_or(at.time, |e| tracer.seen.executions[e].start_ns);
        if !path.may_run(0, at.execution.map(|e| tracer.seen.executions[e].callback)) {
            return Ok(None);
        }
        let first = tracer.with_off_cpu(Hop {
            instance: Row::new(0),
            position: 0,
            execution: at.execution,
            published_ns: MaybeNs::NONE,
            arrival_ns: MaybeNs::NONE,
            start_ns: start,
            output_ns: at.time,
            queueing_ns: 0,
            alignment_ns: MaybeNs::NONE,
            kept_ns: MaybeNs::NONE,
            off_cpu_ns: MaybeNs::NONE,
            preemption_ns: MaybeNs::NONE,
        });
        let own = OffCpuTold::of(&first);
        Ok(Some(Trail {
            levels: &self.levels,
            parts: last.map(|last| last.parts).into_iter().chain([first.parts()]).sum(),
            told: last.map_or(own, |last| last.told.and(own)),
            arrival: last.map(|last| last.arrival),
            origin: at.publication,
            first,
        }))
    }
}

impl Trail<'_> {
    pub fn start_ns(&self) -> i64 {
        self.first.start_ns
    }

    pub fn output_ns(&self) -> i64 {
        self.levels.first().map_or(self.first.output_ns, |last| last.step.hop.output_ns)
    }

    /// Its hops, last first; each but the first node's with what its input waited for.
    pub fn hops(&self) -> impl DoubleEndedIterator<Item = (Hop, Option<&Wait>)> + '_ {
        let with = |hop: Hop, position: usize| {
            let (off_cpu_ns, preemption_ns) = self.told.common(hop.off_cpu_ns.get(), hop.preemption_ns.get());
            Hop { position: position as u32, off_cpu_ns: off_cpu_ns.into(), preemption_ns: preemption_ns.into(), ..hop }
        };
        let nodes = self.levels.len();
        let later = self.levels.iter().enumerate();
        let later = later.map(move |(place, level)| (with(level.step.hop, nodes - place), Some(&level.step.wait)));
        later.chain(std::iter::once((with(self.first, 0), None)))
    }

    /// Of each node, first one first, the callback that took the input, if there is one, and the one that made the
    /// output.
    pub fn passed(&self, seen: &Seen) -> impl Iterator<Item = (Option<Row<Callback>>, Option<Row<Callback>>)> + '_ {
        let first = self.first.execution.map(|execution| seen.executions[execution].callback);
        let later = self.levels.iter().rev().map(|level| (level.step.by[1], level.step.by[0]));
        std::iter::once((None, first)).chain(later)
    }

    /// Its hops as rows of this instance, first node first.
    pub fn rows(&self, instance: Row<Instance>) -> impl Iterator<Item = Hop> + '_ {
        self.hops().rev().map(move |(hop, _)| Hop { instance, ..hop })
    }

    /// Its row: the parts of all hops added up.
    pub fn instance(&self, chain: Row<Chain>) -> Instance {
        let (start_ns, end_ns, parts) = (self.start_ns(), self.output_ns(), &self.parts);
        let (off_cpu_ns, preemption_ns) = self.told.common(parts.off_cpu, parts.preemption);
        let off = |part: Option<i64>| part.unwrap_or(0);
        Instance {
            chain,
            start_ns,
            end_ns,
            end_to_end_ns: end_ns - start_ns,
            computation_ns: parts.computation + off(parts.off_cpu) + off(parts.preemption)
                - off(off_cpu_ns)
                - off(preemption_ns),
            off_cpu_ns: off_cpu_ns.into(),
            preemption_ns: preemption_ns.into(),
            alignment_ns: parts.alignment.into(),
            queueing_ns: parts.queueing,
            kept_ns: parts.kept.into(),
            transport_ns: parts.transport,
        }
    }
}
