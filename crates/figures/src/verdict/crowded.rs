//! A thread that so many callbacks share that outputs mostly wait for it, though none of them takes long.

use super::callback::{full_name, Named};
use super::late::{number_of, Late};
use super::{advice, count, ms, Suspect};
use crate::figures::Repeat;
use std::collections::BTreeMap;
use tacho_tables::row::Row;
use tacho_tables::summary::Culprit;
use tacho_tables::{Callback, CauseKind, Instance, Process};

/// Part of the time of outputs that is the wait for one thread.
const WAITING: f64 = 0.4;
/// Part of its time that a thread is inside callbacks: beyond it waiting grows without bound (queueing theory's knee).
const FULL: f64 = 0.8;
/// A callback with this part of what its thread does is a culprit by itself, and named elsewhere.
const ONE: f64 = 0.5;
/// Callbacks that are named.
const NAMED: usize = 3;
/// A full thread is a fault even if outputs wait little for it so far.
const WEIGHT_OF_FULL: f64 = 0.2;

pub(super) fn suspect(late: &Late<'_>) -> Option<Suspect> {
    // Each instance has its parts beside each other.
    let mut of_instances: BTreeMap<(usize, Row<Instance>), &Repeat<'_>> = BTreeMap::new();
    let mut waits: BTreeMap<(usize, Row<Process>, u32), (i64, &Repeat<'_>)> = BTreeMap::new();
    for (repeat, cause) in &late.told {
        let number = number_of(repeat);
        of_instances.extend(cause.instance.map(|instance| ((number, instance), *repeat)));
        let (CauseKind::ExecutorBusy, Some(execution), Some(ns)) =
            (cause.kind, cause.execution, cause.duration_ns.get())
        else {
            continue;
        };
        let by = &repeat.tables.executions[execution];
        let process = repeat.tables.callbacks[by.callback].process;
        waits.entry((number, process, by.tid)).or_insert((0, repeat)).0 += ns;
    }
    let whole: i64 =
        of_instances.iter().map(|((_, instance), repeat)| repeat.tables.instances[*instance].end_to_end_ns).sum();
    let alone = waits.into_iter().filter(|((_, process, tid), (_, of))| late.ran.load(of, *process, *tid).is_some());
    let ((_, process, tid), (waited, repeat)) = alone.max_by_key(|(_, (ns, _))| *ns)?;
    let share = waited as f64 / whole.max(1) as f64;
    let load = late.ran.load(repeat, process, tid)?;
    let full = load.busy_ns as f64 / load.over_ns.max(1) as f64;
    if share < WAITING || full < FULL || load.callbacks[0].1 as f64 >= ONE * load.busy_ns as f64 {
        return None;
    }
    let tables = repeat.tables;
    let name = |callback: Row<Callback>| {
        let name = tables.callbacks[callback].name(&tables.nodes, &tables.processes);
        format!("{} {}", name.node(), name.what())
    };
    let named: Vec<String> = load.callbacks.iter().take(NAMED).map(|(callback, _)| name(*callback)).collect();
    let pid = tables.processes[process].pid;
    let usual = share * late.median_ms;
    let text = format!(
        "Outputs wait {:.0} % of their time, usually {}, for one thread: thread {tid} of process {pid} is {:.0} % busy \
         with {} of {}, most with {}.",
        100.0 * share,
        ms(usual),
        100.0 * full,
        count(load.callbacks.len() as u64, "callback", "callbacks"),
        count(load.nodes as u64, "node", "nodes"),
        named.join(", ")
    );
    let next = if load.callbacks.iter().any(|(callback, _)| tables.callbacks[*callback].is_python()) {
        "Spread them: the nodes of this chain in a process of their own, because threads of one Python process compute \
         in turn."
    } else {
        "Spread them: a multi-threaded executor with callback groups, or the nodes of this chain in a process of their \
         own."
    };
    let next = next.to_owned();
    let culprit = Culprit {
        kind: Some(CauseKind::ExecutorBusy),
        node: tables.callbacks[load.callbacks[0].0].node.map(|node| tables.nodes[node].name.clone()),
        share_percent: Some(100.0 * share),
        instances: of_instances.len() as u64,
        text,
        next,
        worst_without_ms: Some((1.0 - share) * late.worst_ms),
        ..Culprit::default()
    };
    Some(Suspect { culprit, weight: share })
}

/// A callback that has most of the time of a full thread, for which outputs of a chain wait now and then.
pub(super) fn full(late: &Late<'_>, known: &[Suspect]) -> Option<Suspect> {
    let waits = late.told.iter().filter(|(_, cause)| cause.kind == CauseKind::ExecutorBusy);
    let threads: BTreeMap<(usize, Row<Process>, u32), (u32, &Repeat<'_>)> = waits
        .filter_map(|(repeat, cause)| {
            let by = &repeat.tables.executions[cause.execution?];
            let process = repeat.tables.callbacks[by.callback].process;
            Some(((number_of(repeat), process, by.tid), (cause.position, *repeat)))
        })
        .collect();
    let full = threads.into_iter().filter_map(|((_, process, tid), (position, repeat))| {
        let load = late.ran.load(repeat, process, tid)?;
        let (most, most_ns) = load.callbacks[0];
        let full = load.busy_ns as f64 / load.over_ns.max(1) as f64;
        let share = most_ns as f64 / load.busy_ns.max(1) as f64;
        if full < FULL || share < ONE || load.callbacks.len() < 2 {
            return None;
        }
        let (named, name) = (Named::of_callback(repeat, most), full_name(repeat, most));
        let node = named.node.clone().unwrap_or_else(|| late.node(position).to_owned());
        if known.iter().any(|suspect| suspect.culprit.callback.as_ref() == Some(&name)) {
            return None;
        }
        let calls = late.ran.executions(repeat, most).count();
        let wall_ms = most_ns as f64 / 1e6 / calls.max(1) as f64;
        let took = advice::Took { wall_ms, ..advice::Took::default() };
        let culprit = Culprit {
            kind: Some(CauseKind::ExecutorBusy),
            text: format!(
                "The executor of {node} is busy {:.0} % of the time, {:.0} % of that with {} ({} calls of {} each): \
                 all else that its thread runs waits.",
                100.0 * full,
                100.0 * share,
                named.words(&name),
                calls,
                ms(wall_ms)
            ),
            next: advice::of_callback(late, CauseKind::ExecutorBusy, (&named, &name), &took),
            node: Some(node),
            callback: Some(name),
            function: named.function,
            location: named.location,
            topic: named.topic,
            ..Culprit::default()
        };
        Some((most_ns, Suspect { culprit, weight: WEIGHT_OF_FULL }))
    });
    // Of several, not by the order of processes.
    let most =
        full.max_by(|(ns, one), (other_ns, other)| (ns, &one.culprit.text).cmp(&(other_ns, &other.culprit.text)));
    most.map(|(_, suspect)| suspect)
}
