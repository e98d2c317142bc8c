//! Messages: from the publish call through the threads of the middleware to the queue of a subscription.

use super::{Link, Simulation};
use crate::executor::Ready;
use crate::node::{Message, Node, Step, Waits};
use crate::queue::What;
use crate::warmth::{part, Warmth};
use tacho_events::files::Failed;
use tacho_events::number;

impl Simulation {
    /// Publishes a message and sends it on its ways.
    pub(super) fn publish(&mut self, node: usize, publisher: usize, now: i64) -> Result<(), Failed> {
        let stream = self.stream_of(node);
        let content_ns = self.nodes[node].content_ns;
        let data = self.nodes[node].activity.as_mut().and_then(|activity| activity.filled[publisher].take());
        let process = self.nodes[node].process;
        let pause_ns = self.pause.until(now);
        let of_process_ns = self.pause_of(process, now);
        let warmth = self.warmth(process, pause_ns, now);
        self.pause.end(now);
        self.end_pause(process, now);
        let of = &mut self.nodes[node].publishers[publisher];
        let (publisher_id, sequence, address) = (of.id, of.sequence, of.message);
        let message = Message { publisher_id, sequence, stamp_ns: now, content_ns, address, pause_ns, data };
        of.sequence += 1;
        let words = [of.handle, of.id.into(), sequence, of.size];
        self.trace.put(stream, now, number::node_publish, &words)?;
        self.trace.put(stream, now, number::rclcpp_publish, &[of.handle, of.message])?;
        self.trace.put(stream, now, number::rcl_publish, &[of.handle, of.message])?;
        for place in 0..of.links.len() {
            let link_number = self.nodes[node].publishers[publisher].links[place];
            let link = &mut self.links[link_number];
            if link.loss > 0.0 && self.draws.uniform() <= link.loss {
                continue;
            }
            let receiver = link.node;
            let pauses = [pause_ns, of_process_ns, self.pause_of(self.nodes[receiver].process, now)];
            let left = Warmth::after(&self.warmth, &pauses).transit;
            let link = &mut self.links[link_number];
            let transit_ns = part(link.transit.draw(&mut self.draws), left);
            // It occupies a link between hosts after the one before it.
            let leaves_ns = now.max(link.free_ns);
            link.free_ns = leaves_ns + link.occupies_ns;
            let arrives_ns = leaves_ns + link.occupies_ns + link.delay_ns + transit_ns;
            link.last_ns = arrives_ns.max(link.last_ns);
            link.in_flight.push_back(message.clone());
            self.queue.push(leaves_ns + link.occupies_ns + link.delay_ns, What::Send { link: link_number });
            self.queue.push(link.last_ns, What::Travelled { link: link_number });
        }
        let of = &self.nodes[node].publishers[publisher];
        let send_ns = part(of.send.draw(&mut self.draws), warmth.send);
        let send_cpu_ns = part(of.send_cpu_ns, warmth.send_cpu);
        self.nodes[node].first([Step::Compute(send_ns)]);
        self.compute_around(node, send_cpu_ns, now)
    }

    /// Lets a process compute outside of its callbacks: on the thread of a node, or beside it if one knows all that the
    /// executor computes.
    pub(super) fn compute_around(&mut self, node: usize, ns: i64, now: i64) -> Result<(), Failed> {
        let process = self.nodes[node].process;
        match &mut self.processes[process].other {
            Some((thread, left_ns)) if self.nodes[node].has_clock => {
                let thread = *thread;
                match self.kernel.is_asleep(thread) {
                    true if ns > 0 => self.wake(thread, ns, 0, now, None)?,
                    true => {}
                    false => *left_ns += ns,
                }
            }
            _ => self.nodes[node].around_ns += ns,
        }
        Ok(())
    }

    /// Gives the middleware's threads of a process something to compute, after which a message is there.
    fn help(&mut self, process: usize, need_ns: i64, link: usize, now: i64) -> Result<(), Failed> {
        let helper = self.processes[process].helper;
        self.processes[process].jobs.push_back((need_ns, link));
        if self.kernel.is_asleep(helper) {
            self.wake(helper, need_ns, 0, now, None)?;
        }
        Ok(())
    }

    /// The middleware's threads at the receiver begin with a message that was sent.
    pub(super) fn send(&mut self, link: usize, now: i64) -> Result<(), Failed> {
        let Link { node, receive_cpu_ns, in_flight, .. } = &self.links[link];
        let process = self.nodes[*node].process;
        let pause_ns = in_flight.back().and_then(|message| message.pause_ns);
        let receive_cpu_ns = part(*receive_cpu_ns, self.warmth(process, pause_ns, now).receive_cpu);
        if receive_cpu_ns > 0 {
            return self.help(process, receive_cpu_ns, link, now);
        }
        self.links[link].received += 1;
        Ok(())
    }

    /// The next message is there, if it has travelled and was received.
    pub(super) fn deliver(&mut self, link: usize, now: i64) -> Result<(), Failed> {
        let Link { node, subscription, in_flight, travelled, received, until_start, .. } = &mut self.links[link];
        let (node, subscription, until_start) = (*node, *subscription, *until_start);
        if *travelled == 0 || *received == 0 {
            return Ok(());
        }
        (*travelled, *received) = (*travelled - 1, *received - 1);
        let Some(message) = in_flight.pop_front() else { return Ok(()) };
        let process = self.nodes[node].process;
        let pause_ns = message.pause_ns;
        let to = &mut self.nodes[node].subscriptions[subscription];
        if to.queue.len() >= to.depth {
            to.queue.pop_front();
        }
        to.queue.push_back(message);
        let handle = to.handle;
        let Node { executed_by, is_busy, .. } = self.nodes[node];
        self.trace.put(self.processes[process].stream, now, number::node_data_available, &[handle])?;
        if let Some(events) = &mut self.executors[executed_by].events {
            events.came.push_back((now, Ready::Input(node, subscription)));
        }
        let waiting = self.executors[executed_by].looks;
        let waiting = waiting.filter(|worker| !is_busy && self.workers[*worker].waits == Waits::ForMessage);
        if let Some(worker) = waiting {
            let latency_ns = match &self.links[link].wake_up {
                _ if until_start => 0,
                any if any.is_empty() => self.wake_up_ns(worker),
                own => own.draw(&mut self.draws),
            };
            let latency_ns = part(latency_ns, self.warmth(process, pause_ns, now).wake_up);
            self.rouse(worker, latency_ns, now, Some(self.processes[process].helper))?;
        }
        Ok(())
    }
}
