//! Computation: CPU time burnt by the thread that calls, drawn from a distribution by seed.

use std::time::Duration;
use tacho_workload::model::Work;

/// splitmix64 (Steele, Lea, Flood 2014): small, and the same on every machine.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Fills with random bytes.
    pub fn fill(&mut self, data: &mut [u8]) {
        for chunk in data.chunks_mut(8) {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes()[..chunk.len()]);
        }
    }
}

/// One draw.
pub fn draw(work: &Work, random: &mut Random) -> Duration {
    match *work {
        Work::None => Duration::ZERO,
        Work::Fixed(time) => time,
        Work::Uniform { min, max } => min + max.saturating_sub(min).mul_f64(random.unit()),
        Work::Normal { mean, std } => loop {
            let z = random.normal();
            let seconds = mean.as_secs_f64() + z * std.as_secs_f64();
            if z <= 4.0 && seconds >= 0.0 {
                break Duration::from_secs_f64(seconds);
            }
        },
    }
}

/// CPU time of the calling thread, ns.
pub fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID) as u64
}

/// A clock of this thread or host, ns. The clocks that are asked for exist since Linux 2.6.12.
pub fn clock_ns(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` lives through the call.
    let result = unsafe { libc::clock_gettime(clock, &mut time) };
    assert_eq!(result, 0, "clock {clock} of this host cannot be read");
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Uses this much CPU time of the calling thread. Preemption does not count: the work takes longer then, as real work does.
pub fn burn(time: Duration) {
    if time.is_zero() {
        return;
    }
    let end = thread_cpu_ns() + time.as_nanos() as u64;
    let mut state = Random::new(end);
    while thread_cpu_ns() < end {
        // About a microsecond of arithmetic between two looks at the clock, which is a system call.
        for _ in 0..500 {
            std::hint::black_box(state.next_u64());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(work: Work) -> Vec<f64> {
        let mut random = Random::new(7);
        (0..20_000).map(|_| draw(&work, &mut random).as_secs_f64() * 1e3).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn a_seed_gives_the_same_sequence_as_the_published_algorithm() {
        // Reference values of splitmix64 for seed 1234567.
        let mut random = Random::new(1234567);
        assert_eq!(random.next_u64(), 6457827717110365317);
        assert_eq!(random.next_u64(), 3203168211198807973);
    }

    #[test]
    fn uniform_work_stays_in_its_bounds_with_its_mean() {
        let all = draws(Work::Uniform { min: Duration::from_millis(1), max: Duration::from_millis(3) });
        assert!(all.iter().all(|v| (1.0..=3.0).contains(v)));
        assert!((mean(&all) - 2.0).abs() < 0.02);
    }

    #[test]
    fn normal_work_has_its_moments_and_its_cuts() {
        let all = draws(Work::Normal { mean: Duration::from_millis(5), std: Duration::from_millis(1) });
        let m = mean(&all);
        let variance = mean(&all.iter().map(|v| (v - m).powi(2)).collect::<Vec<_>>());
        assert!((m - 5.0).abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{m} {variance}");
        assert!(all.iter().all(|v| (0.0..=9.0).contains(v)));
    }

    #[test]
    fn burning_uses_the_cpu_time_that_was_asked_for() {
        let before = thread_cpu_ns();
        burn(Duration::from_millis(20));
        let used = thread_cpu_ns() - before;
        assert!(used >= 20_000_000);
        assert!(used < 22_000_000, "{used} ns used for 20 ms");
    }
}
