//! Takes [`Costs`] from runs: each from messages and callbacks that nothing else delayed.

use crate::costs::{Costs, Transfer};
use crate::spread::Spread;
use crate::way::Way;
use anyhow::{bail, Context, Result};
use std::collections::{BTreeMap, HashMap};
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_tables::row::{numbered, Row};
use tacho_tables::{store, Callback, EndpointKind, Execution, Tables};
use tacho_workload::model::{is_called, Executor, Node, Workload};

/// Process and thread.
type Thread = (usize, u32);

/// A run that is read.
struct Run<'a> {
    tables: &'a Tables,
    info: &'a RunInfo,
    workload: &'a Workload,
    /// Executions of each thread, in the order of time: start, end, row.
    threads: HashMap<Thread, Vec<(i64, i64, Row<Execution>)>>,
    /// Thread and place there of each execution.
    places: HashMap<Row<Execution>, (Thread, usize)>,
    /// Whether its CPUs had hardly a moment to spare.
    is_busy: bool,
}

/// What was found, over all runs.
#[derive(Default)]
struct Samples {
    timer: Latency,
    wake_up: Latency,
    take: Vec<i64>,
    check: Vec<i64>,
    transfers: BTreeMap<(String, u64, usize), OfTopic>,
}

#[derive(Default)]
struct OfTopic {
    send: Vec<i64>,
    transit: BTreeMap<usize, Latency>,
    send_cpu: Vec<i64>,
    receive_cpu: Vec<i64>,
}

/// Fewest samples of a latency on a free CPU that count alone.
const ENOUGH: usize = 20;

/// Samples of a latency, those apart in which a thread may have waited for a CPU: the simulation adds that wait itself.
#[derive(Default)]
struct Latency {
    free: Vec<i64>,
    contended: Vec<i64>,
}

impl Latency {
    fn add(&mut self, ns: i64, is_free: bool) {
        let into = if is_free { &mut self.free } else { &mut self.contended };
        into.push(ns.max(0));
    }

    /// Those on a free CPU; if there are too few, the faster half of all.
    fn spread(self) -> Spread {
        if self.free.len() >= ENOUGH || self.contended.is_empty() {
            return Spread::of(self.free);
        }
        let mut all = [self.free, self.contended].concat();
        all.sort_unstable();
        all.truncate(all.len().div_ceil(2));
        Spread::of(all)
    }
}

/// Part of the CPUs' time from which on threads of a run often waited for a CPU.
const BUSY: f64 = 0.6;

/// Whether its CPUs were so busy that what a wake-up takes is rather a wait for a CPU.
fn is_busy(info: &RunInfo) -> bool {
    let Some(load) = &info.load else { return false };
    let all_s = load.cpus.map(|cpus| f64::from(cpus) * load.over_s);
    load.machine_cpu_s.zip(all_s).is_some_and(|(used_s, all_s)| used_s > BUSY * all_s)
}

/// The costs that runs of workloads show; those with repeats count with each of them.
pub fn fit(runs: &[RunDirectory]) -> Result<Costs> {
    let mut samples = Samples::default();
    let mut costs = Costs::default();
    let mut others = Vec::new();
    for run in runs {
        let text = std::fs::read_to_string(run.workload())
            .with_context(|| format!("{}: expected a run of a workload (tacho bench)", run.workload().display()))?;
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
            others.extend(info.load.as_ref().and_then(|load| Some(load.others_cpu_s? / load.over_s.max(1e-9))));
            Run::new(&tables, &info, &workload).sample(&mut samples);
        }
    }
    if !others.is_empty() {
        costs.others_cpus = others.iter().sum::<f64>() / others.len() as f64;
    }
    costs.timer = samples.timer.spread();
    costs.take_ns = Spread::of(samples.take).quantile(0.5);
    costs.check_ns = Spread::of(samples.check).quantile(0.5);
    let take_ns = costs.take_ns;
    costs.wake_up = samples.wake_up.spread().map(|ns| (ns - take_ns).max(0));
    for ((topic, size_bytes, subscriptions), of) in samples.transfers {
        let transit = of.transit.into_values().map(Latency::spread).collect();
        costs.transfers.push(Transfer {
            topic,
            size_bytes,
            subscriptions,
            send: Spread::of(of.send),
            transit,
            send_cpu_ns: Spread::of(of.send_cpu).quantile(0.5),
            receive_cpu_ns: Spread::of(of.receive_cpu).quantile(0.5),
        });
    }
    Ok(costs)
}

impl<'a> Run<'a> {
    fn new(tables: &'a Tables, info: &'a RunInfo, workload: &'a Workload) -> Run<'a> {
        let mut threads: HashMap<Thread, Vec<(i64, i64, Row<Execution>)>> = HashMap::new();
        for (row, execution) in tables.executions.numbered() {
            let process = tables.callbacks[execution.callback].process;
            let of = threads.entry((process.index(), execution.tid)).or_default();
            of.extend(execution.end_ns.map(|end_ns| (execution.start_ns, end_ns, row)));
        }
        let mut places = HashMap::new();
        for (thread, of) in &mut threads {
            of.sort_unstable_by_key(|(start_ns, ..)| *start_ns);
            places.extend(of.iter().enumerate().map(|(place, (.., row))| (*row, (*thread, place))));
        }
        Run { tables, info, workload, threads, places, is_busy: is_busy(info) }
    }

    fn sample(&self, samples: &mut Samples) {
        self.timers(samples);
        self.messages(samples);
        self.sends(samples);
        self.middleware(samples);
    }

    /// The node of the workload that a callback belongs to.
    fn node(&self, callback: Row<Callback>) -> Option<&'a Node> {
        let name = &self.tables.nodes[self.tables.callbacks[callback].node?].name;
        self.workload.nodes.iter().find(|node| is_called(name, &node.name))
    }

    /// End of what its thread ran before an execution; `None` if nothing did.
    fn before(&self, execution: Row<Execution>) -> Option<Option<i64>> {
        let (thread, place) = self.places.get(&execution)?;
        Some(place.checked_sub(1).map(|before| self.threads[thread][before].1))
    }

    /// Whether no other callback ran from an instant to the start of an execution.
    fn is_free(&self, execution: Row<Execution>, from_ns: i64) -> bool {
        let Some((own, _)) = self.places.get(&execution) else { return false };
        let to_ns = self.tables.executions[execution].start_ns;
        let runs = |of: &Vec<(i64, i64, Row<Execution>)>| {
            let begun = of.partition_point(|(start_ns, ..)| *start_ns < to_ns);
            begun > 0 && of[begun - 1].1 > from_ns
        };
        !self.is_busy && !self.threads.iter().any(|(thread, of)| thread != own && runs(of))
    }

    /// From due to start, of timers whose thread had nothing else to do.
    fn timers(&self, samples: &mut Samples) {
        let mut seen = None;
        for publication in &self.tables.publications {
            let (Some(due_ns), Some(row)) = (publication.due_ns, publication.execution) else { continue };
            // A callback that publishes several was due once.
            if seen.replace(row) == Some(row) {
                continue;
            }
            let execution = &self.tables.executions[row];
            if self.before(row).is_some_and(|end_ns| end_ns.is_none_or(|end_ns| end_ns <= due_ns)) {
                samples.timer.add(execution.start_ns - due_ns, self.is_free(row, due_ns));
            }
        }
    }

    fn messages(&self, samples: &mut Samples) {
        for message in &self.tables.messages {
            let (Some(publish_ns), Some(arrival_ns)) = (message.publish_ns, message.arrival_ns) else { continue };
            if let Some((of, place)) = message.publisher.and_then(|publisher| self.way(publisher, message.subscription))
            {
                let way = self.between(&of.0, of.1, message.subscription);
                let own_ns = arrival_ns - publish_ns - way.delay_ns - way.occupies_ns;
                let transit = samples.transfers.entry(of).or_default().transit.entry(place).or_default();
                transit.add(own_ns, !self.is_busy);
            }
            let Some(row) = message.execution else { continue };
            let execution = &self.tables.executions[row];
            let Some(before) = self.before(row) else { continue };
            match (self.node(execution.callback).map(|node| node.executor), before) {
                (Some(Executor::Spin { .. }) | None, _) => {}
                (_, Some(end_ns)) if end_ns > arrival_ns => samples.take.push(execution.start_ns - end_ns),
                _ => samples.wake_up.add(execution.start_ns - arrival_ns, self.is_free(row, arrival_ns)),
            }
        }
    }

    /// What links of hosts add between the publisher of a topic and a subscription.
    fn between(&self, topic: &str, size_bytes: u64, subscription: Row<tacho_tables::Endpoint>) -> Way {
        let name = &self.tables.nodes[self.tables.endpoints[subscription].node].name;
        let to = self.workload.nodes.iter().find(|node| is_called(name, &node.name));
        let from = self.workload.nodes.iter().find(|node| node.publishes.iter().any(|p| p.topic == topic));
        let host = |node: Option<&'a Node>| node.map_or("", |node| node.host.as_str());
        Way::between(self.workload, host(from), host(to), size_bytes)
    }

    /// Topic, size and number of subscriptions of a publisher in the workload.
    fn topic(&self, publisher: Row<tacho_tables::Endpoint>) -> Option<(String, u64, usize)> {
        let topic = &self.tables.endpoints[publisher].topic;
        let mut publications = self.workload.nodes.iter().flat_map(|node| &node.publishes);
        let size_bytes = publications.find(|p| p.topic == *topic)?.size_bytes;
        let subscriptions = self.workload.nodes.iter().flat_map(|node| &node.subscribes);
        Some((topic.clone(), size_bytes, subscriptions.filter(|s| s.topic == *topic).count()))
    }

    /// The same, and the place of the subscription among those of the topic.
    fn way(
        &self,
        publisher: Row<tacho_tables::Endpoint>,
        subscription: Row<tacho_tables::Endpoint>,
    ) -> Option<((String, u64, usize), usize)> {
        let of = self.topic(publisher)?;
        let name = &self.tables.nodes[self.tables.endpoints[subscription].node].name;
        let listed = self.workload.nodes.iter().filter(|node| node.subscribes.iter().any(|s| s.topic == of.0));
        let place = listed.into_iter().position(|node| is_called(name, &node.name))?;
        Some((of, place))
    }

    /// Duration of publish calls: until the callback ends, or publishes the next message.
    fn sends(&self, samples: &mut Samples) {
        let mut of_execution: HashMap<Row<Execution>, Vec<(i64, Row<tacho_tables::Endpoint>)>> = HashMap::new();
        for publication in &self.tables.publications {
            let Some(row) = publication.execution else { continue };
            of_execution.entry(row).or_default().push((publication.publish_ns, publication.publisher));
        }
        let mut rows: Vec<_> = of_execution.into_iter().collect();
        rows.sort_unstable_by_key(|(row, _)| row.index());
        for (row, mut sends) in rows {
            let Some(end_ns) = self.tables.executions[row].end_ns else { continue };
            sends.sort_unstable_by_key(|(publish_ns, _)| *publish_ns);
            for (place, (publish_ns, publisher)) in sends.iter().enumerate() {
                let next_ns = sends.get(place + 1).map_or(end_ns, |(next_ns, _)| *next_ns);
                if let Some(of) = self.topic(*publisher) {
                    samples.transfers.entry(of).or_default().send.push(next_ns - publish_ns);
                }
            }
        }
    }

    /// CPU time of processes beyond their callbacks', for each message that they sent or took and each wake-up.
    fn middleware(&self, samples: &mut Samples) {
        for (process, of) in numbered(&self.tables.processes) {
            let exit = self.info.processes.iter().find(|exit| exit.pid == of.pid);
            let Some(resources) = exit.and_then(|exit| exit.resources.as_ref()) else { continue };
            let (Some(from_ns), Some(to_ns)) = (self.info.measured_from_ns, self.info.measured_to_ns) else { continue };
            let part = (to_ns - from_ns) as f64 / resources.over_ns.max(1) as f64;
            let executions = self.tables.executions.iter().filter(|execution| {
                let is_own = self.tables.callbacks[execution.callback].process == process;
                is_own && execution.start_ns >= from_ns && execution.start_ns < to_ns
            });
            let own = |execution: &Execution| execution.cpu_ns.or(Some(execution.end_ns? - execution.start_ns));
            let in_callbacks: i64 = executions.filter_map(own).sum();
            let of_process = |node: Row<tacho_tables::Node>| self.tables.nodes[node].process == process;
            let endpoints = || numbered(&self.tables.endpoints).filter(|(_, endpoint)| of_process(endpoint.node));
            let is_measured = |ns: i64| ns >= from_ns && ns < to_ns;
            let mut sent: BTreeMap<Row<tacho_tables::Endpoint>, u64> = BTreeMap::new();
            for publication in self.tables.publications.iter().filter(|p| is_measured(p.publish_ns)) {
                *sent.entry(publication.publisher).or_default() += 1;
            }
            let taken = self.tables.messages.iter().filter(|message| {
                message.take_ns.is_some_and(is_measured) && of_process(self.tables.endpoints[message.subscription].node)
            });
            let taken = taken.count() as u64;
            let sends: u64 = endpoints().filter_map(|(row, _)| sent.get(&row)).sum();
            let nodes = numbered(&self.tables.nodes).filter(|(_, node)| node.process == process);
            let spinning = nodes.filter_map(|(_, node)| {
                match self.workload.nodes.iter().find(|of| is_called(&node.name, &of.name))?.executor {
                    Executor::Spin { hz } => Some((hz * (to_ns - from_ns) as f64 / 1e9) as u64),
                    _ => None,
                }
            });
            let wakes: u64 = spinning.sum();
            let Some(each_ns) = ((resources.cpu_ns as f64 * part) as i64 - in_callbacks)
                .max(0)
                .checked_div((sends + taken + wakes) as i64)
            else {
                continue;
            };
            if wakes > 0 {
                samples.check.push(each_ns);
            }
            for (row, endpoint) in endpoints() {
                match endpoint.kind {
                    EndpointKind::Publisher => {
                        if let Some(of) = self.topic(row) {
                            samples.transfers.entry(of).or_default().send_cpu.push(each_ns);
                        }
                    }
                    EndpointKind::Subscription => {
                        let publisher = numbered(&self.tables.endpoints)
                            .find(|(_, of)| of.kind == EndpointKind::Publisher && of.topic == endpoint.topic);
                        if let Some(of) = publisher.and_then(|(row, _)| self.topic(row)) {
                            samples.transfers.entry(of).or_default().receive_cpu.push(each_ns);
                        }
                    }
                }
            }
        }
    }
}
