//! The fair class: EEVDF (Stoica, Abdel-Wahab 1995; Linux `kernel/sched/fair.c`, 6.12 to 6.18).
//!
//! Virtual time is CPU time over weight. A thread whose virtual time is at most the weighted average of all that
//! compete is eligible; of those, the one with the earliest virtual deadline runs. It is protected for a slice.

use super::{Class, Cpu, Settings, Thread};

const WEIGHT_OF_NICE_0: i64 = 1024;

/// Weights of the nice values -20 to 19 (`sched_prio_to_weight`).
const WEIGHTS: [i64; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121, 2501,
    1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
];

/// A thread's part in the competition. Virtual times are ns at nice 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entity {
    weight: i64,
    /// A slice in its virtual time.
    slice: i64,
    /// The most that it may be owed, or owe, when it comes back: a tick, or two slices if that is more.
    most_lag: i64,
    time: i64,
    deadline: i64,
    /// What it was owed when it left; negative: what it owed.
    lag: i64,
}

impl Entity {
    pub fn new(nice: i32, settings: &Settings) -> Entity {
        let weight = WEIGHTS[(nice.clamp(-20, 19) + 20) as usize];
        let in_its_time = |ns: i64| ns * WEIGHT_OF_NICE_0 / weight;
        let slice = in_its_time(settings.slice_ns);
        let most_lag = (2 * slice).max(in_its_time(settings.tick_ns));
        Entity { weight, slice, most_lag, time: 0, deadline: 0, lag: 0 }
    }

    /// It slept for so long: what it owed is forgotten as time passes (delayed dequeue).
    pub fn rested(&mut self, slept_ns: i64) {
        if self.lag < 0 {
            self.lag = (self.lag + slept_ns.max(0)).min(0);
        }
    }
}

/// Sum of weights and average of virtual times of those that compete.
#[derive(Debug, Clone, Copy)]
pub(super) struct Members {
    weight: i64,
    average: i64,
}

/// Fair threads on a CPU.
#[derive(Default)]
pub(super) struct Fair {
    /// Those that wait.
    pub ready: Vec<Thread>,
    /// Virtual time until which the running one is protected.
    protected: i64,
    /// Average when it last had members.
    clock: i64,
}

/// Those that compete on a CPU: ready ones, and the running one. `but` is left out.
pub(super) fn members(threads: &[super::Entity], cpu: &Cpu, but: Option<Thread>) -> Members {
    let running = cpu.running.filter(|running| threads[*running].class == Class::Fair);
    let all = || cpu.fair.ready.iter().copied().chain(running).filter(|thread| Some(*thread) != but);
    let Some(base) = all().map(|thread| threads[thread].fair.time).next() else {
        return Members { weight: 0, average: cpu.fair.clock };
    };
    let (mut weight, mut sum) = (0i64, 0i128);
    for thread in all() {
        let of = &threads[thread].fair;
        weight += of.weight;
        sum += i128::from(of.weight) * i128::from(of.time - base);
    }
    Members { weight, average: base + (sum.div_euclid(i128::from(weight))) as i64 }
}

/// Whether a thread that woke takes the CPU from the running one. The running thread is protected for its slice while
/// it is eligible. After its slice, the best thread takes the CPU.
pub(super) fn preempts(threads: &[super::Entity], cpu: &Cpu, woken: Thread, running: Thread) -> bool {
    let of = &threads[running].fair;
    if cpu.fair.is_over(of) {
        return best(threads, cpu) != Some(running);
    }
    of.time > members(threads, cpu, None).average && best(threads, cpu) == Some(woken)
}

/// The thread to run next, of those that wait and the one that runs.
pub(super) fn best(threads: &[super::Entity], cpu: &Cpu) -> Option<Thread> {
    let running = cpu.running.filter(|running| threads[*running].class == Class::Fair);
    let all = || cpu.fair.ready.iter().copied().chain(running);
    if let ([only], None) = (cpu.fair.ready.as_slice(), running) {
        return Some(*only);
    }
    let average = members(threads, cpu, None).average;
    let eligible = all().filter(|thread| threads[*thread].fair.time <= average);
    let earliest = eligible.min_by_key(|thread| (threads[*thread].fair.deadline, *thread));
    earliest.or_else(|| all().min_by_key(|thread| (threads[*thread].fair.time, *thread)))
}

impl Fair {
    /// A thread that comes: at the average, but for what it is owed.
    pub fn placed(&mut self, entity: &Entity, members: Members) -> Entity {
        let time = match members.weight {
            0 => members.average,
            weight => {
                let lag = i128::from(entity.lag) * i128::from(weight + entity.weight) / i128::from(weight);
                members.average - lag as i64
            }
        };
        Entity { time, deadline: time + entity.slice, ..*entity }
    }

    /// A thread that goes; `members` still has it.
    pub fn left(&mut self, entity: &Entity, members: Members) -> Entity {
        self.clock = members.average;
        Entity { lag: (members.average - entity.time).clamp(-entity.most_lag, entity.most_lag), ..*entity }
    }

    /// The running thread has run. After its slice it has a new deadline at once, whether it goes on or not.
    pub fn ran(&mut self, entity: &mut Entity, ran_ns: i64) {
        entity.time += ran_ns * WEIGHT_OF_NICE_0 / entity.weight;
        if entity.time >= entity.deadline {
            entity.deadline = entity.time + entity.slice;
        }
    }

    /// A thread begins to run.
    pub fn begin(&mut self, thread: Thread, entity: &mut Entity) {
        self.ready.retain(|other| *other != thread);
        self.protected = entity.deadline;
    }

    /// Whether the running thread has had its slice, while others wait.
    pub fn is_over(&self, running: &Entity) -> bool {
        !self.ready.is_empty() && running.time >= self.protected
    }
}
