//! Instances of chains: each output of the last node followed back to the input it descends from.

use crate::graph::{is_called, Path};
use crate::link::Linked;
use crate::observed::{Observed, INTERNAL};
use crate::tables::{Chain, Hop, Instance, Note};
use crate::wait::{split, Arrival, Busy, Passage};
use crate::Options;
use std::collections::{HashMap, HashSet};
use tacho_workload::model::Workload;

/// Rows of three tables.
#[derive(Default)]
pub(crate) struct Chains {
    pub chains: Vec<Chain>,
    pub instances: Vec<Instance>,
    pub hops: Vec<Hop>,
    pub notes: Vec<Note>,
}

/// Follows links through one run.
pub(crate) struct Tracer<'a> {
    seen: &'a Observed,
    linked: &'a Linked,
    options: &'a Options,
    busy: Busy,
    /// Takes by (node, topic), in order.
    takes: HashMap<(u32, u32), Vec<u32>>,
    /// By execution.
    taken_in: Vec<Vec<u32>>,
    published_in: Vec<Vec<u32>>,
    /// Executions that published something, by publishing node.
    publishing: HashMap<u32, Vec<u32>>,
}

/// How a node's output is tied to its input on one topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tie {
    /// Published in the callback that took it.
    SameCallback,
    /// Published by another callback, with the latest message taken before.
    Latest,
}

/// A chain's last output: where it came about, and when.
struct Output {
    execution: Option<u32>,
    time: i64,
}

/// One instance while it is followed back, last hop first.
#[derive(Default)]
struct Trail {
    hops: Vec<Hop>,
    transport: i64,
    alignment: i64,
    queueing: i64,
    computation: i64,
    arrival: Option<Arrival>,
    origin: Option<u32>,
}

impl<'a> Tracer<'a> {
    pub fn new(seen: &'a Observed, linked: &'a Linked, options: &'a Options) -> Self {
        let mut takes: HashMap<(u32, u32), Vec<u32>> = HashMap::new();
        let mut taken_in = vec![Vec::new(); seen.executions.len()];
        let mut published_in = vec![Vec::new(); seen.executions.len()];
        let mut publishing: HashMap<u32, Vec<u32>> = HashMap::new();
        for (index, take) in seen.takes.iter().enumerate() {
            let endpoint = &seen.endpoints[take.endpoint as usize];
            takes.entry((endpoint.node, endpoint.topic)).or_default().push(index as u32);
            if let Some(execution) = take.execution {
                taken_in[execution as usize].push(index as u32);
            }
        }
        for (index, publication) in seen.publications.iter().enumerate() {
            if let (Some(execution), Some(endpoint)) =
                (publication.execution, publication.endpoint.filter(|e| *e != INTERNAL))
            {
                published_in[execution as usize].push(index as u32);
                let of_node = publishing.entry(seen.endpoints[endpoint as usize].node).or_default();
                if of_node.last() != Some(&execution) {
                    of_node.push(execution);
                }
            }
        }
        Tracer { seen, linked, options, busy: Busy::new(seen), takes, taken_in, published_in, publishing }
    }

    /// All instances of all paths.
    pub fn trace(&self, paths: &[Path], workload: Option<&Workload>) -> Chains {
        let mut tables = Chains::default();
        for path in paths {
            self.trace_path(path, workload, &mut tables);
        }
        let mut worst = vec![None; tables.chains.len()];
        for instance in &tables.instances {
            let of = &mut worst[instance.chain as usize];
            *of = (*of).max(Some(instance.end_to_end_ns));
        }
        // Of equal ones the first.
        if let Some(most) = worst.iter().flatten().max() {
            if let Some(first) = worst.iter().position(|w| w.as_ref() == Some(most)) {
                tables.chains[first].critical = true;
            }
        }
        tables
    }

    fn trace_path(&self, path: &Path, workload: Option<&Workload>, tables: &mut Chains) {
        let last = path.nodes.len() - 1;
        let ties: Vec<Tie> = (1..=last)
            .map(|i| self.tie(path.nodes[i], path.topics[i - 1], path.topics.get(i).copied(), workload))
            .collect();
        let chain = tables.chains.len() as u32;
        let (mut outside, mut weakest, mut descended) = (0u64, None, HashSet::new());
        let mut outputs = self.outputs(path.nodes[last], path.topics[last - 1], ties[last - 1]);
        outputs.sort_by_key(|o| o.time);
        let mut worst = 0;
        for output in outputs {
            let trail = match self.follow(path, &ties, output) {
                Ok(Some(trail)) => trail,
                Ok(None) => continue,
                Err(PublishedOutside) => {
                    outside += 1;
                    continue;
                }
            };
            let (first, end) = (&trail.hops[trail.hops.len() - 1], &trail.hops[0]);
            worst = worst.max(end.output_ns - first.start_ns);
            if let Some(origin) = trail.origin {
                descended.insert(origin);
            }
            if !self.options.measures(first.start_ns) {
                continue;
            }
            weakest = weakest.max(trail.arrival);
            let instance = tables.instances.len() as u32;
            tables.instances.push(Instance {
                chain,
                start_ns: first.start_ns,
                end_ns: end.output_ns,
                end_to_end_ns: end.output_ns - first.start_ns,
                computation_ns: trail.computation,
                preemption_ns: None,
                alignment_ns: trail.alignment,
                queueing_ns: trail.queueing,
                transport_ns: trail.transport,
            });
            tables.hops.extend(trail.hops.into_iter().rev().map(|hop| Hop { instance, ..hop }));
        }
        if outside > 0 {
            tables.notes.push(Note { name: "published-outside-callbacks".into(), count: outside, text: format!(
                "outputs of chain {} that pass through a publish call outside of any callback: its input cannot be told", path.name) });
        }
        let named = |node: u32| self.seen.nodes[node as usize].name.clone();
        let mut words = vec![named(path.nodes[0])];
        for (topic, node) in path.topics.iter().zip(&path.nodes[1..]) {
            words.extend([self.seen.topics.names[*topic as usize].clone(), named(*node)]);
        }
        tables.chains.push(Chain {
            name: path.name.clone(),
            path: words,
            critical: false,
            lost: self.without_descendant(path, &descended, worst),
            evidence: self.evidence(path, &ties, weakest),
        });
    }

    /// Follows an output back to the first node. `Ok(None)`: it does not descend from this path.
    fn follow(&self, path: &Path, ties: &[Tie], output: Output) -> Result<Option<Trail>, PublishedOutside> {
        let seen = self.seen;
        let mut trail = Trail::default();
        let (mut execution, mut time) = (output.execution, output.time);
        for position in (1..path.nodes.len()).rev() {
            let Some(running) = execution else { return Err(PublishedOutside) };
            let (node, topic) = (path.nodes[position], path.topics[position - 1]);
            let start = seen.executions[running as usize].start_ns;
            let input = match ties[position - 1] {
                Tie::SameCallback => self.taken_by(running, node, topic),
                Tie::Latest => self.latest_before(node, topic, start),
            };
            let Some(input) = input.map(|i| &seen.takes[i as usize]) else { return Ok(None) };
            let Some(publication) = input.publication else { return Ok(None) };
            let source = &seen.publications[publication as usize];
            let from = source.endpoint.filter(|e| *e != INTERNAL).map(|e| seen.endpoints[e as usize].node);
            if from != Some(path.nodes[position - 1]) {
                return Ok(None);
            }
            // A callback that polls may take what came after it began: it starts on it when it takes it.
            let start =
                if source.time > start || input.arrival.is_some_and(|a| a > start) { input.time } else { start };
            if start > time || source.time > start {
                return Ok(None);
            }
            // A message kept for later waits twice: for its own callback, then for the one that uses it.
            let kept = matches!(ties[position - 1], Tie::Latest);
            let taken_in = if kept { input.execution } else { Some(running) };
            let began = match (kept, taken_in) {
                (true, Some(e)) => seen.executions[e as usize].start_ns.clamp(source.time, start),
                (true, None) => input.time.clamp(source.time, start),
                (false, _) => start,
            };
            let split = split(
                seen,
                &self.busy,
                &Passage {
                    stream: taken_in.map(|e| seen.execution_stream[e as usize]),
                    published: source.time,
                    arrival: input.arrival,
                    records_arrivals: !seen.endpoints[input.endpoint as usize].arrivals.is_empty(),
                    taken: input.time,
                    start: began,
                },
            );
            trail.transport += split.transport;
            trail.queueing += split.queueing;
            trail.alignment += split.alignment + (start - began);
            trail.computation += time - start;
            trail.arrival = trail.arrival.max(Some(split.evidence));
            trail.hops.push(Hop {
                instance: 0,
                position: position as u32,
                execution: Some(running),
                published_ns: Some(source.time),
                arrival_ns: split.arrival,
                start_ns: start,
                output_ns: time,
                queueing_ns: split.queueing,
            });
            (execution, time) = (source.execution, source.time);
            trail.origin = Some(publication);
        }
        let start = execution.map_or(time, |e| seen.executions[e as usize].start_ns);
        trail.computation += time - start;
        trail.hops.push(Hop {
            instance: 0,
            position: 0,
            execution,
            published_ns: None,
            arrival_ns: None,
            start_ns: start,
            output_ns: time,
            queueing_ns: 0,
        });
        Ok(Some(trail))
    }

    /// The first message that a callback took on a topic.
    fn taken_by(&self, execution: u32, node: u32, topic: u32) -> Option<u32> {
        self.taken_in[execution as usize].iter().copied().find(|t| {
            let endpoint = &self.seen.endpoints[self.seen.takes[*t as usize].endpoint as usize];
            (endpoint.node, endpoint.topic) == (node, topic)
        })
    }

    fn latest_before(&self, node: u32, topic: u32, instant: i64) -> Option<u32> {
        let takes = self.takes.get(&(node, topic))?;
        let before = takes.partition_point(|t| self.seen.takes[*t as usize].time <= instant);
        before.checked_sub(1).map(|last| takes[last])
    }

    /// The outputs of a chain's last node that `topic` may lead to: its last publish call in each execution, else the end of
    /// each callback that took a message.
    fn outputs(&self, node: u32, topic: u32, tie: Tie) -> Vec<Output> {
        let seen = self.seen;
        let of_node =
            |p: &u32| seen.publications[*p as usize].endpoint.is_some_and(|e| seen.endpoints[e as usize].node == node);
        let mut outputs = Vec::new();
        for execution in self.publishing.get(&node).into_iter().flatten() {
            if let Some(last) = self.published_in[*execution as usize].iter().rfind(|p| of_node(p)) {
                if tie == Tie::Latest || self.taken_by(*execution, node, topic).is_some() {
                    outputs.push(Output { execution: Some(*execution), time: seen.publications[*last as usize].time });
                }
            }
        }
        if !outputs.is_empty() || tie == Tie::Latest {
            return outputs;
        }
        let takes = self.takes.get(&(node, topic)).map_or(&[][..], Vec::as_slice);
        let mut executions: Vec<u32> = takes.iter().filter_map(|t| seen.takes[*t as usize].execution).collect();
        executions.dedup();
        let ends = executions.into_iter().filter_map(|e| Some((e, seen.executions[e as usize].end_ns?)));
        ends.map(|(execution, time)| Output { execution: Some(execution), time }).collect()
    }

    /// How `node` ties what it publishes on `output` (anything, for the last node) to what it takes on `input`.
    fn tie(&self, node: u32, input: u32, output: Option<u32>, workload: Option<&Workload>) -> Tie {
        let seen = self.seen;
        let says = workload.and_then(|w| w.nodes.iter().find(|n| is_called(&seen.nodes[node as usize].name, &n.name)));
        if let Some(subscription) =
            says.and_then(|n| n.subscribes.iter().find(|s| s.topic == seen.topics.names[input as usize]))
        {
            let publishes = says.is_some_and(|n| !n.publishes.is_empty());
            return if subscription.latest && publishes { Tie::Latest } else { Tie::SameCallback };
        }
        let fits = |p: &u32| match seen.publications[*p as usize].endpoint {
            Some(e) => {
                seen.endpoints[e as usize].node == node && output.is_none_or(|o| seen.endpoints[e as usize].topic == o)
            }
            None => false,
        };
        let mut other = false;
        for execution in self.publishing.get(&node).into_iter().flatten() {
            if self.published_in[*execution as usize].iter().any(fits) {
                if self.taken_by(*execution, node, input).is_some() {
                    return Tie::SameCallback;
                }
                other = true;
            }
        }
        if other {
            Tie::Latest
        } else {
            Tie::SameCallback
        }
    }

    /// Publications of the first node that led to nothing. Those after the last one that did may still be on their way for as long as
    /// the slowest instance took, and are not counted; nor, in programs that are not ours, those before the first one that the second
    /// node took, when the two may not have found each other yet.
    fn without_descendant(&self, path: &Path, descended: &HashSet<u32>, worst: i64) -> u64 {
        let seen = self.seen;
        let of = &self.linked.topics[path.topics[0] as usize];
        let mine = |p: &&u32| {
            seen.publications[**p as usize].endpoint.is_some_and(|e| seen.endpoints[e as usize].node == path.nodes[0])
        };
        let origins: Vec<u32> = of.publications.iter().filter(mine).copied().collect();
        let last = origins.iter().rposition(|p| descended.contains(p));
        let takes = self.takes.get(&(path.nodes[1], path.topics[0])).map_or(&[][..], Vec::as_slice);
        let taken: HashSet<u32> = takes.iter().filter_map(|t| seen.takes[*t as usize].publication).collect();
        let first = origins.iter().position(|p| taken.contains(p));
        let ours = seen.ours[seen.nodes[path.nodes[0] as usize].process as usize];
        let matched_from = if ours { 0 } else { first.unwrap_or(origins.len()) };
        let in_flight_from = seen.end_ns().saturating_sub(worst);
        origins
            .iter()
            .enumerate()
            .skip(matched_from)
            .filter(|(position, p)| {
                let time = seen.publications[**p as usize].time;
                let on_its_way = last.is_none_or(|l| *position > l) && time >= in_flight_from;
                !descended.contains(p) && self.options.measures(time) && !on_its_way
            })
            .count() as u64
    }

    fn evidence(&self, path: &Path, ties: &[Tie], arrival: Option<Arrival>) -> String {
        let Some(arrival) = arrival else { return "no instance came through".into() };
        let latest: Vec<&str> = ties
            .iter()
            .zip(&path.nodes[1..])
            .filter(|(tie, _)| **tie == Tie::Latest)
            .map(|(_, node)| self.seen.nodes[*node as usize].name.as_str())
            .collect();
        let mut words = Vec::new();
        if latest.len() < ties.len() {
            words.push("published in the callback that took the input".to_string());
        }
        if !latest.is_empty() {
            words.push(format!("latest message taken before, at {}", latest.join(", ")));
        }
        words.push(arrival.words().to_string());
        words.join("; ")
    }
}

/// The chain passes through a publish call that no callback made.
struct PublishedOutside;
