//! The threads and CPUs of one host, as the kernel's events tell of them.

use crate::observe::interrupts::{Served, Taken};
use rustc_hash::FxHashMap as HashMap;
use tacho_events::{Text, Texts};
use tacho_tables::row::Row;
use tacho_tables::{Execution, Name, OffCpu, Preemption};

#[derive(Default)]
pub(super) struct Host {
    pub(super) boot_id: String,
    pub(super) threads: Vec<Thread>,
    pub(super) by_tid: HashMap<u32, u32>,
    pub(super) cpus: HashMap<u32, Cpu>,
    /// Where kernel events were lost, in order.
    pub(super) gaps: Vec<(i64, i64)>,
    /// Time of the first and of the last kernel event.
    pub(super) first_ns: i64,
    pub(super) last_ns: Option<i64>,
}

#[derive(Default)]
pub(super) struct Cpu {
    /// Last switch, and who came then.
    pub(super) switched: Option<(i64, u32)>,
    /// Last event.
    pub(super) last_ns: Option<i64>,
    /// Threads that wait for it.
    pub(super) waiting: Vec<u32>,
    pub(super) served: Served,
}

#[derive(Default)]
pub(super) struct Thread {
    pub(super) tid: u32,
    pub(super) comm: Option<Text>,
    pub(super) state: State,
    pub(super) stream: Option<u32>,
    /// What it waits in when it next waits.
    pub(super) waits_in: Option<Text>,
    /// First act of its program since it went off the CPU.
    pub(super) acted_off: Option<i64>,
    pub(super) contradicted: bool,
    /// Where a switch of it is missing.
    pub(super) holes: Vec<(i64, i64)>,
    pub(super) sums: Sums,
    pub(super) at_first: Option<Sums>,
    pub(super) at_last: Sums,
}

#[derive(Default)]
pub(super) enum State {
    #[default]
    Unknown,
    /// Since.
    On(i64),
    Off(Off),
}

pub(super) struct Off {
    pub(super) why: OffCpu,
    pub(super) woken: bool,
    pub(super) since: i64,
    pub(super) cpu: u32,
    /// Blocked: in what.
    pub(super) waits_in: Option<Text>,
    /// Who had that CPU since, and until when, one after the other.
    pub(super) held: Vec<(u32, i64)>,
}

/// Time off the CPU and switches, in the measured window.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub runnable_ns: i64,
    pub blocked_ns: i64,
    pub voluntary: u64,
    pub involuntary: u64,
    /// Where a switch is missing: in none of the states.
    pub unknown_ns: i64,
}

impl Host {
    pub(super) fn thread(&mut self, tid: u32) -> u32 {
        *self.by_tid.entry(tid).or_insert_with(|| {
            self.threads.push(Thread { tid, ..Thread::default() });
            self.threads.len() as u32 - 1
        })
    }

    pub(super) fn tid(&self, thread: u32) -> u32 {
        self.threads[thread as usize].tid
    }

    pub(super) fn comm(&self, tid: u32) -> Option<Text> {
        self.threads[*self.by_tid.get(&tid)? as usize].comm
    }

    pub(super) fn name(&mut self, tid: u32, comm: Text, texts: &Texts) {
        if tid != 0 && !texts.get(comm).is_empty() {
            let thread = self.thread(tid);
            self.threads[thread as usize].comm = Some(comm);
        }
    }

    /// A thread had a CPU until now: says so to those who waited for it.
    pub(super) fn account(&mut self, cpu: u32, had_it: u32, next: u32, now: i64) {
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

    pub(super) fn leaves(&mut self, thread: u32, cpu: u32, runnable: bool, measured: bool, now: i64) {
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
        let waits_in = row.waits_in.filter(|_| !runnable);
        row.state = State::Off(Off { why, woken: false, since: now, cpu, waits_in, held: Vec::new() });
        if runnable {
            self.cpus.entry(cpu).or_default().waiting.push(thread);
        }
    }

    /// Back on a CPU: what it was off for.
    pub(super) fn comes(&mut self, thread: u32, now: i64, tolerance: i64) -> Option<Off> {
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
    pub(super) fn wakes(&mut self, thread: u32, cpu: u32, now: i64) -> Option<Off> {
        let row = &mut self.threads[thread as usize];
        let (why, held) = (OffCpu::Runnable, Vec::new());
        let fresh = State::Off(Off { why, woken: true, since: now, cpu, waits_in: None, held });
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

    pub(super) fn serves(&mut self, cpu: u32) -> &mut Served {
        &mut self.cpus.entry(cpu).or_default().served
    }

    /// The row of time that an interrupt took from a callback; `None`: the CPU was nobody's, or its thread was in no
    /// callback.
    pub(super) fn interrupted<'a>(
        &self,
        cpu: u32,
        (interrupt, from, to): Taken,
        running: impl Fn(u32) -> &'a [Row<Execution>],
        executions: &[Execution],
        texts: &Texts,
    ) -> Option<(u32, Preemption)> {
        let (_, tid) = self.cpus.get(&cpu)?.switched?;
        let thread = &self.threads[*self.by_tid.get(&tid)? as usize];
        let State::On(since) = thread.state else { return None };
        let (stream, from) = (thread.stream?, from.max(since));
        let execution = *running(stream).last()?;
        let from = from.max(executions[execution].start_ns);
        let (by_tid, by_comm) = (None, Some(Name::from(interrupt.words(texts).as_str())));
        let row = Preemption {
            process: Row::new(0),
            tid,
            execution: Some(execution),
            from_ns: from,
            to_ns: to,
            state: OffCpu::Interrupted,
            woken: false,
            cpu,
            by_tid,
            by_comm,
            waits_in: None,
        };
        (from < to).then_some((stream, row))
    }

    pub(super) fn waits_no_more(&mut self, thread: u32) {
        if let State::Off(Off { cpu, why: OffCpu::Runnable, .. }) = &self.threads[thread as usize].state {
            if let Some(cpu) = self.cpus.get_mut(cpu) {
                cpu.waiting.retain(|waiting| *waiting != thread);
            }
        }
    }

    /// Events of a CPU were lost since its last one: any thread may have come or gone there.
    pub(super) fn forget(&mut self, cpu: u32, now: i64) {
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

/// Adds a gap that ends no earlier than those before; those inside it are one with it, so that begins and ends stand in
/// order.
pub(super) fn add(gaps: &mut Vec<(i64, i64)>, gap: (i64, i64)) {
    while gaps.last().is_some_and(|last| last.0 >= gap.0) {
        gaps.pop();
    }
    gaps.push(gap);
}

/// Whether one of `gaps`, which stand in order, touches a time.
pub(super) fn overlap(gaps: &[(i64, i64)], from: i64, to: i64) -> bool {
    gaps[gaps.partition_point(|gap| gap.1 < from)..].first().is_some_and(|gap| gap.0 <= to)
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
        assert_eq!(
            touched,
            (0..150).step_by(5).filter(|at| gaps.iter().any(|g| g.0 <= at + 1 && *at <= g.1)).collect::<Vec<_>>()
        );
    }
}
