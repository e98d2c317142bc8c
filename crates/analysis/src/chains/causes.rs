//! What took the time of the late instances of each chain, by name; and what became of inputs that led to no output.
//!
//! docs/figures.md, "causes", has the definitions. The parts of one instance lie end to end and add up to it.

mod kept;
mod ticks;

use crate::chains::busy::By;
use crate::chains::follow::{Output, Trail, Wait};
use crate::chains::told::{late, sample};
use crate::chains::wait::Arrival;
use crate::chains::{MadeOf, Traced, Tracer};
use crate::link::fate::{Fate, Fates};
use crate::link::queue::{published_before_next_take, Traffic};
use crate::observe::lifecycle::state_at;
use crate::observe::{PublicationSeen, Seen, TakeSeen, Topic, INTERNAL};
use kept::Piece;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use tacho_tables::in_order::in_order;
use tacho_tables::row::Row;
use tacho_tables::rows::far_apart;
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::{
    Callback, Cause, CauseKind, Endpoint, Execution, Hop, Instance, LinkRule, LostIn, Node, NodeState, OffCpu,
    Preemption,
};
use ticks::Ticks;

/// Fewer have no usual time.
const LEAST_FOR_USUAL: usize = 3;
/// Chains that nobody named, of which all late instances are explained.
const MATTER: usize = 8;

/// A part of an instance: its place, what and by whom.
type Key = (u32, CauseKind, Who);

/// By whom, as an index; words are made only of what is told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Callback(Row<Callback>),
    /// One on each thread of an executor.
    Callbacks(Vec<Row<Callback>>),
    Node(Row<Node>),
    /// Whether it waited for its callback group instead is not known.
    NodeOrGroup(Row<Node>),
    Topic(Row<Topic>),
    /// Its arrival is not recorded, so that waiting for a wake-up is in it.
    TopicAndWakeUp(Row<Topic>),
    /// Row of the preemptions.
    Thread(u32),
    /// A callback that was blocked, and the row of the preemptions that first names what it waited in.
    WaitsIn(Row<Callback>, u32),
}

/// How long, and where it began and in which execution, where that is one; of several the one of the longest stretch.
#[derive(Debug, Clone, Copy)]
struct Part {
    ns: i64,
    longest_ns: i64,
    from_ns: Option<i64>,
    execution: Option<Row<Execution>>,
}

impl Part {
    fn new(ns: i64, from_ns: Option<i64>, execution: Option<Row<Execution>>) -> Part {
        Part { ns, longest_ns: ns, from_ns, execution }
    }
}

/// Everything that one instance consists of.
type Parts = BTreeMap<Key, Part>;

/// Explains late instances and lost inputs of all chains.
pub(crate) fn causes(tracer: &Tracer<'_>, chains: &Traced, fates: &Fates<'_>) -> Vec<Cause> {
    let preemptions = &tracer.seen.scheduled.preemptions;
    // A thread, or an interrupt, is the first row that names it.
    let mut threads: HashMap<Option<&str>, u32> = HashMap::new();
    for (index, row) in preemptions.iter().enumerate().filter(|(_, p)| p.state != OffCpu::Blocked) {
        threads.entry(row.by_comm.as_deref()).or_insert(index as u32);
    }
    let mut calls: HashMap<&str, u32> = HashMap::new();
    for (index, row) in preemptions.iter().enumerate() {
        if let Some(call) = &row.waits_in {
            calls.entry(call).or_insert(index as u32);
        }
    }
    let off_cpu = Grouped::new(tracer.seen.executions.len(), || {
        preemptions.iter().zip(0..).filter_map(|(row, index)| Some((row.execution?, index)))
    });
    let ticks = Ticks::new(tracer.seen);
    let matter = that_matter(chains);
    let of_chain = |(chain, made_of): (usize, &MadeOf)| {
        let mut rows = Vec::new();
        let explainer = Explainer {
            tracer,
            made_of,
            fates,
            preemptions,
            off_cpu: &off_cpu,
            threads: &threads,
            calls: &calls,
            ticks: &ticks,
        };
        let instances = made_of.instances.clone();
        let parts_of = |instance: Row<Instance>| explainer.parts(&chains.hops[made_of.last_hop(instance)]);
        let blank = |position, kind, by: String| Cause {
            chain: Row::behind(chain),
            instance: None,
            position,
            kind,
            by,
            execution: None,
            from_ns: None,
            duration_ns: None,
            usual_ns: None,
            count: 1,
        };
        let late: Vec<(Row<Instance>, Parts)> =
            late(&chains.instances, instances.clone(), made_of.path.deadline_ns, matter[chain])
                .into_iter()
                .map(|i| (i, parts_of(i)))
                .collect();
        let usual = usual(&late, far_apart(sample(instances)).map(parts_of));
        for (instance, parts) in &late {
            rows.extend(parts.iter().map(|(key, part)| Cause {
                instance: Some(*instance),
                execution: part.execution,
                from_ns: part.from_ns,
                duration_ns: Some(part.ns),
                usual_ns: usual.get(key).copied(),
                ..blank(key.0, key.1, explainer.words(&key.2))
            }));
        }
        let lost = explainer.lost().into_iter();
        rows.extend(lost.map(|((position, kind, by), count)| Cause { count, ..blank(position, kind, by) }));
        rows
    };
    let mut rows = Vec::new();
    in_order(chains.made_of.iter().enumerate(), of_chain, |of_chain| rows.extend(of_chain));
    rows
}

/// Of each chain, whether all of its late instances are explained: of those that somebody named, and of those with the
/// longest times.
fn that_matter(chains: &Traced) -> Vec<bool> {
    let worst = |of: &MadeOf| {
        let instances = &chains.instances[of.instances.start as usize..of.instances.end as usize];
        instances.iter().map(|instance| instance.end_to_end_ns).max()
    };
    let mut by_worst: Vec<(Option<i64>, usize)> =
        chains.made_of.iter().enumerate().map(|(chain, of)| (worst(of), chain)).collect();
    by_worst.sort_by_key(|(worst, chain)| (std::cmp::Reverse(*worst), *chain));
    let mut matter: Vec<bool> = chains.made_of.iter().map(|of| of.path.named).collect();
    by_worst.iter().take(MATTER).for_each(|(_, chain)| matter[*chain] = true);
    matter
}

/// Median over instances of each part that a late one has; where an instance does not have it, it was 0 there.
fn usual(late: &[(Row<Instance>, Parts)], instances: impl Iterator<Item = Parts>) -> BTreeMap<Key, i64> {
    let wanted = late.iter().flat_map(|(_, parts)| parts.keys());
    let mut values: BTreeMap<Key, Vec<i64>> = wanted.map(|key| (key.clone(), Vec::new())).collect();
    let mut count = 0;
    for parts in instances {
        for (key, part) in parts {
            if let Some(values) = values.get_mut(&key) {
                values.push(part.ns);
            }
        }
        count += 1;
    }
    if count < LEAST_FOR_USUAL {
        return BTreeMap::new();
    }
    let median = |mut values: Vec<i64>| {
        values.resize(count, 0);
        values.sort_unstable();
        values[(count - 1) / 2]
    };
    values.into_iter().map(|(key, values)| (key, median(values))).collect()
}

struct Explainer<'a> {
    tracer: &'a Tracer<'a>,
    made_of: &'a MadeOf,
    fates: &'a Fates<'a>,
    preemptions: &'a [Preemption],
    /// Rows of the preemptions by execution.
    off_cpu: &'a Grouped<Execution, u32>,
    threads: &'a HashMap<Option<&'a str>, u32>,
    calls: &'a HashMap<&'a str, u32>,
    ticks: &'a Ticks,
}

/// Of a subscription: publish and take time of each message that it took, and publish times of its topic.
type TrafficSeen = (Vec<(i64, i64)>, Vec<i64>);

impl Explainer<'_> {
    /// Everything that the instance with this last hop consists of.
    fn parts(&self, last: &Hop) -> Parts {
        let output = Output { execution: last.execution, publication: self.output_of(last), time: last.output_ns };
        let mut parts = Parts::new();
        let Ok(Some(Trail { hops, waits, .. })) = self.tracer.follow(&self.made_of.path, &self.made_of.ties, output)
        else {
            return parts;
        };
        for (hop, wait) in hops.iter().zip(&waits) {
            self.wait(wait, hop, &mut parts);
        }
        hops.iter().for_each(|hop| self.computation(hop, &mut parts));
        parts
    }

    /// The publish call that the last hop of an instance is, where it ends with one.
    fn output_of(&self, last: &Hop) -> Option<Row<PublicationSeen>> {
        let published = self.tracer.usage.published_in(last.execution?);
        published.iter().copied().rfind(|p| self.tracer.seen.publications[*p].time == last.output_ns)
    }

    fn wait(&self, wait: &Wait, hop: &Hop, parts: &mut Parts) {
        let seen = self.tracer.seen;
        let path = &self.made_of.path;
        let topic = path.topics[hop.position as usize - 1];
        let node = Who::Node(path.nodes[hop.position as usize]);
        let split = &wait.split;
        let transport = match split.evidence {
            Arrival::Unknown => Who::TopicAndWakeUp(topic),
            _ => Who::Topic(topic),
        };
        let mut add =
            |position, kind, who, from_ns, by, ns| add(parts, (position, kind, who), Part::new(ns, from_ns, by));
        let at = hop.position;
        add(at, CauseKind::Transport, transport, split.arrival.map(|_| wait.published), None, split.transport);
        let from = split.arrival.unwrap_or(wait.published);
        let busy = &self.tracer.busy;
        for held in wait.stream.map_or(Vec::new(), |stream| busy.held(seen, stream, wait.callback, from, wait.began)) {
            let (kind, who, execution) = by_busy(seen, held.by);
            add(at, kind, who, Some(held.from), Some(execution), held.to - held.from);
        }
        let in_doubt = wait
            .stream
            .zip(wait.callback)
            .is_some_and(|(stream, callback)| busy.may_wait_for_group(seen, stream, callback));
        let woken = if in_doubt { Who::NodeOrGroup(path.nodes[hop.position as usize]) } else { node };
        add(at, CauseKind::WakeUp, woken, None, None, split.alignment.unwrap_or(0));
        for Piece { position, kind, who, from, to, execution } in self.kept(wait, hop) {
            add(position as u32, kind, who, Some(from), execution, to - from);
        }
    }

    fn computation(&self, hop: &Hop, parts: &mut Parts) {
        let callback = hop.execution.map(|execution| self.tracer.seen.executions[execution].callback);
        let who = match callback {
            Some(callback) => Who::Callback(callback),
            None => Who::Node(self.made_of.path.nodes[hop.position as usize]),
        };
        let (mut taken, mut off) = (0, 0);
        for index in hop.execution.map_or(&[][..], |e| self.off_cpu.of(e)) {
            let row = &self.preemptions[*index as usize];
            let (from, to) = (row.from_ns.max(hop.start_ns), row.to_ns.min(hop.output_ns));
            if to > from {
                taken += to - from;
                let by_thread = || Who::Thread(self.threads.get(&row.by_comm.as_deref()).copied().unwrap_or(*index));
                let (kind, who) = match row.state {
                    OffCpu::Runnable => (CauseKind::Preemption, by_thread()),
                    OffCpu::Interrupted => (CauseKind::Interrupt, by_thread()),
                    OffCpu::Blocked => {
                        let call = row.waits_in.as_deref().and_then(|call| self.calls.get(call));
                        let in_call = callback.zip(call).map(|(callback, call)| Who::WaitsIn(callback, *call));
                        (CauseKind::Blocked, in_call.unwrap_or_else(|| who.clone()))
                    }
                };
                off += if row.state == OffCpu::Interrupted { 0 } else { to - from };
                add(parts, (hop.position, kind, who), Part::new(to - from, Some(from), hop.execution));
            }
        }
        // Without scheduler events of all of it, or inside another callback that runs within this one.
        let whole = hop.output_ns - hop.start_ns;
        let unnamed = self.tracer.inside(hop).map_or(0, |inside| inside.off_ns() - off).min(whole - taken).max(0);
        let part = Part::new(unnamed, None, hop.execution);
        add(parts, (hop.position, CauseKind::OffCpu, who.clone()), part);
        taken += unnamed;
        let ns = whole - taken;
        let part = Part::new(ns, Some(hop.start_ns), hop.execution);
        add(parts, (hop.position, CauseKind::Computation, who), part);
    }

    fn words(&self, who: &Who) -> String {
        let seen = self.tracer.seen;
        match who {
            Who::Callback(callback) => callback_name(seen, *callback),
            Who::Callbacks(callbacks) => {
                let names: Vec<String> = callbacks.iter().map(|callback| callback_name(seen, *callback)).collect();
                format!("{} (all {} threads)", names.join(", "), names.len())
            }
            Who::WaitsIn(callback, row) => {
                let call = self.preemptions[*row as usize].waits_in.as_deref().unwrap_or_default();
                format!("{}, in {call}", callback_name(seen, *callback))
            }
            Who::Node(node) => seen.nodes[*node].name.clone(),
            Who::NodeOrGroup(node) => {
                format!(
                    "{}, or of its callback group (which callbacks share one is not recorded)",
                    seen.nodes[*node].name
                )
            }
            Who::Topic(topic) => seen.topics.names[*topic].clone(),
            Who::TopicAndWakeUp(topic) => {
                format!("{} (arrival not recorded: waiting for a wake-up is in it)", seen.topics.names[*topic])
            }
            Who::Thread(index) => match &self.preemptions[*index as usize].by_comm {
                Some(comm) => comm.to_string(),
                None => "what is not known".into(),
            },
        }
    }

    /// Why inputs led to no output: one row a reason and place.
    fn lost(&self) -> BTreeMap<(u32, CauseKind, String), u64> {
        let path = &self.made_of.path;
        if self.made_of.lost.is_empty() && self.made_of.on_their_way.is_empty() {
            return BTreeMap::new();
        }
        // Takes of each node on the path, by publication.
        let taken: Vec<Vec<(Row<PublicationSeen>, Row<TakeSeen>)>> = (1..path.nodes.len())
            .map(|i| {
                let takes = self.tracer.usage.takes(path.nodes[i], path.topics[i - 1]);
                let linked =
                    far_apart(takes.iter()).filter_map(|t| Some((self.tracer.seen.takes[*t].publication?, *t)));
                let mut taken: Vec<(Row<PublicationSeen>, Row<TakeSeen>)> = linked.collect();
                taken.sort_unstable();
                taken
            })
            .collect();
        let mut traffic: HashMap<Row<Endpoint>, TrafficSeen> = HashMap::new();
        let mut reasons: BTreeMap<(u32, CauseKind, String), u64> = BTreeMap::new();
        for publication in far_apart(self.made_of.lost.iter()) {
            *reasons.entry(self.end_of(*publication, &taken, &mut traffic)).or_default() += 1;
        }
        for publication in &self.made_of.on_their_way {
            let end = self.end_of(*publication, &taken, &mut traffic);
            // Of a trace: how a process ended is not in it.
            let process = self.tracer.seen.nodes[path.nodes[end.0 as usize]].process;
            let untold = self.tracer.seen.processes[process].ended.is_none();
            if end.1 == CauseKind::Pending || end.1 == CauseKind::Ended && untold {
                *reasons.entry(end).or_default() += 1;
            }
        }
        reasons
    }

    /// Where the way of a publication of the first node ends.
    fn end_of(
        &self,
        mut publication: Row<PublicationSeen>,
        taken: &[Vec<(Row<PublicationSeen>, Row<TakeSeen>)>],
        traffic: &mut HashMap<Row<Endpoint>, TrafficSeen>,
    ) -> (u32, CauseKind, String) {
        let (tracer, path) = (self.tracer, &self.made_of.path);
        let (seen, usage) = (tracer.seen, tracer.usage);
        for position in 1..path.nodes.len() {
            let (node, topic, tie) =
                (path.nodes[position], path.topics[position - 1], &self.made_of.ties[position - 1]);
            let ended = |kind, by| (position as u32, kind, by);
            let of_node = &taken[position - 1];
            // The last one, where several subscriptions of the node took it.
            let last = of_node.partition_point(|of| of.0 <= publication).checked_sub(1).map(|last| &of_node[last]);
            let Some((_, take)) = last.filter(|of| of.0 == publication) else {
                let (kind, by) = self.not_taken(publication, node, topic, traffic);
                let unmet = matches!(kind, CauseKind::Unmatched | CauseKind::Untold | CauseKind::Pending);
                return match self.not_active(node, seen.publications[publication].time).filter(|_| unmet) {
                    Some(by) => ended(CauseKind::NotActive, by),
                    None => ended(kind, by),
                };
            };
            let row = &seen.takes[*take];
            let name = seen.nodes[node].name.clone();
            let on_next = |p: &&Row<PublicationSeen>| {
                let endpoint = seen.publications[**p].endpoint.filter(|e| *e != INTERNAL);
                let endpoint = endpoint.map(|e| &seen.endpoints[e]);
                endpoint.is_some_and(|e| e.node == node && path.output_of(position).is_none_or(|t| e.topic == t))
            };
            let next = match tie.rule {
                LinkRule::SameCallback => {
                    let by = row.execution.map_or(name, |e| callback_name(seen, seen.executions[e].callback));
                    let published = row.execution.and_then(|e| usage.published_in(e).iter().rfind(on_next));
                    published.copied().ok_or((CauseKind::NoOutput, by))
                }
                _ => {
                    let takes = usage.takes(node, topic);
                    let younger = takes.get(takes.partition_point(|t| *t <= *take)).map(|t| seen.takes[*t].time);
                    let time = |p: &Row<PublicationSeen>| seen.publications[*p].time;
                    let publishing = usage.publishing(node);
                    let after = publishing
                        .partition_point(|e| usage.published_in(*e).first().is_some_and(|p| time(p) < row.time));
                    // An execution that published before the take may publish again after it.
                    let from = &publishing[after.saturating_sub(4)..];
                    let until_younger = from.iter().flat_map(|e| usage.published_in(*e));
                    let output = until_younger
                        .skip_while(|p| time(p) < row.time)
                        .take_while(|p| younger.is_none_or(|y| time(p) < y))
                        .find(on_next);
                    let kind = if younger.is_some() { CauseKind::Superseded } else { CauseKind::NoOutput };
                    output.copied().ok_or((kind, name))
                }
            };
            match next {
                Ok(next) => publication = next,
                Err((kind, by)) => {
                    return match self.not_active(node, row.time).filter(|_| kind == CauseKind::NoOutput) {
                        Some(by) => ended(CauseKind::NotActive, by),
                        None => ended(kind, by),
                    }
                }
            }
        }
        // Its output was made, and a later input of the same callback was followed instead.
        let last = path.nodes.len() - 1;
        (last as u32, CauseKind::Superseded, seen.nodes[path.nodes[last]].name.clone())
    }

    /// A managed node and its state at an instant, where that is another than active.
    fn not_active(&self, node: Row<Node>, instant: i64) -> Option<String> {
        let seen = self.tracer.seen;
        let state = state_at(&seen.lifecycle.states, node, instant).filter(|state| *state != NodeState::ACTIVE)?;
        Some(format!("{} ({state})", seen.nodes[node].name))
    }

    fn not_taken(
        &self,
        publication: Row<PublicationSeen>,
        node: Row<Node>,
        topic: Row<Topic>,
        traffic: &mut HashMap<Row<Endpoint>, TrafficSeen>,
    ) -> (CauseKind, String) {
        let seen = self.tracer.seen;
        let of = &seen.by_topic[topic];
        let name = seen.nodes[node].name.clone();
        let lost = (CauseKind::Lost, seen.topics.names[topic].clone());
        let Some(subscription) = of.subscriptions.iter().copied().find(|s| seen.endpoints[*s].node == node) else {
            return (CauseKind::Untold, name);
        };
        let queue_of = |endpoint: Row<Endpoint>| {
            let owner = &seen.nodes[seen.endpoints[endpoint].node].name;
            match seen.endpoints[endpoint].depth {
                Some(depth) => format!("queue of depth {depth} of {owner}"),
                None => format!("queue of {owner}"),
            }
        };
        let (taken, published) = traffic.entry(subscription).or_insert_with(|| {
            let takes = far_apart(self.tracer.usage.takes(node, topic).iter()).map(|t| &seen.takes[*t]);
            let own = takes.filter(|t| t.endpoint == subscription);
            let mut taken: Vec<(i64, i64)> =
                own.filter_map(|t| Some((seen.publications[t.publication?].time, t.time))).collect();
            taken.sort_unstable();
            (taken, far_apart(of.publications.iter()).map(|p| seen.publications[*p].time).collect())
        });
        let row = &seen.publications[publication];
        let since = published_before_next_take(&Traffic { taken, published }, row.time);
        match self.fates.of(publication, subscription, !taken.is_empty(), since.is_some()) {
            Fate::Lost(Some(LostIn::PublisherQueue)) => (
                CauseKind::Overwritten,
                format!("publisher's {}", row.endpoint.map_or_else(|| "queue".into(), queue_of)),
            ),
            Fate::Lost(Some(LostIn::SubscriptionQueue)) => (CauseKind::Overwritten, queue_of(subscription)),
            Fate::Lost(Some(LostIn::Transport)) => lost,
            Fate::Lost(None) => match since.zip(seen.endpoints[subscription].depth) {
                Some((since, depth)) if since >= depth => (CauseKind::Overwritten, queue_of(subscription)),
                _ => lost,
            },
            Fate::Unmatched => (CauseKind::Unmatched, name),
            Fate::Ended => (CauseKind::Ended, name),
            Fate::Pending => (CauseKind::Pending, name),
            Fate::Untold => (CauseKind::Untold, name),
        }
    }
}

/// What kept a callback from running, by whom, and in which execution.
fn by_busy(seen: &Seen, by: By) -> (CauseKind, Who, Row<Execution>) {
    let callback_of = |execution: Row<Execution>| seen.executions[execution].callback;
    match by {
        By::Group(execution) => (CauseKind::GroupBusy, Who::Callback(callback_of(execution)), execution),
        By::Threads(all) if all.len() == 1 => (CauseKind::ExecutorBusy, Who::Callback(callback_of(all[0])), all[0]),
        By::Threads(all) => {
            let mut callbacks: Vec<Row<Callback>> = all.iter().map(|e| callback_of(*e)).collect();
            callbacks.sort_unstable();
            (CauseKind::ExecutorBusy, Who::Callbacks(callbacks), all[0])
        }
    }
}

/// Adds to a part; of several intervals it keeps where the first began.
fn add(parts: &mut Parts, key: Key, part: Part) {
    if part.ns == 0 {
        return;
    }
    match parts.entry(key) {
        Entry::Vacant(entry) => drop(entry.insert(part)),
        Entry::Occupied(mut entry) => {
            let known = entry.get_mut();
            known.ns += part.ns;
            if part.longest_ns > known.longest_ns {
                (known.longest_ns, known.execution) = (part.longest_ns, part.execution);
            }
            known.from_ns = known.from_ns.min(part.from_ns);
        }
    }
}

/// A callback as people know it.
fn callback_name(seen: &Seen, callback: Row<Callback>) -> String {
    seen.callbacks[callback].name(&seen.nodes, &seen.processes).to_string()
}
