//! What a node on a board cannot do.

use super::Check;
use crate::diagnostic::Report;
use crate::model::{Executor, Work};

/// The middleware of boards.
const MIDDLEWARE: &str = "micro";

impl Check<'_> {
    pub(super) fn boards(&self, report: &mut Report) {
        for (index, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.is_on_board()) {
            let places = &self.reading.nodes[index];
            if node.work != Work::None {
                let message = format!("work of `{}` on a board: its time is an emulator's, in which CPU time says nothing", node.name);
                report.error("work-on-board", places.work, message, "`work` with `host: micro`", "no `work`, or another host");
            }
            if let Executor::Spin { .. } = node.executor {
                report.error("spin-on-board", places.name, format!("`{}` spins on a board", node.name), "`spin` with `host: micro`", "on: arrival, or on: timer 10 Hz");
            }
            if let Some((plugin, _)) = node.middleware.as_ref().filter(|(plugin, _)| plugin != MIDDLEWARE) {
                report.error("middleware-on-board", places.host, format!("`{}` on a board", node.name), format!("middleware `{plugin}`"), "no `middleware`: a board speaks `micro`");
            }
            let shares = |(other, of): (usize, &crate::model::Node)| other != index && of.process == node.process;
            if node.process != node.name || self.nodes.iter().enumerate().any(shares) {
                report.error("process-on-board", places.process, format!("`{}` in a process on a board", node.name), format!("process `{}`", node.process), "no `process`: a board has one node");
            }
        }
    }
}
