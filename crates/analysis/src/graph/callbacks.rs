//! What callbacks publish, and which callback people mean by a name.

use crate::observe::{Seen, Topic, INTERNAL};
use crate::stages::Ways;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeSet;
use tacho_tables::row::{rows_of, Row};
use tacho_tables::{Callback, CallbackKind, Node};
use tacho_workload::model::is_called;

/// Who publishes what in the callbacks of what.
#[derive(Default)]
pub(super) struct Callbacks {
    /// By callback, topics that are published in it.
    publishes: HashMap<Row<Callback>, BTreeSet<Row<Topic>>>,
    /// By node and topic that it takes, topics that are published in these callbacks.
    on_input: HashMap<(Row<Node>, Row<Topic>), BTreeSet<Row<Topic>>>,
    /// Topics that a node publishes in other callbacks than those of messages, or outside of any.
    begun: HashSet<(Row<Node>, Row<Topic>)>,
}

impl Callbacks {
    /// Of all publish calls of a run.
    pub fn of(seen: &Seen) -> Callbacks {
        let mut all = Callbacks::default();
        let numbers: HashMap<&str, Row<Topic>> =
            seen.topics.names.numbered().map(|(row, name)| (name.as_str(), row)).collect();
        let mut before = None;
        for publication in seen.publications.iter() {
            let Some(endpoint) = publication.endpoint.filter(|e| *e != INTERNAL) else { continue };
            let callback = publication.execution.map(|e| seen.executions[e].callback);
            if before.replace((endpoint, callback)) == Some((endpoint, callback)) {
                continue;
            }
            let (node, topic) = (seen.endpoints[endpoint].node, seen.endpoints[endpoint].topic);
            let of_message = callback.filter(|c| seen.callbacks[*c].kind == CallbackKind::Subscription);
            let input = of_message.and_then(|c| numbers.get(seen.callbacks[c].topic.as_deref()?));
            match input {
                Some(input) => drop(all.on_input.entry((node, *input)).or_default().insert(topic)),
                None => drop(all.begun.insert((node, topic))),
            }
            if let Some(callback) = callback {
                all.publishes.entry(callback).or_default().insert(topic);
            }
        }
        all
    }

    /// What a node publishes in the callbacks that take a topic.
    pub fn on_input(&self, node: Row<Node>, input: Row<Topic>) -> impl Iterator<Item = Row<Topic>> + '_ {
        self.on_input.get(&(node, input)).into_iter().flatten().copied()
    }

    /// Whether a node publishes a topic without a message that it took for it: on a timer, or outside of callbacks.
    pub fn begins(&self, node: Row<Node>, topic: Row<Topic>) -> bool {
        self.begun.contains(&(node, topic))
    }

    /// Whether a node publishes a topic in anything but the callbacks that take it.
    pub fn leads_to(&self, node: Row<Node>, topic: Row<Topic>) -> bool {
        let of_others = |((of, input), published): (&(Row<Node>, Row<Topic>), &BTreeSet<Row<Topic>>)| {
            *of == node && *input != topic && published.contains(&topic)
        };
        self.begins(node, topic) || self.on_input.iter().any(of_others)
    }

    /// The topic that callbacks of timers publish, if it is one. Its ties are those of an output that ends with them.
    pub fn only_output(&self, seen: &Ways, callbacks: &[Row<Callback>]) -> Option<Row<Topic>> {
        let takes = |c: &Row<Callback>| seen.callbacks[*c].kind == CallbackKind::Subscription;
        let published = callbacks.iter().filter_map(|c| self.publishes.get(c)).flatten();
        let mut topics = published.copied().filter(|topic| !seen.legs.is_leg(*topic));
        let first = topics.next().filter(|_| !callbacks.iter().any(takes))?;
        topics.all(|topic| topic == first).then_some(first)
    }

    /// Whether one of these callbacks publishes a topic.
    pub fn publish(&self, callbacks: &[Row<Callback>], topic: Row<Topic>) -> bool {
        callbacks.iter().any(|c| self.publishes.get(c).is_some_and(|topics| topics.contains(&topic)))
    }
}

/// Callbacks of nodes that have this name: as `tacho explain` prints it, or a part of that which says enough: node and
/// trigger (`/planner timer 100 ms`), function (`Planner.reload_map`, `reload_map`), file and line (`planner.py:42`);
/// the latter two with the node before them, too.
pub(super) fn of_name(seen: &Seen, name: &str) -> Vec<Row<Callback>> {
    let is_it = |row: &Row<Callback>| {
        let callback = &seen.callbacks[*row];
        let Some(node) = callback.node else { return false };
        let words = callback.name(&seen.nodes, &seen.processes);
        let of_function = |name: &str| {
            let function = words.function();
            let ends = function.and_then(|f| f.strip_suffix(name)).is_some_and(|f| f.ends_with(['.', ':']));
            function == Some(name)
                || ends
                || words.place() == Some(name)
                || callback.location.as_deref() == Some(name)
                || words.function_and_place().as_deref() == Some(name)
        };
        let trigger = words.what();
        let of_node = |(node_name, rest): (&str, &str)| {
            let whole = rest.strip_prefix(trigger.as_str()).and_then(|rest| rest.strip_prefix(' '));
            let is_node = is_called(&seen.nodes[node].name, node_name);
            is_node && (rest == trigger || of_function(rest) || whole.is_some_and(of_function))
        };
        of_function(name) || name.split_once(' ').is_some_and(of_node)
    };
    rows_of(&seen.callbacks).filter(is_it).collect()
}
