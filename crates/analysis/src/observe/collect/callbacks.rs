//! Callbacks: their starts and ends on one thread, what they were given, and the parts of coroutines.

use super::{Collector, Last, Taking};
use crate::observe::actions::{At, Role};
use crate::observe::INTERNAL;
use tacho_events::{Duration, Event, Gid, Handle};
use tacho_tables::row::Row;
use tacho_tables::{Callback, CallbackKind, Execution, MaybeNs, Process};

/// What an event said of the callback that starts next on its thread.
#[derive(Default)]
pub(super) struct Beginning {
    /// Of which coroutine, and which part of it.
    pub part: Option<(Handle, u64)>,
    /// The call whose response it handles.
    pub response: Option<usize>,
    /// The goal of an action that it is for, and what it does for it.
    pub action: Option<(Gid, Role)>,
}

impl Collector {
    pub(super) fn start(&mut self, event: &Event, process: Row<Process>, stream: usize, callback: Handle, now: i64) {
        let handles = &mut self.handles[process];
        let callback = match handles.callbacks.get(&callback) {
            Some(known) => *known,
            None => handles.new_callback(&mut self.seen, process, callback),
        };
        let starts_again = |running: &Row<Execution>| self.seen.executions[*running].callback == callback;
        if let Some(position) = self.threads[stream].running.iter().position(starts_again) {
            self.ended_untold(stream, position, callback);
        }
        let handles = &mut self.handles[process];
        let execution = Row::behind(self.seen.executions.len());
        let Beginning { part, response, action } = std::mem::take(&mut self.threads[stream].beginning);
        let resumes = part.and_then(|(task, part)| {
            let before = self.coroutines.insert((process, task), execution);
            before.filter(|_| part > 0)
        });
        let thread = &mut self.threads[stream];
        let executor = thread.cpu.starts(thread.running.len());
        self.seen.executions.push(Execution {
            callback,
            tid: event.thread.0,
            queued_ns: self.ros1.called(stream).into(),
            start_ns: now,
            end_ns: MaybeNs::NONE,
            cpu_ns: MaybeNs::NONE,
            runnable_ns: MaybeNs::NONE,
            executor_cpu_ns: executor.map(|used| used.cpu_ns).into(),
            executor_runnable_ns: executor.and_then(|used| used.run_delay_ns).into(),
            resumes,
        });
        if let Some(call) = response {
            self.services.responded(call, execution);
        }
        if let Some((goal, role)) = action {
            let at = At { process, stream, tid: event.thread.0, now, running: None };
            let row = &mut self.seen.callbacks[callback];
            self.actions.started(at, goal, role, execution, resumes.is_none(), row);
        }
        self.seen.execution_stream.push(stream as u32);
        self.scheduler.starts(execution, stream as u32);
        if self.seen.callbacks[callback].kind == CallbackKind::Service {
            self.services.started(stream, execution);
        }
        let thread = &mut self.threads[stream];
        if thread.running.is_empty() {
            self.seen.streams[stream].executions.push(execution);
        }
        thread.idle_since = None;
        thread.running.push(execution);
        thread.publishing = None;
        thread.in_callback = None;
        // What an action's callback was given is reported; of feedback alone it is a message.
        let owner = handles.callback_endpoint.get(&callback);
        if let Some(endpoint) = owner.filter(|e| **e != INTERNAL && resumes.is_none()) {
            self.seen.endpoints[*endpoint].called += 1;
        }
        let taken = match action {
            None => {
                let taken = thread.taking.take().and_then(|taking: Taking| taking.take);
                // Feedback that comes to a subscription like any other, not to a client of the action.
                let feedback = if let Some(Last::Took(take)) = thread.last { take } else { None };
                taken.or_else(|| feedback.filter(|take| owner == Some(&self.seen.takes[*take].endpoint)))
            }
            Some((goal, Role::Feedback)) => {
                let oldest = thread.feedback.iter().position(|taken| taken.1 == goal);
                oldest.and_then(|position| thread.feedback.remove(position)).map(|taken| taken.0)
            }
            Some(_) => None,
        };
        if let Some(take) = taken {
            let row = &mut self.seen.takes[take];
            if row.execution.is_none() && owner.is_none_or(|e| *e == row.endpoint) {
                row.execution = Some(execution);
                thread.in_callback = Some(take);
            }
        }
    }

    /// A service's callback that answers later: up to 28 (Jazzy) rclcpp does not tell its end. One that starts where it
    /// runs already, and never ended before, is such a one: it had ended when the executor went on.
    fn ended_untold(&mut self, stream: usize, position: usize, callback: Row<Callback>) {
        if self.seen.callbacks[callback].kind == CallbackKind::Service && self.told(callback).is_none_or(|told| !told) {
            *self.told(callback) = Some(false);
            let thread = &mut self.threads[stream];
            let ended = thread.running[position];
            self.seen.executions[ended].end_ns =
                thread.went_on.filter(|inside| inside.0 == ended).map(|inside| inside.1).into();
            thread.running.truncate(position);
        }
    }

    /// The executor goes on: such a callback has ended. Others may spin an executor of their own.
    pub(super) fn end_untold(&mut self, stream: usize, now: i64) {
        let Some(running) = self.threads[stream].running.last().copied() else { return };
        let callback = self.seen.executions[running].callback;
        let thread = &mut self.threads[stream];
        if thread.went_on.is_none_or(|inside| inside.0 != running) {
            thread.went_on = Some((running, now));
        }
        if self.ends_told.get(callback) == Some(&Some(false)) {
            self.seen.executions[running].end_ns = now.into();
            thread.running.pop();
            thread.publishing = None;
            thread.in_callback = None;
            thread.idle_since = thread.running.is_empty().then_some(now);
        }
    }

    fn told(&mut self, callback: Row<Callback>) -> &mut Option<bool> {
        while self.ends_told.get(callback).is_none() {
            self.ends_told.push(None);
        }
        &mut self.ends_told[callback]
    }

    pub(super) fn end(&mut self, process: Row<Process>, stream: usize, callback: Handle, now: i64) {
        let known = self.handles[process].callbacks.get(&callback).copied();
        if let Some(callback) = known {
            *self.told(callback) = Some(true);
        }
        let thread = &mut self.threads[stream];
        let of_it = |e: &Row<Execution>| Some(self.seen.executions[*e].callback) == known;
        match thread.running.iter().rposition(of_it) {
            Some(position) => {
                let ended = thread.running[position];
                let row = &mut self.seen.executions[ended];
                row.end_ns = now.into();
                thread.cpu.ends(position, ended, Duration::from_ns(now - row.start_ns));
                // What began inside it and did not end (an exception went through) ended no later, when is not known.
                thread.running.truncate(position);
            }
            None => self.seen.counters.end_without_start += u64::from(self.options.measures(now)),
        }
        thread.publishing = None;
        thread.in_callback = None;
        thread.executing = None;
        thread.idle_since = thread.running.is_empty().then_some(now);
    }
}
