//! Which threads were off the CPU, why, and who had it: scheduler events beside those of the programs.
//!
//! A thread is followed by its id on its host. Its state is known from its first switch or wake-up on; a loss of kernel events makes all
//! states unknown again. A single switch may be missing, too, without a word of the kernel (events in the context of some threads are
//! not recorded): then a thread leaves a CPU on which it never came, or comes where it never left, and what lies between is not told. Nothing is told of a thread that acts while the kernel says that it is off the CPU: then the ids of
//! program and kernel are not of one pid namespace.

use crate::Options;
use crate::observe::Observed;
use crate::observe::interrupts::{Interrupt, Served, Taken};
use crate::tables::{Execution, Note, OffCpu, Preemption};
use std::collections::HashMap;
use tacho_events::{Payload, ProcessFacts, Text, Texts};

/// An instant that a program and the kernel noted may differ by this much, besides the error of the programs' clock.
const CLOCKS_DIFFER_NS: i64 = 2_000;

/// State machine over kernel events and over what programs do between them.
#[derive(Default)]
pub(crate) struct Scheduler {
    options: Options,
    hosts: Vec<Host>,
    /// Host of each process.
    host_of: Vec<u32>,
    /// Whether a process is the kernel.
    is_kernel: Vec<bool>,
    /// Host and thread of each stream of a program, once it was asked for.
    threads: Vec<Option<(u32, u32)>>,
    rows: Vec<(u32, Preemption)>,
    /// Time off the CPU by execution.
    off_ns: HashMap<u32, i64>,
    /// Whether the state of its thread was known when it began, by execution; shorter where there were no kernel events yet.
    known_at_start: Vec<bool>,
}

#[derive(Default)]
struct Host {
    boot_id: String,
    threads: Vec<Thread>,
    by_tid: HashMap<u32, u32>,
    cpus: HashMap<u32, Cpu>,
    /// Where kernel events were lost, in order.
    gaps: Vec<(i64, i64)>,
    /// Time of the first and of the last kernel event.
    first_ns: i64,
    last_ns: Option<i64>,
}

#[derive(Default)]
struct Cpu {
    /// Last switch, and who came then.
    switched: Option<(i64, u32)>,
    /// Last event.
    last_ns: Option<i64>,
    /// Threads that wait for it.
    waiting: Vec<u32>,
    served: Served,
}

#[derive(Default)]
struct Thread {
    tid: u32,
    comm: Option<Text>,
    state: State,
    stream: Option<u32>,
    /// First act of its program since it went off the CPU.
    acted_off: Option<i64>,
    contradicted: bool,
    /// Where a switch of it is missing.
    holes: Vec<(i64, i64)>,
    sums: Sums,
    at_first: Option<Sums>,
    at_last: Sums,
}

#[derive(Default)]
enum State {
    #[default]
    Unknown,
    /// Since.
    On(i64),
    Off(Off),
}

struct Off {
    why: OffCpu,
    woken: bool,
    since: i64,
    cpu: u32,
    /// Who had that CPU since, and until when, one after the other.
    held: Vec<(u32, i64)>,
}

/// Time off the CPU and switches, in the measured window.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub runnable_ns: i64,
    pub blocked_ns: i64,
    pub voluntary: u64,
    pub involuntary: u64,
}

/// What came of it, by execution and by stream.
#[derive(Default)]
pub(crate) struct Scheduled {
    /// Rows in the order of time.
    pub preemptions: Vec<Preemption>,
    /// Whether all that happened to its thread is known, by execution; empty without kernel events.
    known: Vec<bool>,
    /// Intervals in which each stream was runnable and had no CPU, in order, and such time before each.
    runnable: HashMap<u32, Vec<(i64, i64, i64)>>,
    /// Off the CPU between first and last event, by stream; only where all of it is known.
    pub sums: HashMap<u32, Sums>,
    pub notes: Vec<Note>,
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
    pub fn is_kernel(&self, process: u32) -> bool {
        self.is_kernel.get(process as usize).copied().unwrap_or(false)
    }

    /// The program does something on a thread.
    pub fn acts(&mut self, process: u32, stream: u32, tid: u32, now: i64) {
        let host = self.host_of[process as usize];
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
    pub fn starts(&mut self, execution: u32, stream: u32) {
        let Some((host, thread)) = self.threads.get(stream as usize).copied().flatten() else { return };
        if !matches!(self.hosts[host as usize].threads[thread as usize].state, State::Unknown) {
            self.known_at_start.resize(execution as usize, false);
            self.known_at_start.push(true);
        }
    }

    /// The kernel's next event on a CPU; `running`: executions on a stream, outermost first.
    pub fn push<'a>(
        &mut self,
        process: u32,
        cpu: u32,
        now: i64,
        payload: &Payload,
        texts: &Texts,
        running: impl Fn(u32) -> &'a [u32],
        executions: &[Execution],
    ) {
        let host = &mut self.hosts[self.host_of[process as usize] as usize];
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
                    ended.extend(host.comes(thread, now, self.options.clock_error_ns + CLOCKS_DIFFER_NS).map(|off| (thread, off, None)));
                }
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
            let stack = running(stream);
            for execution in stack {
                let since = executions[*execution as usize].start_ns.max(from);
                *self.off_ns.entry(*execution).or_default() += (to - since).max(0);
            }
            let execution = stack.last().copied();
            let from = execution.map_or(from, |e| executions[e as usize].start_ns.max(from));
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
                        process: 0,
                        tid: host.tid(thread),
                        execution,
                        from_ns: begins,
                        to_ns: until,
                        state: off.why,
                        woken: off.woken,
                        cpu: off.cpu,
                        by_tid,
                        by_comm: by_tid.and_then(|tid| host.comm(tid)).map(|comm| texts.get(comm).to_owned()),
                    };
                    self.rows.push((stream, row));
                    begins = until;
                }
            }
        }
    }

    /// Tables of it; gives executions of which all is known their CPU time.
    pub fn finish(self, seen: &mut Observed) -> Scheduled {
        let mut scheduled = Scheduled::default();
        if self.hosts.iter().all(|host| host.last_ns.is_none()) {
            return scheduled;
        }
        let place = |stream: u32| {
            let (host, thread) = self.threads.get(stream as usize).copied().flatten()?;
            let host = &self.hosts[host as usize];
            Some((host, &host.threads[thread as usize]))
        };
        // A thread that acted off the CPU to the end, too: it should have come back by now.
        let trusted = |stream: u32| place(stream).is_some_and(|(_, thread)| {
            thread.stream == Some(stream) && !thread.contradicted && thread.acted_off.is_none()
        });
        let whole = |stream: u32, from: i64, to: i64| place(stream).is_some_and(|(host, thread)| {
            from >= host.first_ns && !overlap(&host.gaps, from, to) && !overlap(&thread.holes, from, to) && host.last_ns.is_some_and(|last| to <= last)
        });

        scheduled.known = vec![false; seen.executions.len()];
        for (index, execution) in seen.executions.iter_mut().enumerate() {
            let stream = seen.execution_stream[index];
            let Some(end) = execution.end_ns else { continue };
            let began_known = self.known_at_start.get(index).copied().unwrap_or(false);
            if began_known && trusted(stream) && whole(stream, execution.start_ns, end) {
                scheduled.known[index] = true;
                execution.cpu_ns = Some(end - execution.start_ns - self.off_ns.get(&(index as u32)).copied().unwrap_or(0));
            }
        }
        for (stream, row) in &self.rows {
            let executes = seen.streams.get(*stream as usize).is_some_and(|s| !s.executions.is_empty());
            if executes && trusted(*stream) && whole(*stream, row.from_ns, row.to_ns) {
                if row.state == OffCpu::Runnable {
                    let spans = scheduled.runnable.entry(*stream).or_default();
                    let before = spans.last().map_or(0, |(from, to, before)| before + to - from);
                    spans.push((row.from_ns, row.to_ns, before));
                }
                let process = seen.streams[*stream as usize].process;
                scheduled.preemptions.push(Preemption { process, ..row.clone() });
            }
        }
        scheduled.preemptions.sort_by_key(|row| (row.from_ns, row.process, row.tid));
        for (index, stream) in seen.streams.iter().enumerate() {
            let index = index as u32;
            let Some((_, thread)) = place(index).filter(|_| !stream.executions.is_empty()) else { continue };
            if let (Some(first), true) = (thread.at_first, trusted(index) && whole(index, stream.first_ns, stream.last_ns)) {
                let last = thread.at_last;
                scheduled.sums.insert(index, Sums {
                    runnable_ns: last.runnable_ns - first.runnable_ns,
                    blocked_ns: last.blocked_ns - first.blocked_ns,
                    voluntary: last.voluntary - first.voluntary,
                    involuntary: last.involuntary - first.involuntary,
                });
            }
        }
        scheduled.notes = self.notes(seen, &scheduled, trusted);
        scheduled
    }

    fn notes(&self, seen: &Observed, scheduled: &Scheduled, trusted: impl Fn(u32) -> bool) -> Vec<Note> {
        let mut notes = Vec::new();
        let lost: u64 = self.hosts.iter().map(|host| host.gaps.len() as u64).sum();
        let unknown = scheduled.known.iter().zip(&seen.executions).filter(|(known, e)| !**known && e.end_ns.is_some()).count();
        if lost > 0 {
            let text = format!(
                "times at which the kernel had no room for its scheduler events: CPU time and preemption of callbacks that overlap one are not \
                 told ({unknown} executions without them in all)"
            );
            notes.push(Note { name: "kernel-events-lost".into(), count: lost, text });
        }
        let missing: u64 = (0..seen.streams.len() as u32)
            .filter_map(|s| self.threads.get(s as usize).copied().flatten().filter(|_| !seen.streams[s as usize].executions.is_empty()))
            .map(|(host, thread)| self.hosts[host as usize].threads[thread as usize].holes.len() as u64)
            .sum();
        if missing > 0 {
            let text = "context switches of executor threads that the kernel did not tell: CPU time and preemption of callbacks about them are not told";
            notes.push(Note { name: "kernel-switches-missing".into(), count: missing, text: text.into() });
        }
        let strange = (0..seen.streams.len() as u32)
            .filter(|s| !seen.streams[*s as usize].executions.is_empty() && self.threads.get(*s as usize).copied().flatten().is_some() && !trusted(*s))
            .count();
        if strange > 0 {
            let text = "threads that acted while the kernel had them off the CPU: their ids are those of another pid namespace (a container), or \
                        were given again; their CPU time and preemption are not told";
            notes.push(Note { name: "kernel-threads-not-matched".into(), count: strange as u64, text: text.into() });
        }
        notes
    }
}

impl Host {
    fn thread(&mut self, tid: u32) -> u32 {
        *self.by_tid.entry(tid).or_insert_with(|| {
            self.threads.push(Thread { tid, ..Thread::default() });
            self.threads.len() as u32 - 1
        })
    }

    fn tid(&self, thread: u32) -> u32 {
        self.threads[thread as usize].tid
    }

    fn comm(&self, tid: u32) -> Option<Text> {
        self.threads[*self.by_tid.get(&tid)? as usize].comm
    }

    fn name(&mut self, tid: u32, comm: Text, texts: &Texts) {
        if tid != 0 && !texts.get(comm).is_empty() {
            let thread = self.thread(tid);
            self.threads[thread as usize].comm = Some(comm);
        }
    }

    /// A thread had a CPU until now: says so to those who waited for it.
    fn account(&mut self, cpu: u32, had_it: u32, next: u32, now: i64) {
        let cpu = self.cpus.entry(cpu).or_default();
        for waiting in &cpu.waiting {
            let State::Off(off) = &mut self.threads[*waiting as usize].state else { continue };
            // Since it waits, each switch here is known. If another one came at the last, a switch between is missing.
            let had_it = match cpu.switched {
                Some((at, came)) if at >= off.since && came != had_it => 0,
                _ => had_it,
            };
            match off.held.last_mut() {
                Some((tid, until)) if *tid == had_it => *until = now,
                _ => off.held.push((had_it, now)),
            }
        }
        cpu.switched = Some((now, next));
        cpu.served.forget();
    }

    fn leaves(&mut self, thread: u32, cpu: u32, runnable: bool, measured: bool, now: i64) {
        self.waits_no_more(thread);
        let row = &mut self.threads[thread as usize];
        if measured {
            row.sums.involuntary += u64::from(runnable);
            row.sums.voluntary += u64::from(!runnable);
        }
        row.acted_off = None;
        if let State::Off(off) = &row.state {
            add(&mut row.holes, (off.since, now));
        }
        let why = if runnable { OffCpu::Runnable } else { OffCpu::Blocked };
        row.state = State::Off(Off { why, woken: false, since: now, cpu, held: Vec::new() });
        if runnable {
            self.cpus.entry(cpu).or_default().waiting.push(thread);
        }
    }

    /// Back on a CPU: what it was off for.
    fn comes(&mut self, thread: u32, now: i64, tolerance: i64) -> Option<Off> {
        self.waits_no_more(thread);
        let row = &mut self.threads[thread as usize];
        if row.acted_off.take().is_some_and(|acted| now - acted > tolerance) {
            row.contradicted = true;
        }
        match std::mem::replace(&mut row.state, State::On(now)) {
            State::Off(off) => Some(off),
            State::On(since) => {
                add(&mut row.holes, (since, now));
                None
            }
            State::Unknown => None,
        }
    }

    /// Woken: what it was blocked for.
    fn wakes(&mut self, thread: u32, cpu: u32, now: i64) -> Option<Off> {
        let row = &mut self.threads[thread as usize];
        let fresh = State::Off(Off { why: OffCpu::Runnable, woken: true, since: now, cpu, held: Vec::new() });
        let blocked = match &row.state {
            State::Off(off) => off.why == OffCpu::Blocked,
            State::Unknown => true,
            State::On(_) => false,
        };
        if !blocked {
            return None;
        }
        let before = std::mem::replace(&mut row.state, fresh);
        self.cpus.entry(cpu).or_default().waiting.push(thread);
        match before {
            State::Off(off) => Some(off),
            _ => None,
        }
    }

    fn serves(&mut self, cpu: u32) -> &mut Served {
        &mut self.cpus.entry(cpu).or_default().served
    }

    /// The row of time that an interrupt took from a callback; `None`: the CPU was nobody's, or its thread was in no callback.
    fn interrupted<'a>(
        &self,
        cpu: u32,
        (interrupt, from, to): Taken,
        running: impl Fn(u32) -> &'a [u32],
        executions: &[Execution],
        texts: &Texts,
    ) -> Option<(u32, Preemption)> {
        let (_, tid) = self.cpus.get(&cpu)?.switched?;
        let thread = &self.threads[*self.by_tid.get(&tid)? as usize];
        let State::On(since) = thread.state else { return None };
        let (stream, from) = (thread.stream?, from.max(since));
        let execution = *running(stream).last()?;
        let from = from.max(executions[execution as usize].start_ns);
        let (by_tid, by_comm) = (None, Some(interrupt.words(texts)));
        let row = Preemption {
            process: 0, tid, execution: Some(execution), from_ns: from, to_ns: to, state: OffCpu::Interrupted, woken: false, cpu, by_tid, by_comm,
        };
        (from < to).then_some((stream, row))
    }

    fn waits_no_more(&mut self, thread: u32) {
        if let State::Off(Off { cpu, why: OffCpu::Runnable, .. }) = &self.threads[thread as usize].state {
            if let Some(cpu) = self.cpus.get_mut(cpu) {
                cpu.waiting.retain(|waiting| *waiting != thread);
            }
        }
    }

    /// Events of a CPU were lost since its last one: any thread may have come or gone there.
    fn forget(&mut self, cpu: u32, now: i64) {
        let from = self.cpus.get(&cpu).and_then(|cpu| cpu.last_ns).unwrap_or(i64::MIN);
        add(&mut self.gaps, (from, now));
        for cpu in self.cpus.values_mut() {
            cpu.waiting.clear();
            cpu.served.forget();
        }
        for thread in &mut self.threads {
            thread.state = State::Unknown;
            thread.acted_off = None;
        }
    }
}

/// Adds a gap that ends no earlier than those before; those inside it are one with it, so that begins and ends stand in order.
fn add(gaps: &mut Vec<(i64, i64)>, gap: (i64, i64)) {
    while gaps.last().is_some_and(|last| last.0 >= gap.0) {
        gaps.pop();
    }
    gaps.push(gap);
}

/// Whether one of `gaps`, which stand in order, touches a time.
fn overlap(gaps: &[(i64, i64)], from: i64, to: i64) -> bool {
    gaps[gaps.partition_point(|gap| gap.1 < from)..].first().is_some_and(|gap| gap.0 <= to)
}

impl Scheduled {
    /// Of the time from `from` to `to`, inside an execution: its thread was runnable and had no CPU. `None`: not known.
    pub fn preempted_ns(&self, execution: u32, stream: u32, from: i64, to: i64) -> Option<i64> {
        if !self.known.get(execution as usize).copied().unwrap_or(false) {
            return None;
        }
        let spans = self.runnable.get(&stream).map_or(&[][..], Vec::as_slice);
        let until = |instant: i64| match spans.partition_point(|span| span.0 <= instant).checked_sub(1) {
            Some(last) => spans[last].2 + (instant.min(spans[last].1) - spans[last].0),
            None => 0,
        };
        Some(until(to) - until(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_gap_that_ends_late_covers_what_lies_before_shorter_ones() {
        let mut gaps = Vec::new();
        [(10, 15), (100, 110), (20, 120), (130, 140)].into_iter().for_each(|gap| add(&mut gaps, gap));
        assert_eq!(gaps, [(10, 15), (20, 120), (130, 140)]);
        let touched: Vec<i64> = (0..150).step_by(5).filter(|at| overlap(&gaps, *at, at + 1)).collect();
        assert_eq!(touched, (0..150).step_by(5).filter(|at| gaps.iter().any(|g| g.0 <= at + 1 && *at <= g.1)).collect::<Vec<_>>());
    }
}
