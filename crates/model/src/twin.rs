//! Makes the twin: nodes with their callbacks, threads, chains.

mod chains;
mod groups;
mod messages;
mod node;
mod orders;
mod phases;
mod scheduling;
mod sources;
mod threads;
mod timers;

use self::messages::Messages;
use crate::calls::{self, Calls};
use crate::names::Names;
use crate::seen::Seen;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tacho_events::run::{Load, RunInfo};
use tacho_tables::row::{numbered, Row};
use tacho_tables::summary::Summary;
use tacho_tables::{Endpoint, Slowdown, Slowdowns, Tables};
use tacho_workload::model::*;

/// Longest run of a twin.
const LONGEST_S: f64 = 60.0;

/// A workload made from a run.
pub struct Twin {
    /// The workload.
    pub workload: Workload,
    /// What concerns all of it, and what it cannot express, in words.
    pub remarks: Vec<String>,
    /// The same of each node.
    pub of_nodes: Vec<Vec<String>>,
    /// What it cannot express: those of the remarks that are to be told at once.
    pub lacks: Vec<String>,
    /// Its names.
    pub names: Names,
    /// By node, when in its period the clock woke it in the recording: a part of the period, from a common instant.
    /// Nodes for which that is not known are absent.
    pub phases: BTreeMap<String, f64>,
    calls: Calls,
}

/// What is being made.
struct Maker<'a> {
    tables: &'a Tables,
    /// Those of the run, and behind them those of service calls.
    endpoints: &'a [Endpoint],
    known: Option<&'a Workload>,
    seen: Seen,
    messages: Messages,
    names: Names,
    nodes: Vec<(Node, Vec<String>)>,
    /// Topics that the twin publishes, by recorded name.
    published: BTreeSet<String>,
    /// Callbacks that no workload has, by kind: executions and their time, ns.
    others: BTreeMap<&'static str, (u64, i64)>,
    lacks: Vec<String>,
    phases: BTreeMap<String, f64>,
}

/// Makes the twin of a run. `known`: the workload that ran, if it was one of ours. `chain`: one that shall be named
/// beside the critical one.
pub fn twin(
    tables: &Tables,
    info: &RunInfo,
    known: Option<&Workload>,
    names: Names,
    chain: Option<Row<tacho_tables::Chain>>,
) -> Twin {
    let calls = Calls::of(tables);
    let endpoints: Vec<Endpoint> = tables.endpoints.iter().chain(&calls.endpoints).cloned().collect();
    let seen = Seen::of(tables, info, &calls, &endpoints);
    let mut names = names;
    for [way, client, topic] in &calls.of_clients {
        names.of_client(way.clone(), client.clone(), topic.clone());
    }
    let mut maker = Maker {
        tables,
        endpoints: &endpoints,
        known,
        seen,
        messages: Messages::of(tables),
        names,
        nodes: Vec::new(),
        published: BTreeSet::new(),
        others: BTreeMap::new(),
        lacks: calls.lacks.clone(),
        phases: BTreeMap::new(),
    };
    let rows: Vec<Row<tacho_tables::Node>> = numbered(&tables.nodes).map(|(row, _)| row).collect();
    for row in rows.iter().copied() {
        maker.node(row);
    }
    if !info.phases.is_empty() {
        maker.phases = maker.stated_phases(info);
    }
    maker.sources();
    if known.is_none() {
        maker.match_qos();
    }
    maker.threads(&rows);
    if known.is_none() {
        maker.orders(info, &rows);
    }
    maker.elsewhere();
    if let Some(much) = info.load.as_ref().and_then(Load::much) {
        maker.lacks.push(format!("{much}; `run: {{background: {{cpu: N}}}}` stands for such a load."));
    }
    let chains = maker.chains(chain);
    let duration_s = (maker.seen.span_s().clamp(1.0, LONGEST_S) * 10.0).round() / 10.0;
    let mut run = RunOptions { duration: Duration::from_secs_f64(duration_s), ..RunOptions::default() };
    if let Some(known) = known {
        let twin = |name: &String| maker.names.of_node(&format!("/{name}")).map(|name| name[1..].to_owned());
        run.cpus = known.run.cpus.iter().filter_map(|(node, of)| Some((twin(node)?, of.clone()))).collect();
        run.priority = known.run.priority.iter().filter_map(|(node, of)| Some((twin(node)?, *of))).collect();
        run.background_cpu = known.run.background_cpu;
    } else if let Some(scheduling) = &info.scheduling {
        (run.cpus, run.priority) = maker.scheduling(scheduling, &rows);
    }
    let mut remarks = vec![format!(
        "Twin of a recorded system, made by tacho model from {:.1} s of it. Work is as measured, at evenly spaced \
         quantiles.",
        maker.seen.span_s()
    )];
    if maker.seen.is_wall {
        remarks.push("CPU time was not recorded: work is wall time, with waits for a CPU.".into());
    }
    remarks.extend(slower(&tables.slowdowns));
    remarks.push(match known {
        Some(_) => "Types, sizes, QoS, CPUs and priorities are those of the workload that ran.".into(),
        None => {
            let scheduling = info.scheduling.is_none().then_some("CPUs and priorities");
            let unknown: Vec<&str> = maker.messages.unknown(&endpoints).chain(scheduling).collect();
            match unknown.is_empty() {
                true => "Types, sizes, QoS, CPUs and priorities are those that were recorded.".into(),
                false => format!("Not recorded: {}. Set them where you know them.", unknown.join(", ")),
            }
        }
    });
    remarks.extend(maker.lacks.iter().map(|lack| format!("Not expressed: {lack}")));
    let (middleware, transport) =
        known.map_or(("ros2".into(), String::new()), |known| (known.middleware.clone(), known.transport.clone()));
    let (nodes, of_nodes) = maker.nodes.into_iter().unzip();
    let hosts = known.map(|known| known.hosts.clone()).unwrap_or_default();
    let workload = Workload { middleware, transport, nodes, chains, hosts, run, ..Workload::default() };
    Twin { workload, remarks, of_nodes, lacks: maker.lacks, names: maker.names, phases: maker.phases, calls }
}

/// What is said of a recording during which CPUs were slower.
fn slower(rows: &[Slowdown]) -> Option<String> {
    let slow = Slowdowns::of(rows);
    let most = rows.iter().map(|row| row.callbacks_factor).fold(0.0, f64::max);
    let threads = match slow.by_thread().count() {
        1 => "one thread".into(),
        several => format!("{several} threads"),
    };
    let text = format!(
        "The CPU of {threads} was up to {most:.2} times slower for {:.2} s in all: work of that time is as it would \
         have been otherwise.",
        slow.length_ns() as f64 / 1e9
    );
    (!rows.is_empty()).then_some(text)
}

impl Twin {
    /// The workload with the phases of the recording, instead of those that the seed draws.
    pub fn as_it_started(&self) -> Workload {
        let mut workload = self.workload.clone();
        workload.state_phases(&self.phases);
        workload
    }

    /// Makes recorded tables and figures those of a run of the twin: with its names, those of chains included, and with
    /// service calls as messages.
    pub fn express(&self, tables: &mut Tables, summary: &mut Summary) {
        self.calls.join(tables);
        // A recorded round trip to a server ends with what the client does then, one that the twin does not name with
        // the response.
        summary.chains.retain(|chain| !calls::comes_back(&chain.path) || self.has_chain(&chain.path));
        self.names.apply(tables, summary);
        name_chains(&self.workload, tables.chains.iter_mut().map(|chain| (&mut chain.name, &chain.path)));
        name_chains(&self.workload, summary.chains.iter_mut().map(|chain| (&mut chain.name, &chain.path)));
    }

    /// Whether a recorded path has the nodes of a chain of the twin.
    fn has_chain(&self, path: &[String]) -> bool {
        let nodes = || path.iter().step_by(2).map(|node| self.names.of_node(node));
        let topics = || path.iter().skip(1).step_by(2).map(|topic| self.names.of_topic(topic).unwrap_or(topic));
        let is_it = |chain: &Chain| {
            nodes().eq(chain.nodes.iter().map(|node| Some(format!("/{node}")))) && chain.goes_over_all(topics())
        };
        self.workload.chains.iter().any(is_it)
    }
}

/// Gives the chains of a run, by name and path, the names that a workload has for their nodes and topics. If several
/// paths pass the same nodes, and the workload names no topics, the first has the name: it is the critical one.
pub fn name_chains<'c>(workload: &Workload, chains: impl Iterator<Item = (&'c mut String, &'c Vec<String>)>) {
    let mut named = BTreeSet::new();
    for (name, path) in chains {
        let nodes = || path.iter().step_by(2).map(|node| node.trim_start_matches('/'));
        let topics = || path.iter().skip(1).step_by(2).map(String::as_str);
        let is_it = |known: &&Chain| nodes().eq(&known.nodes) && known.goes_over_all(topics());
        if let Some(known) = workload.chains.iter().find(is_it) {
            if named.insert(&known.name) {
                name.clone_from(&known.name);
            }
        }
    }
}

impl Maker<'_> {
    fn known_node(&self, recorded: &str) -> Option<&Node> {
        self.known.and_then(|known| known.nodes.iter().find(|node| is_called(recorded, &node.name)))
    }

    fn runs(&self, row: Row<tacho_tables::Callback>) -> u64 {
        self.seen.callbacks.get(&row).map_or(0, |of| of.runs)
    }

    /// What no node of the twin has.
    fn elsewhere(&mut self) {
        for (kind, (runs, ns)) in std::mem::take(&mut self.others) {
            let percent = ns as f64 / 1e7 / self.seen.span_s().max(1e-9);
            self.lacks.push(format!("{kind} callbacks: {runs} executions, {percent:.2} % of a CPU."));
        }
        if !self.tables.goals.is_empty() {
            self.lacks.push(format!("{} goals of actions.", self.tables.goals.len()));
        }
        if self.tables.executions.is_empty() {
            self.lacks.push("no callback was recorded: work is not known, and is none here.".into());
        }
        let unlinked = numbered(&self.tables.callbacks).filter(|(row, of)| of.node.is_none() && self.runs(*row) > 0);
        match unlinked.count() {
            0 => {}
            count => self.lacks.push(format!("{count} callbacks whose node is not known.")),
        }
    }
}
