//! Figures of callbacks, of the threads that execute them, and of what kept those from a CPU.

use super::Distribution;
use serde::{Deserialize, Serialize};

/// Study D: one callback's own execution time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct CallbackFigures {
    /// Process.
    pub process_id: u32,
    /// Address in hexadecimal.
    pub callback: String,
    /// subscription, timer, service, unknown.
    pub kind: String,
    /// Node.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node: Option<String>,
    /// Topic of its subscription.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topic: Option<String>,
    /// Period of its timer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub period_ms: Option<f64>,
    /// What it was registered as, word for word.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub symbol: Option<String>,
    /// Its function: qualified, without arguments; of some bound methods in C++ only the class is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub function: Option<String>,
    /// Where that is defined, `file:line`; absent where it is not recorded (C++).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub location: Option<String>,
    /// Complete executions; of a coroutine that awaited something, all of its parts are one.
    pub count: u64,
    /// Start to end, wall; of a coroutine the sum of its parts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_us: Option<Distribution>,
    /// CPU time from start to end; absent where neither scheduler events nor the CPU-time clock of the thread were
    /// recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_us: Option<Distribution>,
    /// Wall time without CPU time: duration less CPU time, of the executions whose CPU time is known; absent where it
    /// is of none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub off_cpu_us: Option<Distribution>,
    /// Message there to callback start, where the arrival is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue_wait_us: Option<Distribution>,
    /// What `ros2 topic hz` on the callback's output would have said: mean period of its publications, by output topic.
    #[serde(default)]
    pub output_period_ms: Vec<(String, f64)>,
}

/// A thread that executes callbacks: percentages of the time from its first to its last event in the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct ExecutorFigures {
    /// Process, in the first repeat.
    pub process_id: u32,
    /// Thread, in the first repeat.
    pub thread_id: u32,
    /// Nodes whose callbacks it ran.
    pub nodes: Vec<String>,
    /// Time that the percentages are of, s, over all repeats.
    pub over_s: f64,
    /// Inside the executor's wait; absent where waits are not recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waiting_percent: Option<f64>,
    /// Neither waiting nor executing; absent like it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ready_percent: Option<f64>,
    /// Inside callbacks.
    pub executing_percent: f64,
    /// On a CPU; absent, like all below, without scheduler events.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub running_percent: Option<f64>,
    /// Off the CPU and able to go on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub runnable_percent: Option<f64>,
    /// Off the CPU, asleep or blocked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub blocked_percent: Option<f64>,
    /// Times it gave the CPU up.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub voluntary_switches: Option<u64>,
    /// Times the CPU was taken from it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub involuntary_switches: Option<u64>,
    /// Woken outside of callbacks, to running.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wakeup_latency_us: Option<Distribution>,
}

/// What kept callbacks from a CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct PreemptorFigures {
    /// Name of the thread that had the CPU; absent: none had (an idle CPU that woke up), or it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
    /// Intervals.
    pub count: u64,
    /// Their length, added up.
    pub total_ms: f64,
    /// The longest.
    pub longest_ms: f64,
}
