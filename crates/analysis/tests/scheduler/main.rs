//! Scheduler events beside those of programs: who was kept from a CPU, by whom, and what of a callback's time is its
//! own.

mod inside;
mod interpreter;
mod interrupts;
mod off_cpu;
mod ready;
mod run_delay;
#[path = "../scene/mod.rs"]
mod scene;
mod untold;

use scene::*;
use tacho_events::testing::FileBuilder;
use tacho_tables::{CauseKind, Hop, OffCpu, Parts, Preemption, Tables};

const KERNEL: u32 = 0;
const NDT: u32 = 7;
const BURNER: u64 = 900;
const SLEEPS: u64 = 1;
/// Coarse times, so that the tolerance for clocks that differ does not matter.
const US: i64 = 1_000;

/// What the kernel says on a CPU; times in us.
trait Kernel {
    fn us(self, us: i64) -> Self;
    fn cpu(self, cpu: u32) -> Self;
    fn switch(self, prev: u64, prev_state: u64, next: u64) -> Self;
    fn wake(self, tid: u64, target_cpu: u64, waker: u64) -> Self;
    fn ndt(self) -> Self;
}

fn name(tid: u64) -> &'static str {
    match tid {
        7 => "ndt",
        900 => "burner",
        901 => "kworker",
        _ => "",
    }
}

impl Kernel for FileBuilder {
    fn us(self, us: i64) -> Self {
        self.at(us * US)
    }

    fn cpu(self, cpu: u32) -> Self {
        self.process(KERNEL).thread(cpu)
    }

    fn switch(self, prev: u64, prev_state: u64, next: u64) -> Self {
        self.sched_switch(prev, prev_state, next, name(prev), name(next))
    }

    fn wake(self, tid: u64, target_cpu: u64, waker: u64) -> Self {
        self.sched_wakeup(tid, target_cpu, waker, name(tid))
    }

    fn ndt(self) -> Self {
        self.process(NDT).thread(NDT)
    }
}

/// A node on a timer, on CPU 1 from the start.
fn on_a_timer() -> FileBuilder {
    FileBuilder::new().cpu(1).us(0).switch(901, SLEEPS, 7).node(NDT, "ndt").publisher("/pose").timer(1_000_000)
}

/// (execution, from, to, state, woken, cpu, by) in us.
type Row = (Option<u32>, i64, i64, OffCpu, bool, u32, Option<String>);

fn rows(tables: &Tables) -> Vec<Row> {
    let row = |p: &Preemption| {
        assert_eq!((p.tid, p.by_tid.is_some()), (NDT, p.by_comm.is_some() && p.state != OffCpu::Interrupted));
        (
            p.execution.map(|e| e.number()),
            p.from_ns / US,
            p.to_ns / US,
            p.state,
            p.woken,
            p.cpu,
            p.by_comm.map(|by| by.to_string()),
        )
    };
    tables.preemptions.iter().map(row).collect()
}

fn by(name: &str) -> Option<String> {
    Some(name.to_string())
}

fn cpu_us(tables: &Tables) -> Vec<Option<i64>> {
    tables.executions.iter().map(|e| e.cpu_ns.get().map(|ns| ns / US)).collect()
}
