//! Rows about threads that execute callbacks: how their time divides, and when they could not execute.

use super::Name;
use crate::row::Row;
use crate::{Execution, Process};
use serde::{Deserialize, Serialize};

/// Why a thread is off the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OffCpu {
    /// It could go on: the CPU was taken from it, or it was woken and has not got one yet.
    Runnable,
    /// It waits: for a lock, a device, a page, a time.
    Blocked,
    /// It was on the CPU, and this served an interrupt.
    Interrupted,
}

/// An interval in which a thread that executes callbacks could not execute: off the CPU inside a callback, or outside
/// of one between its wake-up and its getting a CPU; or inside a callback while its CPU served an interrupt. Waiting
/// for work outside of callbacks is no row. Known only where scheduler events were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Preemption {
    /// Row of [`super::Tables::processes`].
    pub process: Row<Process>,
    /// The thread.
    pub tid: u32,
    /// Row of [`super::Tables::executions`], the innermost; absent outside of callbacks.
    pub execution: Option<Row<Execution>>,
    /// When it went off the CPU, or was woken.
    pub from_ns: i64,
    /// When it came back, or was woken where it was blocked.
    pub to_ns: i64,
    /// Why. A thread that blocked and was woken has a row for each, one after the other.
    pub state: OffCpu,
    /// Runnable since it was woken; false where the CPU was taken from it.
    pub woken: bool,
    /// The CPU that it was taken from or waited for.
    pub cpu: u32,
    /// Runnable: the thread that had that CPU; a row each where several had it in turn. Blocked: the thread that woke
    /// it. Absent where no thread did (an idle CPU, an interrupt) or it is not known.
    pub by_tid: Option<u32>,
    /// Its name; the interrupt's, `eth0 (irq 27)`.
    pub by_comm: Option<Name>,
    /// Blocked: the system call that it waited in, `page fault`, else the function of the kernel. Absent where call
    /// chains were not recorded, and in older runs.
    pub waits_in: Option<Name>,
}

/// A thread that executes callbacks, in the measured window. waiting + ready + executing make the span from `from_ns`
/// to `to_ns`; so do running + runnable + blocked, where they are known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutorThread {
    /// Row of [`super::Tables::processes`].
    pub process: Row<Process>,
    /// The thread.
    pub tid: u32,
    /// Number of its executor, where that has several threads; absent where it is the only one.
    pub executor: Option<u32>,
    /// Threads of that executor, those that ran no callback too; absent like it.
    pub executor_threads: Option<u32>,
    /// Its first event, or the start of the window.
    pub from_ns: i64,
    /// Its last event, or the end of the window.
    pub to_ns: i64,
    /// Inside the executor's wait; absent where its waits are not recorded.
    pub waiting_ns: Option<i64>,
    /// Waits outside of callbacks after which it waited again and had run no callback; absent like `waiting_ns`.
    pub empty_waits: Option<u64>,
    /// Neither waiting nor executing: taking messages, looking for what is ready; absent like `waiting_ns`.
    pub ready_ns: Option<i64>,
    /// Inside callbacks.
    pub executing_ns: i64,
    /// On a CPU; absent, like all below, without scheduler events of the whole span.
    pub running_ns: Option<i64>,
    /// Off the CPU and able to go on.
    pub runnable_ns: Option<i64>,
    /// Off the CPU, asleep or blocked.
    pub blocked_ns: Option<i64>,
    /// Times it gave the CPU up.
    pub voluntary_switches: Option<u64>,
    /// Times the CPU was taken from it.
    pub involuntary_switches: Option<u64>,
}
