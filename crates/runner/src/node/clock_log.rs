//! The in-program clock: what a node sees of its own callbacks and messages with CLOCK_MONOTONIC alone. The independent
//! answer that the recorder is compared with.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

/// Kept in memory while the node runs.
pub struct ClockLog {
    callbacks: Vec<CallbackRow>,
    messages: Vec<MessageRow>,
}

struct CallbackRow {
    kind: &'static str,
    /// Index of the subscription or timer among those of its kind in the node.
    index: usize,
    start_ns: i64,
    end_ns: i64,
}

struct MessageRow {
    subscription: usize,
    publisher: u32,
    sequence: u64,
    stamp_ns: i64,
    received_ns: i64,
}

impl ClockLog {
    /// Room is made, and touched, before the run.
    pub fn new(duration: Duration) -> ClockLog {
        // A thousand callbacks a second; beyond, the vectors grow while the node runs.
        let rows = 10_000 + (duration.as_secs_f64().min(600.0) * 1000.0) as usize;
        let mut log = ClockLog { callbacks: Vec::with_capacity(rows), messages: Vec::with_capacity(rows) };
        for _ in 0..rows {
            log.callback("", 0, 0, 0);
            log.message(0, 0, 0, 0, 0);
        }
        log.callbacks.clear();
        log.messages.clear();
        log
    }

    /// A callback ran.
    pub fn callback(&mut self, kind: &'static str, index: usize, start_ns: i64, end_ns: i64) {
        self.callbacks.push(CallbackRow { kind, index, start_ns, end_ns });
    }

    /// A message was received in a callback.
    pub fn message(&mut self, subscription: usize, publisher: u32, sequence: u64, stamp_ns: i64, received_ns: i64) {
        self.messages.push(MessageRow { subscription, publisher, sequence, stamp_ns, received_ns });
    }

    /// Writes `<node>.csv` and `<node>.messages.csv`; a slash in a node's name becomes a dot.
    pub fn write(&self, folder: &Path, node: &str) -> std::io::Result<()> {
        let name = node.trim_start_matches('/').replace('/', ".");
        let mut callbacks = BufWriter::new(File::create(folder.join(format!("{name}.csv")))?);
        writeln!(callbacks, "kind,callback,start_ns,end_ns")?;
        for row in &self.callbacks {
            writeln!(callbacks, "{},{},{},{}", row.kind, row.index, row.start_ns, row.end_ns)?;
        }
        callbacks.flush()?;
        let mut messages = BufWriter::new(File::create(folder.join(format!("{name}.messages.csv")))?);
        writeln!(messages, "subscription,publisher,sequence,stamp_ns,received_ns")?;
        for row in &self.messages {
            let MessageRow { subscription, publisher, sequence, stamp_ns, received_ns } = row;
            writeln!(messages, "{subscription},{publisher},{sequence},{stamp_ns},{received_ns}")?;
        }
        messages.flush()
    }
}
