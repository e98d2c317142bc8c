//! What reading a bag gives, of either format.

use tacho_events::bag::BagTopic;
use tacho_events::Problems;

/// What a bag holds besides its messages.
#[derive(Debug, Clone)]
pub struct Bag {
    /// Its topics, those without a message too.
    pub topics: Vec<BagTopic>,
    /// Messages handed out.
    pub messages: u64,
    /// Log time of the earliest and of the latest, ns since 1970.
    pub span_ns: Option<(i64, i64)>,
    /// Damage, and files that were not finished.
    pub problems: Problems,
    /// False where `on_progress` ended the reading.
    pub complete: bool,
}

impl Default for Bag {
    fn default() -> Bag {
        Bag { topics: Vec::new(), messages: 0, span_ns: None, problems: Problems::default(), complete: true }
    }
}

impl Bag {
    /// Counts a message that is handed out.
    pub(crate) fn count(&mut self, log_ns: i64) {
        let (first, last) = self.span_ns.unwrap_or((log_ns, log_ns));
        self.span_ns = Some((first.min(log_ns), last.max(log_ns)));
        self.messages += 1;
    }
}

/// Told bytes of a file and messages of the bag that were read; false: enough.
pub(crate) type OnProgress<'a> = dyn FnMut(u64, u64) -> bool + 'a;
