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

/// Returns CLOCK_REALTIME minus CLOCK_MONOTONIC of this machine, now.
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

/// Formats ns since 1970 as RFC 3339, UTC, whole seconds.
pub fn to_the_second(realtime_ns: i64) -> String {
    written(realtime_ns.div_euclid(NS_PER_S), "")
}

/// Formats ns since 1970 as RFC 3339, UTC, to the microsecond.
pub fn to_the_microsecond(realtime_ns: i64) -> String {
    written(realtime_ns.div_euclid(NS_PER_S), &format!(".{:06}", realtime_ns.rem_euclid(NS_PER_S) / 1_000))
}

/// Parses RFC 3339 with its `Z` or offset into ns since 1970.
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', 't'])?;
    let (time, ahead_s) = match time.strip_suffix(['Z', 'z']) {
        Some(time) => (time, 0),
        None => {
            let sign = time.rfind(['+', '-'])?;
            let (hours, minutes) = time[sign + 1..].split_once(':')?;
            let ahead = 3_600 * digits(hours, 2, 23)? + 60 * digits(minutes, 2, 59)?;
            (&time[..sign], if time[sign..].starts_with('-') { -ahead } else { ahead })
        }
    };
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let (year, month, day) = (digits(year, 4, 9999)?, digits(month, 2, 12)?, digits(day, 2, 31)?);
    // Days since 1970, counted in years that begin in March (Howard Hinnant, "chrono-compatible low-level date
    // algorithms").
    let (year_from_march, month_from_march) = (year - i64::from(month <= 2), (month + 9) % 12);
    let era = year_from_march.div_euclid(400);
    let of_era = year_from_march - 400 * era;
    let of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let days = 146_097 * era + 365 * of_era + of_era / 4 - of_era / 100 + of_year - 719_468;
    let seconds = 86_400 * days - ahead_s;
    // A day that its month does not have would be one of the next month.
    let is_a_day = written(86_400 * days, "").starts_with(date);
    let ns = seconds.checked_mul(NS_PER_S)?.checked_add(parse_time_of_day(time)?)?;
    (is_a_day && parts.next().is_none()).then_some(ns)
}

/// Parses `09:12:21.5` into ns since midnight.
pub fn parse_time_of_day(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = whole.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let (hours, minutes, seconds) = (digits(hours, 2, 23)?, digits(minutes, 2, 59)?, digits(seconds, 2, 59)?);
    let length = u32::try_from(fraction.len()).ok().filter(|length| (1..=9).contains(length))?;
    let fraction = digits(fraction, fraction.len(), i64::MAX)? * 10_i64.pow(9 - length);
    parts.next().is_none().then_some((3_600 * hours + 60 * minutes + seconds) * NS_PER_S + fraction)
}

/// Parses a number with this many digits that is at most `most`.
fn digits(text: &str, count: usize, most: i64) -> Option<i64> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_number && *number <= most)
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
    fn what_is_written_is_read_again() {
        for ns in [
            1_700_000_000_123_456_000,
            0,
            951_782_400_000_000_000,
            1_709_208_000_000_000_000,
            4_102_444_799_999_999_000,
        ] {
            assert_eq!(parse_rfc3339(&to_the_microsecond(ns)), Some(ns), "{}", to_the_microsecond(ns));
        }
        assert_eq!(parse_rfc3339("2023-11-14T23:13:20+01:00"), Some(1_700_000_000_000_000_000));
        assert_eq!(parse_rfc3339("2023-11-14T17:43:20.5-04:30"), Some(1_700_000_000_500_000_000));
        let wrong = [
            "2023-11-14T22:13:20",
            "2023-02-29T00:00:00Z",
            "2023-00-01T00:00:00Z",
            "2023-11-14T24:00:00Z",
            "T",
            "23-1-1T1:1:1Z",
        ];
        for text in wrong {
            assert_eq!(parse_rfc3339(text), None, "{text}");
        }
        assert_eq!(parse_time_of_day("00:01:02.000000003"), Some(62_000_000_003));
        assert_eq!(["1:2:3", "00:00", "00:00:00.", "00:00:60"].map(parse_time_of_day), [None; 4]);
    }

    #[test]
    fn a_clock_without_a_zero_tells_no_day() {
        assert_eq!(realtime_ns(10, 1_700_000_000_000_000_000), Some(1_700_000_000_000_000_010));
        assert_eq!(realtime_ns(86_400_000_000_000, 0), None);
        assert_eq!(realtime_ns(i64::MAX, 1), None);
        assert!(realtime_ns(0, realtime_offset_ns()).is_some());
    }
}
