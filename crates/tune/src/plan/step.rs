//! The changes of a plan, and what is different for nodes in Python.
//!
//! rclpy's MultiThreadedExecutor may delay every callback by milliseconds (docs/explain.md). So a callback in Python
//! gets a thread of its own instead of a callback group, and its executor no more threads.

use super::code::{self, CodePlace};
use super::space::{Space, Turned};
use super::{Planning, Search};
use serde::{Deserialize, Serialize};
use tacho_tables::is_python;
use tacho_tables::summary::Summary;
use tacho_workload::model::is_called;
use tacho_workload::Workload;

/// One change of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanStep {
    /// The change.
    #[serde(flatten)]
    pub turned: Turned,
    /// For each goal, how much worse the plan would be without this change alone, in the unit of the goal.
    pub buys: Vec<f64>,
    /// Whether it is of a node in Python.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_python: bool,
    /// The callbacks in the recorded code that it concerns, if the run shows them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub code: Vec<CodePlace>,
}

/// What is not simulated of nodes in Python on an executor with several threads.
pub fn doubt_of_threads(workload: &Workload, python: &[String]) -> Option<String> {
    let in_python = workload.nodes.iter().filter(|node| python.contains(&node.name));
    let nodes = in_python.filter(|node| workload.threads_of(node) > 1);
    let names: Vec<&str> = nodes.map(|node| node.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{}: rclpy's MultiThreadedExecutor may delay every callback by milliseconds, which is not simulated; so \
             the simulated times are too short",
            names.join(", ")
        )
    })
}

impl Planning<'_> {
    /// Each change of a candidate, with what the plan would lack without it, and where it is in the code.
    pub(super) fn steps(
        &self,
        space: &Space,
        choice: &[usize],
        search: &Search<'_>,
        measured: &Summary,
    ) -> Vec<PlanStep> {
        let with = search.value(choice);
        let turned: Vec<usize> = (0..choice.len()).filter(|knob| choice[*knob] > 0).collect();
        let buys = |knob: &usize| {
            let mut without = choice.to_vec();
            without[*knob] = 0;
            let pair = search.value(&without).zip(with);
            pair.map_or(vec![], |(without, with)| without.goals.iter().zip(&with.goals).map(|(a, b)| a - b).collect())
        };
        let after = space.apply(choice);
        let step = |(turned, knob): (Turned, &usize)| {
            let is_python = space.is_python(&turned.of);
            let code = code::places(&turned, self.workload, &after, measured);
            PlanStep { turned, buys: buys(knob), is_python, code }
        };
        space.turned(choice).into_iter().zip(&turned).map(step).collect()
    }
}

/// Nodes of a workload whose callbacks a run of it has in Python.
pub fn nodes_in_python(measured: &Summary, workload: &Workload) -> Vec<String> {
    let python = measured.callbacks.iter().filter(|callback| is_python(callback.location.as_deref()));
    let names: Vec<&str> = python.filter_map(|callback| callback.node.as_deref()).collect();
    let is_measured = |node: &&str| names.iter().any(|name| is_called(name, node));
    let nodes = workload.nodes.iter().map(|node| node.name.as_str());
    nodes.filter(is_measured).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_in_python_on_several_threads_are_a_doubt() {
        let text = "
nodes:
  camera: {publishes: {/image: {rate: 10 Hz}}}
  left:   {thread: both, threads: 2, subscribes: [/image]}
  right:  {thread: both, subscribes: [/image]}
  alone:  {thread: one, subscribes: [/image]}
";
        let workload = tacho_workload::parse(text, "test.yaml").unwrap_or_else(|e| panic!("{e}")).0;
        let doubt = |python: &[&str]| {
            let python: Vec<String> = python.iter().map(|name| (*name).into()).collect();
            doubt_of_threads(&workload, &python)
        };
        assert_eq!(doubt(&["camera", "alone"]), None);
        assert!(doubt(&["camera", "right", "alone"]).is_some_and(|text| text.starts_with("right: rclpy's")));
    }
}
