//! The task of a node, without C.

use anyhow::{Context, Result};
use std::ffi::{CStr, CString};
use tacho_recording::clock::monotonic_ns;
use tacho_runner::node::computation::{Lent, TaskOfNode, TaskPlan};
use tacho_runner::node::timers::timers;
use tacho_runner::node::trace::Trace;
use tacho_runner::protocol::NodePlan;
use tacho_tasks::{OnSample, Output};

/// A task with what its node needs to call it.
pub struct NodeTask {
    task: TaskOfNode,
    trace: Trace,
    /// The node in trace events.
    node: u64,
    outputs: usize,
    figures: CString,
}

impl NodeTask {
    /// Makes the task of a planned node.
    pub fn of(plan: &str, node: u64) -> Result<NodeTask> {
        let plan: NodePlan = serde_json::from_str(plan).context("the plan of a node")?;
        let of_plan = TaskPlan::of(&plan, !timers(&plan.node).is_empty());
        let task = TaskOfNode::of(&of_plan)?
            .with_context(|| format!("node {}: its work is a time, expected a task", plan.node.name))?;
        let trace = Trace::find();
        task.announce(trace, node);
        Ok(NodeTask { task, trace, node, outputs: plan.node.publishes.len(), figures: CString::default() })
    }

    /// How many outputs a call has.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Keeps a message that makes the node compute nothing.
    pub fn hear(&mut self, message: Lent<'_>) {
        self.task.hear(message);
    }

    /// One activation now.
    pub fn run(&mut self, message: Option<Lent<'_>>, outputs: &mut [Output<'_>]) -> Result<(), tacho_tasks::Error> {
        let (trace, node) = (self.trace, self.node);
        let mut on_sample = |sample| trace.node_signal(node, sample);
        let on_sample = trace.is_recording().then_some(&mut on_sample as OnSample<'_>);
        self.task.compute(monotonic_ns(), message, outputs, on_sample)
    }

    /// What the task reports of its quality, in JSON.
    pub fn figures(&mut self) -> Result<&CStr> {
        self.figures = CString::new(serde_json::to_vec(&self.task.figures())?)?;
        Ok(&self.figures)
    }
}
