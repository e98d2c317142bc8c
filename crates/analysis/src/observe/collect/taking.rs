//! Takes, layer by layer, on one thread; and messages handed over within a process.

use super::{Collector, Depth, Taking};
use crate::observe::{PublicationSeen, TakeSeen, INTERNAL};
use tacho_events::Handle;
use tacho_tables::row::Row;
use tacho_tables::{Endpoint, MaybeNs, Process};

impl Collector {
    pub(super) fn take(&mut self, stream: usize, endpoint: Row<Endpoint>, now: i64) -> Row<TakeSeen> {
        let thread = &mut self.threads[stream];
        let take = Row::behind(self.seen.takes.len());
        let subscriptions = &self.handles[self.seen.process_of(endpoint)].subscriptions;
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
            header_stamp: 0,
            message: 0,
            id: None,
            publication: None,
            arrival: MaybeNs::NONE,
            execution,
            first_line: MaybeNs::NONE,
            called_ns: called_ns.into(),
            rcl_ns: MaybeNs::NONE,
            intra_process: false,
        });
        take
    }

    /// rcl_take and rclcpp_take: they follow rmw_take on its thread, and stand alone on other middleware.
    pub(super) fn take_above(&mut self, process: Row<Process>, stream: usize, depth: Depth, now: i64) {
        if let Some(taking) = self.threads[stream].taking.filter(|t| depth < t.depth) {
            if let (Some(take), Depth::Rcl) = (taking.take, depth) {
                self.seen.takes[take].rcl_ns = now.into();
            }
            self.threads[stream].taking = Some(Taking { depth, ..taking });
            return;
        }
        let executing = self.threads[stream].executing;
        let endpoint = executing.and_then(|h| self.handles[process].subscriptions.get(&h).copied());
        let take = endpoint.filter(|e| *e != INTERNAL).map(|e| self.take(stream, e, now));
        self.threads[stream].taking = Some(Taking { take, depth });
    }

    /// CARET tells the stamp of the message that a callback is about to be given. Where rmw tells no takes, this is
    /// one.
    pub(super) fn dispatch(
        &mut self,
        process: Row<Process>,
        stream: usize,
        callback: Handle,
        source_timestamp: i64,
        now: i64,
    ) {
        let handles = &self.handles[process];
        let owner =
            handles.callbacks.get(&callback).and_then(|callback| handles.callback_endpoint.get(callback)).copied();
        let known = self.threads[stream].taking.and_then(|taking| taking.take);
        if known.is_some_and(|take| Some(self.seen.takes[take].endpoint) == owner) {
            return;
        }
        let take = owner.filter(|e| *e != INTERNAL).map(|e| self.take(stream, e, now));
        if let Some(take) = take {
            self.seen.takes[take].source_timestamp = source_timestamp;
        }
        self.threads[stream].taking = Some(Taking { take, depth: Depth::ClientLibrary });
    }

    /// CARET tells the address of the message that a callback is about to be given within its process. Where no buffer
    /// tells of the take, this is one.
    pub(super) fn dispatch_within(
        &mut self,
        process: Row<Process>,
        stream: usize,
        callback: Handle,
        message: Handle,
        now: i64,
    ) {
        let handles = &self.handles[process];
        let owner =
            handles.callbacks.get(&callback).and_then(|callback| handles.callback_endpoint.get(callback)).copied();
        let known = self.threads[stream].taking.and_then(|taking| taking.take);
        let Some(endpoint) = owner.filter(|owner| known.is_none_or(|take| self.seen.takes[take].endpoint != *owner))
        else {
            return;
        };
        if endpoint == INTERNAL {
            self.threads[stream].taking = Some(Taking { take: None, depth: Depth::ClientLibrary });
            return;
        }
        let topic_of = |publication: &Row<PublicationSeen>| {
            self.seen.publications[*publication].endpoint.filter(|e| *e != INTERNAL).map(|e| self.seen.topic_of(e))
        };
        // Another message may lie there by now.
        let publication = handles.handed_over.of(message).filter(|p| topic_of(p) == Some(self.seen.topic_of(endpoint)));
        self.seen.counters.intra_unlinked += u64::from(publication.is_none() && self.options.measures(now));
        self.seen.endpoints[endpoint].is_buffered = true;
        let take = self.take(stream, endpoint, now);
        let row = &mut self.seen.takes[take];
        row.publication = publication;
        row.intra_process = true;
        self.threads[stream].taking = Some(Taking { take: Some(take), depth: Depth::ClientLibrary });
    }

    pub(super) fn node_take(
        &mut self,
        process: Row<Process>,
        stream: usize,
        subscription: Handle,
        id: (u64, u64),
        now: i64,
    ) {
        let Some(endpoint) = self.handles[process].subscriptions.get(&subscription).copied() else {
            self.seen.counters.unknown_subscription += 1;
            return;
        };
        if endpoint == INTERNAL {
            return;
        }
        let fits = |t: &Row<TakeSeen>| self.seen.takes[*t].endpoint == endpoint && self.seen.takes[*t].id.is_none();
        let take = match self.threads[stream].in_callback.filter(fits) {
            Some(take) => take,
            None => self.take(stream, endpoint, now),
        };
        let row = &mut self.seen.takes[take];
        row.id = Some(id);
        row.first_line = now.into();
    }

    pub(super) fn dequeue(&mut self, process: Row<Process>, stream: usize, buffer: Handle, index: u64, now: i64) {
        let handles = &mut self.handles[process];
        match (handles.endpoint_of_buffer(buffer), handles.buffers.dequeue(buffer, index)) {
            (Some(endpoint), _) if endpoint == INTERNAL => {
                self.threads[stream].taking = Some(Taking { take: None, depth: Depth::ClientLibrary })
            }
            (Some(endpoint), Some((publication, arrival))) => {
                let take = self.take(stream, endpoint, now);
                let row = &mut self.seen.takes[take];
                row.publication = Some(publication);
                row.intra_process = true;
                row.arrival = arrival.into();
                self.threads[stream].taking = Some(Taking { take: Some(take), depth: Depth::ClientLibrary });
            }
            // Before the window, as at the beginning of a ring, what went before it may be gone: no figure lacks it.
            _ => self.seen.counters.intra_unlinked += u64::from(self.options.measures(now)),
        }
    }
}
