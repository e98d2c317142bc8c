//! What was recorded, and which message of it is due.

use anyhow::{bail, Context, Result};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use tacho_import::bag;

/// "RAW1", the kind of the messages (native/tasks/seam/include/tasks/messages.hpp).
const KIND: u32 = 0x3157_4152;
/// Bytes before the content: kind, count and stamp.
pub const PREFIX_BYTES: usize = 16;

/// A recorded message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// When the recorder received it, ns since 1970.
    pub log_ns: i64,
    /// The stamp of its header, ns since 1970; 0 if it has none.
    pub stamp_ns: i64,
    /// It, serialised as it was recorded.
    pub data: Vec<u8>,
}

/// The messages of a topic, in the order of their times, and which of them comes next.
pub struct Replay {
    messages: Vec<Recorded>,
    next: usize,
    repeats: bool,
    start_ns: Option<i64>,
    /// Messages given so far, and how late the latest of them was.
    pub given: u64,
    /// See `given`.
    pub late_max_ns: i64,
}

impl Replay {
    /// Reads the messages of a topic. They must fit into messages of `size` bytes.
    pub fn read(path: &str, topic: &str, repeats: bool, size: usize) -> Result<Replay> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        if path.is_empty() || topic.is_empty() {
            bail!("found no `{}`, expected a bag and a topic of it", if path.is_empty() { "bag" } else { "topic" });
        }
        let files = bag::files(&[Path::new(path).to_path_buf()])?.with_context(|| format!("{path}: is no bag"))?;
        let mut recorded: Vec<(u32, Recorded)> = Vec::new();
        let mut keep = |message: tacho_events::bag::BagMessage, data: &[u8]| {
            if message.size_bytes == data.len() as u64 {
                let (log_ns, stamp_ns) = (message.log_ns, message.stamp_ns.unwrap_or(0));
                recorded.push((message.topic, Recorded { log_ns, stamp_ns, data: data.to_vec() }));
            }
        };
        let read = bag::read_data(&files, topic, &NEVER, &mut keep)?;
        let names: Vec<&str> = read.topics.iter().map(|of| of.name.as_str()).collect();
        if !names.contains(&topic) {
            bail!("{path}: found no topic {topic}; there are: {}", names.join(", "));
        }
        // Messages of other topics come without data: they are empty, as those of this one may be.
        recorded.retain(|(of, _)| names.get(*of as usize) == Some(&topic));
        let mut messages: Vec<Recorded> = recorded.into_iter().map(|(_, message)| message).collect();
        if messages.is_empty() {
            bail!("{path}: found no message of {topic}, expected one");
        }
        messages.sort_by_key(|message| message.log_ns);
        let largest = messages.iter().map(|message| message.data.len()).max().unwrap_or(0);
        if PREFIX_BYTES + largest > size {
            bail!(
                "{path}: found a message of {largest} B on {topic}, expected a size of at least {} B for it",
                PREFIX_BYTES + largest
            );
        }
        Ok(Replay { messages, next: 0, repeats, start_ns: None, given: 0, late_max_ns: 0 })
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether there is none; there always is one.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Fills in the next message if it is due; one a call. The first is due at the first call, the others as long after
    /// it as they were recorded.
    pub fn fill(&mut self, now_ns: i64, buffer: &mut [u8]) -> bool {
        let start_ns = *self.start_ns.get_or_insert(now_ns);
        let Some(message) = self.messages.get(self.next) else { return false };
        let due_ns = start_ns.saturating_add(message.log_ns.saturating_sub(self.messages[0].log_ns));
        if now_ns < due_ns {
            return false;
        }
        let Recorded { stamp_ns, data, .. } = message;
        buffer[..4].copy_from_slice(&KIND.to_le_bytes());
        buffer[4..8].copy_from_slice(&(data.len() as u32).to_le_bytes());
        buffer[8..PREFIX_BYTES].copy_from_slice(&stamp_ns.to_le_bytes());
        let (content, rest) = buffer[PREFIX_BYTES..].split_at_mut(data.len());
        content.copy_from_slice(data);
        rest.fill(0);
        self.given += 1;
        self.late_max_ns = self.late_max_ns.max(now_ns - due_ns);
        self.next += 1;
        if self.next == self.messages.len() && self.repeats {
            (self.next, self.start_ns) = (0, None);
        }
        true
    }
}
