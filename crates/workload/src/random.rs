//! Random numbers from a seed: SplitMix64 (Steele, Lea, Flood 2014).
//!
//! C++ and Python nodes use the same generator (`native/nodes`), so that one seed draws the same work on each of them.
//! `tests/fixtures/draws.txt` holds the expected draws.

use crate::model::Work;
use std::f64::consts::TAU;

/// Added to the state for each number.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence of draws.
#[derive(Debug, Clone)]
pub struct Draws(u64);

impl Draws {
    /// Begins a sequence; equal seeds draw equal numbers.
    pub fn new(seed: u64) -> Draws {
        Draws(seed)
    }

    /// Draws 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let bits = mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        bits
    }

    /// Draws uniformly from (0, 1].
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Draws from the standard normal distribution (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (TAU * self.uniform()).cos()
    }

    /// Fills with random bytes.
    pub fn fill(&mut self, data: &mut [u8]) {
        for chunk in data.chunks_mut(8) {
            chunk.copy_from_slice(&self.bits().to_le_bytes()[..chunk.len()]);
        }
    }

    /// Draws the CPU time of one activation, ns. `before_ns`: what the draw before gave; it is given again in as many
    /// draws as the work says. A task draws none: it computes until it is done.
    pub fn work_ns(&mut self, work: &Work, before_ns: &mut Option<u64>) -> u64 {
        let again = match (work, *before_ns) {
            (Work::Quantiles { autocorrelation_percent: percent, .. }, before @ Some(_)) if *percent > 0.0 => {
                before.filter(|_| self.uniform() * 100.0 <= *percent)
            }
            _ => None,
        };
        *before_ns.insert(again.unwrap_or_else(|| self.new_work_ns(work)))
    }

    fn new_work_ns(&mut self, work: &Work) -> u64 {
        match *work {
            Work::None | Work::Task { .. } => 0,
            Work::Fixed(time) => time.as_nanos() as u64,
            Work::Uniform { min, max } => {
                let (min, max) = (min.as_nanos() as f64, max.as_nanos() as f64);
                (min + (max - min) * self.uniform()) as u64
            }
            Work::Quantiles { times: ref of, .. } => {
                let place = self.uniform() * (of.len().max(2) - 1) as f64;
                let below = (place as usize).min(of.len().saturating_sub(2));
                let ns = |k: usize| of.get(k).map_or(0.0, |time| time.as_nanos() as f64);
                (ns(below) + (ns(below + 1) - ns(below)) * (place - below as f64)) as u64
            }
            Work::Normal { mean, std } => {
                let (mean, std) = (mean.as_nanos() as f64, std.as_nanos() as f64);
                (mean + std * self.normal()).clamp(0.0, mean + 4.0 * std) as u64
            }
        }
    }
}

/// The first number that a seed draws; also derives one seed from another.
pub fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn draws_have_the_mean_and_stay_within_the_bounds_that_the_model_says() {
        let mut draws = Draws::new(1);
        let n = 20_000;
        let uniform = Work::Uniform { min: Duration::from_micros(10), max: Duration::from_micros(30) };
        let values: Vec<u64> = (0..n).map(|_| draws.work_ns(&uniform, &mut None)).collect();
        assert!(values.iter().all(|v| (10_000..=30_000).contains(v)));
        let mean = values.iter().sum::<u64>() as f64 / n as f64;
        assert!((mean - 20_000.0).abs() < 200.0, "{mean}");

        let normal = Work::Normal { mean: Duration::from_micros(100), std: Duration::from_micros(40) };
        let values: Vec<u64> = (0..n).map(|_| draws.work_ns(&normal, &mut None)).collect();
        assert!(values.iter().all(|v| *v <= 260_000));
        let mean = values.iter().sum::<u64>() as f64 / n as f64;
        assert!((mean - 100_000.0).abs() < 2_000.0, "{mean}");
    }

    #[test]
    fn times_that_repeat_are_spread_as_before_and_correlated_by_powers() {
        let times = [1, 2, 3, 9].map(Duration::from_millis).to_vec();
        let work = Work::Quantiles { times, autocorrelation_percent: 60.0 };
        let (mut draws, mut before) = (Draws::new(1), None);
        let drawn: Vec<f64> = (0..200_000).map(|_| draws.work_ns(&work, &mut before) as f64).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        assert!((mean / work.mean().as_nanos() as f64 - 1.0).abs() < 0.02, "{mean}");
        let variance = |apart: usize| {
            let products = drawn.iter().zip(&drawn[apart..]).map(|(one, other)| (one - mean) * (other - mean));
            products.sum::<f64>() / (drawn.len() - apart) as f64
        };
        for (apart, expected) in [(1, 0.6), (2, 0.36), (4, 0.1296), (20, 0.0)] {
            let found = variance(apart) / variance(0);
            assert!((found - expected).abs() < 0.02, "{apart} apart: {found}");
        }
    }

    #[test]
    fn independent_times_draw_one_number_each() {
        let times = vec![Duration::from_millis(1), Duration::from_millis(2)];
        let work = Work::Quantiles { times, autocorrelation_percent: 0.0 };
        let (mut draws, mut plain, mut before) = (Draws::new(4), Draws::new(4), None);
        for _ in 0..10 {
            let expected = (1e6 + 1e6 * plain.uniform()) as u64;
            assert_eq!(draws.work_ns(&work, &mut before), expected);
        }
    }
}
