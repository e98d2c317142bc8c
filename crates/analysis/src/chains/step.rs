//! One step back on a path: from an output of a node to the input that it was made of, and to who published that.

use super::follow::{Output, Wait};
use super::ties::input_of::InputOf;
use super::wait::{split, Passage};
use super::Tracer;
use crate::graph::Path;
use crate::observe::{TakeSeen, Topic, INTERNAL};
use tacho_tables::near::partition_near;
use tacho_tables::row::Row;
use tacho_tables::{Callback, Execution, Hop, LinkRule, Node};

/// Steps that an edge remembers: paths that meet again lead over a few outputs of a node at a time.
const REMEMBERED: usize = 8;

/// From the node that publishes an input to the node that takes it and makes an output of it, and by which rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Tied {
    pub from: Row<Node>,
    pub input: Row<Topic>,
    pub node: Row<Node>,
    pub output: Option<Row<Topic>>,
    pub rule: LinkRule,
}

impl Tied {
    /// The one that leads to the node at a position of a path.
    pub fn of(path: &Path, position: usize, rule: LinkRule) -> Tied {
        let (from, input) = (path.nodes[position - 1], path.topics[position - 1]);
        Tied { from, input, node: path.nodes[position], output: path.output_of(position), rule }
    }
}

/// A step back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// Of the node that made the output, as a hop of any instance and position.
    pub hop: Hop,
    /// How long its input waited.
    pub wait: Wait,
    /// The callback that made the output, and the one that took the input.
    pub by: [Option<Row<Callback>>; 2],
    /// The publish call of the input.
    pub source: Output,
}

/// An edge of a path, with what was found on it last.
pub(super) struct Edge<'t> {
    tied: Tied,
    /// Takes of the node on its input, in order, and when each was.
    takes: &'t [Row<TakeSeen>],
    times: &'t [i64],
    /// If the rule finds the input of each output over the whole run.
    inputs: Option<&'t InputOf>,
    /// Where look-ups of the output before ended: among takes, in what the thread ran, and in its waits.
    near: [usize; 3],
    remembered: [Option<(Output, Option<Step>)>; REMEMBERED],
}

impl<'t> Edge<'t> {
    pub fn new(tracer: &'t Tracer<'t>, tied: Tied) -> Edge<'t> {
        let inputs = match tied.rule {
            LinkRule::HeaderStamp | LinkRule::LatestOnce | LinkRule::Match => {
                tracer.ties.inputs_of((tied.node, tied.input, tied.output))
            }
            LinkRule::SameCallback | LinkRule::Latest | LinkRule::Unrelated => None,
        };
        let takes = tracer.usage.takes(tied.node, tied.input);
        let times = tracer.usage.take_times(tied.node, tied.input);
        Edge { tied, takes, times, inputs, near: [0; 3], remembered: [None; REMEMBERED] }
    }

    /// The step back from an output that an execution of the node made; `None`: it was made of no input that came over
    /// this edge.
    pub fn back(&mut self, tracer: &Tracer<'_>, running: Row<Execution>, output: Output) -> Option<Step> {
        let place = running.index() % REMEMBERED;
        if let Some((_, step)) = self.remembered[place].filter(|(of, _)| *of == output) {
            return step;
        }
        let step = self.step(tracer, running, output);
        self.remembered[place] = Some((output, step));
        step
    }

    /// The message that an output was made of.
    fn input(&mut self, tracer: &Tracer<'_>, running: Row<Execution>, output: Output) -> Option<Row<TakeSeen>> {
        let seen = tracer.seen;
        let Tied { input: topic, node, rule, .. } = self.tied;
        let own = || tracer.usage.answered_or_taken_in(seen, output.publication, running, node, topic, output.time);
        let near = &mut self.near[0];
        match rule {
            LinkRule::SameCallback => own(),
            // A callback that polls may have taken it itself.
            LinkRule::Latest => own().or_else(|| {
                let start = seen.executions[running].start_ns;
                let before = partition_near(self.times, near, |time| *time <= start);
                before.checked_sub(1).map(|last| self.takes[last])
            }),
            LinkRule::HeaderStamp | LinkRule::LatestOnce | LinkRule::Match => {
                output.publication.and_then(|made| self.inputs?.find(made, near))
            }
            LinkRule::Unrelated => None,
        }
    }

    fn step(&mut self, tracer: &Tracer<'_>, running: Row<Execution>, output: Output) -> Option<Step> {
        let seen = tracer.seen;
        let time = output.time;
        let mut start = seen.executions[running].start_ns;
        let row = self.input(tracer, running, output)?;
        let answered = output.publication.and_then(|made| seen.legs.answered(made)) == Some(row);
        let input = &seen.takes[row];
        let publication = input.publication?;
        let source = &seen.publications[publication];
        let from = source.endpoint.filter(|e| *e != INTERNAL).map(|e| seen.endpoints[e].node);
        if from != Some(self.tied.from) {
            return None;
        }
        // Taken by a part of the coroutine before this one, or by the callback that left the response to this one,
        // it was used from there on.
        let earlier =
            input.execution.filter(|taken| *taken != running && (answered || seen.continues(running, *taken)));
        if let Some(earlier) = earlier {
            start = seen.executions[earlier].start_ns;
        }
        // A callback that polls may take what came after it began: it starts on it when it takes it.
        let start = if source.time > start || input.arrival.is_some_and(|a| a > start) { input.time } else { start };
        if start > time || source.time > start {
            return None;
        }
        // A message kept for later waits twice: for its own callback, then for the one that uses it.
        let kept = input.execution != Some(running) && earlier.is_none();
        let taken_in = if kept { input.execution } else { earlier.or(Some(running)) };
        let began = match (kept, taken_in) {
            (true, Some(e)) => seen.executions[e].start_ns.clamp(source.time, start),
            (true, None) => input.time.clamp(source.time, start),
            (false, _) => start,
        };
        let stream = taken_in.map(|e| seen.stream_of(e));
        let callback = taken_in.map(|e| seen.executions[e].callback);
        let passage = Passage {
            stream,
            callback,
            published: source.time,
            arrival: input.arrival,
            records_arrivals: !seen.endpoints[input.endpoint].arrivals.is_empty(),
            taken: input.time,
            start: began,
        };
        let [_, near_spans, near_waits] = &mut self.near;
        let split = split(seen, &tracer.busy, &passage, near_spans, near_waits);
        let hop = Hop {
            instance: Row::new(0),
            position: 0,
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
        };
        Some(Step {
            hop: tracer.with_off_cpu(hop),
            wait: Wait { split, stream, callback, input: publication, published: source.time, began, start },
            by: [Some(seen.executions[running].callback), callback],
            source: Output { execution: source.execution, publication: Some(publication), time: source.time },
        })
    }
}
