//! Handling of a response to a service request. rclcpp tells no start and end of it: its callback runs on the
//! executor's thread between `rmw_take_response` and the next event of that executor.

use super::Collector;
use tacho_events::{Event, Handle, Payload};
use tacho_tables::row::{self, Row};
use tacho_tables::{Callback, CallbackKind, Execution, MaybeNs, Process};

/// Events that a thread has outside of callbacks alone.
pub(crate) fn is_of_executor(payload: &Payload) -> bool {
    matches!(
        payload,
        Payload::RclcppExecutorWaitForWork { .. }
            | Payload::RclcppExecutorGetNextReady {}
            | Payload::RclcppExecutorExecute { .. }
    )
}

impl Collector {
    /// A response was taken. Without events of an executor nobody knows when its handling ends; inside of a callback it
    /// is that callback's; and rclpy tells what handles it.
    pub(super) fn start_response(
        &mut self,
        event: &Event,
        process: Row<Process>,
        stream: usize,
        rmw_client: Handle,
        now: i64,
    ) {
        let thread = &mut self.threads[stream];
        if !thread.running.is_empty() || self.seen.rclpy.tells(process) {
            return;
        }
        if !thread.executes {
            thread.responded = Some((rmw_client, now));
            return;
        }
        let Some((node, service)) = self.services.client(process, rmw_client) else { return };
        let handles = &mut self.handles[process];
        let callback = *handles.client_callbacks.entry(rmw_client).or_insert_with(|| {
            let new = Callback {
                node: *node,
                topic: Some(format!("{service} response")),
                ..Callback::new(process, rmw_client.0, CallbackKind::Client)
            };
            let index = row::add(&mut self.seen.callbacks, new);
            if let Some(group) = handles.members.client_groups.get(&rmw_client) {
                self.seen.groups.add(*group, index);
            }
            handles.groups.tie_client(&mut self.seen.groups, process, rmw_client, index);
            index
        });
        let execution = self.seen.executions.add(Execution {
            callback,
            tid: event.thread.0,
            queued_ns: MaybeNs::NONE,
            start_ns: now,
            end_ns: MaybeNs::NONE,
            cpu_ns: MaybeNs::NONE,
            runnable_ns: MaybeNs::NONE,
            executor_cpu_ns: MaybeNs::NONE,
            executor_runnable_ns: MaybeNs::NONE,
            resumes: None,
        });
        self.seen.execution_stream.push(stream as u32);
        self.seen.streams[stream].executions.push(execution);
        self.scheduler.starts(execution, stream as u32);
        self.services.handles_response(stream, execution);
        // No clock was read beside it: what was read of the callback before says nothing of the next one's executor.
        thread.cpu.starts(thread.running.len());
        thread.running.push(execution);
        thread.publishing = None;
        thread.responding = Some(execution);
    }

    /// An executor turns to a client: to take a response, or to handle the one that its thread took last, as those do
    /// that tell nothing else.
    pub(super) fn execute_client(
        &mut self,
        event: &Event,
        process: Row<Process>,
        stream: usize,
        responded: Option<(Handle, i64)>,
    ) {
        self.threads[stream].executes = true;
        if let Some((rmw_client, taken_ns)) = responded {
            self.start_response(event, process, stream, rmw_client, taken_ns);
            if let Some(execution) = self.threads[stream].responding {
                self.actions.handles_response(stream, execution);
            }
        }
    }

    /// The executor goes on: whatever response its thread was handling, it has handled.
    pub(super) fn end_response(&mut self, stream: usize, now: i64) {
        let thread = &mut self.threads[stream];
        if let Some(execution) = thread.responding.take() {
            self.seen.executions[execution].end_ns = now.into();
            if let Some(position) = thread.running.iter().rposition(|running| *running == execution) {
                thread.running.truncate(position);
            }
            thread.publishing = None;
            thread.in_callback = None;
            thread.idle_since = thread.running.is_empty().then_some(now);
        }
    }
}
