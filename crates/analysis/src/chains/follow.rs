//! One output followed back to the input of the first node that it descends from.

use super::ties::Tie;
use super::wait::{split, Arrival, Passage, Split};
use super::Tracer;
use crate::graph::Path;
use crate::observe::{PublicationSeen, INTERNAL};
use tacho_tables::row::Row;
use tacho_tables::{Callback, Chain, Execution, Hop, Instance, LinkRule, Parts};

/// A chain's last output: where it came about, and when.
#[derive(Clone, Copy)]
pub(crate) struct Output {
    pub execution: Option<Row<Execution>>,
    /// Its publish call; absent where it is the end of a callback.
    pub publication: Option<Row<PublicationSeen>>,
    pub time: i64,
}

/// Where look-ups of the output before ended, at each node of a path: outputs are followed in order.
#[derive(Default)]
pub(crate) struct Near(Vec<NearNode>);

#[derive(Clone, Copy, Default)]
struct NearNode {
    takes: usize,
    spans: usize,
}

impl Near {
    fn at(&mut self, position: usize) -> &mut NearNode {
        if self.0.len() <= position {
            self.0.resize(position + 1, NearNode::default());
        }
        &mut self.0[position]
    }
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

impl Tracer<'_> {
    /// Follows an output back to the first node. `Ok(None)`: it does not descend from this path.
    pub fn follow(
        &self,
        path: &Path,
        ties: &[Tie],
        output: Output,
        near: &mut Near,
    ) -> Result<Option<Trail>, PublishedOutside> {
        let seen = self.seen;
        let (nodes, origin) = (path.nodes.len(), output.publication);
        let (hops, waits) = (Vec::with_capacity(nodes), Vec::with_capacity(nodes - 1));
        let mut trail = Trail { hops, waits, origin, arrival: None };
        let (mut execution, mut time) = (output.execution, output.time);
        for position in (1..path.nodes.len()).rev() {
            let Some(running) = execution else { return Err(PublishedOutside) };
            let (node, topic) = (path.nodes[position], path.topics[position - 1]);
            let mut start = seen.executions[running].start_ns;
            let near = near.at(position);
            let own = || self.usage.answered_or_taken_in(seen, trail.origin, running, node, topic, time);
            let input = match ties[position - 1].rule {
                LinkRule::SameCallback => own(),
                // A callback that polls may have taken it itself.
                LinkRule::Latest => {
                    own().or_else(|| self.usage.latest_before(seen, (node, topic), start, &mut near.takes))
                }
                LinkRule::HeaderStamp | LinkRule::LatestOnce | LinkRule::Match => {
                    let pair = (node, topic, path.output_of(position));
                    trail.origin.and_then(|made| self.ties.input_of(pair, made, &mut near.takes))
                }
                LinkRule::Unrelated => None,
            };
            let Some(input) = input else { return Ok(None) };
            let answered = trail.origin.and_then(|made| seen.legs.answered(made)) == Some(input);
            let input = &seen.takes[input];
            let Some(publication) = input.publication else { return Ok(None) };
            let source = &seen.publications[publication];
            let from = source.endpoint.filter(|e| *e != INTERNAL).map(|e| seen.endpoints[e].node);
            if from != Some(path.nodes[position - 1]) {
                return Ok(None);
            }
            // Taken by a part of the coroutine before this one, or by the callback that left the response to this one,
            // it was used from there on.
            let earlier =
                input.execution.filter(|taken| *taken != running && (answered || seen.continues(running, *taken)));
            if let Some(earlier) = earlier {
                start = seen.executions[earlier].start_ns;
            }
            // A callback that polls may take what came after it began: it starts on it when it takes it.
            let start =
                if source.time > start || input.arrival.is_some_and(|a| a > start) { input.time } else { start };
            if start > time || source.time > start {
                return Ok(None);
            }
            // A message kept for later waits twice: for its own callback, then for the one that uses it.
            let kept = input.execution != Some(running) && earlier.is_none();
            let taken_in = if kept { input.execution } else { earlier.or(Some(running)) };
            let began = match (kept, taken_in) {
                (true, Some(e)) => seen.executions[e].start_ns.clamp(source.time, start),
                (true, None) => input.time.clamp(source.time, start),
                (false, _) => start,
            };
            let mut by = [running].into_iter().chain(taken_in).map(|e| seen.executions[e].callback);
            if !by.any(|callback| path.may_run(position, Some(callback))) {
                return Ok(None);
            }
            let stream = taken_in.map(|e| seen.stream_of(e));
            let callback = taken_in.map(|e| seen.executions[e].callback);
            let split = split(
                seen,
                &self.busy,
                &Passage {
                    stream,
                    callback,
                    published: source.time,
                    arrival: input.arrival,
                    records_arrivals: !seen.endpoints[input.endpoint].arrivals.is_empty(),
                    taken: input.time,
                    start: began,
                },
                &mut near.spans,
            );
            trail.arrival = trail.arrival.max(Some(split.evidence));
            trail.waits.push(Wait {
                split,
                stream,
                callback,
                input: publication,
                published: source.time,
                began,
                start,
            });
            trail.hops.push(Hop {
                instance: Row::new(0),
                position: position as u32,
                execution: Some(running),
                published_ns: Some(source.time),
                arrival_ns: split.arrival,
                start_ns: start,
                output_ns: time,
                queueing_ns: split.queueing,
                alignment_ns: split.alignment,
                kept_ns: Some(start - began),
                off_cpu_ns: None,
                preemption_ns: None,
            });
            (execution, time) = (source.execution, source.time);
            trail.origin = Some(publication);
        }
        let start = execution.map_or(time, |e| seen.executions[e].start_ns);
        if !path.may_run(0, execution.map(|e| seen.executions[e].callback)) {
            return Ok(None);
        }
        trail.hops.push(Hop {
            instance: Row::new(0),
            position: 0,
            execution,
            published_ns: None,
            arrival_ns: None,
            start_ns: start,
            output_ns: time,
            queueing_ns: 0,
            alignment_ns: None,
            kept_ns: None,
            off_cpu_ns: None,
            preemption_ns: None,
        });
        self.fill_in_off_cpu(&mut trail.hops);
        Ok(Some(trail))
    }
}

impl Trail {
    /// Its hops as rows of this instance, first node first.
    pub fn rows(self, instance: Row<Instance>) -> impl Iterator<Item = Hop> {
        self.hops.into_iter().rev().map(move |hop| Hop { instance, ..hop })
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
