//! Callback groups of a node.

use super::Maker;
use std::collections::BTreeMap;
use tacho_tables::row::Row;
use tacho_tables::Callback;
use tacho_workload::groups::REENTRANT;
use tacho_workload::model::{Node, Own, Publication};

impl Maker<'_> {
    /// A name for the group of a callback, if it is known. Reentrant groups of a node are one: their callbacks exclude
    /// none.
    pub(super) fn group(&self, row: Row<Callback>) -> Option<String> {
        let callback = &self.tables.callbacks[row];
        let group = callback.callback_group?;
        Some(match callback.reentrant {
            Some(true) => REENTRANT.into(),
            _ => format!("group_{group}"),
        })
    }
}

/// Settles the groups of a node: none if all its callbacks exclude each other, one for all that publish a topic, and no
/// name for that with the most callbacks that exclude each other. Returns topics whose publishing callbacks had
/// several.
pub(super) fn settle(node: &mut Node) -> Vec<String> {
    if node.threads.is_none() || node.matching.is_some() {
        owns(node).for_each(|(_, own)| own.group = None);
        return Vec::new();
    }
    let mut merged = Vec::new();
    for at in 0..node.publishes.len() {
        let publication = node.publishes[at].clone();
        let groups: Vec<Option<String>> =
            node.groups_of(&publication).into_iter().map(|of| of.map(str::to_owned)).collect();
        if groups.len() > 1 {
            merge(node, &publication, &groups);
            merged.push(publication.topic);
        }
    }
    let mut counts: BTreeMap<Option<String>, usize> = BTreeMap::new();
    owns(node).for_each(|(_, own)| *counts.entry(own.group.clone()).or_default() += 1);
    // Callbacks without a group are of the node's own already.
    if !counts.contains_key(&None) {
        // Of two as large, the one that was made first.
        let exclusive = counts.iter().rev().filter(|(group, _)| !is_reentrant(group));
        if let Some((most, _)) = exclusive.max_by_key(|(_, count)| **count) {
            owns(node).filter(|(_, own)| own.group == *most).for_each(|(_, own)| own.group = None);
        }
    }
    merged
}

/// Makes one of the groups whose callbacks publish a topic. It is one that excludes: of the reentrant callbacks, only
/// those that publish the topic come into it.
fn merge(node: &mut Node, publication: &Publication, groups: &[Option<String>]) {
    let Some(one) = groups.iter().find(|group| !is_reentrant(group)) else { return };
    let latest: Vec<String> = node.subscribes.iter().filter(|s| s.latest).map(|s| s.topic.clone()).collect();
    let publishes = |name: &str| match publication.from.as_slice() {
        [] => !name.is_empty() && !latest.iter().any(|topic| topic == name),
        from => from.iter().any(|cause| cause.name == name),
    };
    let comes = |name: &str, own: &Own| groups.contains(&own.group) && (!is_reentrant(&own.group) || publishes(name));
    owns(node).filter(|(name, own)| comes(name, own)).for_each(|(_, own)| own.group.clone_from(one));
}

fn is_reentrant(group: &Option<String>) -> bool {
    group.as_deref() == Some(REENTRANT)
}

/// What each callback of a node has of its own, with the name by which a publication is `from` it; empty of the timer
/// of a publication.
fn owns(node: &mut Node) -> impl Iterator<Item = (&str, &mut Own)> {
    let rated = node.publishes.iter_mut().filter(|p| p.rate_hz.is_some()).map(|p| ("", &mut p.own));
    let inputs = node.subscribes.iter_mut().map(|s| (s.topic.as_str(), &mut s.own));
    inputs.chain(rated).chain(node.timers.iter_mut().map(|timer| (timer.name.as_str(), &mut timer.own)))
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
        owns(node).map(|(_, own)| own.group.clone()).collect()
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
    fn reentrant_callbacks_keep_to_their_group_unless_others_publish_with_them() {
        let text = "process: n, subscribes: {/a: {group: reentrant}, /b: {group: reentrant}, /c: {group: g}}, \
                    publishes: {/x: {from: /a}}";
        let mut of = node(text);
        assert!(settle(&mut of).is_empty());
        assert_eq!(groups(&mut of), [Some("reentrant".into()), Some("reentrant".into()), None]);
        of = node(text);
        of.publishes[0].from.push(tacho_workload::model::Cause::always("/c"));
        assert_eq!(settle(&mut of), ["/x"]);
        assert_eq!(groups(&mut of), [None, Some("reentrant".into()), None]);
    }

    #[test]
    fn on_one_thread_groups_are_nothing() {
        let mut of = node("process: n, subscribes: {/a: {group: g1}, /b: {group: g2}}, publishes: {/x: {from: /a}}");
        of.threads = None;
        settle(&mut of);
        assert_eq!(groups(&mut of), [None, None]);
    }
}
