//! Work on several cores whose results come in the order of the work: what is made of them is the same however many
//! cores there are.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// Threads at once; 0: as many as this process may use CPUs.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Says how many threads an analysis of this process uses; 0: one a CPU. Figures and tables are the same whatever it
/// is.
pub fn use_threads(count: usize) {
    THREADS.store(count, Ordering::Relaxed);
}

thread_local! {
    /// Whether this thread works alone.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// From now on this thread starts no others: for one of several that each analyse another run.
pub fn work_alone() {
    ALONE.set(true);
}

/// Threads that an analysis uses.
pub fn threads() -> usize {
    if ALONE.get() {
        return 1;
    }
    match THREADS.load(Ordering::Relaxed) {
        0 => {
            // Asked once, because it reads the limits of control groups from files.
            static CPUS: OnceLock<usize> = OnceLock::new();
            *CPUS.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZeroUsize::get))
        }
        count => count,
    }
}

/// What is left to do, and how far results were taken.
struct State<I> {
    work: I,
    begun: usize,
    taken: usize,
    stopped: bool,
}

/// Ends the others' waiting where a thread panics.
struct Stop<'a, I>(&'a Mutex<State<I>>, &'a Condvar);

impl<I> Drop for Stop<'_, I> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(self.0).stopped = true;
            self.1.notify_all();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does each piece of work, on any thread, and hands the results to `take` on this one, in order; at most two a thread
/// are done and not taken yet.
pub fn in_order<W, R: Send>(
    work: impl Iterator<Item = W> + Send,
    run: impl Fn(W) -> R + Sync,
    mut take: impl FnMut(R),
) {
    let threads = threads();
    if threads < 2 {
        return work.for_each(|piece| take(run(piece)));
    }
    let state = Mutex::new(State { work, begun: 0, taken: 0, stopped: false });
    let room = Condvar::new();
    let (done, results) = mpsc::channel();
    std::thread::scope(|scope| {
        let (state, room, run) = (&state, &room, &run);
        for _ in 0..threads {
            let done = done.clone();
            scope.spawn(move || {
                let _stop = Stop(state, room);
                loop {
                    let mut now = lock(state);
                    while !now.stopped && now.begun >= now.taken + 2 * threads {
                        now = room.wait(now).unwrap_or_else(PoisonError::into_inner);
                    }
                    let piece = if now.stopped { None } else { now.work.next() };
                    let Some(piece) = piece else { return };
                    let number = now.begun;
                    now.begun += 1;
                    drop(now);
                    if done.send((number, run(piece))).is_err() {
                        return; // whoever takes panicked
                    }
                }
            });
        }
        drop(done);
        let _stop = Stop(state, room);
        let mut early = Vec::new();
        let mut next = 0;
        for result in results {
            early.push(result);
            while let Some(place) = early.iter().position(|(number, _)| *number == next) {
                take(early.swap_remove(place).1);
                next += 1;
                lock(state).taken = next;
                room.notify_all();
            }
        }
    });
}

/// Does two things, side by side if there are threads for it.
pub fn both<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    if threads() < 2 {
        return (one(), other());
    }
    std::thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{catch_unwind, AssertUnwindSafe};

    #[test]
    fn results_come_in_the_order_of_the_work_and_few_are_ahead() {
        use_threads(3);
        let (taken, most_ahead) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let run = |number: usize| {
            most_ahead.fetch_max(number.saturating_sub(taken.load(Ordering::SeqCst)), Ordering::SeqCst);
            // The first of each ten takes longest.
            let rounds = if number.is_multiple_of(10) { 200_000 } else { 10 };
            (number, std::hint::black_box((0..rounds).fold(0u64, |sum, k| sum.wrapping_mul(31) ^ k)))
        };
        let mut seen = Vec::new();
        in_order(0..500, run, |(number, _)| {
            seen.push(number);
            taken.store(seen.len(), Ordering::SeqCst);
        });
        assert_eq!(seen, (0..500).collect::<Vec<_>>());
        assert!(most_ahead.load(Ordering::SeqCst) <= 2 * 3, "{most_ahead:?}");
    }

    #[test]
    fn a_thread_that_works_alone_starts_no_others() {
        let here = std::thread::spawn(|| {
            work_alone();
            let own = std::thread::current().id();
            let (one, other) = both(|| std::thread::current().id(), || std::thread::current().id());
            let mut seen = vec![one, other];
            in_order(0..3, |_| std::thread::current().id(), |of| seen.push(of));
            seen.iter().all(|of| *of == own)
        });
        assert!(here.join().expect("no panic"));
    }

    #[test]
    fn a_panic_in_the_work_or_in_the_taking_is_one_here_and_nobody_waits_for_ever() {
        use_threads(2);
        let in_work = || in_order(0..100, |number| assert_ne!(number, 7, "work"), |()| {});
        assert!(catch_unwind(in_work).is_err());
        let in_taking =
            AssertUnwindSafe(|| in_order(0..100, |number| number, |number| assert_ne!(number, 7, "taking")));
        assert!(catch_unwind(in_taking).is_err());
    }
}
