//! When callbacks are woken: streams of a period and a jitter.

use crate::callbacks::{System, Trigger};

/// Arrivals at least a period apart, but for a jitter, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stream {
    pub period_ns: u64,
    pub jitter_ns: u64,
}

impl System {
    /// The streams that wake each callback, with the response times so far. Messages that go in a circle are refused.
    pub fn arrivals(&self) -> Result<Vec<Vec<Stream>>, String> {
        let mut known: Vec<Option<Vec<Stream>>> = vec![None; self.callbacks.len()];
        loop {
            let mut is_new = false;
            for at in 0..known.len() {
                if known[at].is_none() {
                    known[at] = self.streams(at, &known);
                    is_new |= known[at].is_some();
                }
            }
            if let Some(all) = known.iter().cloned().collect::<Option<Vec<_>>>() {
                return Ok(all);
            }
            if !is_new {
                let node = known.iter().position(Option::is_none).map_or("", |at| &self.callbacks[at].node);
                return Err(format!("messages go in a circle over node {node}"));
            }
        }
    }

    /// Those of a callback, once all that sends to it have theirs.
    fn streams(&self, at: usize, known: &[Option<Vec<Stream>>]) -> Option<Vec<Stream>> {
        let of = &self.callbacks[at];
        let topic = match &of.trigger {
            Trigger::Timer(period_ns) => {
                return Some(vec![Stream { period_ns: *period_ns, jitter_ns: of.delay_ns }]);
            }
            Trigger::Messages(topic) => topic,
        };
        let mut streams = Vec::new();
        for (sender, sends) in self.callbacks.iter().enumerate().filter(|(_, c)| c.publishes.contains(topic)) {
            let later = |stream: &Stream| Stream {
                period_ns: stream.period_ns,
                jitter_ns: stream.jitter_ns + sends.response_ns + of.delay_ns,
            };
            streams.extend(known[sender].as_ref()?.iter().map(later));
        }
        Some(streams)
    }
}
