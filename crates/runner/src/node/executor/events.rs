//! Nodes of one thread, whose callbacks run in the order in which their messages and timers came, as on an events
//! executor of rclcpp or rclpy.

use super::arrival::{Timed, Waiting};
use super::NodeExecutor;
use crate::node::failure::Failure;
use crate::node::signal::Arrivals;
use tacho_recording::clock::monotonic_ns;

impl NodeExecutor {
    /// Runs the callback of what came first, one at a time.
    pub(super) fn on_events(
        nodes: &mut [NodeExecutor],
        start_ns: i64,
        arrivals: &Arrivals,
    ) -> Result<(), (String, Failure)> {
        let mut timed = Timed::of(nodes, start_ns);
        let mut waiting = Waiting::of(nodes)?;
        let mut is_over = vec![false; nodes.len()];
        loop {
            let now = monotonic_ns();
            let Some(end_ns) = NodeExecutor::next_end(nodes, &mut is_over, now)? else { break };
            let timer = timed.iter_mut().filter(|of| !is_over[of.node]).min_by_key(|of| of.next_ns());
            let due_ns = timer.as_ref().map_or(i64::MAX, |of| of.next_ns());
            let (node, done) = match (arrivals.pop_by(now.min(due_ns)), timer) {
                (Some(subscription), _) => {
                    let (node, index) = waiting.place(subscription);
                    (node, if is_over[node] { Ok(()) } else { nodes[node].take_one(index).map(drop) })
                }
                (None, Some(of)) if due_ns <= now => match of.serve(now) {
                    Some((due_ns, skipped)) => (of.node, nodes[of.node].on_timer(of.timer, due_ns, skipped)),
                    None => (of.node, Ok(())),
                },
                _ => {
                    waiting.until(end_ns.min(due_ns));
                    continue;
                }
            };
            done.map_err(|failure| (nodes[node].name.clone(), failure))?;
            if waiting.is_by_descriptors() {
                waiting.until(0);
            }
        }
        NodeExecutor::skip_what_is_left(nodes, &timed);
        Ok(())
    }
}
