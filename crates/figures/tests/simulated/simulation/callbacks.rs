//! What a node does when it is called: it takes, works, publishes, and may be the end of chains.

use super::super::{Ran, Sent, Taken};
use super::*;
use std::collections::BTreeMap;

impl Simulation {
    pub(super) fn execute(&mut self, node: usize, input: Option<usize>, now: i64) {
        self.nodes[node].busy = true;
        let mut at = now;
        let mut step = |chance: &mut Chance| {
            at += chance.within(1, 100);
            at
        };
        let (ours, tid) = (self.truth.ours, u64::from(self.nodes[node].tid));
        let [executed, called, taken, started] = [(); 4].map(|()| step(&mut self.chance));
        let dies = self.truth.killed.get(&node).copied().unwrap_or(i64::MAX);
        let alive = |at: i64| at < dies;
        let message = input.and_then(|input| self.nodes[node].queues[input].pop_front());
        let (handle, callback) = input.map_or((TIMER, TIMER_CALLBACK), |input| (handles(input)[0], handles(input)[3]));
        if alive(executed) {
            self.emit(node, executed, |b| b.rclcpp_executor_execute(handle));
        }
        if let (Some(input), Some(message)) = (input, message) {
            let (rmw, stamp) = (handles(input)[1], self.truth.sent[message].publish_ns + 1);
            if alive(called) {
                self.emit(node, called, |b| b.rmw_take_called(rmw));
            }
            if alive(taken) {
                self.emit(node, taken, |b| b.rmw_take(rmw, MESSAGE, stamp, true));
                let Sent { publisher, sequence, .. } = self.truth.sent[message];
                self.truth.taken.push(Taken { node, publisher, sequence, take_ns: taken });
                self.nodes[node].latest[input] = Some(message);
            }
        }
        if !alive(started) {
            return;
        }
        self.emit(node, started, |b| b.callback_start(callback, false));
        at = started;
        if let (true, Some(input), Some(message)) = (ours, input, message) {
            let Sent { publisher, sequence, publish_ns, .. } = self.truth.sent[message];
            self.emit(node, at, |b| b.node_take(handles(input)[0], publisher as u64, sequence, publish_ns));
        }
        // Works, publishes, works; others have its CPU now and then.
        let mut off = 0;
        let publishes = self.nodes[node].publishes
            && (input.is_none() || (self.nodes[node].period_ns.is_none() && input == Some(0)));
        let mut published = None;
        for part in 0..2 {
            at += self.chance.within(10, 20_000);
            if self.chance.one_in(3) && alive(at) {
                let back = at + self.chance.within(1, 10_000);
                self.kernel(node, at, |b| b.sched_switch(tid, 0, OTHER, "node", "other"));
                if alive(back) {
                    self.kernel(node, back, |b| b.sched_switch(OTHER, 0, tid, "other", "node"));
                }
                off += back - at;
                at = back + 1;
            }
            if part == 0 && publishes && alive(at + 10) && !self.chance.one_in(10) {
                published = self.publish(node, started, at);
                at += 10;
            }
        }
        if !alive(at) {
            return self.output(node, input, published, None, message);
        }
        self.emit(node, at, |b| b.callback_end(callback));
        self.nodes[node].served_ns = at;
        self.truth.ran.push(Ran { node, start_ns: started, end_ns: at, cpu_ns: at - started - off });
        self.output(node, input, published, Some(at), message);
        let free = at + self.chance_of_delay();
        self.plan(free, Act::Free(node));
    }

    /// Publishes from `at` to `at` + 4; gives the message, if it was not refused.
    fn publish(&mut self, node: usize, started: i64, at: i64) -> Option<usize> {
        let sequence = self.nodes[node].sequence;
        self.nodes[node].sequence += 1;
        let (ours, below_rmw) = (self.truth.ours, self.below_rmw);
        if ours {
            self.emit(node, at, |b| b.node_publish(PUBLISHER, node as u64, sequence, 64));
        } else {
            self.emit(node, at, |b| b.rclcpp_publish(PUBLISHER, MESSAGE));
        }
        self.emit(node, at + 1, |b| b.rcl_publish(PUBLISHER, MESSAGE));
        self.emit(node, at + 2, |b| b.rmw_publish_called(RMW_PUBLISHER, MESSAGE));
        if ours && self.chance.one_in(12) {
            self.emit(node, at + 4, |b| b.node_refused(PUBLISHER, sequence, 1, "full"));
            *self.truth.refused.entry(node).or_default() += 1;
            return None;
        }
        if below_rmw {
            self.emit(node, at + 3, |b| b.dds_send([node as u64 + 1, 1], sequence as i64 + 1, at + 1, 1, 1, 1, 0));
        }
        self.emit(node, at + 4, |b| b.rmw_publish(RMW_PUBLISHER, MESSAGE, at + 1));
        let mut origins = BTreeMap::new();
        if self.truth.inputs[node].is_empty() {
            origins.insert(vec![node], started);
        }
        for latest in self.nodes[node].latest.iter().flatten() {
            for (path, start) in &self.truth.sent[*latest].origins {
                origins.insert(path.iter().copied().chain([node]).collect(), *start);
            }
        }
        let message = self.truth.sent.len();
        self.truth.sent.push(Sent { publisher: node, sequence, publish_ns: at, origins });
        for to in 0..self.nodes.len() {
            if let Some(input) = self.truth.inputs[to].iter().position(|from| *from == node) {
                let arrives = at + 5 + self.chance.within(0, 30_000);
                if !self.chance.one_in(12) {
                    self.plan(arrives, Act::Arrive { node: to, input, message });
                }
            }
        }
        Some(message)
    }

    /// What a callback of a last node is the end of.
    fn output(
        &mut self,
        node: usize,
        input: Option<usize>,
        published: Option<usize>,
        ended: Option<i64>,
        message: Option<usize>,
    ) {
        let is_last = !self.truth.inputs.iter().any(|inputs| inputs.contains(&node));
        if !is_last || self.truth.inputs[node].is_empty() {
            return;
        }
        let (origins, time) = match (self.nodes[node].publishes, published, ended, message) {
            (true, Some(published), ..) => {
                (self.truth.sent[published].origins.clone(), self.truth.sent[published].publish_ns)
            }
            (false, _, Some(ended), Some(message)) => {
                let extended =
                    |(path, start): (&Vec<usize>, &i64)| (path.iter().copied().chain([node]).collect(), *start);
                (self.truth.sent[message].origins.iter().map(extended).collect(), ended)
            }
            _ => return,
        };
        for from in match (self.nodes[node].publishes, input) {
            (false, Some(input)) => vec![self.truth.inputs[node][input]],
            _ => self.truth.inputs[node].clone(),
        } {
            self.truth.last_outputs.entry((node, from)).or_default().push(time);
        }
        self.truth.outputs.extend(origins.into_iter().map(|(path, start): (Vec<usize>, i64)| (path, start, time)));
    }
}
