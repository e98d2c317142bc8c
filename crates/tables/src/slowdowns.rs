//! When a thread computed more slowly than it usually did.

use crate::row::Row;
use crate::Process;
use serde::{Deserialize, Serialize};

/// A stretch of time in which all that a thread computes took longer by one factor: callbacks that usually take the
/// same each time, and steps of the client library, whose work is the same each time. So its CPU was slower.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Slowdown {
    /// Row of [`super::Tables::processes`].
    pub process: Row<Process>,
    /// The thread.
    pub tid: u32,
    /// Start of the first execution in it.
    pub from_ns: i64,
    /// End of the last one.
    pub to_ns: i64,
    /// Median, over those executions, of their duration over the median duration of their callback.
    pub callbacks_factor: f64,
    /// The same of the steps of the client library.
    pub steps_factor: f64,
    /// Its executions of callbacks that usually take the same each time.
    pub executions: u32,
    /// Their callbacks.
    pub callbacks: u32,
    /// What these executions took above the median of their callbacks.
    pub longer_ns: i64,
}
