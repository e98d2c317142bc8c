//! One step back on a path: from an output of a node to the input that it was made of, and to who published that.

use super::edges::{Remembered, Tied};
use super::follow::{Output, Wait};
use super::ties::input_of::InputOf;
use super::usage::Taken;
use super::wait::{split, Passage};
use super::Tracer;
use crate::observe::{TakeSeen, INTERNAL};
use tacho_tables::row::Row;
use tacho_tables::{Callback, Execution, Hop, LinkRule, MaybeNs};

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
    /// What the node took on its input.
    taken: Taken<'t>,
    /// If the rule finds the input of each output over the whole run.
    inputs: Option<&'t InputOf>,
    /// Where look-ups of the output before ended: among takes, and in the waits of the thread.
    near: [usize; 2],
    remembered: Remembered<Output, Option<Step>>,
}

impl<'t> Edge<'t> {
    pub fn new(tracer: &'t Tracer<'t>, tied: Tied) -> Edge<'t> {
        let inputs = match tied.rule {
            LinkRule::HeaderStamp | LinkRule::LatestOnce | LinkRule::Match => {
                tracer.ties.inputs_of((tied.node, tied.input, tied.output))
            }
            LinkRule::SameCallback | LinkRule::Latest | LinkRule::Unrelated => None,
        };
        let taken = tracer.usage.taken(tied.node, tied.input);
        Edge { tied, taken, inputs, near: [0; 2], remembered: Remembered::default() }
    }

    /// The step back from an output that an execution of the node made; `None`: it was made of no input that came over
    /// this edge.
    pub fn back(&mut self, tracer: &Tracer<'_>, running: Row<Execution>, output: Output) -> Option<Step> {
        let known = self.remembered.get(running.index(), output);
        known.unwrap_or_else(|| {
            let step = self.step(tracer, running, output);
            self.remembered.put(running.index(), output, step)
        })
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
            LinkRule::Latest => own().or_else(|| self.taken.latest_before(seen.executions[running].start_ns, near)),
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
        let start =
            if source.time > start || input.arrival.get().is_some_and(|a| a > start) { input.time } else { start };
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
            arrival: input.arrival.get(),
            records_arrivals: !seen.endpoints[input.endpoint].arrivals.is_empty(),
            taken: input.time,
            start: began,
        };
        let mut near_spans = taken_in.map_or(0, |execution| tracer.busy.near(execution));
        let split = split(seen, &tracer.busy, &passage, &mut near_spans, &mut self.near[1]);
        let hop = Hop {
            instance: Row::new(0),
            position: 0,
            execution: Some(running),
            published_ns: source.time.into(),
            arrival_ns: split.arrival.into(),
            start_ns: start,
            output_ns: time,
            queueing_ns: split.queueing,
            alignment_ns: split.alignment.into(),
            kept_ns: (start - began).into(),
            off_cpu_ns: MaybeNs::NONE,
            preemption_ns: MaybeNs::NONE,
        };
        Some(Step {
            hop: tracer.with_off_cpu(hop),
            wait: Wait { split, stream, callback, input: publication, published: source.time, began, start },
            by: [Some(seen.executions[running].callback), callback],
            source: Output { execution: source.execution, publication: Some(publication), time: source.time },
        })
    }
}
