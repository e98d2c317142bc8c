//! Callback groups of a node.

use super::Maker;
use std::collections::BTreeMap;
use tacho_tables::row::Row;
use tacho_tables::Callback;
use tacho_workload::model::{Node, Own};

impl Maker<'_> {
    /// A name for the group of a callback, if it is known. A reentrant group has one for each of its callbacks: the
    /// twin does not run a callback beside itself.
    pub(super) fn group(&self, row: Row<Callback>) -> Option<String> {
        let callback = &self.tables.callbacks[row];
        let group = callback.callback_group?;
        Some(match callback.reentrant {
            Some(true) => format!("group_{group}_{}", row.index()),
            _ => format!("group_{group}"),
        })
    }
}

/// Settles the groups of a node: none if all its callbacks exclude each other, one for all that publish a topic, and no
/// name for that with the most callbacks. Returns topics whose publishing callbacks had several.
pub(super) fn settle(node: &mut Node) -> Vec<String> {
    if node.threads.is_none() || node.matching.is_some() {
        owns(node).for_each(|own| own.group = None);
        return Vec::new();
    }
    let mut merged = Vec::new();
    for at in 0..node.publishes.len() {
        let groups: Vec<Option<String>> =
            node.groups_of(&node.publishes[at]).into_iter().map(|of| of.map(str::to_owned)).collect();
        if let [first, others @ ..] = groups.as_slice() {
            if !others.is_empty() {
                merged.push(node.publishes[at].topic.clone());
                owns(node).filter(|own| others.contains(&own.group)).for_each(|own| own.group.clone_from(first));
            }
        }
    }
    let mut counts: BTreeMap<Option<String>, usize> = BTreeMap::new();
    owns(node).for_each(|own| *counts.entry(own.group.clone()).or_default() += 1);
    // Callbacks without a group are of the node's own already.
    if !counts.contains_key(&None) {
        // Of two as large, the one that was made first.
        let most = counts.iter().rev().max_by_key(|(_, count)| **count).and_then(|(group, _)| group.clone());
        owns(node).filter(|own| own.group == most).for_each(|own| own.group = None);
    }
    merged
}

/// What each callback of a node has of its own.
fn owns(node: &mut Node) -> impl Iterator<Item = &mut Own> {
    let rated = node.publishes.iter_mut().filter(|p| p.rate_hz.is_some()).map(|p| &mut p.own);
    let inputs = node.subscribes.iter_mut().map(|s| &mut s.own);
    inputs.chain(rated).chain(node.timers.iter_mut().map(|timer| &mut timer.own))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(groups: &str) -> Node {
        let text = format!(
            "nodes:\n  a: {{publishes: {{/a: {{rate: 1 Hz}}, /b: {{rate: 1 Hz}}, /c: {{rate: 1 Hz}}}}}}\n  \
             n: {{thread: t, threads: 2, {groups}}}\n  z: {{thread: t, process: n, subscribes: [/x]}}\n"
        );
        let (workload, _) = tacho_workload::parse(&text, "w.yaml").unwrap_or_else(|errors| panic!("{errors}"));
        workload.node("n").expect("the node").clone()
    }

    fn groups(node: &mut Node) -> Vec<Option<String>> {
        owns(node).map(|own| own.group.clone()).collect()
    }

    #[test]
    fn the_largest_group_is_the_node_s_own() {
        let mut of = node(
            "process: n, subscribes: {/a: {group: g1}, /b: {group: g2}, /c: {group: g2}}, publishes: {/x: {from: /a}}",
        );
        assert!(settle(&mut of).is_empty());
        assert_eq!(groups(&mut of), [Some("g1".into()), None, None]);
    }

    #[test]
    fn callbacks_that_publish_one_topic_come_into_one_group() {
        let mut of =
            node("process: n, subscribes: {/a: {group: g1}, /b: {group: g2}, /c: }, publishes: {/x: {from: /a}}");
        of.publishes[0].from.clear();
        of.publishes[0].from.extend(["/a", "/b"].map(tacho_workload::model::Cause::always));
        assert_eq!(settle(&mut of), ["/x"]);
        assert_eq!(groups(&mut of), [Some("g1".into()), Some("g1".into()), None]);
    }

    #[test]
    fn on_one_thread_groups_are_nothing() {
        let mut of = node("process: n, subscribes: {/a: {group: g1}, /b: {group: g2}}, publishes: {/x: {from: /a}}");
        of.threads = None;
        settle(&mut of);
        assert_eq!(groups(&mut of), [None, None]);
    }
}
