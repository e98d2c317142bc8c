//! The processes and threads of a trace, found as their events occur.

use std::collections::HashMap;
use std::path::Path;
use tacho_events::format::Format;
use tacho_events::layout::{FileHeader, Sync, TickSource};
use tacho_events::{ProcessFacts, ProcessIndex, StreamIndex};

/// A process or thread as an event identifies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    /// Index of its host.
    pub host: u32,
    /// Its namespace; 0 if the trace does not say.
    pub namespace: u64,
    pub pid: u32,
    pub tid: u32,
}

/// Processes and threads met so far.
#[derive(Default)]
pub(crate) struct Registry {
    pub processes: Vec<ProcessFacts>,
    by_pid: HashMap<(u32, u64, u32), ProcessIndex>,
    by_thread: HashMap<Origin, (ProcessIndex, StreamIndex)>,
}

/// The host of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    pub name: String,
    pub boot_id: String,
    /// Wall time minus the time of events.
    pub offset_ns: i64,
}

impl Registry {
    /// The process and thread of an event at `ns`. `name` is LTTng's: that of the thread, cut to 15 bytes.
    pub fn place(
        &mut self,
        origin: Origin,
        host: &Host,
        trace: &Path,
        ns: i64,
        name: &[u8],
    ) -> (ProcessIndex, StreamIndex) {
        if let Some(known) = self.by_thread.get(&origin) {
            return *known;
        }
        let key = (origin.host, origin.namespace, origin.pid);
        let process = *self.by_pid.entry(key).or_insert(ProcessIndex(self.processes.len() as u32));
        let length = name.iter().position(|b| *b == 0).unwrap_or(name.len());
        let name = String::from_utf8_lossy(&name[..length]).into_owned();
        match self.processes.get_mut(process.0 as usize) {
            // The first thread's name is the program's.
            Some(facts) if origin.tid == origin.pid && !name.is_empty() => facts.header.executable = name,
            Some(_) => {}
            None => self.processes.push(facts(origin, host, trace, ns, name)),
        }
        let stream = StreamIndex(self.by_thread.len() as u32);
        self.by_thread.insert(origin, (process, stream));
        (process, stream)
    }

    /// Threads met so far.
    pub fn threads(&self) -> usize {
        self.by_thread.len()
    }
}

/// A trace does not say how a process ended, nor which of them lost events: losses stand in [`crate::Reader::gaps`].
fn facts(origin: Origin, host: &Host, trace: &Path, ns: i64, name: String) -> ProcessFacts {
    let start = Sync { ticks: ns as u64, monotonic_ns: ns, realtime_ns: ns.wrapping_add(host.offset_ns), bound_ns: 0 };
    let header = FileHeader {
        format: Format::default(),
        ticks: TickSource::Monotonic,
        pid: origin.pid,
        ppid: 0,
        tracetools: None,
        start,
        dropped: 0,
        dropped_nested: 0,
        remarks: 0,
        closed: None,
        storage_error: 0,
        kept_from_ns: None,
        boot_id: host.boot_id.clone(),
        host: host.name.clone(),
        ros_distro: String::new(),
        rmw_implementation: String::new(),
        executable: name.clone(),
        command: name,
    };
    ProcessFacts { file: trace.to_path_buf(), header }
}
