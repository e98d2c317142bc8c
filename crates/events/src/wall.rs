//! Converts times of events to the wall clock, and formats them.

use std::time::SystemTime;

/// A clock with an earlier time (2000-01-01) counts from its machine's start or from an arbitrary moment, not from
/// 1970.
const LEAST_NS: i64 = 946_684_800 * NS_PER_S;
const NS_PER_S: i64 = 1_000_000_000;

/// Returns a time in ns since 1970, from its event time and the offset of the wall clock. `None`: no clock of the run
/// knew the date.
pub fn realtime_ns(ns: i64, offset_ns: i64) -> Option<i64> {
    ns.checked_add(offset_ns).filter(|realtime| *realtime >= LEAST_NS)
}

/// CLOCK_REALTIME minus CLOCK_MONOTONIC of this machine, now.
pub fn realtime_offset_ns() -> i64 {
    let now = |clock| {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call writes the time into `time`; both clocks exist on any Linux.
        unsafe { libc::clock_gettime(clock, &mut time) };
        time.tv_sec * NS_PER_S + time.tv_nsec
    };
    now(libc::CLOCK_REALTIME) - now(libc::CLOCK_MONOTONIC)
}

/// Formats a time as RFC 3339, UTC, whole seconds.
pub fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    written(i64::try_from(seconds).unwrap_or(i64::MAX), "")
}

/// Ns since 1970 as RFC 3339, UTC, whole seconds.
pub fn to_the_second(realtime_ns: i64) -> String {
    written(realtime_ns.div_euclid(NS_PER_S), "")
}

/// Ns since 1970 as RFC 3339, UTC, to the microsecond.
pub fn to_the_microsecond(realtime_ns: i64) -> String {
    written(realtime_ns.div_euclid(NS_PER_S), &format!(".{:06}", realtime_ns.rem_euclid(NS_PER_S) / 1_000))
}

fn written(seconds: i64, fraction: &str) -> String {
    // SAFETY: a zeroed tm is valid; gmtime_r fails only for years beyond i32.
    let parts = unsafe {
        let mut parts: libc::tm = std::mem::zeroed();
        libc::gmtime_r(&(seconds as libc::time_t), &mut parts);
        parts
    };
    let (year, month) = (parts.tm_year + 1900, parts.tm_mon + 1);
    format!(
        "{year:04}-{month:02}-{:02}T{:02}:{:02}:{:02}{fraction}Z",
        parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        let ns = 1_700_000_000_123_456_789;
        assert_eq!(to_the_second(ns), "2023-11-14T22:13:20Z");
        assert_eq!(to_the_microsecond(ns), "2023-11-14T22:13:20.123456Z");
        assert_eq!(to_the_microsecond(-1_000), "1969-12-31T23:59:59.999999Z");
        assert_eq!(
            rfc3339(SystemTime::UNIX_EPOCH + std::time::Duration::from_nanos(ns as u64)),
            "2023-11-14T22:13:20Z"
        );
    }

    #[test]
    fn a_clock_without_a_zero_tells_no_day() {
        assert_eq!(realtime_ns(10, 1_700_000_000_000_000_000), Some(1_700_000_000_000_000_010));
        assert_eq!(realtime_ns(86_400_000_000_000, 0), None);
        assert_eq!(realtime_ns(i64::MAX, 1), None);
        assert!(realtime_ns(0, realtime_offset_ns()).is_some());
    }
}
