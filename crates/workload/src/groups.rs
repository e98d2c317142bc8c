//! Callback groups: callbacks of a node that exclude each other, and those that exclude none.

use crate::model::{Node, Publication, MOST_THREADS};

/// The name of the group whose callbacks run beside each other and beside themselves, as rclcpp's reentrant group.
pub const REENTRANT: &str = "reentrant";

/// The callbacks of one group of a node.
#[derive(Debug, Clone, PartialEq)]
pub struct CallbackGroup {
    /// A node of the same name that has these callbacks alone, and what they publish.
    pub node: Node,
    /// Its subscriptions, by their index in the node.
    pub inputs: Vec<usize>,
    /// Its publications, by their index in the node.
    pub outputs: Vec<usize>,
}

impl Node {
    /// The groups of its callbacks, each once; `None` is the node's own. At least one.
    fn groups(&self) -> Vec<Option<&str>> {
        let inputs = self.subscribes.iter().map(|s| &s.own);
        let rated = self.publishes.iter().filter(|p| p.rate_hz.is_some()).map(|p| &p.own);
        let all = inputs.chain(rated).chain(self.timers.iter().map(|t| &t.own)).map(|own| own.group.as_deref());
        let groups = each_once(all);
        if groups.is_empty() {
            vec![None]
        } else {
            groups
        }
    }

    /// The groups of the callbacks that publish a topic, each once.
    pub fn groups_of<'a>(&'a self, publication: &'a Publication) -> Vec<Option<&'a str>> {
        if publication.rate_hz.is_some() {
            return vec![publication.own.group.as_deref()];
        }
        let is_cause = |name: &str| publication.from.iter().any(|cause| cause.name == name);
        let inputs = self.subscribes.iter().filter(|s| match publication.from.as_slice() {
            [] => !s.latest,
            _ => is_cause(&s.topic),
        });
        let timers = self.timers.iter().filter(|timer| is_cause(&timer.name));
        each_once(inputs.map(|s| &s.own).chain(timers.map(|t| &t.own)).map(|own| own.group.as_deref()))
    }

    /// Its callbacks by group; the node itself if all are of one.
    pub fn callback_groups(&self) -> Vec<CallbackGroup> {
        let groups = self.groups();
        if groups.len() == 1 {
            let (inputs, outputs) = ((0..self.subscribes.len()).collect(), (0..self.publishes.len()).collect());
            return vec![CallbackGroup { node: self.clone(), inputs, outputs }];
        }
        // What no callback publishes belongs to the first.
        let home = |publication| self.groups_of(publication).first().copied().unwrap_or(groups[0]);
        let of_group = |group: &Option<&str>| {
            let is_own = |of: &Option<String>| of.as_deref() == *group;
            let inputs: Vec<usize> =
                (0..self.subscribes.len()).filter(|at| is_own(&self.subscribes[*at].own.group)).collect();
            let outputs: Vec<usize> =
                (0..self.publishes.len()).filter(|at| home(&self.publishes[*at]) == *group).collect();
            let node = Node {
                subscribes: inputs.iter().map(|at| self.subscribes[*at].clone()).collect(),
                publishes: outputs.iter().map(|at| self.publishes[*at].clone()).collect(),
                timers: self.timers.iter().filter(|timer| is_own(&timer.own.group)).cloned().collect(),
                ..self.clone()
            };
            CallbackGroup { node, inputs, outputs }
        };
        groups.iter().map(of_group).collect()
    }

    /// Whether all its callbacks are of the reentrant group.
    pub fn is_reentrant(&self) -> bool {
        self.groups() == [Some(REENTRANT)]
    }

    /// How many of its callbacks several threads run beside each other at most: one of each group, and any number of
    /// the reentrant one.
    pub fn at_once(&self) -> usize {
        let groups = self.groups();
        if groups.contains(&Some(REENTRANT)) {
            MOST_THREADS
        } else {
            groups.len()
        }
    }
}

fn each_once<'a>(groups: impl Iterator<Item = Option<&'a str>>) -> Vec<Option<&'a str>> {
    let mut each: Vec<Option<&str>> = Vec::new();
    for group in groups {
        if !each.contains(&group) {
            each.push(group);
        }
    }
    each
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(text: &str) -> Node {
        let text = format!(
            "nodes:\n  a: {{publishes: {{/a: {{rate: 1 Hz}}, /b: {{rate: 1 Hz}}}}}}\n  n: {text}\n  \
             m: {{publishes: {{/x: {{rate: 1 Hz}}, /y: {{rate: 1 Hz}}, /t: {{rate: 1 Hz}}}}}}\n  \
             z: {{subscribes: [/x, /y, /t]}}\n"
        );
        let (workload, _) = crate::parse(&text, "w.yaml").unwrap_or_else(|errors| panic!("{errors}"));
        workload.node("n").unwrap().clone()
    }

    #[test]
    fn each_group_has_its_callbacks_and_what_they_publish() {
        let node = node(
            "{subscribes: {/a: {group: slow}, /b: }, timers: {tick: {rate: 2 Hz, group: slow}}, \
             publishes: {/x: {from: [/a, tick]}, /y: {from: /b}, /t: {rate: 1 Hz, group: third}}}",
        );
        let groups = node.callback_groups();
        let topics = |of: &CallbackGroup| of.node.publishes.iter().map(|p| p.topic.clone()).collect::<Vec<_>>();
        assert_eq!(groups.iter().map(topics).collect::<Vec<_>>(), [vec!["/x"], vec!["/y"], vec!["/t"]]);
        assert_eq!((groups[0].inputs.clone(), groups[0].node.timers.len()), (vec![0], 1));
        assert_eq!(
            (groups[1].inputs.clone(), groups[1].outputs.clone(), groups[1].node.timers.len()),
            (vec![1], vec![1], 0)
        );
        assert!(groups.iter().all(|of| of.node.name == "n"));
    }

    #[test]
    fn callbacks_of_a_reentrant_group_publish_together_and_the_node_runs_beside_itself() {
        let of = |more: &str| {
            node(&format!(
                "{{subscribes: {{/a: {{group: reentrant}}, /b: {{group: reentrant}}}}, publishes: [/x]{more}}}"
            ))
        };
        let all = of("");
        assert!(all.is_reentrant() && all.at_once() == MOST_THREADS);
        assert_eq!(all.callback_groups()[0].node, all);
        let with_own = of(", timers: {tick: {rate: 1 Hz}}");
        let of_groups: Vec<_> =
            with_own.callback_groups().iter().map(|of| (of.node.is_reentrant(), of.outputs.len())).collect();
        assert_eq!(of_groups, [(true, 1), (false, 0)]);
        assert_eq!(node("{subscribes: {/a: {group: g}, /b: {group: g}}}").at_once(), 1);
    }

    #[test]
    fn a_node_of_one_group_is_as_it_is() {
        for text in ["{subscribes: [/a, /b], publishes: [/x]}", "{subscribes: {/a: {group: g}, /b: {group: g}}}"] {
            let node = node(text);
            assert_eq!(node.callback_groups().len(), 1);
            assert_eq!(node.callback_groups()[0].node, node);
        }
    }
}
