//! What a callback computes and then publishes.

use super::NodeExecutor;
use crate::node::computation::{Lent, Prepared};
use crate::node::failure::Failure;
use crate::node::work::compute;
use tacho_middleware::{Error, Handle, Header};
use tacho_recording::clock::monotonic_ns;

impl NodeExecutor {
    /// Counts sends that were due but did not happen.
    pub(super) fn skip(&mut self, publisher: usize, count: u64) {
        let output = &mut self.publishers[publisher];
        *output.skipped.get_or_insert(0) += count;
        if count > 0 {
            self.trace.node_skipped(output.handle, count);
        }
    }

    /// Computes, then publishes on each of `due` with the time when it was due by the clock.
    pub(super) fn publish_due(&mut self, due: &[(usize, i64)]) -> Result<(), Failure> {
        if self.task.is_some() {
            let mut due: Vec<_> = due.iter().map(|(index, due_ns)| (*index, Some(*due_ns))).collect();
            due.sort_unstable();
            return self.run_task(None, &due);
        }
        compute(self.draws.work_ns(&self.work));
        for (index, due_ns) in due {
            self.note_due(*index, *due_ns);
            self.content_ns = *due_ns;
            self.publish(*index)?;
        }
        Ok(())
    }

    /// Computes, then publishes on each publisher without a rate of its own.
    pub(super) fn publish_answer(&mut self, lent: Option<Lent<'_>>) -> Result<(), Failure> {
        let answers = |node: &NodeExecutor, index: usize| node.publishers[index].rate_hz.is_none();
        if self.task.is_some() {
            let due: Vec<_> =
                (0..self.publishers.len()).filter(|index| answers(self, *index)).map(|index| (index, None)).collect();
            return self.run_task(lent, &due);
        }
        compute(self.draws.work_ns(&self.work));
        for index in 0..self.publishers.len() {
            if answers(self, index) {
                self.publish(index)?;
            }
        }
        Ok(())
    }

    /// Takes a message into the sets of the node. Computes and publishes for each set that it completes, with the stamp
    /// of the first input, as callbacks of message_filters do.
    pub(super) fn publish_joined(&mut self, lent: Lent<'_>) -> Result<(), Failure> {
        let Some(joined) = &mut self.joined else { return Ok(()) };
        for set in joined.add(lent, self.task.is_some()) {
            self.content_ns = set.content_ns();
            for member in set.members() {
                let Header { publisher, sequence, .. } = member.header;
                self.trace.node_uses(member.handle, publisher, sequence, member.header.content_ns());
                if let Some(task) = &mut self.task {
                    task.hear(Lent { input: member.input, header: member.header, data: &member.data });
                }
            }
            self.publish_answer(None)?;
        }
        Ok(())
    }

    /// Runs the task, then publishes what it filled in. `due` is in the order of the publishers.
    fn run_task(&mut self, lent: Option<Lent<'_>>, due: &[(usize, Option<i64>)]) -> Result<(), Failure> {
        let Some(task) = &mut self.task else { return Ok(()) };
        let prepared = task.run(lent, due, &mut self.publishers)?;
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
