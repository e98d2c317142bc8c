//! Finds the process and thread of an event.

use super::event::Read;
use super::shared::Shared;
use crate::decode::{process_name, Captured, Input};
use crate::layout::word;
use crate::process::Origin;
use crate::trace::Trace;
use tacho_events::{ProcessIndex, StreamIndex, ThreadId};

/// The threads that occurred last, found without hashing. They are threads of the stream's host.
pub(super) struct Threads(Box<[Recent; RECENT]>);

/// A thread that occurred before.
#[derive(Clone, Copy)]
struct Recent {
    /// Process id and thread id.
    ids: u64,
    namespace: u64,
    process: ProcessIndex,
    stream: StreamIndex,
}

/// A place that holds no thread yet: no thread has this id.
const NOBODY: Recent = Recent { ids: u64::MAX, namespace: u64::MAX, process: ProcessIndex(0), stream: StreamIndex(0) };

/// More threads than a CPU alternates between in a short time; a power of two.
const RECENT: usize = 64;

impl Default for Threads {
    fn default() -> Self {
        Threads(Box::new([NOBODY; RECENT]))
    }
}

impl Threads {
    /// Process and stream of a thread that occurred recently.
    #[inline(always)]
    pub fn met(&self, pid: u32, tid: u32, namespace: u64) -> Option<(ProcessIndex, StreamIndex)> {
        let known = &self.0[index(pid, tid)];
        (known.ids == ids(pid, tid) && known.namespace == namespace).then_some((known.process, known.stream))
    }

    /// Process, stream and thread of the event that was just read. `None` if the trace does not contain them.
    #[inline(always)]
    pub fn place(
        &mut self,
        trace: &Trace,
        input: Input<'_>,
        read: &Read<'_>,
        captured: &Captured,
        shared: &mut Shared,
    ) -> Option<(ProcessIndex, StreamIndex, ThreadId)> {
        let word = |word: u8| captured.words[word as usize];
        let has = read.class.has;
        let pid = if has.pid { word(word::PID) as u32 } else { trace.pid? };
        if !has.tid {
            return None;
        }
        let tid = word(word::TID) as u32;
        let namespace = if has.namespace { word(word::PID_NAMESPACE) } else { 0 };
        let (process, stream) = self.met(pid, tid, namespace).unwrap_or_else(|| {
            let name = match has.name {
                true => process_name(read.class, input, read.contexts, captured),
                false => trace.process_name.as_bytes(),
            };
            let origin = Origin { host: trace.host_index, namespace, pid, tid };
            let (process, stream) =
                shared.registry.place(origin, &trace.host, &trace.folder, trace.ns(read.ticks), name);
            self.0[index(pid, tid)] = Recent { ids: ids(pid, tid), namespace, process, stream };
            (process, stream)
        });
        Some((process, stream, ThreadId(tid)))
    }
}

#[inline(always)]
fn index(pid: u32, tid: u32) -> usize {
    (tid ^ pid << 3) as usize % RECENT
}

#[inline(always)]
fn ids(pid: u32, tid: u32) -> u64 {
    u64::from(pid) << 32 | u64::from(tid)
}
