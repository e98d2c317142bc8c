//! Converts ticks into ns of CLOCK_MONOTONIC, with the remaining error.
//!
//! All processes of one boot share one tick counter, so all their readings (file headers, clock_sync records,
//! `events/clock.sync`) make one line. Readings are thinned before they are joined: otherwise two noisy ones a
//! microsecond apart would bend the line, or make it decrease.

use crate::layout::{Sync, TickSource};
use crate::time::{Duration, Time};

/// Least distance of two readings that are joined: their noise (some 100 ns) is then 1 ppm of the slope or less.
const APART_NS: i64 = 100_000_000;

/// Converts the ticks of one counter of one boot into time.
#[derive(Debug, Clone)]
pub struct Clock {
    segments: Vec<Segment>,
    error: Duration,
    realtime_offset_ns: i64,
}

/// From `ticks` on, `ns + (t - ticks) * slope`, slope in 2^-32 ns a tick.
#[derive(Debug, Clone, Copy)]
struct Segment {
    ticks: u64,
    ns: i64,
    slope: u64,
}

impl Clock {
    /// Makes the clock from all `readings`. It uses `frequency_hz` if they do not cover enough time to determine it.
    /// `None`: there is no reading, or only close ones and no frequency.
    pub fn new(source: TickSource, readings: &[Sync], frequency_hz: Option<f64>) -> Option<Clock> {
        let realtime_offset_ns = readings.first().map_or(0, |s| s.realtime_ns.wrapping_sub(s.monotonic_ns));
        if source == TickSource::Monotonic {
            let identity = Segment { ticks: 0, ns: 0, slope: 1 << 32 };
            return Some(Clock { segments: vec![identity], error: Duration::ZERO, realtime_offset_ns });
        }
        let mut readings = readings.to_vec();
        readings.sort_by_key(|s| (s.ticks, s.monotonic_ns));
        let kept = thin(&readings);
        let (first, last) = (*kept.first()?, *kept.last()?);
        let whole = match slope(first, last) {
            Some(slope) => slope,
            None => ((1u128 << 32) as f64 * 1e9 / frequency_hz.filter(|f| *f > 0.0)?) as u64,
        };
        let mut segments: Vec<Segment> = kept
            .windows(2)
            .map(|pair| Segment {
                ticks: pair[0].ticks,
                ns: pair[0].monotonic_ns,
                slope: slope(pair[0], pair[1]).unwrap_or(whole),
            })
            .collect();
        segments.push(Segment { ticks: last.ticks, ns: last.monotonic_ns, slope: whole });
        // Before the first reading: extrapolated with the slope over all, like after the last.
        let before = Segment { ticks: 0, ns: Segment { slope: whole, ..segments[0] }.at(0), slope: whole };
        segments.insert(0, before);
        let mut clock = Clock { segments, error: Duration::ZERO, realtime_offset_ns };
        // The line is as good as the readings that it joins. A reading that was set aside shows how far the line is off
        // between them, beyond that reading's own bound.
        let bound = kept.iter().map(|s| i64::try_from(s.bound_ns).unwrap_or(i64::MAX)).max().unwrap_or(0);
        let strays = |s: &Sync| {
            clock
                .time(s.ticks)
                .as_ns()
                .saturating_sub(s.monotonic_ns)
                .saturating_abs()
                .saturating_sub_unsigned(s.bound_ns)
        };
        let residual = readings.iter().map(strays).max().unwrap_or(0).max(0);
        clock.error = Duration::from_ns(bound.saturating_add(residual));
        Some(clock)
    }

    /// Returns when the counter was at `ticks`.
    #[inline(always)]
    pub fn time(&self, ticks: u64) -> Time {
        // Nearly all events lie after one of the last segments that matched; there are as many as seconds in the run.
        let segment = match self.segments.as_slice() {
            [only] => only,
            all => &all[all.partition_point(|s| s.ticks <= ticks).saturating_sub(1)],
        };
        Time::from_monotonic_ns(segment.at(ticks))
    }

    /// Greatest error of a time: the worst bound of the readings that make the line, and how far the line strays from
    /// the others.
    pub fn error(&self) -> Duration {
        self.error
    }

    /// CLOCK_REALTIME minus CLOCK_MONOTONIC at the first reading.
    pub fn realtime_offset_ns(&self) -> i64 {
        self.realtime_offset_ns
    }
}

impl Segment {
    #[inline(always)]
    fn at(&self, ticks: u64) -> i64 {
        let span = |n: u64| ((n as u128 * self.slope as u128) >> 32) as i64;
        if ticks >= self.ticks {
            self.ns.wrapping_add(span(ticks - self.ticks))
        } else {
            self.ns.wrapping_sub(span(self.ticks - ticks))
        }
    }
}

/// Keeps the reading with the least bound of each second, none closer than [`APART_NS`] to the previous one.
fn thin(sorted: &[Sync]) -> Vec<Sync> {
    let mut kept: Vec<Sync> = Vec::new();
    let mut second = i64::MIN;
    for reading in sorted {
        let this = reading.monotonic_ns.div_euclid(1_000_000_000);
        match kept.last().copied() {
            Some(last) if this == second => {
                let before = kept.len().checked_sub(2).map(|i| kept[i]);
                let far = before.is_none_or(|b| b.monotonic_ns.saturating_add(APART_NS) <= reading.monotonic_ns);
                if reading.bound_ns < last.bound_ns && far {
                    kept.pop();
                    kept.push(*reading);
                }
            }
            Some(last) if reading.monotonic_ns < last.monotonic_ns.saturating_add(APART_NS) => {}
            _ => {
                kept.push(*reading);
                second = this;
            }
        }
    }
    // The run may be shorter than a second. A reading far enough after the last one kept still determines the
    // frequency.
    if let (Some(last), Some(end)) = (kept.last().copied(), sorted.last().copied()) {
        if end.monotonic_ns >= last.monotonic_ns.saturating_add(APART_NS) {
            kept.push(end);
        }
    }
    kept
}

/// Ticks a second of this machine's own counter against CLOCK_MONOTONIC, measured once over 20 ms (good to some 10
/// ppm).
pub(crate) fn measured_frequency_hz(source: TickSource) -> Option<f64> {
    static MEASURED: std::sync::OnceLock<Option<f64>> = std::sync::OnceLock::new();
    counter(source)?;
    *MEASURED.get_or_init(|| {
        let (ticks, from) = (counter(source)?, std::time::Instant::now());
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (later, to) = (counter(source)?, from.elapsed());
        Some(later.wrapping_sub(ticks) as f64 / to.as_secs_f64())
    })
}

#[cfg(target_arch = "x86_64")]
fn counter(source: TickSource) -> Option<u64> {
    // SAFETY: rdtsc reads a register; every x86-64 has it.
    (source == TickSource::Tsc).then(|| unsafe { std::arch::x86_64::_rdtsc() })
}

#[cfg(target_arch = "aarch64")]
fn counter(source: TickSource) -> Option<u64> {
    let ticks: u64;
    // SAFETY: Linux lets programs read cntvct_el0.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    (source == TickSource::Cntvct).then_some(ticks)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter(_: TickSource) -> Option<u64> {
    None
}

fn slope(from: Sync, to: Sync) -> Option<u64> {
    let ticks = to.ticks.checked_sub(from.ticks).filter(|t| *t > 0)?;
    let ns = to.monotonic_ns.checked_sub(from.monotonic_ns).filter(|n| *n > 0)?;
    u64::try_from(((ns as u128) << 32) / ticks as u128).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sync(ticks: u64, monotonic_ns: i64, bound_ns: u64) -> Sync {
        Sync { ticks, monotonic_ns, realtime_ns: monotonic_ns + 1_000, bound_ns }
    }

    #[test]
    fn two_readings_far_apart_tell_the_frequency() {
        // 2 GHz: half a ns a tick.
        let clock = Clock::new(TickSource::Tsc, &[sync(0, 5_000, 20), sync(2_000_000_000, 1_000_005_000, 30)], None)
            .expect("clock");
        assert_eq!(clock.time(1_000_000_000).as_ns(), 500_005_000);
        assert_eq!(clock.time(4_000_000_000).as_ns(), 2_000_005_000);
        assert_eq!(clock.error(), Duration::from_ns(30));
        assert_eq!(clock.realtime_offset_ns(), 1_000);
    }

    #[test]
    fn close_readings_do_not_bend_the_line() {
        // Three processes start within 10 us; their readings are off by up to 50 ns.
        let readings = [
            sync(0, 50, 60),
            sync(10_000, 4_960, 60),
            sync(20_000, 10_040, 60),
            sync(2_000_000_000, 1_000_000_000, 60),
        ];
        let clock = Clock::new(TickSource::Tsc, &readings, None).expect("clock");
        let mut before = i64::MIN;
        for ticks in (0..2_000_000_000).step_by(1_000_003) {
            let now = clock.time(ticks).as_ns();
            assert!(now >= before, "time turned back at {ticks}");
            assert!(
                (now - ticks as i64 / 2).abs() <= clock.error().as_ns(),
                "off by {} at {ticks}",
                now - ticks as i64 / 2
            );
            before = now;
        }
        assert!(clock.error().as_ns() < 200, "{}", clock.error());
    }

    #[test]
    fn a_reading_that_was_preempted_does_not_spoil_the_others() {
        let readings =
            [sync(0, 0, 30), sync(400_000_000, 200_900_000, 1_000_000), sync(2_000_000_000, 1_000_000_000, 40)];
        let clock = Clock::new(TickSource::Tsc, &readings, None).expect("clock");
        assert_eq!(clock.time(400_000_000).as_ns(), 200_000_000);
        assert_eq!(clock.error(), Duration::from_ns(40));
    }

    #[test]
    fn a_clock_that_is_slewed_is_followed_piece_by_piece() {
        // 1 GHz, then 500 ppm faster for 10 s.
        let readings: Vec<Sync> = (0..=20u64)
            .map(|s| sync(s * 1_000_000_000, s as i64 * 1_000_000_000 + (s as i64 - 10).max(0) * 500_000, 10))
            .collect();
        let clock = Clock::new(TickSource::Cntvct, &readings, None).expect("clock");
        assert!((clock.time(5_500_000_000).as_ns() - 5_500_000_000).abs() <= 1);
        assert!((clock.time(15_500_000_000).as_ns() - 15_502_750_000).abs() <= 1);
    }

    #[test]
    fn a_single_reading_needs_a_frequency_and_monotonic_needs_nothing() {
        assert!(Clock::new(TickSource::Tsc, &[sync(7, 7, 7)], None).is_none());
        let clock = Clock::new(TickSource::Tsc, &[sync(1_000, 500, 7)], Some(2e9)).expect("clock");
        assert_eq!(clock.time(3_000).as_ns(), 1_500);
        assert_eq!(clock.time(0).as_ns(), 0);
        let plain = Clock::new(TickSource::Monotonic, &[], None).expect("clock");
        assert_eq!(plain.time(123).as_ns(), 123);
        assert_eq!(plain.error(), Duration::ZERO);
    }
}
