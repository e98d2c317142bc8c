//! Checks callback groups.

use super::Check;
use crate::diagnostic::Report;
use crate::model::{Executor, Work};

impl Check<'_> {
    /// A group needs callbacks that can run beside others, and what a node publishes is made in one group.
    pub(super) fn groups(&self, at: usize, report: &mut Report) {
        let (node, places) = (&self.nodes[at], &self.reading.nodes[at]);
        let against = match node.executor {
            Executor::Spin { .. } => Some("`spin`"),
            Executor::Timer { .. } => Some("`on: timer`"),
            Executor::Arrival if matches!(node.work, Work::Task { .. }) => Some("a task"),
            Executor::Arrival => node.matching.as_ref().map(|_| "`on: match`"),
        };
        let of_inputs = node.subscribes.iter().map(|s| &s.own).zip(&places.subscribes);
        let of_outputs = node.publishes.iter().map(|p| &p.own).zip(&places.publishes);
        let of_timers = node.timers.iter().map(|t| &t.own).zip(&places.timers);
        for (own, &span) in of_inputs.chain(of_outputs).chain(of_timers) {
            if let (Some(group), Some(against)) = (&own.group, against) {
                let message = format!("the callbacks of `{}` run one at a time", node.name);
                let found = format!("`group: {group}` and {against}");
                report.error("group-alone", span, message, found, "no `group`, or `on: arrival` and a time as `work`");
            }
        }
        for (publication, &span) in node.publishes.iter().zip(&places.publishes) {
            match (&publication.own.group, publication.rate_hz) {
                (Some(group), None) => {
                    let message = format!("no timer of `{}` publishes `{}`", node.name, publication.topic);
                    let expected = "a rate, or `group` on the input or timer that it is `from`";
                    report.error("group-alone", span, message, format!("`group: {group}` without a rate"), expected);
                }
                (_, Some(_)) => {}
                (None, None) => {
                    let groups = node.groups_of(publication);
                    if groups.len() > 1 {
                        let named = |of: &Option<&str>| of.map_or("the node's own".into(), |of| format!("`{of}`"));
                        let found = groups.iter().map(named).collect::<Vec<_>>().join(" and ");
                        let (name, topic) = (&node.name, &publication.topic);
                        let message = format!("callbacks of several groups of `{name}` publish `{topic}`");
                        let expected = "one group for all callbacks that publish a topic; `from` names them";
                        report.error("split-output", span, message, found, expected);
                    }
                }
            }
        }
    }
}
