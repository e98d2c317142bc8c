//! Finds the callback that ran while messages of a subscription were overwritten.

use super::callback::{full_name, Named};
use crate::figures::Repeat;
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::row::Row;
use tacho_tables::{Callback, Delivery, Endpoint, EndpointKind, Execution};

/// Part of the messages that went missing while one callback ran, from which on it is to blame.
const HELD: f64 = 0.5;

pub(super) struct Holder<'a> {
    pub repeat: &'a Repeat<'a>,
    pub callback: Row<Callback>,
    pub named: Named,
    pub name: String,
    pub longest_ms: f64,
    /// Its executions in which messages went missing.
    pub during: BTreeSet<Row<Execution>>,
}

impl<'a> Holder<'a> {
    /// Of the subscription of a node, by the repeat with losses that comes first; `None` if its callback ran on several
    /// threads, or no single callback ran during most losses.
    pub fn of(repeats: &'a [Repeat<'a>], node: &str, topic: &str) -> Option<Holder<'a>> {
        repeats.iter().find_map(|repeat| holder(repeat, node, topic))
    }
}

fn holder<'a>(repeat: &'a Repeat<'a>, node: &str, topic: &str) -> Option<Holder<'a>> {
    let tables = repeat.tables;
    let is_own = |endpoint: Row<Endpoint>| {
        let endpoint = &tables.endpoints[endpoint];
        endpoint.kind == EndpointKind::Subscription
            && endpoint.topic == topic
            && tables.nodes[endpoint.node].name == node
    };
    let lost =
        tables.messages.iter().filter(|message| message.delivery == Delivery::Lost && is_own(message.subscription));
    let lost: Vec<i64> = lost.filter_map(|message| message.publish_ns.get()).collect();
    let thread = |execution: &Execution| (tables.callbacks[execution.callback].process, execution.tid);
    let takes = tables.messages.iter().filter(|message| is_own(message.subscription));
    let threads: BTreeSet<_> =
        takes.filter_map(|message| message.execution).map(|row| thread(&tables.executions[row])).collect();
    let [own] = threads.into_iter().collect::<Vec<_>>()[..] else { return None };
    let mut ran: Vec<(i64, i64, Row<Execution>)> = tables
        .executions
        .numbered()
        .filter(|(_, execution)| thread(execution) == own)
        .filter_map(|(row, execution)| Some((execution.start_ns, execution.end_ns.get()?, row)))
        .collect();
    ran.sort_unstable_by_key(|(start, ..)| *start);
    let mut during: BTreeMap<Row<Callback>, (usize, BTreeSet<Row<Execution>>)> = BTreeMap::new();
    for at in &lost {
        let last = ran[..ran.partition_point(|(start, ..)| start <= at)].last();
        if let Some((.., row)) = last.filter(|(_, end, _)| at < end) {
            let (count, executions) = during.entry(tables.executions[*row].callback).or_default();
            *count += 1;
            executions.insert(*row);
        }
    }
    let (callback, (count, during)) = during.into_iter().max_by_key(|(_, (count, _))| *count)?;
    let times =
        ran.iter().filter(|(.., row)| tables.executions[*row].callback == callback).map(|(from, to, _)| to - from);
    let longest_ms = times.max()? as f64 / 1e6;
    (count as f64 >= HELD * lost.len() as f64).then(|| Holder {
        repeat,
        callback,
        named: Named::of_callback(repeat, callback),
        name: full_name(repeat, callback),
        longest_ms,
        during,
    })
}
