//! Writes the events of a simulation, as the nodes and the kernel of a run would.

use std::path::PathBuf;
use tacho_events::chunk::{joined, Chunk};
use tacho_events::files::{EventFiles, Failed};
use tacho_events::layout::{FileHeader, Sync, TickSource};
use tacho_events::number;
use tacho_runner::node::trace::Member;
use tacho_workload::tasks::TaskSignal;

/// A thread of a file.
struct Stream {
    file: usize,
    chunk: Chunk,
}

/// The event files of a run.
pub(crate) struct Trace {
    files: EventFiles<usize>,
    headers: Vec<FileHeader>,
    streams: Vec<Option<Stream>>,
    tids: Vec<(usize, u32)>,
    /// Events written.
    pub events: u64,
}

impl Trace {
    pub fn new(folder: PathBuf) -> Trace {
        Trace { files: EventFiles::new(folder), headers: vec![], streams: vec![], tids: vec![], events: 0 }
    }

    /// Adds a process; pid 0 is the kernel.
    pub fn add_process(&mut self, name: &str, pid: u32, start_ns: i64) -> usize {
        let start = Sync { ticks: start_ns as u64, monotonic_ns: start_ns, realtime_ns: start_ns, bound_ns: 0 };
        self.headers.push(FileHeader {
            ticks: TickSource::Monotonic,
            pid,
            start,
            closed: Some(true),
            boot_id: "simulated".into(),
            host: "simulated".into(),
            executable: name.into(),
            command: name.into(),
            ..FileHeader::default()
        });
        self.headers.len() - 1
    }

    /// Adds a thread to a process, or a CPU to the kernel.
    pub fn add_stream(&mut self, process: usize, tid: u32) -> usize {
        self.streams.push(None);
        self.tids.push((process, tid));
        self.streams.len() - 1
    }

    /// Appends an event of a thread.
    #[inline]
    pub fn put(&mut self, stream: usize, now: i64, kind: u16, words: &[u64]) -> Result<(), Failed> {
        self.put_texts(stream, now, kind, words, &[])
    }

    /// Appends an event with texts.
    pub fn named(&mut self, stream: usize, now: i64, kind: u16, words: &[u64], texts: &[&str]) -> Result<(), Failed> {
        self.put_texts(stream, now, kind, words, &joined(texts))
    }

    fn put_texts(&mut self, stream: usize, now: i64, kind: u16, words: &[u64], texts: &[u8]) -> Result<(), Failed> {
        self.events += 1;
        let (file, tid) = self.tids[stream];
        let of = self.streams[stream].get_or_insert_with(|| Stream { file, chunk: Chunk::first(tid, now as u64) });
        if of.chunk.put(now as u64, kind, words, texts) {
            return Ok(());
        }
        self.files.append(of.file, self.headers[file].pid, &of.chunk)?;
        of.chunk = of.chunk.after(now as u64);
        // No event here is larger than a chunk.
        of.chunk.put(now as u64, kind, words, texts);
        Ok(())
    }

    /// Writes the rest.
    pub fn finish(self) -> Result<u64, Failed> {
        let Trace { files, headers, streams, events, .. } = self;
        let last = streams.iter().flatten().map(|stream| (stream.file, headers[stream.file].pid, &stream.chunk));
        files.finish(last, |process| headers.get(*process).cloned())?;
        Ok(events)
    }

    /// A node and the names of its callbacks, as rclcpp reports them.
    pub fn node(&mut self, stream: usize, now: i64, handle: u64, name: &str) -> Result<(), Failed> {
        self.named(stream, now, number::rcl_node_init, &[handle, 0], &[name, "/"])
    }

    /// The signals that the task of a node reports.
    pub fn signals(
        &mut self,
        stream: usize,
        now: i64,
        node: u64,
        task: &str,
        signals: &[TaskSignal],
    ) -> Result<(), Failed> {
        for (number, of) in signals.iter().enumerate() {
            let texts = [task, &of.name, &of.unit];
            let words = [node, number as u64, of.is_list.into()];
            self.named(stream, now, number::node_signal_init, &words, &texts)?;
        }
        Ok(())
    }

    pub fn subscription(
        &mut self,
        stream: usize,
        now: i64,
        node: u64,
        [handle, object, callback]: [u64; 3],
        (topic, depth): (&str, u64),
        symbol: &str,
    ) -> Result<(), Failed> {
        self.named(stream, now, number::rcl_subscription_init, &[handle, node, handle, depth], &[topic])?;
        self.put(stream, now, number::rclcpp_subscription_init, &[handle, object])?;
        self.put(stream, now, number::rclcpp_subscription_callback_added, &[object, callback])?;
        self.named(stream, now, number::rclcpp_callback_register, &[callback], &[symbol])
    }

    /// The callback of an object belongs to a group: one whose callbacks exclude each other, or a reentrant one.
    pub fn in_group(
        &mut self,
        stream: usize,
        now: i64,
        (group, is_exclusive): (u64, bool),
        (object, what): (u64, Member),
    ) -> Result<(), Failed> {
        self.put(stream, now, number::rclcpp_callback_group_add, &[group, object, what as u64, is_exclusive.into()])
    }

    pub fn publisher(
        &mut self,
        stream: usize,
        now: i64,
        node: u64,
        handle: u64,
        topic: &str,
        depth: u64,
    ) -> Result<(), Failed> {
        self.named(stream, now, number::rcl_publisher_init, &[handle, node, handle, depth], &[topic])
    }

    pub fn timer(
        &mut self,
        stream: usize,
        now: i64,
        node: u64,
        [handle, callback]: [u64; 2],
        period_ns: i64,
        symbol: &str,
    ) -> Result<(), Failed> {
        self.put(stream, now, number::rcl_timer_init, &[handle, period_ns as u64])?;
        self.put(stream, now, number::rclcpp_timer_callback_added, &[handle, callback])?;
        self.named(stream, now, number::rclcpp_callback_register, &[callback], &[symbol])?;
        self.put(stream, now, number::rclcpp_timer_link_node, &[handle, node])
    }
}
