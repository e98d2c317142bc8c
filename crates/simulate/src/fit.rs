//! Takes [`Costs`] from runs: each from messages and callbacks that nothing else delayed.

mod around;
mod sends;
mod tasks;
mod timers;

use crate::awake::{Latency, NodeCost, Seen};
use crate::costs::{Check, Costs, TaskCost};
use crate::reach::{reach, takers, Reach};
use crate::spread::Spread;
use crate::transfer::Transfer;
use crate::warmth::Warmth;
use crate::way::Way;
use anyhow::{bail, Context, Result};
use std::collections::{BTreeMap, HashMap};
use tacho_events::run::{Load, RunDirectory, RunInfo};
use tacho_tables::row::{Column, Row};
use tacho_tables::{store, Endpoint, EndpointKind, Execution, Tables};
use tacho_workload::model::{ByName, Executor, Node, Workload};

/// Process and thread.
type Thread = (usize, u32);

/// Topic, size, and how far messages go to each of its subscriptions: what a [`Transfer`] is of.
type Topic = (String, u64, Vec<Reach>);

/// A run that is read.
struct Run<'a> {
    tables: &'a Tables,
    info: &'a RunInfo,
    workload: &'a Workload,
    /// The node of the workload that each node is.
    nodes: Column<tacho_tables::Node, Option<&'a Node>>,
    /// The topic of each endpoint, if the workload publishes it; of a subscription, as each of its publishers sends.
    topics: Column<Endpoint, Vec<Topic>>,
    /// Executions of each thread, in the order of time: start, end, row.
    threads: HashMap<Thread, Vec<(i64, i64, Row<Execution>)>>,
    /// Thread and place there of each execution.
    places: HashMap<Row<Execution>, (Thread, usize)>,
    /// End of the execution of its node before each, on whatever thread.
    after: HashMap<Row<Execution>, i64>,
    /// Whether its CPUs had hardly a moment to spare.
    is_busy: bool,
    /// The rate of its messages, mHz, if one publisher sends all of them.
    alone_mhz: Option<u64>,
}

/// What was found, over all runs.
#[derive(Default)]
struct Samples {
    awake: Seen,
    /// The same of runs in which one publisher sent all messages, by its rate in mHz.
    at_rates: BTreeMap<u64, Seen>,
    /// The same of each node of a recording.
    of_nodes: BTreeMap<String, Seen>,
    /// CPU time of wake-ups of spinning nodes, by their rate in mHz, ns.
    checks: BTreeMap<u64, Vec<i64>>,
    /// By the rate in mHz if one publisher sent all messages.
    transfers: BTreeMap<(Topic, Option<u64>), OfTopic>,
    /// Mean time between publish calls of each run, ns.
    pauses: Vec<i64>,
    /// What tasks computed, by callback, ns.
    tasks: BTreeMap<String, Vec<i64>>,
}

#[derive(Default)]
struct OfTopic {
    send: Vec<i64>,
    transit: BTreeMap<usize, Latency>,
    /// With the wake-up, of messages whose arrival was not recorded.
    until_start: BTreeMap<usize, Latency>,
    send_cpu: Vec<i64>,
    receive_cpu: Vec<i64>,
    wake_up: Latency,
    /// How long the system and the process had sent nothing before each.
    pauses: Vec<i64>,
}

/// Part of the CPUs' time from which on threads of a run often waited for a CPU.
const BUSY: f64 = 0.6;

/// Whether its CPUs were so busy that what a wake-up takes is rather a wait for a CPU.
fn is_busy(info: &RunInfo) -> bool {
    info.load.as_ref().and_then(Load::used_part).is_some_and(|part| part > BUSY)
}

/// Runs, and instead of a sweep the runs of its points.
fn expanded(runs: &[RunDirectory]) -> Result<Vec<RunDirectory>> {
    let points = |run: &RunDirectory| {
        let points = run.points().with_context(|| run.path().display().to_string())?;
        Ok(if points.is_empty() { vec![run.clone()] } else { points })
    };
    Ok(runs.iter().map(points).collect::<Result<Vec<_>>>()?.concat())
}

/// The costs that runs of workloads show; those with repeats count with each of them, and sweeps with each point.
pub fn fit(runs: &[RunDirectory]) -> Result<Costs> {
    let mut samples = Samples::default();
    let mut costs = Costs::default();
    let (mut others, mut stolen, mut used) = (Vec::new(), Vec::new(), Vec::new());
    for run in &expanded(runs)? {
        let text = std::fs::read_to_string(run.workload()).with_context(|| {
            format!("{}: expected runs of workloads (tacho bench), or one recording", run.workload().display())
        })?;
        let workload = tacho_workload::kept(&text, &run.workload().display().to_string())?;
        let own = (workload.middleware.clone(), workload.transport.clone());
        if costs.from.is_empty() {
            (costs.middleware, costs.transport) = own;
        } else if (&costs.middleware, &costs.transport) != (&own.0, &own.1) {
            bail!(
                "{}: a run of {} {}, but {} is of {} {}; expected runs of one middleware and transport",
                run.path().display(),
                own.0,
                own.1,
                costs.from[0],
                costs.middleware,
                costs.transport
            );
        }
        costs.from.push(run.path().display().to_string());
        let repeats = run.repeats()?;
        for repeat in if repeats.is_empty() { vec![run.clone()] } else { repeats } {
            let info = repeat.info().with_context(|| repeat.path().display().to_string())?;
            if info.verb == "simulate" {
                bail!("{}: is a simulation; expected a run on real middleware", repeat.path().display());
            }
            let tables = store::read_run(&repeat)?;
            costs.cpus = info.machine.as_ref().map_or(costs.cpus, |machine| machine.cpus);
            others.extend(info.load.as_ref().and_then(Load::others_cpus));
            stolen.extend(info.load.as_ref().and_then(Load::stolen_part));
            let run = Run::new(&tables, &info, &workload);
            used.extend(run.cpu_percent());
            run.sample(&mut samples);
        }
    }
    let mean = |of: &[f64]| (!of.is_empty()).then(|| of.iter().sum::<f64>() / of.len() as f64);
    costs.others_cpus = mean(&others).unwrap_or(0.0);
    costs.stolen_percent = mean(&stolen).map(|part| 100.0 * part);
    costs.used_percent = mean(&used);
    samples.into_costs(&mut costs);
    Ok(costs)
}

/// The costs that a recording shows of a workload with its nodes and topics, such as its twin.
pub fn of_recording(tables: &Tables, info: &RunInfo, workload: &Workload) -> Costs {
    let (middleware, transport) = (workload.middleware.clone(), workload.transport.clone());
    let cpus = info.machine.as_ref().map_or(0, |machine| machine.cpus);
    let run = Run::new(tables, info, workload);
    let used_percent = run.cpu_percent();
    let mut costs = Costs { middleware, transport, cpus, used_percent, ..Costs::default() };
    let mut samples = Samples::default();
    run.sample(&mut samples);
    samples.into_costs(&mut costs);
    costs
}

impl Samples {
    fn into_costs(mut self, costs: &mut Costs) {
        let mut alone: BTreeMap<u64, Vec<Transfer>> = BTreeMap::new();
        for ((topic, alone_mhz), of) in std::mem::take(&mut self.transfers) {
            let transfer = of.transfer(topic);
            if let Some(mhz) = alone_mhz.filter(|_| transfer.is_frequent()) {
                alone.entry(mhz).or_default().push(transfer.clone());
            }
            costs.transfers.push(transfer);
        }
        let mut at_rates: BTreeMap<u64, NodeCost> =
            self.at_rates.into_iter().map(|(mhz, of)| (mhz, of.cost(""))).collect();
        let timers = at_rates.iter().map(|(mhz, of)| (*mhz, of.timer.quantile(0.5))).collect();
        costs.warmth = Warmth::of(&alone, &timers);
        // Of several rates, the seldom messages are what the others are parts of.
        let seldom = alone.keys().next().filter(|_| !costs.warmth.is_empty());
        let seldom = seldom.and_then(|mhz| at_rates.remove(mhz));
        let all = seldom.unwrap_or_else(|| self.awake.cost(""));
        let of_any = |wake_up: &Spread| wake_up.map(|ns| (ns - all.take_ns).max(0));
        costs.transfers.iter_mut().for_each(|of| of.wake_up = of_any(&of.wake_up));
        let of_node = |(node, seen): (String, Seen)| seen.cost_of_node(&node, &all);
        costs.of_nodes = self.of_nodes.into_iter().filter_map(of_node).collect();
        (costs.timer, costs.wake_up) = (all.timer, all.wake_up);
        (costs.take_ns, costs.look_ns) = (all.take_ns, all.look_ns);
        costs.pause_ns = self.pauses.into_iter().min().unwrap_or(0);
        let check = |(mhz, times)| Check { hz: mhz as f64 / 1e3, cpu_ns: Spread::of(times).quantile(0.5) };
        costs.checks = self.checks.into_iter().map(check).collect();
        let of_task = |(callback, times)| TaskCost { callback, work: Spread::of(times) };
        costs.tasks = self.tasks.into_iter().map(of_task).collect();
    }

    fn of_topic(&mut self, topic: &Topic, alone_mhz: Option<u64>) -> &mut OfTopic {
        self.transfers.entry((topic.clone(), alone_mhz)).or_default()
    }
}

impl OfTopic {
    /// What that costs.
    fn transfer(mut self, (topic, size_bytes, reach): Topic) -> Transfer {
        let until_start = self.transit.is_empty() && !self.until_start.is_empty();
        let measured = if until_start { &mut self.until_start } else { &mut self.transit };
        let transit = |place| measured.remove(&place).unwrap_or_default().spread();
        let transit = (0..reach.len()).map(transit).collect();
        Transfer {
            topic,
            size_bytes,
            subscriptions: reach.len(),
            reach: if reach.iter().any(|reach| *reach != Reach::Host) { reach } else { vec![] },
            send: Spread::of(self.send),
            transit,
            until_start,
            send_cpu_ns: Spread::of(self.send_cpu).quantile(0.5),
            receive_cpu_ns: Spread::of(self.receive_cpu).quantile(0.5),
            wake_up: self.wake_up.spread_if_free(),
            pause_ns: Spread::of(self.pauses).quantile(0.5),
        }
    }
}

impl<'a> Run<'a> {
    fn new(tables: &'a Tables, info: &'a RunInfo, workload: &'a Workload) -> Run<'a> {
        let mut threads: HashMap<Thread, Vec<(i64, i64, Row<Execution>)>> = HashMap::new();
        for (row, execution) in tables.executions.numbered() {
            let process = tables.callbacks[execution.callback].process;
            let of = threads.entry((process.index(), execution.tid)).or_default();
            of.extend(execution.end_ns.get().map(|end_ns| (execution.start_ns, end_ns, row)));
        }
        let mut places = HashMap::new();
        for (thread, of) in &mut threads {
            of.sort_unstable_by_key(|(start_ns, ..)| *start_ns);
            places.extend(of.iter().enumerate().map(|(place, (.., row))| (*row, (*thread, place))));
        }
        let after = after(tables);
        let by_name = ByName::of(workload);
        let nodes = Column::of(tables.nodes.iter().map(|node| by_name.called(&node.name)));
        let topics = |endpoint: &Endpoint| match (endpoint.kind, nodes[endpoint.node]) {
            (EndpointKind::Publisher, Some(node)) => topic(workload, node, &endpoint.topic).into_iter().collect(),
            (EndpointKind::Publisher, None) => vec![],
            (EndpointKind::Subscription, _) => topics(workload, &endpoint.topic),
        };
        let topics = Column::of(tables.endpoints.iter().map(topics));
        let is_busy = is_busy(info);
        let alone_mhz = alone_mhz(workload).filter(|_| !is_busy && !info.is_recording());
        Run { tables, info, workload, nodes, topics, threads, places, after, is_busy, alone_mhz }
    }

    fn sample(&self, samples: &mut Samples) {
        self.timers(samples);
        self.messages(samples);
        self.sends(samples);
        self.pauses(samples);
        self.around(samples);
        self.executors(samples);
        self.tasks(samples);
    }

    /// End of what its thread or its node ran before an execution, `None` if nothing did; and `None` of an execution
    /// without an end.
    fn before(&self, execution: Row<Execution>) -> Option<Option<i64>> {
        let (thread, place) = self.places.get(&execution)?;
        let of_thread = place.checked_sub(1).map(|before| self.threads[thread][before].1);
        Some(of_thread.max(self.after.get(&execution).copied()))
    }

    /// Whether a message had come when its thread looked for what ran before its callback, as far as one can see: one
    /// look takes a message of each subscription.
    fn is_of_the_same_look(&self, row: Row<Execution>, arrival_ns: i64) -> bool {
        let Some((thread, place)) = self.places.get(&row) else { return false };
        let Some((start_ns, _, before)) = place.checked_sub(1).map(|before| self.threads[thread][before]) else {
            return false;
        };
        let callback = |row: Row<Execution>| self.tables.executions[row].callback;
        arrival_ns <= start_ns && callback(before) != callback(row)
    }

    /// Whether a CPU was free from an instant to the start of an execution, as far as callbacks show it: callbacks of
    /// its own process may have what it needs themselves.
    fn is_free(&self, execution: Row<Execution>, from_ns: i64) -> bool {
        let Some((own, _)) = self.places.get(&execution) else { return false };
        let to_ns = self.tables.executions[execution].start_ns;
        let runs = |of: &Vec<(i64, i64, Row<Execution>)>| {
            let begun = of.partition_point(|(start_ns, ..)| *start_ns < to_ns);
            begun > 0 && of[begun - 1].1 > from_ns
        };
        let cpus = self.info.machine.as_ref().map_or(1, |machine| machine.cpus as usize);
        let mut others = self.threads.iter().filter(|(thread, of)| *thread != own && runs(of));
        let beside = others.try_fold(0, |count, ((process, _), _)| (*process != own.0).then_some(count + 1));
        !self.is_busy && beside.is_some_and(|count| count < cpus)
    }

    /// Whether a message to a subscription wakes as many processes as there are CPUs, so that some wait for a CPU.
    fn fills_cpus(&self, subscription: Row<Endpoint>) -> bool {
        let cpus = self.info.machine.as_ref().map_or(usize::MAX, |machine| machine.cpus as usize);
        let wakes = |(.., reach): &Topic| reach.iter().filter(|reach| **reach != Reach::Process).count();
        self.topics[subscription].iter().any(|topic| wakes(topic) >= cpus)
    }

    fn messages(&self, samples: &mut Samples) {
        // Many messages go one way.
        let mut transits: BTreeMap<(Row<Endpoint>, Row<Endpoint>, bool), Vec<(i64, i64)>> = BTreeMap::new();
        for message in &self.tables.messages {
            let Some(publish_ns) = message.publish_ns.get() else { continue };
            let is_recorded = message.arrival_ns.get().is_some();
            let arrival_ns = message.arrival_ns.get().or_else(|| self.started_at_once(message.execution?, publish_ns));
            let Some(arrival_ns) = arrival_ns else { continue };
            if let Some(publisher) = message.publisher {
                let transit = transits.entry((publisher, message.subscription, is_recorded)).or_default();
                transit.push((publish_ns, arrival_ns));
            }
            let Some(row) = message.execution.filter(|_| is_recorded) else { continue };
            let execution = &self.tables.executions[row];
            let Some(before) = self.before(row) else { continue };
            match before {
                _ if self.waiting_node(row).is_none() => {}
                Some(end_ns) if end_ns > arrival_ns => {
                    let (ns, is_same) = (execution.start_ns - end_ns, self.is_of_the_same_look(row, arrival_ns));
                    self.add(samples, row, |seen| match is_same {
                        true => seen.take.push(ns),
                        false => seen.look.push(ns),
                    });
                }
                _ => {
                    let (ns, is_free) = (execution.start_ns - arrival_ns, self.is_free(row, arrival_ns));
                    let fills_cpus = self.fills_cpus(message.subscription);
                    self.add(samples, row, |seen| match fills_cpus {
                        true => seen.wake_up_of_many.add(ns, is_free),
                        false => seen.wake_up.add(ns, is_free),
                    });
                    let topic = message.publisher.and_then(|publisher| self.topics[publisher].first());
                    if let Some(topic) = topic.filter(|_| !fills_cpus && !self.info.is_recording()) {
                        samples.of_topic(topic, self.alone_mhz).wake_up.add(ns, is_free);
                    }
                }
            }
        }
        for ((publisher, subscription, is_recorded), mut times) in transits {
            if self.info.is_recording() {
                leave_out_discovery(&mut times);
            }
            let (Some(topic), Some(to)) = (self.topics[publisher].first(), self.node_of(subscription)) else {
                continue;
            };
            let mut takers = takers(self.workload, &topic.0);
            let Some(place) = takers.position(|node| node.name == to.name) else { continue };
            let from = self.node_of(publisher).map_or("", |node| &node.host);
            let way = Way::between(self.workload, from, &to.host, topic.1);
            let of = samples.of_topic(topic, self.alone_mhz);
            let of = if is_recorded { &mut of.transit } else { &mut of.until_start };
            let transit = of.entry(place).or_default();
            for (publish_ns, arrival_ns) in times {
                transit.add(arrival_ns - publish_ns - way.delay_ns - way.occupies_ns, !self.is_busy);
            }
        }
    }

    /// The start of an execution whose thread did nothing else since its message was published: if arrivals were not
    /// recorded, transit and wake-up are one.
    fn started_at_once(&self, execution: Row<Execution>, publish_ns: i64) -> Option<i64> {
        let is_free = self.before(execution)?.is_none_or(|end_ns| end_ns <= publish_ns);
        is_free.then(|| self.tables.executions[execution].start_ns)
    }

    /// Adds what an execution shows; of a recording, it counts for its node, too.
    fn add(&self, samples: &mut Samples, row: Row<Execution>, what: impl Fn(&mut Seen)) {
        what(&mut samples.awake);
        if let Some(mhz) = self.alone_mhz {
            what(samples.at_rates.entry(mhz).or_default());
        }
        self.add_to_node(samples, row, what);
    }

    /// Adds what an execution of a recording shows to its node alone.
    fn add_to_node(&self, samples: &mut Samples, row: Row<Execution>, what: impl Fn(&mut Seen)) {
        if let Some(node) = self.node(row).filter(|_| self.info.is_recording()) {
            what(samples.of_nodes.entry(node.name.clone()).or_default());
        }
    }

    /// The node of the workload that an execution is of.
    fn node(&self, row: Row<Execution>) -> Option<&'a Node> {
        self.tables.callbacks[self.tables.executions[row].callback].node.and_then(|node| self.nodes[node])
    }

    /// The same, if its executor waits for what comes: a spinning one has the cost of a wake-up.
    fn waiting_node(&self, row: Row<Execution>) -> Option<&'a Node> {
        self.node(row).filter(|node| !matches!(node.executor, Executor::Spin { .. }))
    }

    /// The node of the workload that has an endpoint.
    fn node_of(&self, endpoint: Row<Endpoint>) -> Option<&'a Node> {
        self.nodes[self.tables.endpoints[endpoint].node]
    }
}

/// Leaves out messages that were sent before the first one arrived, by their times of sending and arrival: they waited
/// until publisher and subscription had found each other. If there are no others, they stay.
fn leave_out_discovery(times: &mut Vec<(i64, i64)>) {
    let first_ns = times.iter().map(|(_, arrival_ns)| *arrival_ns).min().unwrap_or_default();
    if times.iter().any(|(publish_ns, _)| *publish_ns >= first_ns) {
        times.retain(|(publish_ns, _)| *publish_ns >= first_ns);
    }
}

/// End of the execution of its node before each that began after it.
fn after(tables: &Tables) -> HashMap<Row<Execution>, i64> {
    let mut of_nodes: HashMap<Row<tacho_tables::Node>, Vec<(i64, i64, Row<Execution>)>> = HashMap::new();
    for (row, execution) in tables.executions.numbered() {
        let node = tables.callbacks[execution.callback].node;
        if let (Some(node), Some(end_ns)) = (node, execution.end_ns.get()) {
            of_nodes.entry(node).or_default().push((execution.start_ns, end_ns, row));
        }
    }
    let mut after = HashMap::new();
    for of_node in of_nodes.values_mut() {
        of_node.sort_unstable_by_key(|(start_ns, ..)| *start_ns);
        let ended = |pair: &[(i64, i64, Row<Execution>)]| (pair[0].1 <= pair[1].0).then_some((pair[1].2, pair[0].1));
        after.extend(of_node.windows(2).filter_map(ended));
    }
    after
}

/// The rate of the publisher that sends all messages of a workload, mHz, if there is only one.
fn alone_mhz(workload: &Workload) -> Option<u64> {
    let mut publishers = workload.nodes.iter().flat_map(|node| &node.publishes);
    let only = publishers.next().filter(|_| publishers.next().is_none())?;
    Some((only.rate_hz? * 1e3) as u64)
}

/// What the workload says of a topic that this node publishes.
fn topic(workload: &Workload, node: &Node, topic: &str) -> Option<Topic> {
    let size_bytes = node.publishes.iter().find(|p| p.topic == *topic)?.size_bytes;
    Some((topic.into(), size_bytes, reach(workload, node, topic)))
}

/// The same of each way in which its publishers send it.
fn topics(workload: &Workload, of: &str) -> Vec<Topic> {
    let mut topics: Vec<Topic> = workload.nodes.iter().filter_map(|node| topic(workload, node, of)).collect();
    topics.sort_unstable();
    topics.dedup();
    topics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_waited_for_discovery_show_no_transit() {
        let left = |mut times: Vec<(i64, i64)>| {
            leave_out_discovery(&mut times);
            times
        };
        assert_eq!(left(vec![(0, 138), (50, 139), (100, 138), (150, 151), (200, 201)]), [(150, 151), (200, 201)]);
        assert_eq!(left(vec![(0, 1)]), [(0, 1)], "nothing else is known");
        assert_eq!(left(vec![]), []);
    }
}
