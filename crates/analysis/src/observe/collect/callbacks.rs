//! Callbacks: their starts and ends on one thread, what they were given, and the parts of coroutines.

use super::{Collector, Last, Taking};
use crate::observe::actions::{At, Role};
use crate::tables::{CallbackKind, Execution};
use tacho_events::{Duration, Event, Gid, Handle};

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
    pub(super) fn start(&mut self, event: &Event, process: u32, stream: usize, callback: Handle, now: i64) {
        let handles = &mut self.handles[process as usize];
        let callback = match handles.callbacks.get(&callback) {
            Some(known) => *known,
            None => handles.new_callback(&mut self.seen, process, callback),
        };
        let execution = self.seen.executions.len() as u32;
        let Beginning { part, response, action } = std::mem::take(&mut self.threads[stream].beginning);
        let resumes = part.and_then(|(task, part)| {
            let before = self.coroutines.insert((process, task), execution);
            before.filter(|_| part > 0)
        });
        self.seen.executions.push(Execution {
            callback,
            tid: event.thread.0,
            queued_ns: self.ros1.called(stream),
            start_ns: now,
            end_ns: None,
            cpu_ns: None,
            resumes,
        });
        if let Some(call) = response {
            self.services.responded(call, execution);
        }
        if let Some((goal, role)) = action {
            let at = At { process, stream, tid: event.thread.0, now, running: None };
            let row = &mut self.seen.callbacks[callback as usize];
            self.actions.started(at, goal, role, execution, resumes.is_none(), row);
        }
        self.seen.execution_stream.push(stream as u32);
        self.scheduler.starts(execution, stream as u32);
        if self.seen.callbacks[callback as usize].kind == CallbackKind::Service {
            self.services.started(stream, execution);
        }
        let thread = &mut self.threads[stream];
        thread.cpu.starts(thread.running.len());
        if thread.running.is_empty() {
            self.seen.streams[stream].executions.push(execution);
        }
        thread.idle_since = None;
        thread.running.push(execution);
        thread.publishing = None;
        thread.in_callback = None;
        // What an action's callback was given is told; of feedback alone it is a message.
        let owner = handles.callback_endpoint.get(&callback);
        let taken = match action {
            None => {
                let taken = thread.taking.take().and_then(|taking: Taking| taking.take);
                // Feedback that comes to a subscription like any other, not to a client of the action.
                let feedback = if let Some(Last::Took(take)) = thread.last { take } else { None };
                taken.or_else(|| feedback.filter(|take| owner == Some(&self.seen.takes[*take as usize].endpoint)))
            }
            Some((goal, Role::Feedback)) => {
                let oldest = thread.feedback.iter().position(|taken| taken.1 == goal);
                oldest.and_then(|position| thread.feedback.remove(position)).map(|taken| taken.0)
            }
            Some(_) => None,
        };
        if let Some(take) = taken {
            let row = &mut self.seen.takes[take as usize];
            if row.execution.is_none() && owner.is_none_or(|e| *e == row.endpoint) {
                row.execution = Some(execution);
                thread.in_callback = Some(take);
            }
        }
    }

    pub(super) fn end(&mut self, process: u32, stream: usize, callback: Handle, now: i64) {
        let thread = &mut self.threads[stream];
        let known = self.handles[process as usize].callbacks.get(&callback);
        let of_it = |e: &u32| Some(&self.seen.executions[*e as usize].callback) == known;
        match thread.running.iter().rposition(of_it) {
            Some(position) => {
                let ended = thread.running[position];
                let row = &mut self.seen.executions[ended as usize];
                row.end_ns = Some(now);
                thread.cpu.ends(position, ended, Duration::from_ns(now - row.start_ns));
                // What began inside it and did not end (an exception went through) ended no later, when is not known.
                thread.running.truncate(position);
            }
            None => self.seen.counters.end_without_start += 1,
        }
        thread.publishing = None;
        thread.in_callback = None;
        thread.executing = None;
        thread.idle_since = thread.running.is_empty().then_some(now);
    }
}
