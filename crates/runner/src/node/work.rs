//! Computation of a callback: burns CPU time of the calling thread, so that preemption makes a callback longer but
//! never reduces its work.

use std::hint::black_box;
use tacho_recording::clock::thread_cpu_ns;
use tacho_workload::random::mix;

/// Computes until the thread has used another `ns` of CPU time. Now and then it calls `between`.
pub fn compute(ns: u64, between: impl Fn()) {
    if ns == 0 {
        return;
    }
    let end = thread_cpu_ns() + ns;
    let mut state = 1u64;
    while thread_cpu_ns() < end {
        between();
        for _ in 0..100 {
            state = black_box(mix(state));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computing_uses_the_cpu_time_asked_for() {
        let before = thread_cpu_ns();
        compute(3_000_000, || ());
        let used = thread_cpu_ns() - before;
        assert!((3_000_000..4_000_000).contains(&used), "{used}");
    }
}
