//! Callbacks of a reentrant group, which run beside each other and beside themselves on several threads: the node is
//! theirs alone only while they begin and while they publish.

use super::publishing::{pass, Callback, Due};
use super::{first_line, NodeExecutor};
use crate::node::failure::Failure;
use crate::node::interpreter::Interpreter;
use tacho_recording::clock::monotonic_ns;

/// A callback that has begun.
pub(super) struct Begun {
    of: Callback,
    address: u64,
    start_ns: i64,
    content_ns: i64,
    /// What it computes and then sleeps, ns.
    times_ns: (u64, u64),
    /// What a timer publishes.
    due: Vec<Due>,
}

impl Begun {
    /// Computes and sleeps what it does.
    pub fn spend(&self, interpreter: Option<&Interpreter>) {
        pass(self.times_ns, interpreter);
    }
}

impl NodeExecutor {
    /// Begins the callback of a subscription with a message, if there is one.
    pub(super) fn begin_input(&mut self, index: usize) -> Result<Option<Begun>, Failure> {
        let (trace, clocked) = (self.trace, self.is_clocked());
        let input = &mut self.subscriptions[index];
        if !input.available.take() {
            return Ok(None);
        }
        trace.rclcpp_executor_execute(input.handle);
        let Some(message) = input.subscription.take()? else { return Ok(None) };
        let (header, start_ns) = first_line(trace, clocked, input.handle, input.callback, &message);
        drop(message);
        input.available.set_again();
        input.taken += 1;
        let address = input.callback;
        self.hear(&header, start_ns);
        if let Some(log) = &mut self.log {
            log.message(header.publisher, header.sequence, header.stamp_ns, start_ns);
        }
        let times_ns = self.on_input[index].times.next_ns(&mut self.draws);
        let content_ns = header.content_ns();
        Ok(Some(Begun { of: Callback::Input(index), address, start_ns, content_ns, times_ns, due: Vec::new() }))
    }

    /// Begins the callback of a timer that was due, and counts what it left out before.
    pub(super) fn begin_timer(&mut self, timer: usize, due_ns: i64, skipped: u64) -> Begun {
        let mut due = Vec::new();
        self.now_due(timer, due_ns, skipped, &mut due);
        let of = self.timers[timer].timer;
        self.trace.rclcpp_executor_execute(of.handle);
        self.trace.callback_start(of.callback, false);
        let start_ns = if self.log.is_some() { monotonic_ns() } else { 0 };
        let times_ns = self.timers[timer].times.next_ns(&mut self.draws);
        Begun { of: Callback::Timer(timer), address: of.callback, start_ns, content_ns: due_ns, times_ns, due }
    }

    /// Takes a message and runs its callback. In Python, a thread that has the interpreter may wait for this node.
    pub(super) fn take_without_interpreter(&mut self, index: usize) -> Result<(), Failure> {
        let Some(begun) = self.begin_input(index)? else { return Ok(()) };
        begun.spend(None);
        self.end(begun)
    }

    /// Publishes what a callback publishes, and ends it.
    pub(super) fn end(&mut self, begun: Begun) -> Result<(), Failure> {
        let Begun { of, address, start_ns, content_ns, due, .. } = begun;
        self.content_ns = content_ns;
        let (is_timer, number) = match of {
            Callback::Input(index) => {
                self.publish_answers(index)?;
                (false, index)
            }
            Callback::Timer(timer) => {
                self.publish_each(&due)?;
                (true, timer)
            }
        };
        if let Some(log) = &mut self.log {
            log.callback(is_timer, number as u32, start_ns, monotonic_ns());
        }
        self.figures.callbacks += 1;
        self.trace.callback_end(address);
        Ok(())
    }
}
