//! Quantities as people write them: a number and its unit, `10 Hz`, `2.4 ms`, `64 KiB`.
//!
//! Durations and sizes are read exactly, digit by digit; nothing passes through a float.

use std::time::Duration;
use thiserror::Error;

/// Why a text is not a quantity of the requested kind.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QuantityError {
    /// Example: `10`.
    #[error("a number without a unit")]
    MissingUnit,
    /// Examples: `fast`, `-1 Hz`, `1e3 Hz`.
    #[error("not a number and a unit")]
    NotAQuantity,
    /// Example: `10 Hzz`.
    #[error("unknown unit `{0}`")]
    UnknownUnit(String),
    /// Examples: `0.5 ns`, `0.3 B`.
    #[error("not a whole number of {0}")]
    NotWhole(&'static str),
    /// The value exceeds the type.
    #[error("too large")]
    TooLarge,
}

const DURATIONS: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
];
const SIZES: [(&str, u64); 7] = [
    ("B", 1),
    ("kB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
];
const FREQUENCIES: [(&str, f64); 2] = [("Hz", 1.0), ("kHz", 1000.0)];
const BIT_RATES: [(&str, u64); 4] = [("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];
const PERCENT: [(&str, f64); 1] = [("%", 1.0)];

/// Units of a duration, for messages and the schema.
pub const DURATION_UNITS: &str = "ns, us, ms, s, min";
/// Units of a size.
pub const SIZE_UNITS: &str = "B, KiB, MiB, GiB, kB, MB, GB";
/// Units of a frequency.
pub const FREQUENCY_UNITS: &str = "Hz, kHz";
/// Units of a bit rate.
pub const BIT_RATE_UNITS: &str = "bit/s, kbit/s, Mbit/s, Gbit/s";

/// Reads `2.4 ms`.
///
/// ```
/// use std::time::Duration;
/// assert_eq!(tacho_workload::units::parse_duration("2.4 ms"), Ok(Duration::from_micros(2400)));
/// ```
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    let (number, unit) = split(text)?;
    let nanoseconds = exact(number, factor(unit, &DURATIONS)?, "ns")?;
    Ok(Duration::from_nanos(nanoseconds))
}

/// Reads `64 KiB` as bytes.
pub fn parse_size(text: &str) -> Result<u64, QuantityError> {
    let (number, unit) = split(text)?;
    exact(number, factor(unit, &SIZES)?, "bytes")
}

/// Reads `50 Mbit/s` as bits a second.
pub fn parse_bit_rate(text: &str) -> Result<u64, QuantityError> {
    let (number, unit) = split(text)?;
    exact(number, factor(unit, &BIT_RATES)?, "bits a second")
}

/// Reads `10 Hz` as a number per second.
pub fn parse_frequency(text: &str) -> Result<f64, QuantityError> {
    real(text, &FREQUENCIES)
}

/// Reads `0.5 %` as 0.5.
pub fn parse_percent(text: &str) -> Result<f64, QuantityError> {
    real(text, &PERCENT)
}

fn real(text: &str, units: &[(&str, f64)]) -> Result<f64, QuantityError> {
    let (number, unit) = split(text)?;
    let factor = factor(unit, units)?;
    let value = number.parse::<f64>().map_err(|_| QuantityError::NotAQuantity)? * factor;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(QuantityError::TooLarge)
    }
}

/// Writes a duration in the largest unit that leaves at least 1 before the point; whole minutes as minutes.
///
/// Durations beyond 2^64 ns (584 years) are cut to that, because they have no exact text.
pub fn format_duration(duration: Duration) -> String {
    let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
    let (unit, factor) = match nanoseconds {
        0 => ("s", 1_000_000_000),
        n if n % 60_000_000_000 == 0 => ("min", 60_000_000_000),
        n if n >= 1_000_000_000 => ("s", 1_000_000_000),
        n if n >= 1_000_000 => ("ms", 1_000_000),
        n if n >= 1_000 => ("us", 1_000),
        _ => ("ns", 1),
    };
    format!("{} {unit}", decimal(nanoseconds, factor))
}

/// Writes a size in the largest binary unit that divides it, otherwise in the largest decimal one, otherwise in bytes.
pub fn format_size(bytes: u64) -> String {
    for unit in ["GiB", "MiB", "KiB", "GB", "MB", "kB"] {
        let factor = SIZES.iter().find(|(name, _)| *name == unit).map_or(1, |(_, factor)| *factor);
        if bytes != 0 && bytes.is_multiple_of(factor) {
            return format!("{} {unit}", bytes / factor);
        }
    }
    format!("{bytes} B")
}

/// Writes a frequency so that it is read back as the same number.
pub fn format_frequency(hz: f64) -> String {
    let in_khz = hz / 1000.0;
    if hz >= 1000.0 && in_khz * 1000.0 == hz {
        let text = format!("{in_khz} kHz");
        if text.len() <= 10 {
            return text;
        }
    }
    format!("{hz} Hz")
}

/// Writes a bit rate in the largest unit that divides it.
pub fn format_bit_rate(bit_per_s: u64) -> String {
    let (unit, factor) =
        BIT_RATES.iter().rev().find(|(_, factor)| bit_per_s.is_multiple_of(*factor)).unwrap_or(&BIT_RATES[0]);
    format!("{} {unit}", bit_per_s / factor)
}

/// Writes a percentage so that it is read back as the same number.
pub fn format_percent(percent: f64) -> String {
    format!("{percent} %")
}

/// Splits number and unit, with or without blanks between them.
fn split(text: &str) -> Result<(&str, &str), QuantityError> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_start());
    let mut parts = number.split('.');
    let whole = parts.next().is_some_and(|part| !part.is_empty());
    let fraction = parts.next().is_none_or(|part| !part.is_empty());
    if !whole || !fraction || parts.next().is_some() {
        let bare = text.parse::<f64>().is_ok() && text.chars().any(|c| c.is_ascii_digit());
        return Err(if bare { QuantityError::MissingUnit } else { QuantityError::NotAQuantity });
    }
    if unit.is_empty() || text.parse::<f64>().is_ok() {
        return Err(QuantityError::MissingUnit);
    }
    Ok((number, unit))
}

fn factor<T: Copy>(unit: &str, units: &[(&str, T)]) -> Result<T, QuantityError> {
    units
        .iter()
        .find(|(name, _)| *name == unit)
        .map(|(_, factor)| *factor)
        .ok_or_else(|| QuantityError::UnknownUnit(unit.to_string()))
}

/// Computes `number` x `factor` exactly.
fn exact(number: &str, factor: u64, unit: &'static str) -> Result<u64, QuantityError> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let whole: u64 = whole.parse().map_err(|_| QuantityError::TooLarge)?;
    let mut total = whole.checked_mul(factor).ok_or(QuantityError::TooLarge)?;
    if !fraction.is_empty() {
        // With the factors above, more than 19 digits cannot make a whole number of ns or bytes.
        let scale = 10u128.checked_pow(fraction.len() as u32).ok_or(QuantityError::NotWhole(unit))?;
        let digits: u128 = fraction.parse().map_err(|_| QuantityError::NotWhole(unit))?;
        let scaled = digits.checked_mul(u128::from(factor)).ok_or(QuantityError::NotWhole(unit))?;
        if scaled % scale != 0 {
            return Err(QuantityError::NotWhole(unit));
        }
        let part = u64::try_from(scaled / scale).map_err(|_| QuantityError::TooLarge)?;
        total = total.checked_add(part).ok_or(QuantityError::TooLarge)?;
    }
    Ok(total)
}

/// Writes `value` / `factor` as an exact decimal; `factor` is a power of ten or divides `value`.
fn decimal(value: u64, factor: u64) -> String {
    let (whole, rest) = (value / factor, value % factor);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = factor.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_exactly() {
        assert_eq!(parse_duration("24.66 ms"), Ok(Duration::from_nanos(24_660_000)));
        assert_eq!(parse_duration("0.1 us"), Ok(Duration::from_nanos(100)));
        assert_eq!(parse_duration("1.5 min"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("3µs"), Ok(Duration::from_micros(3)));
        assert_eq!(parse_size("64 KiB"), Ok(65536));
        assert_eq!(parse_size("1.5 MB"), Ok(1_500_000));
        assert_eq!(parse_frequency("2.5 kHz"), Ok(2500.0));
        assert_eq!(parse_frequency("10Hz"), Ok(10.0));
        assert_eq!(parse_bit_rate("1.5 Mbit/s"), Ok(1_500_000));
        assert_eq!(parse_percent("0.5%"), Ok(0.5));
    }

    #[test]
    fn what_is_no_quantity_says_why() {
        assert_eq!(parse_duration("10"), Err(QuantityError::MissingUnit));
        assert_eq!(parse_duration("-10"), Err(QuantityError::MissingUnit));
        assert_eq!(parse_duration("1e3"), Err(QuantityError::MissingUnit));
        assert_eq!(parse_duration("-1 ms"), Err(QuantityError::NotAQuantity));
        assert_eq!(parse_duration("1. ms"), Err(QuantityError::NotAQuantity));
        assert_eq!(parse_duration(""), Err(QuantityError::NotAQuantity));
        assert_eq!(parse_duration("inf"), Err(QuantityError::NotAQuantity));
        assert_eq!(parse_duration("10 Hz"), Err(QuantityError::UnknownUnit("Hz".into())));
        assert_eq!(parse_duration("0.5 ns"), Err(QuantityError::NotWhole("ns")));
        assert_eq!(parse_duration("99999999999999999999 s"), Err(QuantityError::TooLarge));
        assert_eq!(parse_size("0.3 B"), Err(QuantityError::NotWhole("bytes")));
        assert_eq!(parse_frequency("ten Hz"), Err(QuantityError::NotAQuantity));
        assert_eq!(parse_bit_rate("50 MB/s"), Err(QuantityError::UnknownUnit("MB/s".into())));
        assert_eq!(parse_percent("0.5"), Err(QuantityError::MissingUnit));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut nanoseconds = 1u64;
        for step in 0..2000u64 {
            nanoseconds = nanoseconds.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let value = nanoseconds >> (step % 64);
            let duration = Duration::from_nanos(value);
            assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
            assert_eq!(parse_size(&format_size(value)), Ok(value));
            let hz = value as f64 / 1000.0;
            assert_eq!(parse_frequency(&format_frequency(hz)), Ok(hz));
            assert_eq!(parse_bit_rate(&format_bit_rate(value)), Ok(value));
            assert_eq!(parse_percent(&format_percent(hz)), Ok(hz));
        }
    }

    #[test]
    fn quantities_are_written_as_people_write_them() {
        assert_eq!(format_duration(Duration::from_micros(2400)), "2.4 ms");
        assert_eq!(format_duration(Duration::from_secs(60)), "1 min");
        assert_eq!(format_duration(Duration::from_millis(1500)), "1.5 s");
        assert_eq!(format_duration(Duration::ZERO), "0 s");
        assert_eq!(format_size(1 << 20), "1 MiB");
        assert_eq!(format_size(1_500_000), "1500 kB");
        assert_eq!(format_frequency(10.0), "10 Hz");
        assert_eq!(format_frequency(2500.0), "2.5 kHz");
        assert_eq!(format_bit_rate(50_000_000), "50 Mbit/s");
        assert_eq!(format_bit_rate(1_500), "1500 bit/s");
        assert_eq!(format_percent(0.5), "0.5 %");
    }
}
