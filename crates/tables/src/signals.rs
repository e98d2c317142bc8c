//! Signals: values over time that tasks report.

use crate::row::Row;
use crate::{Execution, Node};
use serde::{Deserialize, Serialize};

/// A signal that the task of a node reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    /// Its node.
    pub node: Row<Node>,
    /// The task of that node: `vehicle`.
    pub task: String,
    /// Name, without its unit.
    pub name: String,
    /// Unit; empty for a count, a ratio, or 1 for yes and 0 for no.
    pub unit: String,
    /// Whether its values are entries of lists.
    pub list: bool,
}

/// A value of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Its signal.
    pub signal: Row<Signal>,
    /// Entry of a list whose entries are reported together; 0 for all that is no list.
    pub entry: u32,
    /// The instant that it describes.
    pub at_ns: i64,
    /// When the task reported it.
    pub reported_ns: i64,
    /// The execution in which it did; absent outside of callbacks.
    pub execution: Option<Row<Execution>>,
    /// Value.
    pub value: f64,
}

/// Length of a vector on the map, in the unit of both. `f64::hypot` would need glibc 2.35, and packages run on 2.34.
pub fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}
