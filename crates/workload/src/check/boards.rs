//! Rejects what a node on a board cannot do.

use super::Check;
use crate::diagnostic::Report;
use crate::model::{Executor, Node, Work};
use tacho_abi::Facts;

/// The middleware of boards.
const MIDDLEWARE: &str = "micro";

impl Check<'_> {
    pub(super) fn boards(&self, report: &mut Report) {
        for (index, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.is_on_board()) {
            let places = &self.reading.nodes[index];
            if node.work != Work::None {
                let message = format!(
                    "work of `{}` on a board: its time is an emulator's, in which CPU time says nothing",
                    node.name
                );
                report.error(
                    "work-on-board",
                    places.work,
                    message,
                    "`work` with `host: micro`",
                    "no `work`, or another host",
                );
            }
            if let Executor::Spin { .. } = node.executor {
                report.error(
                    "spin-on-board",
                    places.name,
                    format!("`{}` spins on a board", node.name),
                    "`spin` with `host: micro`",
                    "on: arrival, or on: timer 10 Hz",
                );
            }
            if let Some((plugin, _)) = node.middleware.as_ref().filter(|(plugin, _)| plugin != MIDDLEWARE) {
                report.error(
                    "middleware-on-board",
                    places.host,
                    format!("`{}` on a board", node.name),
                    format!("middleware `{plugin}`"),
                    "no `middleware`: a board speaks `micro`",
                );
            }
            let shares = |(other, of): (usize, &crate::model::Node)| other != index && of.process == node.process;
            if node.process != node.name || self.nodes.iter().enumerate().any(shares) {
                report.error(
                    "process-on-board",
                    places.process,
                    format!("`{}` in a process on a board", node.name),
                    format!("process `{}`", node.process),
                    "no `process`: a board has one node",
                );
            }
            self.peers_of_board(node, report);
        }
    }

    /// Rejects nodes that share a topic with a board if their middleware is not known to have the board's names and
    /// messages, those of ROS 2 on DDS.
    fn peers_of_board(&self, board: &Node, report: &mut Report) {
        let heard = Facts::all_in_this_tree().filter(|(_, facts)| facts.ros_on_dds).map(|(name, _)| name);
        let expected = format!("one of {}", heard.collect::<Vec<_>>().join(", "));
        let topics =
            |of: &Node, other: &Node| of.publishes.iter().any(|p| other.subscribes.iter().any(|s| s.topic == p.topic));
        for (peer, places) in self.nodes.iter().zip(&self.reading.nodes).filter(|(peer, _)| !peer.is_on_board()) {
            let plugin = peer.plugin(&self.reading.workload.middleware);
            if Facts::in_this_tree(plugin).ros_on_dds || !(topics(board, peer) || topics(peer, board)) {
                continue;
            }
            let message = format!(
                "`{}` shares a topic with the board `{}`, and `{plugin}` has other names and messages",
                peer.name, board.name
            );
            report.warning(
                "not-heard-on-board",
                places.name,
                message,
                format!("middleware `{plugin}`"),
                expected.clone(),
            );
        }
    }
}
