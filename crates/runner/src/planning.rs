//! Turns a workload into the plans of its processes.

use crate::micro::Network;
use crate::phases::{self, node_seed};
use crate::protocol::{Input, NodePlan, Output, Plan};
use anyhow::{bail, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tacho_middleware::Facts;
use tacho_workload::model::{Node, Start, Work, Workload};
use tacho_workload::tasks::TaskKind;

/// The transport within one process, of any middleware (`middleware.h`).
const IN_PROCESS: &str = "in-process";
/// The common process of nodes whose messages never leave it.
const ONE_PROCESS: &str = "inproc";

/// The middleware of boards.
const ON_BOARDS: &str = "micro";

/// Paths of installed parts that plans contain, and facts of middlewares.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    /// Folder of the plugins.
    pub libraries: &'a Path,
    /// The image that runs on a board.
    pub image: &'a Path,
    /// The kinds of tasks that are installed.
    pub tasks: &'a [TaskKind],
    /// Returns the facts of a middleware.
    pub facts: &'a dyn Fn(&str) -> Facts,
}

/// The plans of one repeat in the order of the workload, and the phase of each node.
pub struct Plans {
    /// One plan for each process.
    pub processes: Vec<ProcessPlan>,
    /// Phase of each node.
    pub phases: BTreeMap<String, f64>,
}

/// A planned process.
#[derive(Debug)]
pub struct ProcessPlan {
    /// Its name in the workload.
    pub name: String,
    /// Its host; empty means this machine.
    pub host: String,
    /// The plan that it receives.
    pub plan: Plan,
    /// Whether it must not end while another process of its middleware ends.
    pub ends_alone: bool,
}

/// Plans repeat `repeat` of a workload.
pub fn plan(
    workload: &Workload,
    network: &Network,
    repeat: u32,
    domain: u32,
    installation: Parts<'_>,
    clock: Option<PathBuf>,
) -> Result<Plans> {
    let Parts { libraries, image, tasks, facts } = installation;
    let at_once = workload.run.start == Start::AtOnce;
    let mut processes: Vec<ProcessPlan> = Vec::new();
    let mut phases = BTreeMap::new();
    let mut publisher_id = 0;
    for (index, node) in workload.nodes.iter().enumerate() {
        let phase = phases::of_node(&workload.run, node, index, repeat);
        phases.insert(node.name.clone(), phase);
        let inputs = node.subscribes.iter().map(|s| input(workload, &s.topic)).collect();
        let outputs = node
            .publishes
            .iter()
            .map(|p| {
                let id = publisher_id;
                publisher_id += 1;
                Output { publisher_id: id, subscribers: subscribers(workload, &p.topic) }
            })
            .collect();
        let node_plan = NodePlan {
            node: node.clone(),
            phase,
            seed: node_seed(workload.run.seed, index, repeat),
            cpus: workload.run.cpus_of(&node.name).to_vec(),
            scheduling: workload.run.priority_of(&node.name),
            inputs,
            outputs,
            task_library: task_library(node, tasks)?,
        };
        let board = network.board(node, image, at_once);
        let (middleware, transport) = if board.is_some() {
            (ON_BOARDS.into(), String::new())
        } else {
            node.middleware.clone().unwrap_or((workload.middleware.clone(), workload.transport.clone()))
        };
        let Facts { one_process, ends_alone, .. } = facts(&middleware);
        let name = if one_process || transport == IN_PROCESS { ONE_PROCESS } else { &node.process };
        let Some(process) = processes.iter_mut().find(|process| process.name == name) else {
            let address = network.address(node)?.map_or_else(String::new, |address| address.to_string());
            let (libraries, clock) = (libraries.to_owned(), clock.clone());
            let plan = Plan { libraries, middleware, transport, domain, address, clock, nodes: vec![node_plan], board };
            processes.push(ProcessPlan { name: name.to_owned(), host: node.host.clone(), plan, ends_alone });
            continue;
        };
        let found = (&process.plan.middleware, &process.plan.transport, &process.host);
        if found != (&middleware, &transport, &node.host) {
            bail!(
                "nodes {} and {} are in process {name}, but the one has middleware {:?}, transport {:?}, host {:?} and \
                 the other {:?}, {:?}, {:?}: expected the same of all nodes of a process; give one of them another \
                 `process:`",
                process.plan.nodes[0].node.name, node.name, found.0, found.1, found.2, middleware, transport, node.host
            );
        }
        process.plan.nodes.push(node_plan);
    }
    Ok(Plans { processes, phases })
}

/// Finds the library of a node's task; `None` if its work is a time.
pub fn task_library(node: &Node, tasks: &[TaskKind]) -> Result<Option<PathBuf>> {
    let Work::Task { name, .. } = &node.work else { return Ok(None) };
    match tasks.iter().find(|kind| kind.name == *name) {
        Some(kind) => Ok(Some(kind.library.clone())),
        None => {
            let known: Vec<&str> = tasks.iter().map(|kind| kind.name.as_str()).collect();
            bail!("node {}: no task `{name}`, expected one of {}", node.name, known.join(", "))
        }
    }
}

/// What a workload says of the topic of a subscription.
pub fn input(workload: &Workload, topic: &str) -> Input {
    let of_topic: Vec<_> = workload.nodes.iter().flat_map(|n| &n.publishes).filter(|p| p.topic == topic).collect();
    Input {
        publishers: of_topic.len(),
        size_bytes: of_topic.iter().map(|p| p.size_bytes).max().unwrap_or(0),
        message_type: of_topic.first().map(|p| p.message_type.clone()).unwrap_or_default(),
    }
}

/// Number of subscriptions of a topic.
fn subscribers(workload: &Workload, topic: &str) -> usize {
    workload.nodes.iter().flat_map(|n| &n.subscribes).filter(|s| s.topic == topic).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_workload::model::{Host, Publication, RunOptions, Scheduling, Subscription};

    fn node(name: &str, process: &str) -> Node {
        Node { name: name.into(), process: process.into(), ..Node::default() }
    }

    fn planned(workload: &Workload) -> Result<Vec<ProcessPlan>> {
        Ok(plan(
            workload,
            &Network::of(workload)?,
            0,
            7,
            Parts {
                libraries: Path::new("/lib"),
                image: Path::new("/node.elf"),
                tasks: &[],
                facts: &|name| Facts { one_process: name == "inproc", ends_alone: name == "ros2", ..Facts::default() },
            },
            None,
        )?
        .processes)
    }

    /// Name, middleware, transport and nodes of each process.
    fn shape(processes: &[ProcessPlan]) -> Vec<(String, String, String, usize)> {
        let of =
            |p: &ProcessPlan| (p.name.clone(), p.plan.middleware.clone(), p.plan.transport.clone(), p.plan.nodes.len());
        processes.iter().map(of).collect()
    }

    fn row(name: &str, middleware: &str, transport: &str, nodes: usize) -> (String, String, String, usize) {
        (name.into(), middleware.into(), transport.into(), nodes)
    }

    #[test]
    fn a_node_may_have_a_middleware_of_its_own_and_peers_are_counted_across() {
        let topic =
            |t: &str| Subscription { topic: t.into(), qos: Default::default(), latest: false, ..Default::default() };
        let workload = Workload {
            middleware: "ros2".into(),
            nodes: vec![
                Node {
                    publishes: vec![Publication { topic: "/a".into(), ..Default::default() }],
                    ..node("big", "big")
                },
                Node {
                    middleware: Some(("micro".into(), "udp".into())),
                    subscribes: vec![topic("/a")],
                    ..node("light", "light")
                },
            ],
            ..Workload::default()
        };
        let processes = planned(&workload).unwrap();
        assert_eq!(shape(&processes), [row("big", "ros2", "", 1), row("light", "micro", "udp", 1)]);
        assert_eq!(processes.iter().map(|p| p.ends_alone).collect::<Vec<_>>(), [true, false]);
        assert_eq!(processes[0].plan.nodes[0].outputs[0].subscribers, 1);
        assert_eq!(processes[1].plan.nodes[0].inputs[0].publishers, 1);
    }

    #[test]
    fn nodes_of_one_process_must_agree() {
        let mut workload =
            Workload { middleware: "ros2".into(), nodes: vec![node("a", "p"), node("b", "p")], ..Workload::default() };
        assert_eq!(shape(&planned(&workload).unwrap()), [row("p", "ros2", "", 2)]);
        workload.nodes[1].middleware = Some(("socket".into(), "udp".into()));
        let error = planned(&workload).unwrap_err().to_string();
        assert!(error.contains("nodes a and b are in process p") && error.contains("socket"), "{error}");
    }

    #[test]
    fn what_never_leaves_a_process_runs_in_one() {
        let nodes = vec![node("a", "a"), node("b", "b")];
        for (middleware, transport) in [("inproc", ""), ("ros1", "in-process")] {
            let workload = Workload {
                middleware: middleware.into(),
                transport: transport.into(),
                nodes: nodes.clone(),
                ..Workload::default()
            };
            assert_eq!(shape(&planned(&workload).unwrap()), [row("inproc", middleware, transport, 2)]);
        }
    }

    #[test]
    fn hosts_give_addresses_and_unknown_ones_are_refused() {
        let host = |name: &str| Host { name: name.into(), ..Host::default() };
        let on = |name: &str, host: &str| Node { host: host.into(), ..node(name, name) };
        let mut workload = Workload {
            middleware: "socket".into(),
            hosts: vec![host("vehicle"), host("roadside")],
            nodes: vec![on("a", "vehicle"), on("b", "roadside"), on("c", "roadside")],
            ..Workload::default()
        };
        let addresses: Vec<String> = planned(&workload).unwrap().into_iter().map(|p| p.plan.address).collect();
        assert!(
            addresses[0] != addresses[1] && addresses[1] == addresses[2] && !addresses[0].is_empty(),
            "{addresses:?}"
        );
        workload.nodes[0].host = "moon".into();
        assert!(planned(&workload).unwrap_err().to_string().contains("moon"));
    }

    #[test]
    fn priorities_and_cpus_reach_their_node_alone() {
        let run = RunOptions {
            priority: vec![("b".into(), Scheduling::Fifo(80))],
            cpus: vec![("a".into(), vec![1])],
            ..RunOptions::default()
        };
        let workload = Workload {
            middleware: "ros2".into(),
            nodes: vec![node("a", "a"), node("b", "b")],
            run,
            ..Workload::default()
        };
        let plans: Vec<NodePlan> = planned(&workload).unwrap().into_iter().flat_map(|p| p.plan.nodes).collect();
        assert_eq!((plans[0].scheduling, plans[1].scheduling), (None, Some(Scheduling::Fifo(80))));
        assert_eq!((&plans[0].cpus[..], &plans[1].cpus[..]), (&[1][..], &[][..]));
    }
}
