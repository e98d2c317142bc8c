//! What a callback computes and then publishes.

use super::NodeExecutor;
use crate::instant::sleep_until;
use crate::node::computation::{Lent, Prepared};
use crate::node::failure::Failure;
use crate::node::interpreter::Interpreter;
use crate::node::work::compute;
use tacho_middleware::{Error, Handle, Header};
use tacho_recording::clock::monotonic_ns;
use tacho_tasks::OnSample;

/// Whose load an activation has.
#[derive(Clone, Copy)]
pub(super) enum Callback {
    /// Of the subscription of this index.
    Input(usize),
    /// Of the timer of this index.
    Timer(usize),
}

/// A publisher on which a timer's callback publishes.
#[derive(Clone, Copy)]
pub(super) struct Due {
    pub publisher: usize,
    /// When the timer was due.
    pub due_ns: i64,
    /// Whether the clock alone says when the message is due.
    pub is_clocked: bool,
}

/// Computes and then sleeps for so long, ns. A callback in Python has the lock of its interpreter before and after.
pub(super) fn pass((work_ns, sleep_ns): (u64, u64), interpreter: Option<&Interpreter>) {
    match interpreter {
        Some(interpreter) => compute(work_ns, || interpreter.give_if_asked()),
        None => compute(work_ns, || ()),
    }
    if sleep_ns > 0 {
        interpreter.iter().for_each(|interpreter| interpreter.give());
        sleep_until(monotonic_ns() + sleep_ns as i64);
        interpreter.iter().for_each(|interpreter| interpreter.take());
    }
}

impl NodeExecutor {
    /// Computes and sleeps what a callback does.
    pub(super) fn spend(&mut self, callback: Callback) {
        let times = match callback {
            Callback::Input(index) => &mut self.on_input[index].times,
            Callback::Timer(index) => &mut self.timers[index].times,
        };
        pass(times.next_ns(&mut self.draws), self.interpreter);
    }

    /// Counts sends of a timer that were due but did not happen.
    pub(super) fn skip_all(&mut self, timer: usize, count: u64) {
        for index in 0..self.timers[timer].serves.len() {
            let of = &self.timers[timer].serves[index];
            if of.is_clocked {
                self.skip(of.answer.publication, count);
            }
        }
    }

    /// Counts sends that were due but did not happen.
    pub(super) fn skip(&mut self, publisher: usize, count: u64) {
        let output = &mut self.publishers[publisher];
        *output.skipped.get_or_insert(0) += count;
        if count > 0 {
            self.trace.node_skipped(output.handle, count);
        }
    }

    /// Does the work of a timer, then publishes on each of `due` with the time when it was due.
    pub(super) fn publish_due(&mut self, timer: usize, due: &[Due]) -> Result<(), Failure> {
        if self.task.is_some() {
            let mut due: Vec<_> = due.iter().map(|due| (due.publisher, Some(due.due_ns))).collect();
            due.sort_unstable();
            return self.run_task(None, &due);
        }
        self.spend(Callback::Timer(timer));
        self.publish_each(due)
    }

    /// Publishes on each of `due` with the time when it was due.
    pub(super) fn publish_each(&mut self, due: &[Due]) -> Result<(), Failure> {
        for Due { publisher, due_ns, is_clocked } in due.iter().copied() {
            if is_clocked {
                self.note_due(publisher, due_ns);
            }
            self.content_ns = due_ns;
            self.publish(publisher)?;
        }
        Ok(())
    }

    /// Does the work of an input's callback, then publishes what that callback publishes in this turn.
    pub(super) fn publish_answer(&mut self, input: usize, lent: Option<Lent<'_>>) -> Result<(), Failure> {
        if self.task.is_some() {
            let due: Vec<_> = self.on_input[input].answers.iter().map(|of| (of.publication, None)).collect();
            return self.run_task(lent, &due);
        }
        self.spend(Callback::Input(input));
        self.publish_answers(input)
    }

    /// Publishes what the callback of an input publishes in this turn.
    pub(super) fn publish_answers(&mut self, input: usize) -> Result<(), Failure> {
        for index in 0..self.on_input[input].answers.len() {
            let answer = &mut self.on_input[input].answers[index];
            let publisher = answer.publication;
            for _ in 0..answer.turns.due() {
                self.publish(publisher)?;
            }
        }
        Ok(())
    }

    /// Takes a message into the sets of the node. Computes and publishes for each set that it completes, with the stamp
    /// of the first input, as callbacks of message_filters do.
    pub(super) fn publish_joined(&mut self, lent: Lent<'_>) -> Result<(), Failure> {
        let Some(joined) = &mut self.joined else { return Ok(()) };
        let input = lent.input;
        for set in joined.add(lent, self.task.is_some()) {
            self.content_ns = set.content_ns();
            for member in set.members() {
                let Header { publisher, sequence, .. } = member.header;
                self.trace.node_uses(member.handle, publisher, sequence, member.header.content_ns());
                if let Some(task) = &mut self.task {
                    task.hear(Lent { input: member.input, header: member.header, data: &member.data });
                }
            }
            self.publish_answer(input, None)?;
        }
        Ok(())
    }

    /// Runs the task, then publishes what it filled in. `due` is in the order of the publishers.
    fn run_task(&mut self, lent: Option<Lent<'_>>, due: &[(usize, Option<i64>)]) -> Result<(), Failure> {
        let Some(task) = &mut self.task else { return Ok(()) };
        let (trace, node) = (self.trace, self.handle.0);
        let mut on_sample = |sample| trace.node_signal(node, sample);
        let on_sample = trace.is_recording().then_some(&mut on_sample as OnSample<'_>);
        let prepared = task.run(lent, due, &mut self.publishers, on_sample)?;
        for ((index, due_ns), prepared) in due.iter().zip(prepared) {
            self.content_ns = due_ns.unwrap_or(self.content_ns);
            if let (Some(due_ns), Prepared::Filled(_) | Prepared::Refused(_)) = (due_ns, &prepared) {
                self.note_due(*index, *due_ns);
            }
            match prepared {
                Prepared::Withheld => {} // so it was not due
                Prepared::Filled(message) => self.send(*index, message)?,
                Prepared::Refused(error) => self.not_borrowed(*index, error)?,
            }
        }
        Ok(())
    }

    fn note_due(&self, index: usize, due_ns: i64) {
        let output = &self.publishers[index];
        self.trace.node_due(output.handle, output.sequence, due_ns);
    }

    /// Publishes random data.
    fn publish(&mut self, index: usize) -> Result<(), Failure> {
        match self.publishers[index].publisher.borrow() {
            Ok(buffer) => {
                if !buffer.kept {
                    self.draws.fill(buffer.data);
                }
                let message = buffer.message;
                self.send(index, message)
            }
            Err(error) => self.not_borrowed(index, error),
        }
    }

    /// Publishes what the borrowed buffer holds.
    fn send(&mut self, index: usize, message: Handle) -> Result<(), Failure> {
        let output = &mut self.publishers[index];
        let sequence = output.sequence;
        output.sequence += 1;
        let header = Header { sequence, stamp_ns: monotonic_ns(), publisher: output.id, ..Default::default() };
        let header = header.with_content(self.content_ns);
        self.trace.node_publish(output.handle, output.id, sequence, output.size);
        self.trace.rclcpp_publish(output.handle, message.0);
        if !self.traced {
            self.trace.rcl_publish(output.handle, message.0);
        }
        match output.publisher.publish(&header) {
            Ok(()) => Ok(()),
            Err(error) => self.refused(index, sequence, error),
        }
    }

    /// The middleware lent no buffer, so the message is not sent.
    #[cold]
    fn not_borrowed(&mut self, index: usize, error: Error) -> Result<(), Failure> {
        let output = &mut self.publishers[index];
        let sequence = output.sequence;
        output.sequence += 1;
        self.trace.node_publish(output.handle, output.id, sequence, output.size);
        self.refused(index, sequence, error)
    }

    /// A refused send keeps its sequence number, so that no other message has the same.
    #[cold]
    fn refused(&mut self, index: usize, sequence: u64, error: Error) -> Result<(), Failure> {
        let output = &mut self.publishers[index];
        let (code, reason) = output.refusals.add(error)?;
        self.trace.node_refused(output.handle, sequence, code, &reason);
        Ok(())
    }
}
