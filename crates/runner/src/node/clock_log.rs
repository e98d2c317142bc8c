//! The clock inside a node: its readings at the first and last line of each callback and at each message, kept in
//! memory and written at the end. Tests compare the recorder with this independent answer.

use std::fmt::Write;
use std::io;
use std::path::Path;

/// Rows reserved at the start, so that the first million cause no allocation while callbacks run.
const RESERVED: usize = 1 << 20;

/// Readings of one node.
#[derive(Debug, Default)]
pub struct ClockLog {
    callbacks: Vec<(bool, u32, i64, i64)>,
    messages: Vec<(u32, u64, i64, i64)>,
}

impl ClockLog {
    /// Makes an empty log with reserved rows.
    pub fn new() -> ClockLog {
        ClockLog { callbacks: Vec::with_capacity(RESERVED), messages: Vec::with_capacity(RESERVED) }
    }

    /// Adds a callback, by its number in the node: its first and last line.
    pub fn callback(&mut self, is_timer: bool, number: u32, start_ns: i64, end_ns: i64) {
        self.callbacks.push((is_timer, number, start_ns, end_ns));
    }

    /// Adds a message: its publisher's stamp, and when it was received.
    pub fn message(&mut self, publisher: u32, sequence: u64, stamp_ns: i64, received_ns: i64) {
        self.messages.push((publisher, sequence, stamp_ns, received_ns));
    }

    /// Writes `<node>.csv` and `<node>.messages.csv` into `folder`.
    pub fn write(&self, folder: &Path, node: &str) -> io::Result<()> {
        let mut text = String::from("kind,callback,start_ns,end_ns\n");
        for (is_timer, number, start_ns, end_ns) in &self.callbacks {
            let kind = if *is_timer { "timer" } else { "subscription" };
            writeln!(text, "{kind},{number},{start_ns},{end_ns}").map_err(io::Error::other)?;
        }
        std::fs::write(folder.join(format!("{node}.csv")), &text)?;
        text.clear();
        text.push_str("publisher,sequence,stamp_ns,received_ns\n");
        for (publisher, sequence, stamp_ns, received_ns) in &self.messages {
            writeln!(text, "{publisher},{sequence},{stamp_ns},{received_ns}").map_err(io::Error::other)?;
        }
        std::fs::write(folder.join(format!("{node}.messages.csv")), &text)
    }
}
