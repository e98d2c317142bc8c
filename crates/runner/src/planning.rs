//! From a workload to the plans of its processes.

use crate::phases::{node_seed, phase};
use crate::protocol::{Input, NodePlan, Output, Plan};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tacho_workload::model::Workload;

/// What hands over inside one process alone: a middleware, and a transport of any (`middleware.h`).
const IN_ONE_PROCESS: &str = "inproc";
const IN_PROCESS: &str = "in-process";

/// The plans of one repeat, each with the name of its process, in the order of the workload; and the phase of each node.
pub struct Plans {
    /// (process, plan).
    pub processes: Vec<(String, Plan)>,
    /// By node.
    pub phases: BTreeMap<String, f64>,
}

/// Plans repeat `repeat` of a workload.
pub fn plan(workload: &Workload, repeat: u32, domain: u32, libraries: &Path, clock: Option<PathBuf>) -> Plans {
    let mut processes: Vec<(String, Plan)> = Vec::new();
    let mut phases = BTreeMap::new();
    let mut publisher_id = 0;
    for (index, node) in workload.nodes.iter().enumerate() {
        let phase = phase(workload.run.seed, index, repeat, workload.run.repeats);
        phases.insert(node.name.clone(), phase);
        let inputs = node.subscribes.iter().map(|s| input(workload, &s.topic)).collect();
        let outputs = node.publishes.iter()
            .map(|p| {
                let id = publisher_id;
                publisher_id += 1;
                Output { publisher_id: id, subscribers: subscribers(workload, &p.topic) }
            })
            .collect();
        let cpus = workload.run.cpus.iter().find(|(name, _)| *name == node.name).map(|(_, cpus)| cpus.clone());
        let node_plan = NodePlan {
            node: node.clone(),
            phase,
            seed: node_seed(workload.run.seed, index, repeat),
            cpus: cpus.unwrap_or_default(),
            scheduling: None,
            inputs,
            outputs,
        };
        let in_one = workload.middleware == IN_ONE_PROCESS || workload.transport == IN_PROCESS;
        let process = if in_one { IN_ONE_PROCESS } else { &node.process };
        match processes.iter_mut().find(|(name, _)| name == process) {
            Some((_, plan)) => plan.nodes.push(node_plan),
            None => processes.push((
                process.to_owned(),
                Plan {
                    libraries: libraries.to_owned(),
                    middleware: workload.middleware.clone(),
                    transport: workload.transport.clone(),
                    domain,
                    address: String::new(),
                    clock: clock.clone(),
                    nodes: vec![node_plan],
                },
            )),
        }
    }
    Plans { processes, phases }
}

fn input(workload: &Workload, topic: &str) -> Input {
    let of_topic: Vec<_> = workload.nodes.iter().flat_map(|n| &n.publishes).filter(|p| p.topic == topic).collect();
    Input {
        publishers: of_topic.len(),
        size_bytes: of_topic.iter().map(|p| p.size_bytes).max().unwrap_or(0),
        message_type: of_topic.first().map(|p| p.message_type.clone()).unwrap_or_default(),
    }
}

fn subscribers(workload: &Workload, topic: &str) -> usize {
    workload.nodes.iter().flat_map(|n| &n.subscribes).filter(|s| s.topic == topic).count()
}
