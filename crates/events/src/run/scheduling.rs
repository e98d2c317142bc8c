//! How the kernel schedules recorded threads.

use serde::{Deserialize, Serialize};

/// How the kernel scheduled a thread when it was last looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct ThreadScheduling {
    /// Process id, as its events have it.
    pub pid: u32,
    /// Thread id, as its events have it.
    pub tid: u32,
    /// CPUs that it may use; empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub cpus: Vec<u32>,
    /// Class, with what it is ordered by in it.
    pub policy: Policy,
}

/// A scheduling class of Linux; see sched(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// SCHED_OTHER with a nice value, -20 to 19.
    Nice(i32),
    /// SCHED_FIFO with a priority, 1 to 99.
    Fifo(u32),
    /// SCHED_RR with a priority, 1 to 99.
    RoundRobin(u32),
    /// Another class, by its number in Linux.
    Else(u32),
}

impl ThreadScheduling {
    /// Whether it is scheduled like any program, on all CPUs.
    pub fn is_usual(&self) -> bool {
        self.cpus.is_empty() && self.policy == Policy::Nice(0)
    }
}
