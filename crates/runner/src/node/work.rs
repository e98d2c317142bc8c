//! Computation of a callback: burns CPU time of the calling thread, so that preemption makes a callback longer and never
//! its work smaller.

use crate::instant::cpu_ns;
use crate::phases::mix;
use std::f64::consts::TAU;
use std::hint::black_box;
use tacho_workload::model::Work;

/// Draws by seed (SplitMix64).
#[derive(Debug, Clone)]
pub struct Draws(u64);

impl Draws {
    /// The same seed draws the same.
    pub fn new(seed: u64) -> Draws {
        Draws(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Uniform in (0, 1].
    fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }

    /// Random bytes.
    pub fn fill(&mut self, data: &mut [u8]) {
        for chunk in data.chunks_mut(8) {
            chunk.copy_from_slice(&self.bits().to_le_bytes()[..chunk.len()]);
        }
    }

    /// CPU time of one activation.
    pub fn work_ns(&mut self, work: &Work) -> u64 {
        match *work {
            Work::None => 0,
            Work::Fixed(time) => time.as_nanos() as u64,
            Work::Uniform { min, max } => {
                let (min, max) = (min.as_nanos() as f64, max.as_nanos() as f64);
                (min + (max - min) * self.uniform()) as u64
            }
            Work::Normal { mean, std } => {
                let (mean, std) = (mean.as_nanos() as f64, std.as_nanos() as f64);
                (mean + std * self.normal()).clamp(0.0, mean + 4.0 * std) as u64
            }
        }
    }
}

/// Computes until the thread has used `ns` of CPU time more.
pub fn compute(ns: u64) {
    if ns == 0 {
        return;
    }
    let end = cpu_ns() + ns;
    let mut state = 1u64;
    while cpu_ns() < end {
        for _ in 0..100 {
            state = black_box(mix(state));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn computing_uses_the_cpu_time_asked_for() {
        let before = cpu_ns();
        compute(3_000_000);
        let used = cpu_ns() - before;
        assert!((3_000_000..4_000_000).contains(&used), "{used}");
    }

    #[test]
    fn draws_have_the_mean_and_stay_within_the_bounds_that_the_model_says() {
        let mut draws = Draws::new(1);
        let n = 20_000;
        let uniform = Work::Uniform { min: Duration::from_micros(10), max: Duration::from_micros(30) };
        let values: Vec<u64> = (0..n).map(|_| draws.work_ns(&uniform)).collect();
        assert!(values.iter().all(|v| (10_000..=30_000).contains(v)));
        let mean = values.iter().sum::<u64>() as f64 / n as f64;
        assert!((mean - 20_000.0).abs() < 200.0, "{mean}");

        let normal = Work::Normal { mean: Duration::from_micros(100), std: Duration::from_micros(40) };
        let values: Vec<u64> = (0..n).map(|_| draws.work_ns(&normal)).collect();
        assert!(values.iter().all(|v| *v <= 260_000));
        let mean = values.iter().sum::<u64>() as f64 / n as f64;
        assert!((mean - 100_000.0).abs() < 2_000.0, "{mean}");
    }
}
