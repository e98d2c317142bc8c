//! Tasks in virtual time: they really compute, and their time is drawn from what runs show.

use crate::node::{Message, Node, Step};
use anyhow::Result;
use std::rc::Rc;
use tacho_abi::Header;
use tacho_events::run::TaskQuality;
use tacho_runner::node::computation::{Lent, TaskOfNode, TaskPlan};
use tacho_runner::node::timers::timers;
use tacho_runner::phases::node_seed;
use tacho_runner::planning::{input, task_library};
use tacho_runner::protocol::TaskFigures;
use tacho_tasks::{Error, Output, Sample};
use tacho_workload::model::Work;
use tacho_workload::tasks::TaskKind;
use tacho_workload::Workload;

/// Makes the task of each node of a repeat; absent: its work is a time.
pub(crate) fn tasks(workload: &Workload, kinds: &[TaskKind], repeat: u32) -> Result<Vec<Option<TaskOfNode>>> {
    let made = workload.nodes.iter().enumerate().map(|(index, node)| {
        if !matches!(node.work, Work::Task { .. }) {
            return Ok(None);
        }
        let library = task_library(node, kinds)?;
        let inputs: Vec<_> = node.subscribes.iter().map(|s| input(workload, &s.topic)).collect();
        let seed = node_seed(workload.run.seed, index, repeat);
        let has_timers = !timers(node).is_empty();
        TaskOfNode::of(&TaskPlan { node, seed, library: library.as_deref(), inputs: &inputs, has_timers })
    });
    made.collect()
}

/// What the tasks report of their quality.
pub(crate) fn quality(nodes: &mut [Node]) -> Vec<TaskQuality> {
    let of_task = |of: &mut Node| {
        let TaskFigures { task, quality } = of.activity.as_mut()?.task.figures();
        Some(TaskQuality { node: of.name.clone(), task, figures: quality })
    };
    nodes.iter_mut().filter_map(of_task).collect()
}

/// The task of a node, and what it has filled in.
pub(crate) struct Activity {
    pub task: TaskOfNode,
    /// The message that the callback took, with its subscription.
    pub taken: Option<(usize, Message)>,
    /// What is to be sent of each publisher; absent: the task publishes no message.
    pub filled: Vec<Option<Rc<Vec<u8>>>>,
    /// Values of signals that it reported in its last activation.
    pub samples: Vec<Sample>,
}

/// The buffer of an output; empty: the callback does not publish on it.
fn buffer(of: &mut [u8]) -> Output<'_> {
    if of.is_empty() {
        Output::none()
    } else {
        Output::buffer(of)
    }
}

impl Message {
    fn lent(&self, input: usize) -> Lent<'_> {
        let Message { publisher_id, sequence, stamp_ns, content_ns, .. } = *self;
        let header = Header { publisher: publisher_id, sequence, stamp_ns, ..Header::default() };
        let data = self.data.as_ref().map_or(&[][..], |data| data.as_slice());
        Lent { input, header: header.with_content(content_ns), data }
    }
}

impl Activity {
    /// A task that has not run yet, of a node with so many publishers.
    pub fn of(task: TaskOfNode, publishers: usize) -> Activity {
        Activity { task, taken: None, filled: vec![None; publishers], samples: Vec::new() }
    }

    /// Keeps a message that makes the node compute nothing.
    pub fn hear(&mut self, input: usize, message: &Message) {
        self.task.hear(message.lent(input));
    }

    /// One activation at an instant. `sizes`: bytes of a message of each publisher, 0 if the callback does not publish
    /// on it.
    fn run(&mut self, now_ns: i64, sizes: &[usize]) -> Result<(), Error> {
        let mut buffers: Vec<Vec<u8>> = sizes.iter().map(|size| vec![0; *size]).collect();
        let mut outputs: Vec<Output> = buffers.iter_mut().map(|of| buffer(of)).collect();
        let taken = self.taken.take();
        let lent = taken.as_ref().map(|(input, message)| message.lent(*input));
        let samples = &mut self.samples;
        samples.clear();
        self.task.compute(now_ns, lent, &mut outputs, Some(&mut |sample| samples.push(sample)))?;
        let is_published: Vec<bool> = outputs.iter().map(Output::is_published).collect();
        drop(outputs);
        let sent = |(buffer, is_published): (_, bool)| is_published.then(|| Rc::new(buffer));
        self.filled = buffers.into_iter().zip(is_published).map(sent).collect();
        Ok(())
    }
}

impl Node {
    /// Runs the task, if the node has one, for the callback whose steps are next: `kept` is an input of which it only
    /// keeps the message.
    pub fn run_task(&mut self, kept: Option<usize>, now_ns: i64) -> Result<(), Error> {
        let Some(activity) = &mut self.activity else { return Ok(()) };
        if let Some(input) = kept {
            if let Some((_, message)) = activity.taken.take() {
                activity.hear(input, &message);
            }
            return Ok(());
        }
        let mut sizes = vec![0; self.publishers.len()];
        for step in self.steps.iter().take_while(|step| !matches!(step, Step::End(_) | Step::Join)) {
            if let Step::Publish(publisher) = step {
                sizes[*publisher] = self.publishers[*publisher].size as usize;
            }
        }
        activity.run(now_ns, &sizes)
    }

    /// Whether the callback publishes on a publisher: all but those for which its task filled in nothing.
    pub fn publishes(&self, publisher: usize) -> bool {
        self.activity.as_ref().is_none_or(|activity| activity.filled[publisher].is_some())
    }
}
