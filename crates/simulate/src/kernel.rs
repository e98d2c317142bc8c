//! Linux's scheduler in virtual time: which thread has which CPU, and when.
//!
//! Modelled: the fair class as EEVDF (Linux 6.12 to 6.18: lag, virtual deadlines, a protected slice, preemption at
//! wake-ups and ticks), SCHED_FIFO and SCHED_RR, nice values, affinity, the choice of a CPU at a wake-up, and the
//! pulling of waiting threads by a CPU that becomes idle. Not modelled: caches, frequency, interrupts, groups
//! (autogroup), the fair class's reserve beside real-time threads.

mod fair;
mod queue;

use fair::Fair;
use queue::RealTime;
use tacho_workload::model::Scheduling;

/// Number of a thread.
pub type Thread = usize;

/// Time a SCHED_RR thread runs before the next of its priority, ns (`/proc/sys/kernel/sched_rr_timeslice_ms`).
const ROUND_ROBIN_NS: i64 = 100_000_000;

/// The kernel places a waking thread at the average, then compares it with the running one. The running thread has run
/// on meanwhile, so it is not eligible if it was alone. This time is not accounted as CPU time.
const COMPARED_AFTER_NS: i64 = 500;

/// What the scheduler of a kernel is set to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Number of CPUs.
    pub cpus: usize,
    /// Between two ticks, ns (CONFIG_HZ).
    pub tick_ns: i64,
    /// How long a fair thread may run before others, ns (`base_slice_ns`).
    pub slice_ns: i64,
}

impl Settings {
    /// The defaults of Linux 6.12 to 6.18 with CONFIG_HZ=250: a slice of 0.7 ms times 1 + log2 of the CPUs, of 8 at
    /// most.
    pub fn linux(cpus: usize) -> Settings {
        Settings { cpus, tick_ns: 4_000_000, slice_ns: 700_000 * i64::from(1 + cpus.clamp(1, 8).ilog2()) }
    }
}

/// A thread that stopped or began to run on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch {
    /// The CPU.
    pub cpu: usize,
    /// What ran until now; `None`: nothing.
    pub from: Option<Thread>,
    /// Whether it could have gone on.
    pub preempted: bool,
    /// What runs from now on; `None`: nothing.
    pub to: Option<Thread>,
}

/// When a CPU must be looked at again. It counts only if the CPU's [`Due::number`] is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// When, ns.
    pub at_ns: i64,
    /// Which CPU.
    pub cpu: usize,
    /// Number of this appointment.
    pub number: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Asleep,
    Ready,
    Running,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Fair,
    Fifo(u32),
    RoundRobin(u32),
}

impl Class {
    /// Greater comes first; 0 is fair.
    fn priority(self) -> u32 {
        match self {
            Class::Fair => 0,
            Class::Fifo(priority) | Class::RoundRobin(priority) => priority,
        }
    }
}

struct Entity {
    class: Class,
    fair: fair::Entity,
    /// CPUs that it may use; empty: all.
    allowed: Vec<usize>,
    state: State,
    /// Where it runs, waits, or ran last.
    cpu: usize,
    /// CPU time until it is done with what it does, ns.
    need_ns: i64,
    /// CPU time so far, ns.
    used_ns: i64,
    /// What is left of its turn (SCHED_RR), ns.
    turn_ns: i64,
    /// Since when it sleeps.
    slept_ns: i64,
}

#[derive(Default)]
struct Cpu {
    running: Option<Thread>,
    /// Until when its use is accounted; in the future while it wakes from idleness.
    since_ns: i64,
    fair: Fair,
    real_time: RealTime,
    number: u64,
}

/// The threads and CPUs of a machine.
pub struct Kernel {
    settings: Settings,
    cpus: Vec<Cpu>,
    threads: Vec<Entity>,
    dues: Vec<Due>,
    switches: Vec<Switch>,
}

impl Kernel {
    /// A machine without threads.
    pub fn new(settings: Settings) -> Kernel {
        let cpus = (0..settings.cpus).map(|_| Cpu::default()).collect();
        Kernel { settings, cpus, threads: Vec::new(), dues: Vec::new(), switches: Vec::new() }
    }

    /// Adds a thread, which sleeps. `allowed`: its CPUs; empty: all.
    pub fn add(&mut self, scheduling: Option<Scheduling>, allowed: Vec<usize>) -> Thread {
        let (class, nice) = match scheduling {
            None => (Class::Fair, 0),
            Some(Scheduling::Nice(nice)) => (Class::Fair, nice),
            Some(Scheduling::Fifo(priority)) => (Class::Fifo(priority), 0),
            Some(Scheduling::RoundRobin(priority)) => (Class::RoundRobin(priority), 0),
        };
        let thread = self.threads.len();
        // As a new process, it begins where there is room.
        let cpu = if allowed.is_empty() { thread % self.cpus.len() } else { allowed[thread % allowed.len()] };
        self.threads.push(Entity {
            class,
            fair: fair::Entity::new(nice, &self.settings),
            allowed,
            state: State::Asleep,
            cpu,
            need_ns: 0,
            used_ns: 0,
            turn_ns: ROUND_ROBIN_NS,
            slept_ns: 0,
        });
        thread
    }

    /// CPU time that a thread has used, ns.
    pub fn used_ns(&self, thread: Thread) -> i64 {
        self.threads[thread].used_ns
    }

    /// Whether a thread sleeps.
    pub fn is_asleep(&self, thread: Thread) -> bool {
        self.threads[thread].state == State::Asleep
    }

    /// The CPU where a thread runs, waits, or ran last.
    pub fn cpu(&self, thread: Thread) -> usize {
        self.threads[thread].cpu
    }

    /// The appointments made since the last call.
    pub fn take_dues(&mut self) -> std::vec::Drain<'_, Due> {
        self.dues.drain(..)
    }

    /// The switches made since the last call.
    pub fn take_switches(&mut self) -> std::vec::Drain<'_, Switch> {
        self.switches.drain(..)
    }

    /// Wakes a sleeping thread that needs `need_ns` of CPU time. On an idle CPU it begins `latency_ns` later.
    pub fn wake(&mut self, thread: Thread, need_ns: i64, latency_ns: i64, now: i64) {
        let cpu = self.cpu_for(thread);
        self.account(cpu, now);
        let entity = &mut self.threads[thread];
        entity.need_ns = need_ns;
        entity.fair.rested(now - entity.slept_ns);
        self.enqueue(thread, cpu, false);
        let running = self.cpus[cpu].running;
        match running {
            None => self.switch(cpu, None, false, now, now + latency_ns),
            Some(running) if self.preempts(thread, running, cpu) => self.preempt(cpu, now),
            Some(_) if self.threads[thread].class != Class::Fair => self.push(thread, now),
            Some(_) => self.arm(cpu, now),
        }
    }

    /// Gives a thread that was found done more to do. What it woke meanwhile may have taken its CPU: then it waits.
    pub fn go_on(&mut self, thread: Thread, need_ns: i64, now: i64) {
        let cpu = self.threads[thread].cpu;
        self.account(cpu, now);
        self.threads[thread].need_ns = self.threads[thread].need_ns.max(0) + need_ns;
        if self.threads[thread].state == State::Running {
            self.arm(cpu, now);
        }
    }

    /// Lets a thread that was found done sleep. What it woke meanwhile may have taken its CPU already.
    pub fn sleep(&mut self, thread: Thread, now: i64) {
        let cpu = self.threads[thread].cpu;
        self.account(cpu, now);
        self.leave(thread, cpu);
        let is_running = self.threads[thread].state == State::Running;
        let entity = &mut self.threads[thread];
        entity.state = State::Asleep;
        entity.need_ns = 0;
        entity.turn_ns = ROUND_ROBIN_NS;
        entity.slept_ns = now;
        if is_running {
            self.cpus[cpu].running = None;
            return self.switch(cpu, Some(thread), false, now, now);
        }
        self.cpus[cpu].fair.ready.retain(|other| *other != thread);
        self.cpus[cpu].real_time.remove(thread);
        self.arm(cpu, now);
    }

    /// Stops a thread that runs, which then sleeps; returns the CPU time that it still needed, ns. `None`: it has no
    /// CPU just now.
    pub fn stop(&mut self, thread: Thread, now: i64) -> Option<i64> {
        if self.threads[thread].state != State::Running {
            return None;
        }
        self.account(self.threads[thread].cpu, now);
        let left_ns = self.threads[thread].need_ns.max(0);
        self.sleep(thread, now);
        Some(left_ns)
    }

    /// Looks at a CPU at its appointment. Returns the thread that runs there if it has done what it had to.
    pub fn look(&mut self, due: Due, now: i64) -> Option<Thread> {
        if self.cpus[due.cpu].number != due.number {
            return None;
        }
        self.account(due.cpu, now);
        let running = self.cpus[due.cpu].running?;
        if self.threads[running].need_ns <= 0 {
            return Some(running);
        }
        match self.threads[running].class {
            Class::Fair if self.cpus[due.cpu].fair.is_over(&self.threads[running].fair) => self.preempt(due.cpu, now),
            Class::RoundRobin(_) if self.threads[running].turn_ns <= 0 => {
                self.threads[running].turn_ns = ROUND_ROBIN_NS;
                self.leave(running, due.cpu);
                self.enqueue(running, due.cpu, false);
                self.cpus[due.cpu].running = None;
                self.switch(due.cpu, Some(running), true, now, now);
            }
            _ => self.arm(due.cpu, now),
        }
        None
    }

    fn may_use(&self, thread: Thread, cpu: usize) -> bool {
        let allowed = &self.threads[thread].allowed;
        allowed.is_empty() || allowed.contains(&cpu)
    }

    /// Where a thread that wakes goes: where it ran last if that is idle, or else to an idle CPU. A real-time thread
    /// goes where it ran last unless a real-time thread of the same or a higher priority runs there.
    fn cpu_for(&self, thread: Thread) -> usize {
        let entity = &self.threads[thread];
        let last = if self.may_use(thread, entity.cpu) { entity.cpu } else { entity.allowed[0] };
        let priority = entity.class.priority();
        if self.priority_on(last).is_none_or(|running| priority > running) {
            return last;
        }
        let others = (0..self.cpus.len()).filter(|cpu| self.may_use(thread, *cpu));
        if priority == 0 {
            return others.into_iter().find(|cpu| self.cpus[*cpu].running.is_none()).unwrap_or(last);
        }
        let least = others.min_by_key(|cpu| self.priority_on(*cpu).map_or(-1, i64::from));
        least.filter(|cpu| self.priority_on(*cpu).is_none_or(|running| priority > running)).unwrap_or(last)
    }

    /// Priority of what runs on a CPU; `None`: it is idle.
    fn priority_on(&self, cpu: usize) -> Option<u32> {
        self.cpus[cpu].running.map(|running| self.threads[running].class.priority())
    }

    /// Brings the running thread's use of the CPU up to date.
    fn account(&mut self, cpu: usize, now: i64) {
        let of_cpu = &mut self.cpus[cpu];
        let Some(running) = of_cpu.running else { return };
        let ran_ns = now - of_cpu.since_ns;
        if ran_ns <= 0 {
            return;
        }
        of_cpu.since_ns = now;
        let entity = &mut self.threads[running];
        entity.need_ns -= ran_ns;
        entity.used_ns += ran_ns;
        match entity.class {
            Class::Fair => of_cpu.fair.ran(&mut entity.fair, ran_ns),
            Class::RoundRobin(_) => entity.turn_ns -= ran_ns,
            Class::Fifo(_) => {}
        }
    }

    /// Puts a thread among those that are ready on a CPU; `first`: before others of its priority.
    fn enqueue(&mut self, thread: Thread, cpu: usize, first: bool) {
        let entity = &mut self.threads[thread];
        entity.state = State::Ready;
        entity.cpu = cpu;
        match entity.class {
            Class::Fair => {
                let members = fair::members(&self.threads, &self.cpus[cpu], Some(thread));
                let placed = self.cpus[cpu].fair.placed(&self.threads[thread].fair, members);
                self.threads[thread].fair = placed;
                self.cpus[cpu].fair.ready.push(thread);
            }
            class => self.cpus[cpu].real_time.put(thread, class.priority(), first),
        }
    }

    /// Takes a thread out of its CPU's fair competition, and keeps what it is owed.
    fn leave(&mut self, thread: Thread, cpu: usize) {
        if self.threads[thread].class == Class::Fair {
            let members = fair::members(&self.threads, &self.cpus[cpu], None);
            let left = self.cpus[cpu].fair.left(&self.threads[thread].fair, members);
            self.threads[thread].fair = left;
        }
    }

    /// Whether a thread that woke takes the CPU from the one that runs there.
    fn preempts(&mut self, woken: Thread, running: Thread, cpu: usize) -> bool {
        let (new, old) = (self.threads[woken].class.priority(), self.threads[running].class.priority());
        if new > 0 || old > 0 {
            return new > old;
        }
        self.cpus[cpu].fair.ran(&mut self.threads[running].fair, COMPARED_AFTER_NS);
        fair::preempts(&self.threads, &self.cpus[cpu], woken, running)
    }

    /// Takes the CPU from the running thread, which stays ready, and gives it to the best that is ready.
    fn preempt(&mut self, cpu: usize, now: i64) {
        let running = self.cpus[cpu].running.take();
        if let Some(running) = running {
            self.threads[running].state = State::Ready;
            match self.threads[running].class {
                // It stays in the competition as it is.
                Class::Fair => self.cpus[cpu].fair.ready.push(running),
                class => self.cpus[cpu].real_time.put(running, class.priority(), true),
            }
        }
        self.switch(cpu, running, true, now, now);
        if let Some(running) = running {
            if self.threads[running].state == State::Ready && self.threads[running].class != Class::Fair {
                self.push(running, now);
            }
        }
    }

    /// Moves a real-time thread that waits to a CPU that runs something of a lower priority.
    fn push(&mut self, thread: Thread, now: i64) {
        let (from, to) = (self.threads[thread].cpu, self.cpu_for(thread));
        let priority = self.threads[thread].class.priority();
        if to == from || self.priority_on(to).is_some_and(|running| running >= priority) {
            return self.arm(from, now);
        }
        self.cpus[from].real_time.remove(thread);
        self.account(to, now);
        self.enqueue(thread, to, false);
        self.preempt(to, now);
    }

    /// Gives the CPU, which nothing runs on, to the best thread that is ready, or that another CPU has waiting.
    fn switch(&mut self, cpu: usize, from: Option<Thread>, preempted: bool, now: i64, begins_ns: i64) {
        self.pull(cpu, now);
        let of_cpu = &mut self.cpus[cpu];
        let next = match of_cpu.real_time.take() {
            Some(thread) => Some(thread),
            None => {
                let best = fair::best(&self.threads, of_cpu);
                if let Some(best) = best {
                    of_cpu.fair.begin(best, &mut self.threads[best].fair);
                }
                best
            }
        };
        of_cpu.running = next;
        of_cpu.since_ns = begins_ns;
        if let Some(next) = next {
            self.threads[next].state = State::Running;
        }
        if from != next {
            self.switches.push(Switch { cpu, from, preempted: preempted && from.is_some(), to: next });
        }
        self.arm(cpu, now);
    }

    /// Brings the most urgent real-time thread that waits elsewhere, or else, if there is nothing to run, a fair one.
    fn pull(&mut self, cpu: usize, now: i64) {
        let own = self.cpus[cpu].real_time.first_priority().unwrap_or(0);
        let waiting = (0..self.cpus.len()).filter(|other| *other != cpu);
        let urgent = waiting
            .clone()
            .filter_map(|other| self.cpus[other].real_time.first(|thread| self.may_use(thread, cpu)))
            .max_by_key(|thread| self.threads[*thread].class.priority());
        if let Some(thread) = urgent.filter(|thread| self.threads[*thread].class.priority() > own) {
            let from = self.threads[thread].cpu;
            self.cpus[from].real_time.remove(thread);
            return self.enqueue(thread, cpu, false);
        }
        if own > 0 || !self.cpus[cpu].fair.ready.is_empty() {
            return;
        }
        let can_come = |other: &usize| self.cpus[*other].fair.ready.iter().any(|thread| self.may_use(*thread, cpu));
        let Some(from) = waiting.filter(can_come).max_by_key(|other| self.cpus[*other].fair.ready.len()) else {
            return;
        };
        self.account(from, now);
        let at = self.cpus[from].fair.ready.iter().position(|thread| self.may_use(*thread, cpu)).expect("one may come");
        let thread = self.cpus[from].fair.ready[at];
        // It counts in the average that says what it is owed.
        let members = fair::members(&self.threads, &self.cpus[from], None);
        self.threads[thread].fair = self.cpus[from].fair.left(&self.threads[thread].fair, members);
        self.cpus[from].fair.ready.remove(at);
        self.enqueue(thread, cpu, false);
        self.arm(from, now);
    }

    /// Makes the next appointment with a CPU.
    fn arm(&mut self, cpu: usize, now: i64) {
        let of_cpu = &mut self.cpus[cpu];
        of_cpu.number += 1;
        let Some(running) = of_cpu.running else { return };
        let entity = &self.threads[running];
        let begins_ns = of_cpu.since_ns.max(now);
        let mut at_ns = begins_ns + entity.need_ns.max(0);
        match entity.class {
            Class::Fair if !of_cpu.fair.ready.is_empty() => {
                at_ns = at_ns.min((now / self.settings.tick_ns + 1) * self.settings.tick_ns);
            }
            Class::RoundRobin(priority) if of_cpu.real_time.first_priority() == Some(priority) => {
                at_ns = at_ns.min(begins_ns + entity.turn_ns.max(0));
            }
            _ => {}
        }
        self.dues.push(Due { at_ns, cpu, number: of_cpu.number });
    }
}

#[cfg(test)]
mod tests;
