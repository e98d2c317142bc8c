//! Events into tables: messages, callbacks, chains; tables into figures. `docs/figures.md` defines every one.

mod chains;
pub mod figures;
mod graph;
mod in_order;
mod link;
pub mod lints;
pub mod live;
mod observe;
pub mod rows;
pub mod runs;
pub mod store;
mod summarise;
pub mod summary;
pub mod tables;

pub use chains::bound_paths;
pub use figures::Repeat;
pub use in_order::use_threads;
pub use runs::{analyse, analyse_and_store, figures_of, figures_of_tables, figures_with, merge_points, Error};
pub use summarise::summarise;

use chains::{causes, states, usage};
use link::{calls, clock_offset, clocks, due, fate, layers, refused, starved, udpros};
use observe::{dds, rclpy, serving, simulated};
use observe::collect::Collector;
use tables::{CallbackKind, Endpoint, Note, Tables};
use tacho_events::{Event, ProcessFacts, Texts};
use tacho_workload::links::Links;
use tacho_workload::model::Workload;

/// What analysis must be told besides the events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Start of the measured window, ns of CLOCK_MONOTONIC; `None`: from the first event.
    pub measured_from_ns: Option<i64>,
    /// End of the measured window; `None`: to the last event.
    pub measured_to_ns: Option<i64>,
    /// CLOCK_REALTIME minus CLOCK_MONOTONIC; links the source timestamps of tracetools before Jazzy.
    pub realtime_offset_ns: Option<i64>,
    /// Greatest error of an event's time.
    pub clock_error_ns: i64,
}

impl Options {
    /// A time of CLOCK_REALTIME on CLOCK_MONOTONIC, if how they relate is known.
    pub(crate) fn monotonic_ns(&self, realtime_ns: i64) -> Option<i64> {
        realtime_ns.checked_sub(self.realtime_offset_ns?)
    }

    /// Whether an instant lies in the measured window; its start belongs to it, its end does not.
    pub fn measures(&self, ns: i64) -> bool {
        self.measured_from_ns.is_none_or(|from| ns >= from) && self.measured_to_ns.is_none_or(|to| ns < to)
    }
}

/// A state machine over events in the order of time. Tell it each process, push each event, then ask for the tables.
pub struct Analysis {
    options: Options,
    collector: Collector,
    clocks: Vec<tables::HostClock>,
}

impl Analysis {
    /// Nothing seen yet.
    pub fn new(options: Options) -> Self {
        Analysis { options, collector: Collector::new(options), clocks: Vec::new() }
    }

    /// Announces the next process, in the order of their indices in events.
    pub fn add_process(&mut self, facts: &ProcessFacts) {
        self.collector.add_process(facts);
    }

    /// Says that events of the time between two instants were lost. What lies in that time is left out of figures that would be wrong.
    pub fn add_gap(&mut self, from_ns: i64, to_ns: i64) {
        self.collector.seen.gaps.push((from_ns, to_ns));
    }

    /// Takes the next event in the order of time.
    pub fn push(&mut self, event: &Event, texts: &Texts) {
        self.collector.push(event, texts);
    }

    /// Messages from one process to another, on the clocks of both: all that an analysis is asked for before clocks are related.
    pub(crate) fn sightings(&self) -> Vec<clocks::Sighting> {
        link::sightings(&self.collector.seen, &self.options)
    }

    /// Says which clock each process is on; the times of events to come are on the first already.
    pub(crate) fn set_clocks(&mut self, clocks: &clocks::Clocks) {
        let seen = &mut self.collector.seen;
        for process in 0..seen.processes.len() as u32 {
            seen.clock_group[process as usize] = clocks.group(process);
            let several = !clocks.rows.is_empty();
            seen.processes[process as usize].clock = several.then(|| clocks.of_process[process as usize]);
        }
        self.clocks = clocks.rows.clone();
    }

    /// Links what was seen and makes the tables. `workload` is what ran, where it is known: it names chains and rates.
    pub fn finish(self, workload: Option<&Workload>) -> Tables {
        self.finish_with(workload, &Links::default())
    }

    /// The same, with what a links file states.
    pub fn finish_with(self, workload: Option<&Workload>, stated: &Links) -> Tables {
        let Analysis { options, mut collector, clocks } = self;
        collector.finish();
        let Collector { mut seen, scheduler, ros1, services, mut actions, .. } = collector;
        for (process, error_ns) in clock_offset::relate(&mut seen) {
            seen.processes[process as usize].clock_error_ns = error_ns;
        }
        let scheduled = scheduler.finish(&mut seen);
        actions.complete(&mut seen);
        ros1.link(&mut seen);
        seen.executor_ended = serving::ended(&seen);
        let mut linked = link::link(&mut seen, &options);
        dds::link(&mut seen);
        let link::Messages { publications, messages, takes, notes: message_notes } = link::messages(&seen, &linked, &options, workload);
        let of_topics = seen.endpoints.len();
        let mut passages = link::actions::passages(actions.goals(), &mut seen);
        calls::passages(services.calls(), &actions.names(), &mut seen, &mut passages);
        calls::join(passages, &mut seen, &mut linked);
        let (services, goals) = (services.rows(&options), actions.rows(&options));
        let (mut paths, path_notes) = graph::paths(&seen, &linked, workload, stated);
        let silent = without_callbacks(&seen);
        // What a chain's node does with its input is not to be seen without callbacks: no figures, not figures of zero.
        paths.retain(|path| path.nodes[1..].iter().all(|node| !silent.contains(&seen.nodes[*node as usize].process)));
        // Nor is it known what became of an input on its way to a subscription whose messages are not linked.
        paths.retain(|path| path.topics.iter().zip(&path.nodes[1..]).all(|(topic, node)| {
            let doubtful = |s: &u32| seen.endpoints[*s as usize].node == *node && linked.doubts.has(*s);
            !linked.topics[*topic as usize].subscriptions.iter().any(doubtful)
        }));
        // Between clocks that nothing relates no time is known, so no instance either.
        let process = |node: u32| seen.nodes[node as usize].process;
        paths.retain(|path| path.nodes.windows(2).all(|pair| seen.related(process(pair[0]), process(pair[1]))));
        let usage = usage::Usage::new(&seen);
        let mut tracer = chains::Tracer::new(&seen, &linked, &usage, &scheduled, &options, workload, stated);
        let chains = tracer.trace(paths);
        let causes = causes::causes(&tracer, &chains, &scheduled.preemptions, &fate::Fates::new(&seen, &options, &messages));
        let executors = states::executors(&seen, &tracer.busy, &scheduled, &options);
        let (layers, layer_notes) = layers::layers(&seen, &messages, &takes);
        let mut notes = seen.notes();
        notes.extend(scheduled.notes);
        notes.extend(lost_events(&seen, chains.left_out));
        notes.extend(serving::note(&seen, &options));
        notes.extend(starved::note(&messages, workload));
        notes.extend(udpros::note(&messages, &publications, |endpoint| seen.process_of(endpoint), workload));
        notes.extend(std::mem::take(&mut linked.notes));
        notes.extend(simulated::note(&seen));
        notes.extend(message_notes);
        notes.extend(layer_notes);
        notes.extend(path_notes);
        notes.extend(chains.notes);
        notes.extend(rclpy::notes(&seen));
        notes.extend(silent.iter().map(|process| {
            let process = &seen.processes[*process as usize];
            let text = format!(
                "process {} ({}) shows no callback events, as rclpy by itself does not: callback times, chains and their parts, and queueing \
                 cannot be had; topics, publishers, subscriptions, rates, and latency from publish call to take can",
                process.pid, process.executable);
            Note { name: "no-callback-events".into(), count: 1, text }
        }));

        let mut counts = vec![0u64; seen.endpoints.len()];
        publications.iter().for_each(|p| counts[p.publisher as usize] += 1);
        messages.iter().filter(|m| m.take_ns.is_some()).for_each(|m| counts[m.subscription as usize] += 1);
        let (skipped, refused) = (due::skipped(&seen, &options), refused::counts(&seen, &options));
        notes.extend(refused::notes(&seen, &options));
        let endpoints = seen
            .endpoints
            .iter()
            .take(of_topics)
            .enumerate()
            .map(|(index, e)| Endpoint {
                node: e.node,
                kind: e.kind,
                topic: seen.topics.names[e.topic as usize].clone(),
                depth: e.depth,
                created_ns: e.created_ns,
                count: counts[index],
                skipped: skipped[index],
                refused: refused[index],
                linked: (e.kind == tables::EndpointKind::Subscription).then(|| !linked.doubts.has(index as u32)),
            })
            .collect();
        Tables {
            processes: seen.processes,
            nodes: seen.nodes,
            endpoints,
            callbacks: seen.callbacks,
            executions: seen.executions,
            publications,
            messages,
            layers,
            services,
            goals,
            states: seen.lifecycle.states,
            chains: chains.chains,
            instances: chains.instances,
            hops: chains.hops,
            links: chains.links,
            inputs: chains.inputs,
            causes,
            preemptions: scheduled.preemptions,
            executors,
            clocks,
            notes,
            ..Tables::default()
        }
    }
}

/// What lost events touch, where it is known when they were lost.
fn lost_events(seen: &observe::Observed, instances: u64) -> Option<Note> {
    let executions = seen.executions.iter().filter(|e| e.end_ns.is_some_and(|end| seen.lacks(e.start_ns, end))).count();
    let times = seen.gaps.len() as u64;
    let text = format!(
        "stretches of time in which events were lost (gaps in run.json): counts there are too low; left out are {executions} callback times and {instances} instances of chains that reach into them, and losses of messages sent in them; lost is not told");
    (times > 0).then(|| Note { name: "lost-events".into(), count: times, text })
}

/// Processes that take or publish messages and never show a callback: rclpy has no callback events of its own.
fn without_callbacks(seen: &observe::Observed) -> Vec<u32> {
    let mut works = vec![false; seen.processes.len()];
    let mut calls_back = vec![false; seen.processes.len()];
    let named = |p: &&observe::PublicationSeen| p.endpoint.is_some_and(|e| e != observe::INTERNAL);
    seen.takes.iter().for_each(|t| works[seen.process_of(t.endpoint) as usize] = true);
    seen.publications.iter().filter(named).for_each(|p| works[p.process as usize] = true);
    seen.executions.iter().for_each(|e| calls_back[seen.callbacks[e.callback as usize].process as usize] = true);
    seen.callbacks
        .iter()
        .filter(|c| c.kind != CallbackKind::Unknown)
        .for_each(|c| calls_back[c.process as usize] = true);
    seen.rclpy.told().for_each(|p| calls_back[p as usize] = true);
    seen.ros1.processes.iter().for_each(|p| calls_back[*p as usize] = true);
    (0..seen.processes.len() as u32).filter(|p| works[*p as usize] && !calls_back[*p as usize]).collect()
}
