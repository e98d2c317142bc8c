//! Values of signals that still hold: a lane is reported once, as an obstacle that stays where it is.

use rustc_hash::FxHashMap as HashMap;
use tacho_events::{Event, Handle, Payload, ProcessIndex};

/// The last report of each signal before the window: a value, or the entries of a list.
#[derive(Default)]
pub(super) struct Standing(HashMap<(ProcessIndex, Handle, u64), Vec<Event>>);

impl Standing {
    /// Takes an event that leaves the window. Those of a signal come in the order of time.
    pub fn add(&mut self, event: Event) {
        let Payload::NodeSignal { node, signal, at_ns, .. } = event.payload else { return };
        let last = self.0.entry((event.process, node, signal)).or_default();
        let is_of = |one: &Event| matches!(one.payload, Payload::NodeSignal { at_ns: of, .. } if of == at_ns);
        if !last.first().is_some_and(is_of) {
            last.clear();
        }
        last.push(event);
    }

    /// All that stands, in no order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.0.values().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_events::{StreamIndex, ThreadId, Time};

    #[test]
    fn the_last_list_of_a_signal_stands_whole() {
        let report = |signal, at_ns, entry| Event {
            time: Time::from_monotonic_ns(at_ns + 5),
            process: ProcessIndex(0),
            thread: ThreadId(1),
            stream: StreamIndex(0),
            payload: Payload::NodeSignal { node: Handle(7), signal, entry, at_ns, value: 0 },
        };
        let mut standing = Standing::default();
        for event in [report(1, 10, 0), report(1, 10, 1), report(2, 15, 0), report(1, 20, 0), report(1, 20, 1)] {
            standing.add(event);
        }
        let mut left: Vec<_> = standing.events().cloned().collect();
        left.sort_by_key(|event| event.time);
        assert_eq!(left, [report(2, 15, 0), report(1, 20, 0), report(1, 20, 1)]);
    }
}
