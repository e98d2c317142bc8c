//! Takes, layer by layer, on one thread; and messages handed over within a process.

use super::{Collector, Depth, Taking};
use crate::observe::{TakeSeen, INTERNAL};
use tacho_events::Handle;

impl Collector {
    pub(super) fn take(&mut self, stream: usize, endpoint: u32, now: i64) -> u32 {
        let thread = &mut self.threads[stream];
        let take = self.seen.takes.len() as u32;
        let subscriptions = &self.handles[self.seen.process_of(endpoint) as usize].subscriptions;
        let for_it = thread.executing.filter(|handle| subscriptions.get(handle) == Some(&endpoint));
        let called_ns = for_it.map(|_| thread.executing_since);
        // Taken by a callback itself (polling), not for one that is about to start.
        let execution = thread.running.last().copied();
        if execution.is_some() {
            thread.in_callback = Some(take);
        }
        self.seen.takes.push(TakeSeen {
            time: now,
            endpoint,
            source_timestamp: 0,
            id: None,
            publication: None,
            arrival: None,
            execution,
            first_line: None,
            called_ns,
            rcl_ns: None,
            intra_process: false,
        });
        take
    }

    /// rcl_take and rclcpp_take: they follow rmw_take on its thread, and stand alone on other middleware.
    pub(super) fn take_above(&mut self, process: u32, stream: usize, depth: Depth, now: i64) {
        if let Some(taking) = self.threads[stream].taking.filter(|t| depth < t.depth) {
            if let (Some(take), Depth::Rcl) = (taking.take, depth) {
                self.seen.takes[take as usize].rcl_ns = Some(now);
            }
            self.threads[stream].taking = Some(Taking { depth, ..taking });
            return;
        }
        let executing = self.threads[stream].executing;
        let endpoint = executing.and_then(|h| self.handles[process as usize].subscriptions.get(&h).copied());
        let take = endpoint.filter(|e| *e != INTERNAL).map(|e| self.take(stream, e, now));
        self.threads[stream].taking = Some(Taking { take, depth });
    }

    /// CARET tells the stamp of the message that a callback is about to be given. Where rmw tells no takes, this is one.
    pub(super) fn dispatch(&mut self, process: u32, stream: usize, callback: Handle, source_timestamp: i64, now: i64) {
        let handles = &self.handles[process as usize];
        let owner = handles.callbacks.get(&callback).and_then(|callback| handles.callback_endpoint.get(callback)).copied();
        let known = self.threads[stream].taking.and_then(|taking| taking.take);
        if known.is_some_and(|take| Some(self.seen.takes[take as usize].endpoint) == owner) {
            return;
        }
        let take = owner.filter(|e| *e != INTERNAL).map(|e| self.take(stream, e, now));
        if let Some(take) = take {
            self.seen.takes[take as usize].source_timestamp = source_timestamp;
        }
        self.threads[stream].taking = Some(Taking { take, depth: Depth::ClientLibrary });
    }

    pub(super) fn node_take(&mut self, process: u32, stream: usize, subscription: Handle, id: (u64, u64), now: i64) {
        let Some(endpoint) = self.handles[process as usize].subscriptions.get(&subscription).copied() else {
            self.seen.counters.unknown_subscription += 1;
            return;
        };
        if endpoint == INTERNAL {
            return;
        }
        let fits =
            |t: &u32| self.seen.takes[*t as usize].endpoint == endpoint && self.seen.takes[*t as usize].id.is_none();
        let take = match self.threads[stream].in_callback.filter(fits) {
            Some(take) => take,
            None => self.take(stream, endpoint, now),
        };
        let row = &mut self.seen.takes[take as usize];
        row.id = Some(id);
        row.first_line = Some(now);
    }

    pub(super) fn dequeue(&mut self, process: u32, stream: usize, buffer: Handle, index: u64, now: i64) {
        let handles = &mut self.handles[process as usize];
        match (handles.endpoint_of_buffer(buffer), handles.buffers.dequeue(buffer, index)) {
            (Some(INTERNAL), _) => {
                self.threads[stream].taking = Some(Taking { take: None, depth: Depth::ClientLibrary })
            }
            (Some(endpoint), Some((publication, arrival))) => {
                let take = self.take(stream, endpoint, now);
                let row = &mut self.seen.takes[take as usize];
                row.publication = Some(publication);
                row.intra_process = true;
                row.arrival = Some(arrival);
                self.threads[stream].taking = Some(Taking { take: Some(take), depth: Depth::ClientLibrary });
            }
            // Before the window, as at the beginning of a ring, what went before it may be gone: no figure lacks it.
            _ => self.seen.counters.intra_unlinked += u64::from(self.options.measures(now)),
        }
    }
}
