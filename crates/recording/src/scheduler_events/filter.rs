//! Decides which scheduler events a run keeps: those of threads of its processes, interrupts on a CPU while one of
//! these threads runs there, and those of any thread that runs on a CPU for which one of them waits. A preempting
//! thread is therefore always included, but the rest of the machine is not.

use super::records::{Comm, Record, DEAD};
use std::collections::{HashMap, HashSet};

/// The state of the filter, in time order.
pub(super) struct Filter {
    /// This process, if the processes that it forks are followed. Its own threads are not.
    root: Option<u32>,
    processes: HashSet<u32>,
    threads: HashMap<u32, Thread>,
    /// Followed threads that wait for each CPU.
    waiting_for: HashMap<u32, u32>,
    names: HashMap<u32, Comm>,
    /// The last thread on each CPU.
    on_cpu: HashMap<u32, u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Thread {
    /// The CPU that it waits for.
    waits_for: Option<u32>,
    exiting: bool,
}

impl Filter {
    /// Follows processes that `root` starts from now on.
    pub fn new(root: Option<u32>) -> Filter {
        Filter {
            root,
            processes: HashSet::new(),
            threads: HashMap::new(),
            waiting_for: HashMap::new(),
            names: HashMap::new(),
            on_cpu: HashMap::new(),
        }
    }

    /// Follows a thread of a running process, and the threads and processes that it creates from now on.
    pub fn follow(&mut self, pid: u32, tid: u32) {
        self.processes.insert(pid);
        self.threads.insert(tid, Thread::default());
    }

    /// Returns names that the kernel reported apart from switches.
    pub fn names(&self) -> &HashMap<u32, Comm> {
        &self.names
    }

    /// Returns whether a thread is one of the recorded processes.
    pub fn follows(&self, tid: u32) -> bool {
        self.threads.contains_key(&tid)
    }

    /// Processes the next record of all CPUs, and returns whether it is kept.
    pub fn keeps(&mut self, cpu: u32, record: &Record) -> bool {
        match *record {
            Record::Fork { pid, tid, parent_pid } => {
                let of_a_followed = self.processes.contains(&pid);
                let child_of_a_followed =
                    pid != parent_pid && (Some(parent_pid) == self.root || self.processes.contains(&parent_pid));
                if Some(pid) != self.root && (of_a_followed || child_of_a_followed) {
                    self.processes.insert(pid);
                    self.forget(tid);
                    self.threads.insert(tid, Thread::default());
                }
                false
            }
            Record::Exit { tid } => {
                // The thread still runs, and is switched out once more.
                if let Some(thread) = self.threads.get_mut(&tid) {
                    thread.exiting = true;
                }
                self.processes.remove(&tid);
                false
            }
            Record::Name { tid, comm } => {
                self.names.insert(tid, comm);
                false
            }
            Record::Wakeup { tid, target_cpu, .. } => self.waits(tid, target_cpu),
            Record::Switch { prev, prev_state, next, .. } => {
                let waited_for = self.waiting_for.get(&cpu).is_some_and(|threads| *threads > 0);
                let goes = self.threads.get(&prev).copied();
                if prev_state == 0 {
                    self.waits(prev, cpu);
                }
                if goes.is_some_and(|thread| thread.exiting) || (goes.is_some() && prev_state & DEAD != 0) {
                    self.forget(prev);
                }
                self.on_cpu.insert(cpu, next);
                let comes = self.runs(next);
                goes.is_some() || comes || waited_for
            }
            Record::Interrupt(_) => self.on_cpu.get(&cpu).is_some_and(|tid| self.threads.contains_key(tid)),
            Record::Lost { .. } => {
                // It is no longer known which threads wait.
                self.waiting_for.clear();
                self.on_cpu.clear();
                self.threads.values_mut().for_each(|thread| thread.waits_for = None);
                true
            }
        }
    }

    /// Notes that a thread waits for a CPU. Returns whether it is followed.
    fn waits(&mut self, tid: u32, cpu: u32) -> bool {
        let followed = self.runs(tid);
        if let Some(thread) = self.threads.get_mut(&tid) {
            thread.waits_for = Some(cpu);
            *self.waiting_for.entry(cpu).or_default() += 1;
        }
        followed
    }

    /// Notes that a thread no longer waits. Returns whether it is followed.
    fn runs(&mut self, tid: u32) -> bool {
        let Some(thread) = self.threads.get_mut(&tid) else { return false };
        if let Some(waiting) = thread.waits_for.take().and_then(|cpu| self.waiting_for.get_mut(&cpu)) {
            *waiting -= 1;
        }
        true
    }

    fn forget(&mut self, tid: u32) {
        self.runs(tid);
        self.threads.remove(&tid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler_events::records::Interrupt;

    const TACHO: u32 = 10;
    const NODE: u32 = 100;

    fn switch(prev: u32, prev_state: u64, next: u32) -> Record {
        Record::Switch { prev, prev_state, next, prev_comm: None, next_comm: None, waits_in: None }
    }

    fn wakeup(tid: u32, target_cpu: u32) -> Record {
        Record::Wakeup { tid, target_cpu, waker: 0, comm: [0; 16] }
    }

    fn following() -> Filter {
        let mut filter = Filter::new(Some(TACHO));
        filter.keeps(0, &Record::Fork { pid: NODE, tid: NODE, parent_pid: TACHO });
        filter
    }

    #[test]
    fn descendants_and_their_threads_are_followed_others_and_our_own_threads_are_not() {
        let mut filter = following();
        filter.keeps(0, &Record::Fork { pid: NODE, tid: 101, parent_pid: NODE });
        filter.keeps(1, &Record::Fork { pid: 102, tid: 102, parent_pid: NODE });
        filter.keeps(1, &Record::Fork { pid: TACHO, tid: 11, parent_pid: TACHO });
        filter.keeps(1, &Record::Fork { pid: 900, tid: 900, parent_pid: 1 });
        for (tid, followed) in [(NODE, true), (101, true), (102, true), (TACHO, false), (11, false), (900, false)] {
            assert_eq!(filter.keeps(0, &switch(0, 0, tid)), followed, "{tid} comes");
            assert_eq!(filter.keeps(0, &switch(tid, 1, 0)), followed, "{tid} goes");
            assert_eq!(filter.keeps(0, &wakeup(tid, 5)), followed, "{tid} wakes");
        }
    }

    #[test]
    fn threads_of_processes_that_run_already_are_followed_and_those_that_they_make_later() {
        let mut filter = Filter::new(None);
        [NODE, 101].iter().for_each(|tid| filter.follow(NODE, *tid));
        filter.keeps(0, &Record::Fork { pid: NODE, tid: 102, parent_pid: NODE });
        filter.keeps(0, &Record::Fork { pid: 900, tid: 900, parent_pid: TACHO });
        for (tid, followed) in [(NODE, true), (101, true), (102, true), (900, false), (500, false)] {
            assert_eq!(filter.keeps(0, &switch(0, 0, tid)), followed, "{tid}");
        }
    }

    #[test]
    fn all_who_run_on_a_cpu_that_a_followed_thread_waits_for_are_kept_and_nobody_else() {
        let mut filter = following();
        assert!(filter.keeps(0, &switch(NODE, 0, 500)), "preempted by 500");
        assert!(filter.keeps(0, &switch(500, 1, 501)), "while it waits");
        assert!(!filter.keeps(1, &switch(600, 1, 601)), "nobody waits for CPU 1");
        assert!(filter.keeps(0, &switch(501, 0, NODE)), "it comes back");
        assert!(filter.keeps(0, &switch(NODE, 1, 500)), "it sleeps");
        assert!(!filter.keeps(0, &switch(500, 0, 501)), "it wants no CPU");
        assert!(filter.keeps(0, &wakeup(NODE, 1)));
        assert!(filter.keeps(1, &switch(600, 0, 601)), "it waits for CPU 1 now");
        assert!(filter.keeps(1, &switch(601, 0, NODE)));
        assert!(!filter.keeps(1, &switch(600, 0, 601)));
    }

    #[test]
    fn interrupts_are_kept_where_a_followed_thread_has_the_cpu() {
        let irq = Record::Interrupt(Interrupt::IrqEnd { irq: 27 });
        let mut filter = following();
        assert!(!filter.keeps(0, &irq), "who has it is not known yet");
        filter.keeps(0, &switch(500, 1, NODE));
        assert!(filter.keeps(0, &irq) && !filter.keeps(1, &irq));
        filter.keeps(0, &switch(NODE, 0, 500));
        assert!(!filter.keeps(0, &irq));
    }

    #[test]
    fn a_thread_that_ended_is_followed_to_its_last_switch_and_its_id_may_be_another_one_then() {
        let mut filter = following();
        assert!(!filter.keeps(0, &Record::Exit { tid: NODE }));
        assert!(filter.keeps(0, &switch(NODE, 0, 500)), "preempted while it exits");
        assert!(!filter.keeps(0, &switch(500, 0, 501)));
        assert!(!filter.keeps(0, &switch(0, 0, NODE)), "another one of that id");
    }

    #[test]
    fn a_loss_is_kept_and_ends_what_was_known_of_who_waits() {
        let mut filter = following();
        assert!(filter.keeps(0, &switch(NODE, 0, 500)));
        assert!(filter.keeps(1, &Record::Lost { count: 9 }));
        assert!(!filter.keeps(0, &switch(500, 0, 501)), "it may have come back since");
        assert!(filter.keeps(0, &switch(501, 0, NODE)), "it is still followed");
    }
}
