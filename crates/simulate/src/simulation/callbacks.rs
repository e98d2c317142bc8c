//! Callbacks: their first line, and what they compute.

use super::Simulation;
use crate::executor::Worker;
use crate::node::{Node, Step, Subscription, Timer};
use crate::warmth::part;
use tacho_events::files::Failed;
use tacho_events::number;
use tacho_runner::node::trace::signal_words;

/// Whose callback it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Callback {
    /// Of a subscription.
    Input(usize),
    /// Of a timer.
    Timer(usize),
}

impl Simulation {
    /// The stream of the thread that runs a node.
    pub(super) fn stream_of(&self, node: usize) -> usize {
        self.workers[self.nodes[node].worker].stream
    }

    pub(super) fn start(&mut self, node: usize, callback: u64, now: i64) -> Result<(), Failed> {
        let Worker { thread, stream, .. } = self.workers[self.nodes[node].worker];
        let of = &mut self.nodes[node];
        of.around_ns += of.after_ns;
        let used_ns = self.kernel.used_ns(thread) as u64;
        self.trace.put(stream, now, number::callback_cpu, &[used_ns, 0])?;
        self.trace.put(stream, now, number::callback_start, &[callback, 0])
    }

    /// The callback of a subscription begins.
    pub(super) fn begin(&mut self, node: usize, subscription: usize, now: i64) -> Result<(), Failed> {
        let stream = self.stream_of(node);
        let of = &mut self.nodes[node].subscriptions[subscription];
        of.claimed = of.claimed.saturating_sub(1);
        let Some(message) = of.queue.pop_front() else { return Ok(()) };
        let (handle, callback, around_ns) = (of.handle, of.callback, of.around_ns);
        let process = self.nodes[node].process;
        let left = self.warmth(process, message.pause_ns, now).receive_cpu;
        self.end_pause(process, now);
        self.compute_around(node, part(around_ns, left), now)?;
        self.trace.put(stream, now, number::rclcpp_executor_execute, &[handle])?;
        self.trace.put(stream, now, number::rclcpp_take, &[message.address])?;
        self.start(node, callback, now)?;
        let words = [handle, message.publisher_id.into(), message.sequence, message.stamp_ns as u64];
        self.trace.put(stream, now, number::node_take, &words)?;
        if message.stamp_ns < self.window.stop_ns {
            self.nodes[node].heard = true;
            self.linger(node, now);
        }
        self.nodes[node].answer(subscription, message);
        Ok(())
    }

    /// A node computes on its next set.
    pub(super) fn join(&mut self, node: usize, now: i64) -> Result<(), Failed> {
        let of = &mut self.nodes[node];
        let set = of.sets.pop_front().unwrap_or_default();
        of.content_ns = set.first().map_or(now, |(content_ns, _)| *content_ns);
        for (content_ns, (subscription, message)) in set {
            let of = &mut self.nodes[node];
            if let Some(activity) = &mut of.activity {
                activity.hear(subscription, &message);
            }
            let handle = of.subscriptions[subscription].handle;
            let words = [handle, message.publisher_id.into(), message.sequence, content_ns as u64];
            self.trace.put(self.stream_of(node), now, number::node_uses, &words)?;
        }
        Ok(())
    }

    /// What a callback computes, and then sleeps.
    pub(super) fn work(&mut self, node: usize, callback: Callback, now: i64) -> Result<(), Failed> {
        let of = &mut self.nodes[node];
        let kept = match callback {
            Callback::Input(input) => of.subscriptions[input].latest.then_some(input),
            Callback::Timer(_) => None,
        };
        if let Err(error) = of.run_task(kept, now) {
            let after_s = (now - self.window.start_ns) as f64 / 1e9;
            self.failure = Some(format!("node {} failed after {after_s:.3} s: {error}", of.name));
        }
        let stream = self.workers[of.worker].stream;
        if let (Some(activity), None) = (&of.activity, kept) {
            for sample in &activity.samples {
                self.trace.put(stream, now, number::node_signal, &signal_words(of.handle, *sample))?;
            }
        }
        let Node { draws, subscriptions, timers, activity, .. } = of;
        let (times, task) = match callback {
            Callback::Input(input) => {
                let Subscription { times, task, .. } = &mut subscriptions[input];
                (times, task)
            }
            Callback::Timer(timer) => {
                let Timer { times, task, .. } = &mut timers[timer];
                (times, task)
            }
        };
        let (work_ns, sleep_ns) = match activity {
            Some(_) => (task.draw(draws), 0),
            None => {
                let (work_ns, sleep_ns) = times.next_ns(draws);
                (work_ns as i64, sleep_ns as i64)
            }
        };
        if sleep_ns > 0 && of.is_in_python {
            of.first([Step::GiveInterpreter, Step::Sleep(sleep_ns), Step::TakeInterpreter]);
        } else {
            of.first([Step::Sleep(sleep_ns)]);
        }
        of.first([Step::Compute(work_ns)]);
        Ok(())
    }
}
