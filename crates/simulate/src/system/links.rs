//! What messages and wake-ups of a system take: links from publishers to subscriptions, latencies of executors.

use super::Builder;
use crate::node::Node;
use crate::reach::reach;
use crate::simulation::{Latencies, Link};
use crate::transfer::Receiving;
use crate::way::Way;
use std::collections::{BTreeMap, VecDeque};
use tacho_workload::model::{Executor as When, Node as OfWorkload, Qos};

/// Part of what a process computes for a message before it is there. Simulated means of 25 fan-outs on Fast DDS (two
/// CPUs, 1 to 12 subscriptions, 64 B to 2 MiB) are off by 4.3 % on the average with a quarter, by 7.4 % with half.
const BEFORE_ARRIVAL: f64 = 0.25;

/// `part` of the CPU time of a message is before it is there.
fn link(receiving: Receiving, to: (usize, usize), hosts: (i64, i64, f64), part: f64) -> Link {
    let (delay_ns, occupies_ns, loss) = hosts;
    let Receiving { transit, until_start, cpu_ns, wake_up } = receiving;
    // What is measured is a process's CPU time. Half of the transit at most is computation.
    let before_ns = ((cpu_ns as f64 * part) as i64).min(transit.quantile(0.25) / 2);
    Link {
        node: to.0,
        subscription: to.1,
        transit,
        wake_up,
        until_start,
        delay_ns,
        occupies_ns,
        loss,
        receive_cpu_ns: before_ns,
        in_flight: VecDeque::new(),
        travelled: 0,
        received: 0,
        last_ns: 0,
        free_ns: 0,
    }
}

impl Builder<'_> {
    /// Latencies of what wakes nodes; those that no run shows are assumed, which is a doubt if a node needs them.
    fn latencies(&mut self) -> Latencies {
        let ((timer, of_timers), (wake_up, of_messages)) = (self.costs.of_timers(), self.costs.of_messages());
        let waits = |node: &OfWorkload| !matches!(node.executor, When::Spin { .. }) && !node.subscribes.is_empty();
        let shows = |node: &Node| self.costs.of_node(&node.name).is_some_and(|cost| !cost.timer.is_empty());
        let is_timed = self.nodes.iter().any(|node| !node.timers.is_empty() && !shows(node));
        self.doubts.extend(of_timers.filter(|_| is_timed));
        self.doubts.extend(of_messages.filter(|_| self.workload.nodes.iter().any(waits)));
        // Recordings show how long callbacks were off the CPU: that has the wake-up.
        Latencies {
            timer,
            sleep: self.costs.timer.clone(),
            wake_up,
            take_ns: self.costs.take_ns,
            look_ns: self.costs.look_ns,
        }
    }

    /// Those of all executors; first those of which no recording shows their own.
    pub(super) fn all_latencies(&mut self) -> Vec<Latencies> {
        let of_all = self.latencies();
        let mut all = vec![of_all];
        for node in &self.nodes {
            let executor = &mut self.executors[node.executed_by];
            if let Some(cost) = self.costs.of_node(&node.name).filter(|_| executor.latencies == 0) {
                executor.latencies = all.len();
                let timer = if cost.timer.is_empty() { &all[0].timer } else { &cost.timer };
                all.push(Latencies {
                    timer: timer.clone(),
                    wake_up: cost.wake_up.clone(),
                    take_ns: cost.take_ns,
                    look_ns: cost.look_ns,
                    ..all[0].clone()
                });
            }
        }
        all
    }

    /// Links from each publisher to the subscriptions of its topic.
    pub(super) fn links(&mut self) -> Vec<Link> {
        let mut to: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
        for (node, of) in self.workload.nodes.iter().enumerate() {
            for (subscription, s) in of.subscribes.iter().enumerate() {
                to.entry(&s.topic).or_default().push((node, subscription));
            }
        }
        let mut links = Vec::new();
        for (node, of) in self.workload.nodes.iter().enumerate() {
            for (publisher, p) in of.publishes.iter().enumerate() {
                let targets = to.get(p.topic.as_str()).map_or(&[][..], Vec::as_slice);
                let reach = reach(self.workload, of, &p.topic);
                let found = self.costs.of_topic(&p.topic, p.size_bytes, &reach);
                self.doubts.extend(found.beyond.filter(|_| !targets.is_empty()));
                self.nodes[node].publishers[publisher].send = found.send;
                self.nodes[node].publishers[publisher].send_cpu_ns = found.send_cpu_ns;
                for ((receiver, subscription), receiving) in targets.iter().zip(found.to) {
                    let hosts =
                        self.between_hosts(&of.host, &self.workload.nodes[*receiver].host, p.size_bytes, &p.qos);
                    self.nodes[node].publishers[publisher].links.push(links.len());
                    let cpu_ns = receiving.cpu_ns;
                    let name = &self.workload.nodes[*receiver].name;
                    let (part, take_ns) = match self.nodes[*receiver].has_clock {
                        true => (1.0, 0),
                        false => (BEFORE_ARRIVAL, self.costs.take_ns_of(name)),
                    };
                    let link = link(receiving, (*receiver, *subscription), hosts, part);
                    let around_ns = cpu_ns - link.receive_cpu_ns - take_ns;
                    self.nodes[*receiver].subscriptions[*subscription].around_ns = around_ns.max(0);
                    links.push(link);
                }
            }
        }
        links
    }

    /// Delay, time that a message occupies the link, and loss between two hosts.
    fn between_hosts(&mut self, from: &str, to: &str, size_bytes: u64, qos: &Qos) -> (i64, i64, f64) {
        let Way { delay_ns, occupies_ns, kept } = Way::between(self.workload, from, to, size_bytes);
        if kept < 1.0 && qos.reliable {
            let text = "retransmissions of reliable messages that a link between hosts loses are not modelled";
            if !self.doubts.iter().any(|doubt| doubt == text) {
                self.doubts.push(text.into());
            }
            return (delay_ns, occupies_ns, 0.0);
        }
        (delay_ns, occupies_ns, 1.0 - kept)
    }
}
