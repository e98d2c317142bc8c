//! Publish calls, layer by layer, on one thread; and those that the middleware refused.

use super::{Collector, Depth, Last, Publishing};
use crate::observe::{PublicationSeen, RefusalSeen, INTERNAL};
use rustc_hash::FxHashMap as HashMap;
use tacho_events::Handle;
use tacho_tables::row::Row;
use tacho_tables::Process;

impl Collector {
    /// The publish call of this number, which was seen just before, failed: nothing was sent.
    pub(super) fn refused(&mut self, process: Row<Process>, publisher: Handle, sequence: u64, code: u64, reason: &str) {
        self.seen.ours[process] = true;
        let endpoint = self.handles[process].publishers.get(&publisher).copied().filter(|e| *e != INTERNAL);
        if endpoint.is_none() {
            return;
        }
        let of = |row: &PublicationSeen| row.endpoint == endpoint && row.id.is_some_and(|id| id.1 == sequence);
        // The last of its publisher, so close to the end.
        let last = self.seen.publications.numbered().rev().find(|(_, row)| of(row)).map(|found| found.0);
        if let Some(publication) = last {
            let row = &mut self.seen.publications[publication];
            (row.endpoint, row.refused_to, row.id) = (Some(INTERNAL), endpoint, None);
            self.seen.refusals.push(RefusalSeen { publication, code, reason: reason.to_owned() });
        }
    }

    /// Publish calls that the client library began and rcl did not take, behind the last one of their process that it
    /// took, sent nothing: rcl refuses them once their context is shut down. Before rcl's own event it looks whether
    /// the publisher is valid.
    pub(super) fn leave_refused_by_rcl(&mut self) {
        let seen = &mut self.seen;
        let mut last_taken: HashMap<Row<Process>, Row<PublicationSeen>> = HashMap::default();
        for (index, row) in seen.publications.numbered().filter(|(_, row)| row.from_client_library && row.reached_rcl) {
            last_taken.insert(row.process, index);
        }
        let is_refused = |(index, row): &(Row<PublicationSeen>, &PublicationSeen)| {
            let untaken = row.from_client_library && !row.reached_rcl && row.endpoint != Some(INTERNAL);
            untaken
                && seen.processes[row.process].dropped_events == 0
                && last_taken.get(&row.process).is_some_and(|last| last < index)
                && !seen.lacks(row.time, row.time)
        };
        let refused: Vec<Row<PublicationSeen>> =
            seen.publications.numbered().filter(is_refused).map(|(index, _)| index).collect();
        seen.counters.after_shutdown += refused.len() as u64;
        for index in refused {
            let row = &mut seen.publications[index];
            (row.refused_to, row.endpoint) = (row.endpoint, Some(INTERNAL));
        }
    }

    /// One more sight of a publish call, or the first of a new one.
    pub(super) fn publish(
        &mut self,
        process: Row<Process>,
        stream: usize,
        depth: Depth,
        publisher: Handle,
        message: Handle,
        now: i64,
    ) -> Row<PublicationSeen> {
        let endpoint = self.handles[process].publishers.get(&publisher).copied();
        let same = |a: Handle, b: Handle| a == Handle::NONE || b == Handle::NONE || a == b;
        let thread = &mut self.threads[stream];
        let joined = thread.publishing.filter(|p| {
            // After an intra-process hand-over the middleware publishes a copy.
            depth > p.depth
                && same(p.publisher, publisher)
                && (p.depth == Depth::IntraProcess || same(p.message, message))
        });
        let publication = match joined {
            Some(publishing) => publishing.publication,
            None => {
                let execution = thread.running.last().copied();
                self.seen.publications.add(PublicationSeen::new(now, process, execution))
            }
        };
        let row = &mut self.seen.publications[publication];
        row.endpoint = row.endpoint.or(endpoint);
        row.from_client_library |= joined.is_none() && depth == Depth::ClientLibrary;
        row.reached_rcl |= depth >= Depth::Rcl;
        let known = joined.map_or(Handle::NONE, |p| p.publisher);
        let publisher = if publisher == Handle::NONE { known } else { publisher };
        thread.publishing = Some(Publishing { publication, depth, publisher, message });
        publication
    }

    pub(super) fn rmw_publish(
        &mut self,
        process: Row<Process>,
        stream: usize,
        publisher: Handle,
        message: Handle,
        timestamp: i64,
        now: i64,
    ) {
        let endpoint = self.handles[process].rmw_publishers.get(&publisher).copied();
        let thread = &mut self.threads[stream];
        let fits = |p: &Publishing| p.message == Handle::NONE || message == Handle::NONE || p.message == message;
        let publication = match thread.publishing.take().filter(fits) {
            Some(publishing) => publishing.publication,
            // No layer above: the middleware's own, unless its publisher is one of the program's.
            None if endpoint.is_some() => self.publish(process, stream, Depth::Rmw, Handle::NONE, message, now),
            None => return,
        };
        self.threads[stream].publishing = None;
        self.threads[stream].written = Some(publication);
        self.threads[stream].last = Some(Last::Published(publication));
        let row = &mut self.seen.publications[publication];
        row.endpoint = row.endpoint.or(endpoint);
        row.source_timestamp = timestamp;
        row.rmw_ns = now.into();
        row.reached_rcl = true;
    }

    /// The DDS stamps a message that it is to write: that of the publish call that its thread is inside.
    pub(super) fn dds_write(&mut self, stream: usize, message: Handle, timestamp: i64) {
        let thread = &mut self.threads[stream];
        let inside =
            thread.publishing.filter(|p| message == Handle::NONE || p.message == Handle::NONE || p.message == message);
        // Each call writes once; what is written next is of the middleware's own.
        if let Some(publication) = thread.written.take().or(inside.map(|p| p.publication)) {
            let row = &mut self.seen.publications[publication];
            if row.source_timestamp == 0 {
                row.source_timestamp = timestamp;
            }
        }
    }
}
