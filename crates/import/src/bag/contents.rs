//! The result of reading a bag, in either format.

use tacho_events::bag::{BagMessage, BagTopic};
use tacho_events::Problems;

/// Content of a bag besides its messages.
#[derive(Debug, Clone)]
pub struct Bag {
    /// Its topics, including those without a message.
    pub topics: Vec<BagTopic>,
    /// Number of messages returned.
    pub messages: u64,
    /// Log times of the earliest and the latest message, ns since 1970.
    pub span_ns: Option<(i64, i64)>,
    /// Damage, and unfinished files.
    pub problems: Problems,
    /// False if `on_progress` ended the reading.
    pub complete: bool,
}

impl Default for Bag {
    fn default() -> Bag {
        Bag { topics: Vec::new(), messages: 0, span_ns: None, problems: Problems::default(), complete: true }
    }
}

impl Bag {
    /// Counts a returned message.
    pub(crate) fn count(&mut self, log_ns: i64) {
        let (first, last) = self.span_ns.unwrap_or((log_ns, log_ns));
        self.span_ns = Some((first.min(log_ns), last.max(log_ns)));
        self.messages += 1;
    }
}

/// Receives the bytes of a file and the messages of the bag read so far; returns false to stop.
pub(crate) type OnProgress<'a> = dyn FnMut(u64, u64) -> bool + 'a;

/// Receives a message and its data, which are empty unless they were asked for.
pub(crate) type OnMessage<'a> = dyn FnMut(BagMessage, &[u8]) + 'a;
