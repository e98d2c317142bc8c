//! Runs the task of a node on the messages of its inputs.

use crate::node::entities::NodePublisher;
use crate::node::failure::Failure;
use crate::node::trace::Trace;
use crate::protocol::{Input as OfTopic, NodePlan, TaskFigures};
use anyhow::Context;
use std::path::Path;
use tacho_events::run::Quality;
use tacho_middleware::{Error, Handle, Header};
use tacho_recording::clock::monotonic_ns;
use tacho_tasks::{Config, Endpoint, Error as TaskError, Figure, Input, OnSample, Output, Task};
use tacho_workload::model::{Node, Work};
use tacho_workload::tasks::TaskSignal;

/// The message that a callback took, still lent by the middleware.
#[derive(Clone, Copy)]
pub struct Lent<'a> {
    /// Index of its subscription.
    pub input: usize,
    /// Its header.
    pub header: Header,
    /// Its data.
    pub data: &'a [u8],
}

/// What is to be sent of a publisher after an activation.
pub enum Prepared {
    /// Nothing: its task publishes no message in this activation.
    Withheld,
    /// The middleware lent no buffer.
    Refused(Error),
    /// The buffer holds what is to be sent; its handle in trace events.
    Filled(Handle),
}

/// What the task of a node is made of.
#[derive(Clone, Copy)]
pub struct TaskPlan<'a> {
    /// The node.
    pub node: &'a Node,
    /// Seed of what its task draws.
    pub seed: u64,
    /// The library of its task.
    pub library: Option<&'a Path>,
    /// What is known of the topics of its subscriptions, in order.
    pub inputs: &'a [OfTopic],
    /// Whether it also runs without a message.
    pub has_timers: bool,
}

impl<'a> TaskPlan<'a> {
    /// Of a planned node.
    pub fn of(plan: &'a NodePlan, has_timers: bool) -> TaskPlan<'a> {
        let NodePlan { node, seed, task_library, inputs, .. } = plan;
        TaskPlan { node, seed: *seed, library: task_library.as_deref(), inputs, has_timers }
    }
}

/// A task with the latest messages of its node.
pub struct TaskOfNode {
    task: Task,
    latest: Vec<Latest>,
    /// Whether another callback may need a message that one took. If not, it is never copied.
    keeps: bool,
    /// Stands in for a buffer that the middleware refuses.
    scratch: Vec<u8>,
}

/// The latest message of an input, copied when the middleware takes it back.
#[derive(Default, Clone)]
struct Latest {
    header: Header,
    data: Vec<u8>,
    is_new: bool,
    has_come: bool,
}

impl Latest {
    fn keep(&mut self, message: Lent<'_>, is_new: bool) {
        self.header = message.header;
        self.data.clear();
        self.data.extend_from_slice(message.data);
        (self.is_new, self.has_come) = (is_new, true);
    }

    fn as_input(&self) -> Input<'_> {
        if self.has_come {
            Input::message(self.header, &self.data, self.is_new)
        } else {
            Input::none()
        }
    }
}

/// Joins a figure's name and unit: `lateral_error_max_m`, `speed_m_per_s`.
fn named(figure: Figure) -> Quality {
    let unit = figure.unit.replace("/s^2", "_per_s2").replace("/s", "_per_s").replace('%', "percent");
    let name = if unit.is_empty() { figure.name } else { format!("{}_{unit}", figure.name) };
    Quality { name, value: figure.value }
}

impl TaskOfNode {
    /// Makes the task of a node; `None` if its work is a time.
    pub fn of(plan: &TaskPlan<'_>) -> anyhow::Result<Option<TaskOfNode>> {
        let TaskPlan { node, seed, library, inputs, has_timers } = *plan;
        let Work::Task { name, parameters } = &node.work else { return Ok(None) };
        let of_node = || format!("node {}", node.name);
        let library = library.with_context(|| format!("no library of task {name}"))?;
        let inputs = node.subscribes.iter().zip(inputs).map(|(subscription, input)| Endpoint {
            topic: &subscription.topic,
            message_type: &input.message_type,
            size: input.size_bytes as usize,
        });
        let outputs = node.publishes.iter().map(|publication| Endpoint {
            topic: &publication.topic,
            message_type: &publication.message_type,
            size: publication.size_bytes as usize,
        });
        let (inputs, outputs): (Vec<_>, Vec<_>) = (inputs.collect(), outputs.collect());
        let kind = tacho_tasks::load(library, name).with_context(of_node)?;
        let config = Config { node: &node.name, seed, parameters, inputs: &inputs, outputs: &outputs };
        let task = Task::create(&kind, &config).with_context(of_node)?;
        let latest = vec![Latest::default(); inputs.len()];
        Ok(Some(TaskOfNode { task, latest, keeps: inputs.len() > 1 || has_timers, scratch: Vec::new() }))
    }

    /// Records which signals its task reports, as those of a node in trace events.
    pub fn announce(&self, trace: Trace, node: u64) {
        let (task, signals) = self.signals();
        signals.iter().enumerate().for_each(|(i, of)| trace.node_signal_init(node, i, task, of));
    }

    /// Name of its task, and the signals that it reports.
    pub fn signals(&self) -> (&str, &[TaskSignal]) {
        (self.task.name(), self.task.signals())
    }

    /// Keeps a message that makes the node compute nothing.
    pub fn hear(&mut self, message: Lent<'_>) {
        self.latest[message.input].keep(message, true);
    }

    /// One activation at an instant: with the message that a callback took, if any, and the latest of all other inputs.
    pub fn compute(
        &mut self,
        now_ns: i64,
        lent: Option<Lent<'_>>,
        outputs: &mut [Output<'_>],
        on_sample: Option<OnSample<'_>>,
    ) -> Result<(), TaskError> {
        let inputs: Vec<Input> = self
            .latest
            .iter()
            .enumerate()
            .map(|(index, latest)| match lent {
                Some(lent) if lent.input == index => Input::message(lent.header, lent.data, true),
                _ => latest.as_input(),
            })
            .collect();
        self.task.run(now_ns, &inputs, outputs, on_sample)?;
        drop(inputs);
        self.latest.iter_mut().for_each(|latest| latest.is_new = false);
        if let Some(lent) = lent.filter(|_| self.keeps) {
            self.latest[lent.input].keep(lent, false);
        }
        Ok(())
    }

    /// One activation, into the buffers of publishers. `due` names those that the callback may publish on, in their
    /// order; returns what to send of each.
    pub fn run(
        &mut self,
        lent: Option<Lent<'_>>,
        due: &[(usize, Option<i64>)],
        publishers: &mut [NodePublisher],
        on_sample: Option<OnSample<'_>>,
    ) -> Result<Vec<Prepared>, Failure> {
        let mut prepared: Vec<(usize, Prepared)> = Vec::with_capacity(due.len());
        let mut scratch = std::mem::take(&mut self.scratch);
        let most = publishers.iter().map(|p| p.size as usize).sum();
        if scratch.len() < most {
            scratch.resize(most, 0);
        }
        let mut room: &mut [u8] = &mut scratch;
        let mut outputs = Vec::with_capacity(publishers.len());
        for (index, publisher) in publishers.iter_mut().enumerate() {
            if !due.iter().any(|(due, _)| *due == index) {
                outputs.push(Output::none());
                continue;
            }
            let size = publisher.size as usize;
            match publisher.publisher.borrow() {
                Ok(buffer) => {
                    prepared.push((index, Prepared::Filled(buffer.message)));
                    outputs.push(Output::buffer(buffer.data));
                }
                Err(error) => {
                    let (own, rest) = std::mem::take(&mut room).split_at_mut(size);
                    room = rest;
                    prepared.push((index, Prepared::Refused(error)));
                    outputs.push(Output::buffer(own));
                }
            }
        }
        self.compute(monotonic_ns(), lent, &mut outputs, on_sample)?;
        let is_published: Vec<bool> = outputs.iter().map(Output::is_published).collect();
        drop(outputs);
        self.scratch = scratch;
        let sent = |(index, prepared)| if is_published[index] { prepared } else { Prepared::Withheld };
        Ok(prepared.into_iter().map(sent).collect())
    }

    /// What the task reports of its quality.
    pub fn figures(&mut self) -> TaskFigures {
        let quality = self.task.figures().into_iter().map(named).collect();
        TaskFigures { task: self.task.name().to_owned(), quality }
    }
}
