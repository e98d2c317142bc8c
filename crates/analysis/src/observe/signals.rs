//! Signals: values over time that the tasks of our own nodes report.

use std::collections::HashMap;
use tacho_events::{Handle, Payload, Texts};
use tacho_tables::row::{add, Row};
use tacho_tables::rows::Rows;
use tacho_tables::{Execution, Node, Process, Sample, Signal};

/// What tasks reported so far.
#[derive(Default)]
pub(crate) struct Signals {
    /// Each signal, by its process, the handle of its node, and its number there.
    known: HashMap<(Row<Process>, Handle, u64), Row<Signal>>,
    pub signals: Vec<Signal>,
    pub samples: Rows<Sample>,
    /// Values of signals that were not announced.
    pub unknown: u64,
}

/// Where an event happened.
pub(crate) struct Place {
    pub process: Row<Process>,
    pub execution: Option<Row<Execution>>,
    pub now: i64,
}

impl Signals {
    /// A signal of a node; its number in the node tells it from the others.
    pub fn announce(&mut self, process: Row<Process>, node: Option<Row<Node>>, payload: &Payload, texts: &Texts) {
        let Payload::NodeSignalInit { node: handle, signal, is_list, task, name, unit } = *payload else { return };
        let Some(node) = node else { return };
        let text = |text| texts.get(text).to_owned();
        let row = Signal { node, task: text(task), name: text(name), unit: text(unit), list: is_list };
        let row = add(&mut self.signals, row);
        self.known.insert((process, handle, signal), row);
    }

    /// A value.
    pub fn sample(&mut self, place: Place, payload: &Payload) {
        let Payload::NodeSignal { node, signal, entry, at_ns, value } = *payload else { return };
        let Some(signal) = self.known.get(&(place.process, node, signal)) else {
            self.unknown += 1;
            return;
        };
        self.samples.push(Sample {
            signal: *signal,
            entry: entry as u32,
            at_ns,
            reported_ns: place.now,
            execution: place.execution,
            value: f64::from_bits(value),
        });
    }
}
