//! Checks nodes that make sets of their inputs.

use super::Check;
use crate::diagnostic::Report;

/// Their nodes have no filter of ours.
const WITHOUT: [&str; 3] = ["rclcpp", "rclpy", "micro"];

impl Check<'_> {
    pub(super) fn matching(&self, report: &mut Report) {
        for (node, places) in self.nodes.iter().zip(&self.reading.nodes) {
            let Some(matching) = node.matching.as_ref().filter(|_| places.whole) else { continue };
            let inputs: Vec<&str> = node.subscribes.iter().filter(|s| !s.latest).map(|s| s.topic.as_str()).collect();
            if inputs.len() < 2 {
                report.error(
                    "nothing-to-match",
                    places.name,
                    format!("`{}` has nothing to match", node.name),
                    format!("{} inputs that are not `latest`", inputs.len()),
                    "at least two inputs, or `on: arrival`",
                );
            }
            for (topic, _) in matching.lower_bounds.iter().filter(|(topic, _)| !inputs.contains(&topic.as_str())) {
                report.error(
                    "unknown-input",
                    places.name,
                    format!("`{}` does not match messages of `{topic}`", node.name),
                    format!("a lower bound of `{topic}`"),
                    format!("one of {}", inputs.join(", ")),
                );
            }
            let plugin = node.plugin(&self.reading.workload.middleware);
            if node.is_on_board() || WITHOUT.contains(&plugin) {
                let plugin = if node.is_on_board() { "host: micro" } else { plugin };
                report.error(
                    "match-unsupported",
                    places.name,
                    format!("`{}` runs on {plugin}, whose nodes do not match their inputs", node.name),
                    format!("`on: match` with {plugin}"),
                    "a middleware plugin, such as ros2",
                );
            }
        }
    }
}
