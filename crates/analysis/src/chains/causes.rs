//! What took the time of the late instances of each chain, by name; and what became of inputs that led to no output.
//!
//! docs/figures-of-chains.md, "causes", has the definitions. The parts of one instance lie end to end and add up to it.

mod interpreter;
mod kept;
mod lost;
mod programs;
mod received;
mod run_delay;
mod ticks;

use crate::chains::busy::{without, By, Held};
use crate::chains::follow::{Follower, Output, Route, Wait};
use crate::chains::told::{few, late, sample};
use crate::chains::wait::Arrival;
use crate::chains::{MadeOf, Traced, Tracer};
use crate::link::fate::Fates;
use crate::observe::{PublicationSeen, Seen, Topic};
use interpreter::Interpreter;
use kept::Piece;
use lost::Lost;
use programs::{Had, Programs};
use rustc_hash::FxHashMap as HashMap;
use std::cell::RefCell;
use std::collections::BTreeMap;
use tacho_tables::in_order::in_order;
use tacho_tables::row::Row;
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::{
    Callback, CallbackKind, Cause, CauseKind, Execution, Hop, Instance, MaybeNs, Name, Node, OffCpu, Preemption,
};
use ticks::Ticks;

/// Fewer have no usual time.
const LEAST_FOR_USUAL: usize = 3;
/// Chains that nobody named, of which all late instances are explained.
const MATTER: usize = 8;

/// A part of an instance: its place, what and by whom.
type Key = (u32, CauseKind, Who);

/// By whom, as an index; words are made only of what is reported.
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
    /// Whoever had the CPU: without scheduler events nobody knows.
    Unknown,
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

/// Stretches of one instance, in any order; of a busy executor there are thousands.
#[derive(Default)]
struct Pieces(Vec<(Key, Part)>);

/// Everything that one instance consists of: each key once, in order.
type Parts = Vec<(Key, Part)>;

impl Pieces {
    fn add(&mut self, key: Key, part: Part) {
        if part.ns != 0 {
            self.0.push((key, part));
        }
    }

    /// Stretches of one key made one part; it keeps where the first began.
    fn merged(self) -> Parts {
        let mut parts = self.0;
        parts.sort_by(|one, other| one.0.cmp(&other.0));
        parts.dedup_by(|(key, part), (before, known)| {
            let same = key == before;
            if same {
                known.ns += part.ns;
                if part.longest_ns > known.longest_ns {
                    (known.longest_ns, known.execution) = (part.longest_ns, part.execution);
                }
                known.from_ns = known.from_ns.min(part.from_ns);
            }
            same
        });
        parts
    }
}

/// Explains late instances and lost inputs of all chains.
pub(crate) fn causes(tracer: &Tracer<'_>, chains: &Traced, fates: &Fates<'_>) -> Vec<Cause> {
    let preemptions = &tracer.seen.scheduled.preemptions;
    let programs = Programs::new(tracer.seen);
    let interpreter = Interpreter::new(tracer);
    let mut calls: HashMap<&str, u32> = HashMap::default();
    for (index, row) in preemptions.iter().enumerate() {
        if let Some(call) = &row.waits_in {
            calls.entry(call).or_insert(index as u32);
        }
    }
    let off_cpu = Grouped::new(tracer.seen.executions.len(), || {
        preemptions.iter().zip(0..).filter_map(|(row, index)| Some((row.execution?, index)))
    });
    let ticks = Ticks::new(tracer.seen);
    let lost = Lost::new(tracer, fates);
    let lost = lost.of_chains(&chains.made_of);
    let matter = that_matter(chains);
    let of_chain = |(chain, made_of): (usize, &MadeOf)| {
        let mut rows = Vec::new();
        let mut follower = Follower::new(tracer);
        let route = follower.route(&made_of.path, &made_of.ties);
        let explainer = Explainer {
            tracer,
            made_of,
            preemptions,
            off_cpu: &off_cpu,
            programs: &programs,
            interpreter: &interpreter,
            calls: &calls,
            ticks: &ticks,
            route,
            follower: RefCell::new(follower),
        };
        let instances = made_of.instances.clone();
        let parts_of = |instance: Row<Instance>| explainer.parts(&chains.hops[made_of.last_hop(instance)]);
        let blank = |position, kind, by: Name| Cause {
            chain: Row::behind(chain),
            instance: None,
            position,
            kind,
            by,
            execution: None,
            from_ns: MaybeNs::NONE,
            duration_ns: MaybeNs::NONE,
            usual_ns: MaybeNs::NONE,
            count: 1,
        };
        let late = late(&chains.instances, instances.clone(), made_of.path.deadline_ns, matter[chain]);
        let late: Vec<(Row<Instance>, Parts)> = late.into_iter().map(|i| (i, parts_of(i))).collect();
        let usual = match matter[chain] || made_of.path.deadline_ns.is_some() {
            true => usual(&late, sample(instances).map(parts_of)),
            false => usual(&late, few(instances).map(parts_of)),
        };
        let mut words: BTreeMap<&Who, Name> = BTreeMap::new();
        for (instance, parts) in &late {
            rows.extend(parts.iter().map(|(key, part)| Cause {
                instance: Some(*instance),
                execution: part.execution,
                from_ns: part.from_ns.into(),
                duration_ns: part.ns.into(),
                usual_ns: usual.binary_search_by_key(&key, |(of, _)| *of).ok().map(|place| usual[place].1).into(),
                ..blank(key.0, key.1, *words.entry(&key.2).or_insert_with(|| explainer.words(&key.2).as_str().into()))
            }));
        }
        let lost = lost[chain].iter();
        rows.extend(lost.map(|((position, kind, by), count)| Cause {
            count: *count,
            ..blank(*position, *kind, by.as_str().into())
        }));
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

/// Median over instances of each part that a late one has, in order; where an instance does not have it, it was 0
/// there.
fn usual(late: &[(Row<Instance>, Parts)], instances: impl Iterator<Item = Parts>) -> Vec<(&Key, i64)> {
    let mut wanted: Vec<&Key> = late.iter().flat_map(|(_, parts)| parts).map(|(key, _)| key).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut values: Vec<Vec<i64>> = vec![Vec::new(); wanted.len()];
    let mut count = 0;
    for parts in instances {
        let mut place = 0;
        for (key, part) in &parts {
            place += wanted[place..].iter().take_while(|wanted| **wanted < key).count();
            if wanted.get(place).is_some_and(|wanted| *wanted == key) {
                values[place].push(part.ns);
            }
        }
        count += 1;
    }
    if count < LEAST_FOR_USUAL {
        return Vec::new();
    }
    let median = |mut values: Vec<i64>| {
        values.resize(count, 0);
        values.sort_unstable();
        values[(count - 1) / 2]
    };
    wanted.into_iter().zip(values.into_iter().map(median)).collect()
}

struct Explainer<'a> {
    tracer: &'a Tracer<'a>,
    made_of: &'a MadeOf,
    preemptions: &'a [Preemption],
    /// Rows of the preemptions by execution.
    off_cpu: &'a Grouped<Execution, u32>,
    programs: &'a Programs<'a>,
    interpreter: &'a Interpreter<'a>,
    calls: &'a HashMap<&'a str, u32>,
    ticks: &'a Ticks,
    route: Route<'a>,
    follower: RefCell<Follower<'a>>,
}

impl Explainer<'_> {
    /// Everything that the instance with this last hop consists of.
    fn parts(&self, last: &Hop) -> Parts {
        let output = Output { execution: last.execution, publication: self.output_of(last), time: last.output_ns };
        let mut parts = Pieces::default();
        let mut follower = self.follower.borrow_mut();
        let Ok(Some(trail)) = follower.follow(&self.route, output) else { return Parts::new() };
        for (hop, wait) in trail.hops() {
            wait.into_iter().for_each(|wait| self.wait(wait, &hop, &mut parts));
        }
        for (hop, _) in trail.hops() {
            self.computation(hop.position, hop.execution, (hop.start_ns, hop.output_ns), &mut parts);
        }
        parts.merged()
    }

    /// The publish call that the last hop of an instance is, where it ends with one.
    fn output_of(&self, last: &Hop) -> Option<Row<PublicationSeen>> {
        let published = self.tracer.usage.published_in(last.execution?);
        published.iter().copied().rfind(|p| self.tracer.seen.publications[*p].time == last.output_ns)
    }

    fn wait(&self, wait: &Wait, hop: &Hop, parts: &mut Pieces) {
        let seen = self.tracer.seen;
        let path = &self.made_of.path;
        let topic = path.topics[hop.position as usize - 1];
        let split = &wait.split;
        let transport = match split.evidence {
            Arrival::Unknown => Who::TopicAndWakeUp(topic),
            _ => Who::Topic(topic),
        };
        let at = hop.position;
        let published = split.arrival.map(|_| wait.published);
        let process = seen.nodes[path.nodes[at as usize]].process;
        let unreceived = split.arrival.map_or(0, |arrival| {
            let had = self.programs.had_cpu_of_receiving(process, wait.published, arrival);
            self.without_cpu((at, None), had, &[], split.transport, parts)
        });
        let from = split.arrival.unwrap_or(wait.published);
        let unwoken = self.wake_up(wait, at, from, split.transport - unreceived, parts);
        let on_the_way = split.transport - unreceived - unwoken;
        parts.add((at, CauseKind::Transport, transport), Part::new(on_the_way, published, None));
        for Piece { position, kind, who, from, to, execution } in self.kept(wait, hop) {
            match kind {
                CauseKind::Computation => self.computation(position as u32, execution, (from, to), parts),
                CauseKind::TickLate => {
                    let had = execution.map_or(Vec::new(), |execution| self.had_cpu_before(execution, from, to));
                    let mut left = to - from;
                    left -= self.without_cpu((position as u32, execution), had, &[], left, parts);
                    if let Some(execution) = execution {
                        let stream = self.tracer.seen.stream_of(execution);
                        left -= self.without_unseen_cpu(position as u32, stream, (from, to), left, parts);
                        left -= self.without_interpreter(position as u32, stream, (from, to), left, parts);
                    }
                    parts.add((position as u32, kind, who), Part::new(left, Some(from), execution));
                }
                _ => parts.add((position as u32, kind, who), Part::new(to - from, Some(from), execution)),
            }
        }
    }

    /// From the arrival of a message to the callback that took it. Gives for how long its thread lacked a CPU on the
    /// way, which took so long, where no event shows the arrival.
    fn wake_up(&self, wait: &Wait, at: u32, from: i64, on_the_way: i64, parts: &mut Pieces) -> i64 {
        let (seen, busy) = (self.tracer.seen, &self.tracer.busy);
        let node = self.made_of.path.nodes[at as usize];
        let mut asleep = wait.split.alignment.unwrap_or(0);
        let mut unwoken = 0;
        if let Some(stream) = wait.stream {
            let held = busy.held(seen, stream, wait.callback, from, wait.began);
            let had = self.programs.had_cpu(stream, from, wait.began);
            asleep -= self.without_cpu((at, None), had, &held, asleep, parts);
            let wakes_late = !matches!(wait.split.evidence, Arrival::Recorded | Arrival::AtTake);
            let (since, most) = if wakes_late { (wait.published, asleep + on_the_way) } else { (from, asleep) };
            let lacked = self.without_unseen_cpu(at, stream, (since, wait.began), most, parts);
            unwoken = (lacked - asleep).max(0);
            asleep -= lacked - unwoken;
            for free in without((from, wait.began), &held) {
                asleep -= self.without_interpreter(at, stream, free, asleep, parts);
            }
            for held in held {
                let (kind, who, execution) = by_busy(seen, held.by);
                parts.add((at, kind, who), Part::new(held.to - held.from, Some(held.from), Some(execution)));
            }
        }
        let in_doubt = wait.stream.zip(wait.callback);
        let in_doubt = in_doubt.is_some_and(|(stream, callback)| busy.may_wait_for_group(seen, stream, callback));
        let woken = if in_doubt { Who::NodeOrGroup(node) } else { Who::Node(node) };
        parts.add((at, CauseKind::WakeUp, woken), Part::new(asleep, None, None));
        unwoken
    }

    /// Who had the CPU of an execution's thread before it began. A message reaches a subscription by another thread,
    /// which needs a CPU first.
    fn had_cpu_before(&self, execution: Row<Execution>, from: i64, to: i64) -> Vec<Had> {
        let seen = self.tracer.seen;
        let callback = &seen.callbacks[seen.executions[execution].callback];
        let mut had = self.programs.had_cpu(seen.stream_of(execution), from, to);
        if callback.kind == CallbackKind::Subscription {
            had.extend(self.programs.had_cpu_of_receiving(callback.process, from, to));
            had.sort_unstable_by_key(|(_, from, to)| (*from, *to));
            let mut until = from;
            for (_, from, to) in &mut had {
                *from = until.max(*from);
                *to = until.max(*to);
                until = *to;
            }
        }
        had
    }

    /// Adds who had the CPU that a thread needed, at a place on the path, before an execution, outside of what held it
    /// anyway, and for so long at most. Gives how long that was.
    fn without_cpu(
        &self,
        (at, execution): (u32, Option<Row<Execution>>),
        had: Vec<Had>,
        held: &[Held],
        most: i64,
        parts: &mut Pieces,
    ) -> i64 {
        let mut left = most;
        for (index, from, to) in had {
            let free: i64 = without((from, to), held).into_iter().map(|(from, to)| to - from).sum();
            let part = Part::new(free.min(left), Some(from), execution);
            left -= part.ns;
            parts.add((at, CauseKind::NoCpu, Who::Thread(index)), part);
        }
        most - left
    }

    /// Adds what had Python's interpreter while a thread did not begin, at a place on the path, for so long at most.
    /// Gives how long that was.
    fn without_interpreter(&self, at: u32, stream: u32, stretch: (i64, i64), most: i64, parts: &mut Pieces) -> i64 {
        let Some((by, from, to)) = self.interpreter.kept_waiting(stream, stretch) else { return 0 };
        let part = Part::new((to - from).min(most), Some(from), Some(by));
        parts.add((at, CauseKind::InterpreterBusy, self.callback_of(by)), part);
        part.ns
    }

    fn callback_of(&self, execution: Row<Execution>) -> Who {
        Who::Callback(self.tracer.seen.executions[execution].callback)
    }

    /// A stretch inside a callback of the node at a place on the path, or of a node that publishes outside of one.
    fn computation(
        &self,
        position: u32,
        execution: Option<Row<Execution>>,
        (start, end): (i64, i64),
        parts: &mut Pieces,
    ) {
        let callback = execution.map(|execution| self.tracer.seen.executions[execution].callback);
        let who = match callback {
            Some(callback) => Who::Callback(callback),
            None => Who::Node(self.made_of.path.nodes[position as usize]),
        };
        let (mut taken, mut off) = (0, 0);
        for index in execution.map_or(&[][..], |e| self.off_cpu.of(e)) {
            let row = &self.preemptions[*index as usize];
            let (from, to) = (row.from_ns.max(start), row.to_ns.min(end));
            if to > from {
                taken += to - from;
                let mut waited = 0;
                let by_thread = || Who::Thread(self.programs.first_of(*index));
                let (kind, who) = match row.state {
                    OffCpu::Runnable => (CauseKind::Preemption, by_thread()),
                    OffCpu::Interrupted => (CauseKind::Interrupt, by_thread()),
                    OffCpu::Blocked => {
                        let had = execution.zip(row.waits_in.as_deref()).and_then(|(execution, call)| {
                            self.interpreter.had_while_blocked(execution, call, (from, to))
                        });
                        if let Some((by, from, to)) = had {
                            let key = (position, CauseKind::InterpreterBusy, self.callback_of(by));
                            parts.add(key, Part::new(to - from, Some(from), Some(by)));
                            waited = to - from;
                        }
                        let call = row.waits_in.as_deref().and_then(|call| self.calls.get(call));
                        let in_call = callback.zip(call).map(|(callback, call)| Who::WaitsIn(callback, *call));
                        (CauseKind::Blocked, in_call.unwrap_or_else(|| who.clone()))
                    }
                };
                off += if row.state == OffCpu::Interrupted { 0 } else { to - from };
                parts.add((position, kind, who), Part::new(to - from - waited, Some(from), execution));
            }
        }
        // Without scheduler events of all of it, or inside another callback that runs within this one.
        let whole = end - start;
        let inside = self.tracer.inside(execution, start, end);
        let unnamed = inside.map_or(0, |inside| inside.off_ns() - off).min(whole - taken).max(0);
        taken += unnamed;
        let ready = inside.map_or(0, |inside| inside.unseen_runnable_ns()).min(unnamed);
        parts.add((position, CauseKind::Preemption, Who::Unknown), Part::new(ready, None, execution));
        let mut off = unnamed - ready;
        let had = execution.and_then(|execution| self.interpreter.had_while_off_cpu(execution, (start, end)));
        if let Some((by, ns)) = had {
            let waited = Part::new(ns.min(off), None, Some(by));
            off -= waited.ns;
            parts.add((position, CauseKind::InterpreterBusy, self.callback_of(by)), waited);
        }
        parts.add((position, CauseKind::OffCpu, who.clone()), Part::new(off, None, execution));
        parts.add((position, CauseKind::Computation, who), Part::new(whole - taken, Some(start), execution));
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
            Who::Thread(index) => self.programs.words(*index),
            Who::Unknown => Cause::BY_UNKNOWN.into(),
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

/// A callback as people know it.
fn callback_name(seen: &Seen, callback: Row<Callback>) -> String {
    seen.callbacks[callback].name(&seen.nodes, &seen.processes).to_string()
}
