//! Methods of statistics, each with its source and with tests against known answers.

pub(crate) mod change_points;
pub(crate) mod rank;
pub(crate) mod slope;

/// Median of values in any order; absent of no value.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let (count, middle) = (values.len(), values.len() / 2);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if count % 2 == 1 {
        return Some(*upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some((lower + *upper) / 2.0)
}

/// Made-up measurements for tests.
#[cfg(test)]
pub(crate) mod noise {
    /// Random numbers that are the same at every run (splitmix64, Steele, Lea and Flood 2014).
    pub struct Draw(pub u64);

    impl Draw {
        /// Uniform in 0..1.
        pub fn uniform(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        }

        /// Normal, mean 0, standard deviation 1 (Box and Muller 1958).
        pub fn normal(&mut self) -> f64 {
            let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
            radius * (std::f64::consts::TAU * self.uniform()).cos()
        }

        /// Skewed to the right as latencies are: exponential, mean 1.
        pub fn exponential(&mut self) -> f64 {
            -(1.0 - self.uniform()).ln()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle_value_or_the_mean_of_both() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [5.0]), Some(5.0));
        assert_eq!(median(&mut [9.0, 1.0, 5.0]), Some(5.0));
        assert_eq!(median(&mut [8.0, 1.0, 2.0, 4.0]), Some(3.0));
    }
}
