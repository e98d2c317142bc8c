//! Which threads were off the CPU, why, and who had it: scheduler events beside those of the programs.
//!
//! A thread is followed by its id on its host. Its state is known from its first switch or wake-up on; a loss of kernel
//! events makes all states unknown again. A single switch may be missing, too, without a word of the kernel (events in
//! the context of some threads are not recorded at times): then a thread leaves a CPU on which it never came, or comes
//! where it never left, and what lies between is not known. Nor is anything of a thread that acts while the kernel says
//! that it is off the CPU: then the ids of program and kernel are not of one pid namespace.

mod host;
mod scheduled;

pub(crate) use scheduled::{OffNs, Scheduled};

use crate::observe::interrupts::Interrupt;
use crate::Options;
use host::{Host, State};
use tacho_events::{Payload, ProcessFacts, Text, Texts};
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::Rows;
use tacho_tables::{Execution, OffCpu, Preemption, Process};

/// An instant that a program and the kernel noted may differ by this much, besides the error of the programs' clock.
const CLOCKS_DIFFER_NS: i64 = 2_000;

/// State machine over kernel events and over what programs do between them.
#[derive(Default)]
pub(crate) struct Scheduler {
    options: Options,
    hosts: Vec<Host>,
    /// Host of each process.
    host_of: Column<Process, u32>,
    /// Whether a process is the kernel.
    is_kernel: Column<Process, bool>,
    /// Host and thread of each stream of a program, once it was asked for.
    threads: Vec<Option<(u32, u32)>>,
    rows: Rows<(u32, Preemption)>,
    /// Time off the CPU by execution; shorter where the last ones had none.
    off_ns: Rows<i64>,
    /// The part of it in which the thread was ready to run.
    runnable_ns: Rows<i64>,
    /// Whether the state of its thread was known when it began, by execution; shorter where there were no kernel events
    /// yet.
    known_at_start: Rows<bool>,
}

impl Scheduler {
    pub fn new(options: Options) -> Scheduler {
        Scheduler { options, ..Scheduler::default() }
    }

    pub fn add_process(&mut self, facts: &ProcessFacts) {
        let boot_id = &facts.header.boot_id;
        let host = self.hosts.iter().position(|host| host.boot_id == *boot_id).unwrap_or_else(|| {
            self.hosts.push(Host { boot_id: boot_id.clone(), ..Host::default() });
            self.hosts.len() - 1
        });
        self.host_of.push(host as u32);
        self.is_kernel.push(facts.header.pid == 0);
    }

    /// Whether events of this process are the kernel's.
    pub fn is_kernel(&self, process: Row<Process>) -> bool {
        self.is_kernel.get(process).copied().unwrap_or(false)
    }

    /// The program does something on a thread.
    pub fn acts(&mut self, process: Row<Process>, stream: u32, tid: u32, now: i64) {
        let host = self.host_of[process];
        if self.hosts[host as usize].last_ns.is_none() {
            return;
        }
        if self.threads.len() <= stream as usize {
            self.threads.resize(stream as usize + 1, None);
        }
        let thread = match self.threads[stream as usize] {
            Some((_, thread)) => &mut self.hosts[host as usize].threads[thread as usize],
            None => {
                let index = self.hosts[host as usize].thread(tid);
                self.threads[stream as usize] = Some((host, index));
                let thread = &mut self.hosts[host as usize].threads[index as usize];
                thread.stream = Some(stream);
                thread.acted_off = None;
                thread.contradicted = false;
                thread.at_first = (!matches!(thread.state, State::Unknown)).then_some(thread.sums);
                thread
            }
        };
        match &thread.state {
            State::Off(off) if now > off.since => {
                thread.acted_off.get_or_insert(now);
            }
            State::On(_) => thread.at_last = thread.sums,
            _ => {}
        }
    }

    /// An execution begins on a stream.
    pub fn starts(&mut self, execution: Row<Execution>, stream: u32) {
        let Some((host, thread)) = self.threads.get(stream as usize).copied().flatten() else { return };
        if !matches!(self.hosts[host as usize].threads[thread as usize].state, State::Unknown) {
            fill(&mut self.known_at_start, execution.index(), false);
            self.known_at_start.push(true);
        }
    }

    /// The kernel's next event on a CPU; `running`: executions on a stream, outermost first.
    pub fn push<'a>(
        &mut self,
        process: Row<Process>,
        cpu: u32,
        now: i64,
        payload: &Payload,
        texts: &Texts,
        running: impl Fn(u32) -> &'a [Row<Execution>],
        executions: &[Execution],
    ) {
        let host = &mut self.hosts[self.host_of[process] as usize];
        let mut ended = Vec::new();
        let mut taken = None;
        match *payload {
            Payload::SchedSwitch { prev_tid, prev_state, next_tid, prev_comm, next_comm } => {
                host.name(prev_tid as u32, prev_comm, texts);
                host.name(next_tid as u32, next_comm, texts);
                host.account(cpu, prev_tid as u32, next_tid as u32, now);
                if prev_tid != 0 {
                    let thread = host.thread(prev_tid as u32);
                    let measured = self.options.measures(now);
                    host.leaves(thread, cpu, prev_state == 0, measured, now);
                }
                if next_tid != 0 {
                    let thread = host.thread(next_tid as u32);
                    ended.extend(
                        host.comes(thread, now, self.options.clock_error_ns + CLOCKS_DIFFER_NS)
                            .map(|off| (thread, off, None)),
                    );
                }
            }
            Payload::SchedWaitsIn { tid, call } => {
                let thread = host.thread(tid as u32);
                host.threads[thread as usize].waits_in = Some(call).filter(|call| !texts.get(*call).is_empty());
            }
            Payload::SchedWakeup { tid, target_cpu, waker_tid, comm } => {
                host.name(tid as u32, comm, texts);
                let thread = host.thread(tid as u32);
                let waker = Some(waker_tid as u32).filter(|tid| *tid != 0);
                ended.extend(host.wakes(thread, target_cpu as u32, now).map(|off| (thread, off, waker)));
            }
            Payload::IrqEntry { irq, name } => taken = host.serves(cpu).enter(Interrupt::Irq { irq, name }, now),
            Payload::IrqExit { irq } => taken = host.serves(cpu).exit(Interrupt::Irq { irq, name: Text::EMPTY }, now),
            Payload::SoftirqEntry { vector } => taken = host.serves(cpu).enter(Interrupt::Softirq { vector }, now),
            Payload::SoftirqExit { vector } => taken = host.serves(cpu).exit(Interrupt::Softirq { vector }, now),
            Payload::KernelEventsLost { count } if count > 0 => host.forget(cpu, now),
            _ => {}
        }
        if host.last_ns.is_none() {
            host.first_ns = now;
        }
        host.last_ns = Some(host.last_ns.map_or(now, |last| last.max(now)));
        host.cpus.entry(cpu).or_default().last_ns = Some(now);
        if let Some((stream, row)) = taken.and_then(|taken| host.interrupted(cpu, taken, &running, executions, texts)) {
            self.rows.push((stream, row));
            return; // nobody came or went
        }
        for (thread, off, waker) in ended {
            let to = now;
            let (from, measured_to) = (off.since, self.options.measured_to_ns.unwrap_or(i64::MAX));
            let in_window = (to.min(measured_to) - from.max(self.options.measured_from_ns.unwrap_or(i64::MIN))).max(0);
            let sums = &mut host.threads[thread as usize].sums;
            match off.why {
                OffCpu::Runnable => sums.runnable_ns += in_window,
                OffCpu::Blocked => sums.blocked_ns += in_window,
                OffCpu::Interrupted => {} // it is on the CPU
            }
            let Some(stream) = host.threads[thread as usize].stream else { continue };
            let runnable = |lasted: i64| if off.why == OffCpu::Runnable { lasted } else { 0 };
            let stack = running(stream);
            for execution in stack {
                let since = executions[*execution].start_ns.max(from);
                let lasted = (to - since).max(0);
                for (sum, of) in [(&mut self.off_ns, lasted), (&mut self.runnable_ns, runnable(lasted))] {
                    fill(sum, execution.index() + 1, 0);
                    sum[execution.index()] += of;
                }
            }
            let execution = stack.last().copied();
            let from = execution.map_or(from, |e| executions[e].start_ns.max(from));
            if to <= from || (execution.is_none() && off.why == OffCpu::Blocked) {
                continue;
            }
            // Until it came back; whoever has its CPU after the last switch there is not known (it went on elsewhere).
            let mut pieces = off.held;
            match off.why {
                OffCpu::Runnable if pieces.last().is_none_or(|(_, until)| *until < to) => pieces.push((0, to)),
                OffCpu::Blocked => pieces.push((waker.unwrap_or(0), to)),
                OffCpu::Runnable | OffCpu::Interrupted => {}
            }
            let mut begins = from;
            for (by, until) in pieces {
                let by_tid = Some(by).filter(|tid| *tid != 0);
                if until > begins {
                    let row = Preemption {
                        process: Row::new(0),
                        tid: host.tid(thread),
                        execution,
                        from_ns: begins,
                        to_ns: until,
                        state: off.why,
                        woken: off.woken,
                        cpu: off.cpu,
                        by_tid,
                        by_comm: by_tid.and_then(|tid| host.comm(tid)).map(|comm| texts.get(comm).into()),
                        waits_in: off.waits_in.map(|call| texts.get(call).into()),
                    };
                    self.rows.push((stream, row));
                    begins = until;
                }
            }
        }
    }
}

/// Makes a column this long.
fn fill<T: Copy>(rows: &mut Rows<T>, length: usize, with: T) {
    rows.extend(std::iter::repeat_n(with, length.saturating_sub(rows.len())));
}
