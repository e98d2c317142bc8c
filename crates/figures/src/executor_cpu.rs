//! What executors compute beside the callbacks that they call.

use std::iter::Sum;
use tacho_tables::Execution;

/// Times as much as its callbacks that an executor computes: less is the usual price of taking and publishing.
const TIMES: i64 = 3;
/// CPU time a callback, ns.
const A_CALLBACK_NS: i64 = 500_000;
/// Callbacks by which it is judged.
const LEAST: i64 = 20;

/// Callbacks before which the CPU-time clock of their thread was read, and at the end of the one before.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct ExecutorCpu {
    pub count: i64,
    /// CPU time inside of them, ns.
    pub inside_ns: i64,
    /// Between them, ns.
    pub outside_ns: i64,
}

impl ExecutorCpu {
    /// Of one execution; `None` if its clock was not read.
    pub fn of(execution: &Execution) -> Option<ExecutorCpu> {
        let (outside_ns, inside_ns) = execution.executor_cpu_ns.get().zip(execution.cpu_ns.get())?;
        Some(ExecutorCpu { count: 1, inside_ns, outside_ns })
    }

    /// Whether it is far more outside than inside.
    pub fn is_costly(&self) -> bool {
        let is_long = self.outside_ns >= A_CALLBACK_NS * self.count;
        self.count >= LEAST && self.outside_ns >= TIMES * self.inside_ns && is_long
    }
}

impl Sum for ExecutorCpu {
    fn sum<I: Iterator<Item = ExecutorCpu>>(all: I) -> ExecutorCpu {
        all.fold(ExecutorCpu::default(), |all, one| ExecutorCpu {
            count: all.count + one.count,
            inside_ns: all.inside_ns + one.inside_ns,
            outside_ns: all.outside_ns + one.outside_ns,
        })
    }
}
