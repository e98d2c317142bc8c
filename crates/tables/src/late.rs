//! What counts as late where nobody states a deadline.

/// Fewer instances have no usual time to be later than.
pub const LEAST_INSTANCES: usize = 8;
/// Later than usual by less than this is no matter.
pub const LEAST_EXCESS_NS: i64 = 5_000_000;

/// The end-to-end time above which an instance is late: half as much again as the median, and 5 ms above it. Absent for
/// few instances. That alone accuses nobody: a timer that runs at another rate than its input spreads them as far.
pub fn late_above_ns(mut times: Vec<i64>) -> Option<i64> {
    if times.len() < LEAST_INSTANCES {
        return None;
    }
    let middle = (times.len() - 1) / 2;
    let median = *times.select_nth_unstable(middle).1;
    Some(median + (median / 2).max(LEAST_EXCESS_NS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_is_half_as_much_again_and_a_few_ms_more_than_usual() {
        let ms = |of: &[i64]| of.iter().map(|ms| ms * 1_000_000).collect::<Vec<i64>>();
        assert_eq!(late_above_ns(ms(&[20, 22, 24, 30, 26, 28, 300, 900, 24])), Some(39_000_000));
        assert_eq!(late_above_ns(ms(&[1; 8])), Some(6_000_000));
        assert_eq!(late_above_ns(ms(&[1; 7])), None);
    }
}
