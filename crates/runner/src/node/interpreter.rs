//! The lock of an interpreter: callbacks in Python of one process compute in turn, on whatever threads. Threads get it
//! and give it away as those of CPython do (`take_gil` and `drop_gil` of ceval_gil.c, 3.2 and later).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a thread waits before it asks the holder to give the lock away (`sys.getswitchinterval`).
pub const SWITCH_INTERVAL: Duration = Duration::from_millis(5);

/// The one of this process.
pub static INTERPRETER: Interpreter = Interpreter::new();

/// The lock of an interpreter.
pub struct Interpreter {
    lock: Mutex<Lock>,
    freed: Condvar,
    taken: Condvar,
    /// Whether a thread that waits has asked for it.
    is_asked_for: AtomicBool,
}

struct Lock {
    is_held: bool,
    /// How often a thread took it.
    takes: u64,
}

impl Interpreter {
    const fn new() -> Interpreter {
        Interpreter {
            lock: Mutex::new(Lock { is_held: false, takes: 0 }),
            freed: Condvar::new(),
            taken: Condvar::new(),
            is_asked_for: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Lock> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the calling thread has the lock.
    pub fn take(&self) {
        self.take_in(self.lock());
    }

    fn take_in(&self, mut lock: MutexGuard<'_, Lock>) {
        while lock.is_held {
            let before = lock.takes;
            let (after, waited) =
                self.freed.wait_timeout(lock, SWITCH_INTERVAL).unwrap_or_else(PoisonError::into_inner);
            lock = after;
            if waited.timed_out() && lock.is_held && lock.takes == before {
                self.is_asked_for.store(true, Ordering::Relaxed);
            }
        }
        lock.is_held = true;
        lock.takes += 1;
        self.is_asked_for.store(false, Ordering::Relaxed);
        self.taken.notify_all();
    }

    /// Gives the lock of the calling thread away.
    pub fn give(&self) {
        self.lock().is_held = false;
        self.freed.notify_one();
    }

    /// While the calling thread has the lock: lets another one have it in between, if one has asked.
    pub fn give_if_asked(&self) {
        if !self.is_asked_for.load(Ordering::Relaxed) {
            return;
        }
        let mut lock = self.lock();
        lock.is_held = false;
        self.freed.notify_one();
        let before = lock.takes;
        // Who asked waits until it gets the lock.
        lock = self.taken.wait_while(lock, |lock| lock.takes == before).unwrap_or_else(PoisonError::into_inner);
        self.take_in(lock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;
    use tacho_recording::clock::thread_cpu_ns;

    #[test]
    fn threads_that_compute_take_turns_and_one_that_sleeps_lets_another_compute() {
        static OWN: Interpreter = Interpreter::new();
        // The first goes on until the other has asked, however late that one gets a CPU.
        let (inside, was_asked) = (AtomicBool::new(false), AtomicBool::new(false));
        let is_alone = || assert!(!inside.swap(true, Ordering::SeqCst), "two threads have the lock");
        let (begun, limit_ns) = (Instant::now(), 40_000_000);
        let turns: Vec<u32> = std::thread::scope(|scope| {
            let compute = || {
                OWN.take();
                is_alone();
                let (mut turns, end) = (0, thread_cpu_ns() + limit_ns);
                while thread_cpu_ns() < end || !was_asked.load(Ordering::Relaxed) {
                    let asked = OWN.is_asked_for.load(Ordering::Relaxed);
                    was_asked.fetch_or(asked, Ordering::Relaxed);
                    inside.store(false, Ordering::SeqCst);
                    OWN.give_if_asked();
                    is_alone();
                    turns += u32::from(asked);
                }
                inside.store(false, Ordering::SeqCst);
                OWN.give();
                turns
            };
            let threads: Vec<_> = (0..2).map(|_| scope.spawn(compute)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let took = begun.elapsed();
        assert!(took >= Duration::from_nanos(2 * limit_ns), "they computed beside each other");
        let most = took.div_duration_f64(SWITCH_INTERVAL) as u32;
        assert!((1..=most).contains(&turns.iter().sum()), "{turns:?} of {most}");
    }
}
