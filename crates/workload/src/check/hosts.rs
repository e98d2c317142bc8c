//! Checks where nodes run: hosts, and processes that nodes share.

use super::Check;
use crate::diagnostic::{did_you_mean, Report};
use crate::model::{Host, MICRO_HOST};

impl Check<'_> {
    /// In a workload with hosts, every node names one; in a workload without, no node does.
    pub(super) fn hosts(&self, report: &mut Report) {
        // The host `micro` only describes the link of boards.
        let hosts: Vec<&Host> = self.reading.workload.hosts.iter().filter(|host| host.name != MICRO_HOST).collect();
        let names = || hosts.iter().map(|host| host.name.as_str());
        let mut told = None;
        for (node, places) in self.nodes.iter().zip(&self.reading.nodes) {
            // All nodes of a generated topology have one place in the file.
            if node.is_on_board()
                || names().any(|host| host == node.host)
                || (hosts.is_empty() && node.host.is_empty())
                || told == Some(places.host)
            {
                continue;
            }
            told = Some(places.host);
            let one_of = || format!("one of {}", names().collect::<Vec<_>>().join(", "));
            if node.host.is_empty() {
                let message = format!("node `{}` is on no host", node.name);
                report.error("no-host", places.host, message, "a workload with `hosts`, and no `host` here", one_of());
                continue;
            }
            let expected = match (hosts.is_empty(), did_you_mean(&node.host, names())) {
                (true, _) => format!("no `host`, or hosts: {{{}: {{}}}} in the workload", node.host),
                (false, Some(meant)) => format!("{}; did you mean `{meant}`?", one_of()),
                (false, None) => one_of(),
            };
            report.error("unknown-host", places.host, "no such host", format!("`{}`", node.host), expected);
        }
    }

    /// A process runs on one host and uses one middleware.
    pub(super) fn processes(&self, report: &mut Report) {
        for (at, node) in self.nodes.iter().enumerate() {
            let Some(first) = self.nodes[..at].iter().find(|first| first.process == node.process) else { continue };
            let mut differs = |what: &str, here: String, there: String| {
                report.error(
                    "split-process",
                    self.reading.nodes[at].process,
                    format!("process `{}` has nodes of two {what}s", node.process),
                    format!("{here}, and {there} of `{}`", first.name),
                    format!("a process for each {what}"),
                );
            };
            if first.host != node.host {
                differs("host", format!("`{}`", node.host), format!("`{}`", first.host));
            }
            if first.middleware != node.middleware {
                let named = |of: &Option<(String, String)>| match of {
                    Some((plugin, transport)) => format!("`{plugin}` {transport}").trim_end().to_string(),
                    None => format!("`{}`", self.reading.workload.middleware),
                };
                differs("middleware", named(&node.middleware), named(&first.middleware));
            }
        }
    }
}
