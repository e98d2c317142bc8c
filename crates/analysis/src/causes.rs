//! What took the time of the late instances of each chain, by name; and what became of inputs that led to no output.
//!
//! docs/figures.md, "causes", has the definitions. The parts of one instance lie end to end and add up to it.

use crate::chains::{Chains, MadeOf, Output, Tracer, Trail, Wait};
use crate::observed::INTERNAL;
use crate::queue::{published_before_next_take, Traffic};
use crate::tables::{Callback, CallbackKind, Cause, CauseKind, Hop, Instance, LinkRule, OffCpu, Preemption};
use crate::wait::Arrival;
use std::collections::{BTreeMap, HashMap};

/// Instances explained where nobody states a deadline: the worst of each chain.
const WORST: usize = 10;
/// Instances explained of those that missed a stated deadline, worst first.
const MOST_LATE: usize = 100;
/// Instances that the usual time of each part is taken from, evenly spread over the run.
const SAMPLE: usize = 4_096;
/// Fewer have no usual time.
const LEAST_FOR_USUAL: usize = 3;

/// Parts of one instance by position and kind.
type Parts = BTreeMap<(u32, CauseKind), i64>;

/// Explains late instances and lost inputs of all chains.
pub(crate) fn causes(tracer: &Tracer<'_>, chains: &Chains, preemptions: &[Preemption]) -> Vec<Cause> {
    let mut preempted: HashMap<u32, Vec<&Preemption>> = HashMap::new();
    for row in preemptions.iter().filter(|p| p.state == OffCpu::Runnable) {
        if let Some(execution) = row.execution {
            preempted.entry(execution).or_default().push(row);
        }
    }
    let mut of_chain: Vec<Vec<u32>> = vec![Vec::new(); chains.chains.len()];
    for (row, instance) in chains.instances.iter().enumerate() {
        of_chain[instance.chain as usize].push(row as u32);
    }
    // Hops of an instance stand together, in the order of the path.
    let mut last_hop = vec![0usize; chains.instances.len()];
    chains.hops.iter().enumerate().for_each(|(row, hop)| last_hop[hop.instance as usize] = row);

    let mut rows = Vec::new();
    for (chain, made_of) in chains.made_of.iter().enumerate() {
        let explainer = Explainer { tracer, made_of, preempted: &preempted, chain: chain as u32 };
        let instances = &of_chain[chain];
        let parts_of = |instance: u32| explainer.parts(instance, &chains.hops[last_hop[instance as usize]]);
        let late = late(&chains.instances, instances, made_of.path.deadline_ns);
        if !late.is_empty() {
            let step = instances.len().div_ceil(SAMPLE);
            let usual = usual(instances.iter().step_by(step).map(|i| totals(&parts_of(*i))));
            for instance in late {
                let parts = parts_of(instance);
                let of_this = totals(&parts);
                rows.extend(parts.into_iter().map(|mut row| {
                    // Of a part that several share (executor busy with two callbacks), the usual is that of the whole.
                    let alone = of_this.get(&(row.position, row.kind)) == row.duration_ns.as_ref();
                    row.usual_ns = usual.get(&(row.position, row.kind)).copied().filter(|_| alone);
                    row
                }));
            }
        }
        rows.extend(explainer.lost());
    }
    rows
}

/// Rows of the late instances of a chain, worst first.
fn late(all: &[Instance], of_chain: &[u32], deadline_ns: Option<i64>) -> Vec<u32> {
    let whole = |row: &u32| all[*row as usize].end_to_end_ns;
    let mut rows: Vec<u32> = match deadline_ns {
        Some(deadline) => of_chain.iter().copied().filter(|row| whole(row) > deadline).collect(),
        None => of_chain.to_vec(),
    };
    rows.sort_by_key(|row| (std::cmp::Reverse(whole(row)), *row));
    rows.truncate(if deadline_ns.is_some() { MOST_LATE } else { WORST });
    rows
}

fn totals(parts: &[Cause]) -> Parts {
    let mut totals = Parts::new();
    for part in parts {
        *totals.entry((part.position, part.kind)).or_default() += part.duration_ns.unwrap_or(0);
    }
    totals
}

/// Median of each part over instances; one that an instance does not have was 0 there.
fn usual(instances: impl Iterator<Item = Parts>) -> Parts {
    let mut values: BTreeMap<(u32, CauseKind), Vec<i64>> = BTreeMap::new();
    let mut count = 0;
    for parts in instances {
        parts.into_iter().for_each(|(part, ns)| values.entry(part).or_default().push(ns));
        count += 1;
    }
    if count < LEAST_FOR_USUAL {
        return Parts::new();
    }
    let median = |mut values: Vec<i64>| {
        values.resize(count, 0);
        values.sort_unstable();
        values[(count - 1) / 2]
    };
    values.into_iter().map(|(part, values)| (part, median(values))).collect()
}

struct Explainer<'a> {
    tracer: &'a Tracer<'a>,
    made_of: &'a MadeOf,
    preempted: &'a HashMap<u32, Vec<&'a Preemption>>,
    chain: u32,
}

impl Explainer<'_> {
    /// Everything that an instance consists of, in the order of time.
    fn parts(&self, instance: u32, last: &Hop) -> Vec<Cause> {
        let output = Output { execution: last.execution, time: last.output_ns };
        let Ok(Some(Trail { hops, waits, .. })) = self.tracer.follow(&self.made_of.path, &self.made_of.ties, output) else {
            return Vec::new();
        };
        let mut parts = Vec::new();
        for hop in hops.iter().rev() {
            if let Some(wait) = (hop.position > 0).then(|| waits.iter().rev().nth(hop.position as usize - 1)).flatten() {
                self.wait(wait, hop, &mut parts);
            }
            self.computation(hop, &mut parts);
        }
        parts.retain(|part| part.duration_ns != Some(0));
        parts.iter_mut().for_each(|part| part.instance = Some(instance));
        parts
    }

    fn part(&self, position: u32, kind: CauseKind, by: String, from_ns: Option<i64>, duration_ns: i64) -> Cause {
        Cause {
            chain: self.chain,
            instance: None,
            position,
            kind,
            by,
            execution: None,
            from_ns,
            duration_ns: Some(duration_ns),
            usual_ns: None,
            count: 1,
        }
    }

    fn wait(&self, wait: &Wait, hop: &Hop, parts: &mut Vec<Cause>) {
        let seen = self.tracer.seen;
        let path = &self.made_of.path;
        let topic = &seen.topics.names[path.topics[hop.position as usize - 1] as usize];
        let node = &seen.nodes[path.nodes[hop.position as usize] as usize].name;
        let split = &wait.split;
        let transport = match split.evidence {
            Arrival::Unknown => format!("{topic} (arrival not recorded: waiting for a wake-up is in it)"),
            _ => topic.clone(),
        };
        let published = split.arrival.map(|_| wait.published);
        parts.push(self.part(hop.position, CauseKind::Transport, transport, published, split.transport));
        let from = split.arrival.unwrap_or(wait.published);
        let busy = wait.stream.map_or(Vec::new(), |stream| self.tracer.busy.executions(seen, stream, from, wait.began));
        let mut by_callback: BTreeMap<u32, (u32, i64, i64)> = BTreeMap::new();
        for (execution, start, end) in busy {
            let row = by_callback.entry(seen.executions[execution as usize].callback).or_insert((execution, start, 0));
            row.2 += end - start;
        }
        for (callback, (execution, start, ns)) in by_callback {
            let by = callback_name(seen, callback);
            let row = self.part(hop.position, CauseKind::ExecutorBusy, by, Some(start), ns);
            parts.push(Cause { execution: Some(execution), ..row });
        }
        parts.push(self.part(hop.position, CauseKind::WakeUp, node.clone(), None, split.alignment));
        let kept_for = hop.execution.map_or(node.clone(), |e| callback_name(seen, seen.executions[e as usize].callback));
        parts.push(self.part(hop.position, CauseKind::Kept, kept_for, Some(wait.began), wait.start - wait.began));
    }

    fn computation(&self, hop: &Hop, parts: &mut Vec<Cause>) {
        let seen = self.tracer.seen;
        let node = self.made_of.path.nodes[hop.position as usize];
        let by = match hop.execution {
            Some(execution) => callback_name(seen, seen.executions[execution as usize].callback),
            None => seen.nodes[node as usize].name.clone(),
        };
        let mut off: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        for row in hop.execution.and_then(|e| self.preempted.get(&e)).into_iter().flatten() {
            let (from, to) = (row.from_ns.max(hop.start_ns), row.to_ns.min(hop.output_ns));
            if to > from {
                let who = row.by_comm.clone().unwrap_or_else(|| format!("CPU {} (who had it is not known)", row.cpu));
                off.entry(who).or_insert((from, 0)).1 += to - from;
            }
        }
        let taken: i64 = off.values().map(|(_, ns)| ns).sum();
        let row = self.part(hop.position, CauseKind::Computation, by, Some(hop.start_ns), hop.output_ns - hop.start_ns - taken);
        parts.push(Cause { execution: hop.execution, ..row });
        for (who, (from, ns)) in off {
            let row = self.part(hop.position, CauseKind::Preemption, who, Some(from), ns);
            parts.push(Cause { execution: hop.execution, ..row });
        }
    }

    /// Why inputs led to no output: one row a reason and place.
    fn lost(&self) -> Vec<Cause> {
        let path = &self.made_of.path;
        // Takes of each node on the path, by publication.
        let taken: Vec<HashMap<u32, u32>> = (1..path.nodes.len())
            .map(|i| {
                let takes = self.tracer.usage.takes(path.nodes[i], path.topics[i - 1]);
                takes.iter().filter_map(|t| Some((self.tracer.seen.takes[*t as usize].publication?, *t))).collect()
            })
            .collect();
        let mut traffic: HashMap<u32, (Vec<(i64, i64)>, Vec<i64>)> = HashMap::new();
        let mut reasons: BTreeMap<(u32, CauseKind, String), u64> = BTreeMap::new();
        for publication in &self.made_of.lost {
            *reasons.entry(self.end_of(*publication, &taken, &mut traffic)).or_default() += 1;
        }
        let row = |((position, kind, by), count)| Cause {
            duration_ns: None,
            count,
            ..self.part(position, kind, by, None, 0)
        };
        reasons.into_iter().map(row).collect()
    }

    /// Where the way of a publication of the first node ends.
    fn end_of(
        &self,
        mut publication: u32,
        taken: &[HashMap<u32, u32>],
        traffic: &mut HashMap<u32, (Vec<(i64, i64)>, Vec<i64>)>,
    ) -> (u32, CauseKind, String) {
        let (tracer, path) = (self.tracer, &self.made_of.path);
        let (seen, usage) = (tracer.seen, tracer.usage);
        for position in 1..path.nodes.len() {
            let (node, topic, tie) = (path.nodes[position], path.topics[position - 1], &self.made_of.ties[position - 1]);
            let ended = |kind, by| (position as u32, kind, by);
            let Some(take) = taken[position - 1].get(&publication) else {
                let (kind, by) = self.not_taken(publication, node, topic, traffic);
                return ended(kind, by);
            };
            let row = &seen.takes[*take as usize];
            let name = seen.nodes[node as usize].name.clone();
            let on_next = |p: &&u32| {
                let endpoint = seen.publications[**p as usize].endpoint.filter(|e| *e != INTERNAL);
                let endpoint = endpoint.map(|e| &seen.endpoints[e as usize]);
                endpoint.is_some_and(|e| e.node == node && path.topics.get(position).is_none_or(|t| e.topic == *t))
            };
            let next = match tie.rule {
                LinkRule::SameCallback => {
                    let by = row.execution.map_or(name, |e| callback_name(seen, seen.executions[e as usize].callback));
                    let published = row.execution.and_then(|e| usage.published_in(e).iter().rfind(on_next));
                    published.copied().ok_or((CauseKind::NoOutput, by))
                }
                _ => {
                    let takes = usage.takes(node, topic);
                    let younger = takes.get(takes.partition_point(|t| *t <= *take)).map(|t| seen.takes[*t as usize].time);
                    let time = |p: &u32| seen.publications[*p as usize].time;
                    let publishing = usage.publishing(node);
                    let after = publishing.partition_point(|e| usage.published_in(*e).first().is_some_and(|p| time(p) < row.time));
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
                Err((kind, by)) => return ended(kind, by),
            }
        }
        // Its output was made, and a later input of the same callback was followed instead.
        let last = path.nodes.len() - 1;
        (last as u32, CauseKind::Superseded, seen.nodes[path.nodes[last] as usize].name.clone())
    }

    fn not_taken(
        &self,
        publication: u32,
        node: u32,
        topic: u32,
        traffic: &mut HashMap<u32, (Vec<(i64, i64)>, Vec<i64>)>,
    ) -> (CauseKind, String) {
        let (seen, linked) = (self.tracer.seen, self.tracer.linked);
        let of = &linked.topics[topic as usize];
        let lost = (CauseKind::Lost, seen.topics.names[topic as usize].clone());
        let subscription = of.subscriptions.iter().find(|s| seen.endpoints[**s as usize].node == node);
        let Some((subscription, depth)) = subscription.and_then(|s| Some((*s, seen.endpoints[*s as usize].depth?))) else {
            return lost;
        };
        let (taken, published) = traffic.entry(subscription).or_insert_with(|| {
            let takes = self.tracer.usage.takes(node, topic).iter().map(|t| &seen.takes[*t as usize]);
            let own = takes.filter(|t| t.endpoint == subscription);
            let mut taken: Vec<(i64, i64)> =
                own.filter_map(|t| Some((seen.publications[t.publication? as usize].time, t.time))).collect();
            taken.sort_unstable();
            (taken, of.publications.iter().map(|p| seen.publications[*p as usize].time).collect())
        });
        let since = published_before_next_take(&Traffic { taken, published }, seen.publications[publication as usize].time);
        match since {
            Some(since) if since >= depth => (CauseKind::Overwritten, format!("queue of depth {depth} of {}", seen.nodes[node as usize].name)),
            _ => lost,
        }
    }
}

/// A callback as a reader knows it: `/fusion timer 100 ms`, `/ndt /points`, with the node so that components of one process
/// are told apart.
fn callback_name(seen: &crate::observed::Observed, callback: u32) -> String {
    let row: &Callback = &seen.callbacks[callback as usize];
    let node = match row.node {
        Some(node) => seen.nodes[node as usize].name.clone(),
        None => format!("process {}", seen.processes[row.process as usize].pid),
    };
    let what = match (&row.topic, row.period_ns, &row.symbol) {
        (Some(topic), _, _) => topic.clone(),
        (None, Some(period), _) => format!("timer {} ms", period as f64 / 1e6),
        (None, None, Some(symbol)) => symbol.clone(),
        (None, None, None) if row.kind == CallbackKind::Timer => "timer".into(),
        (None, None, None) => format!("callback {:#x}", row.address),
    };
    format!("{node} {what}")
}
