//! CPU time of recorded processes over time.

use serde::{Deserialize, Serialize};

/// CPU time of a process at instants while it was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct CpuTimes {
    /// Process id, as its events have it.
    pub pid: u32,
    /// In the order of time.
    pub samples: Vec<CpuSample>,
}

/// The CPU time that a process had used at an instant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct CpuSample {
    /// When, ns of CLOCK_MONOTONIC.
    pub at_ns: i64,
    /// Of all its threads, those that ended as well, user and system, ns (its CPU-time clock, not ticks).
    pub cpu_ns: u64,
}

impl CpuTimes {
    /// The first sample from an instant on, and the last one: between them the process worked.
    pub fn since(&self, from_ns: i64) -> Option<(CpuSample, CpuSample)> {
        let first = self.samples.iter().find(|sample| sample.at_ns >= from_ns)?;
        let last = self.samples.last()?;
        (last.at_ns > first.at_ns).then_some((*first, *last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_used_before_it_worked_is_left_out() {
        let samples = [(10, 7), (20, 8), (30, 11)].map(|(at_ns, cpu_ns)| CpuSample { at_ns, cpu_ns }).to_vec();
        let times = CpuTimes { pid: 1, samples };
        let used = |from_ns| times.since(from_ns).map(|(first, last)| (first.at_ns, last.cpu_ns - first.cpu_ns));
        assert_eq!([used(0), used(11), used(30), used(31)], [Some((10, 4)), Some((20, 3)), None, None]);
    }
}
