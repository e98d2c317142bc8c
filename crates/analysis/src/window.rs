//! The part of a run that a user asks for: what lies outside does not count.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use tacho_events::wall;
use tacho_workload::units;

const NS_PER_S: i64 = 1_000_000_000;
const NS_PER_DAY: i64 = 86_400 * NS_PER_S;
/// A time of day that lies before the run's begin by no more than this is meant to lie before it, not a day later.
const BEFORE_NS: i64 = 3_600 * NS_PER_S;

/// One end of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// `10s`: ns after the begin of the run.
    Offset(i64),
    /// `2026-11-23T09:12:21.5Z`: ns since 1970.
    Realtime(i64),
    /// `09:12:21.5`: ns since midnight, UTC.
    TimeOfDay(i64),
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Moment::Offset(ns) => {
                let offset = units::format_duration(Duration::from_nanos(ns.unsigned_abs()));
                f.write_str(&offset.replace(' ', ""))
            }
            Moment::Realtime(ns) => f.write_str(&wall::to_the_microsecond(*ns)),
            Moment::TimeOfDay(ns) => f.write_str(&wall::to_the_microsecond(*ns)["1970-01-01T".len()..]),
        }
    }
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Moment, String> {
        let expected = || {
            format!(
                "expected a time since the begin of the run with its unit ({}), such as 10s; or a time of the wall \
                 clock, UTC, such as 09:12:21.5 or 2026-11-23T09:12:21.5Z",
                units::DURATION_UNITS
            )
        };
        if text.contains(['T', 't']) {
            return wall::parse_rfc3339(text).map(Moment::Realtime).ok_or_else(expected);
        }
        if text.contains(':') {
            return wall::parse_time_of_day(text).map(Moment::TimeOfDay).ok_or_else(expected);
        }
        let offset = units::parse_duration(text).map_err(|error| format!("{error}; {}", expected()))?;
        i64::try_from(offset.as_nanos()).map(Moment::Offset).map_err(|_| expected())
    }
}

/// From when on, and until when, things count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    from: Moment,
    to: Option<Moment>,
}

impl fmt::Display for Window {
    /// As the command line has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            None => write!(f, "--skip {}", self.from),
            Some(to) => write!(f, "--between {} {to}", self.from),
        }
    }
}

impl Window {
    /// All but so much from the begin of the run.
    pub fn skip(time: Duration) -> Window {
        Window { from: Moment::Offset(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)), to: None }
    }

    /// From one moment to another.
    pub fn between(from: Moment, to: Moment) -> Window {
        Window { from, to: Some(to) }
    }

    /// Whether it names times of the wall clock, of which each repeat of a run has its own.
    pub fn is_of_wall_clock(&self) -> bool {
        [Some(self.from), self.to].iter().flatten().any(|moment| !matches!(moment, Moment::Offset(_)))
    }

    /// The error of a window that names one time for several repeats.
    pub fn of_repeats(&self, repeats: usize) -> WindowError {
        WindowError::Repeats { asked: self.to_string(), repeats }
    }

    /// Its begin and its end on the run's clock. `run`: when that began.
    pub(crate) fn on_clock(&self, run: Begin) -> Result<(i64, Option<i64>), WindowError> {
        let from = self.place(self.from, run)?;
        let to = self.to.map(|to| self.place(to, run)).transpose()?;
        match to {
            Some(to) if to <= from => Err(WindowError::Reversed { asked: self.to_string() }),
            _ => Ok((from, to)),
        }
    }

    fn place(&self, moment: Moment, run: Begin) -> Result<i64, WindowError> {
        let asked = || self.to_string();
        let offset_ns = || run.realtime_offset_ns.filter(|offset| wall::realtime_ns(run.ns, *offset).is_some());
        let offset_ns = || offset_ns().ok_or_else(|| WindowError::NoWallClock { asked: asked() });
        let ns = match moment {
            Moment::Offset(ns) => return Ok(run.ns.saturating_add(ns)),
            Moment::Realtime(ns) => ns.saturating_sub(offset_ns()?),
            Moment::TimeOfDay(of_day) => {
                let begin = run.ns.saturating_add(offset_ns()?);
                run.ns + (of_day - begin + BEFORE_NS).rem_euclid(NS_PER_DAY) - BEFORE_NS
            }
        };
        if ns < run.ns {
            let began = wall::to_the_microsecond(run.ns.saturating_add(offset_ns()?));
            return Err(WindowError::BeforeBegin { asked: asked(), began });
        }
        Ok(ns)
    }

    /// That a part of it lies in the run. `to`: its end, if it has one.
    pub(crate) fn check_end(&self, (from, to): (i64, Option<i64>), begin: i64, end: i64) -> Result<(), WindowError> {
        if from < end && to.is_none_or(|to| to <= end) {
            return Ok(());
        }
        let run_s = end.saturating_sub(begin).max(0) as f64 / NS_PER_S as f64;
        Err(WindowError::BeyondEnd { asked: self.to_string(), run_s })
    }

    /// The error of a window in which nothing happened.
    pub(crate) fn is_empty(&self) -> WindowError {
        WindowError::Empty { asked: self.to_string() }
    }
}

/// When a run began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Begin {
    /// On its clock.
    pub ns: i64,
    /// CLOCK_REALTIME minus that clock, if it is known.
    pub realtime_offset_ns: Option<i64>,
}

/// Why nothing can be counted in a window.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WindowError {
    /// Its end does not lie behind its begin.
    #[error("{asked}: it ends before it begins; expected the earlier time first")]
    Reversed {
        /// As asked for.
        asked: String,
    },
    /// It begins before the run.
    #[error("{asked}: the run began at {began}; expected times in it")]
    BeforeBegin {
        /// As asked for.
        asked: String,
        /// RFC 3339.
        began: String,
    },
    /// It reaches beyond the last event.
    #[error("{asked}: beyond the end; the run is {run_s:.3} s long")]
    BeyondEnd {
        /// As asked for.
        asked: String,
        /// From the begin of the run to its last event.
        run_s: f64,
    },
    /// No callback ran, and nothing was published or taken in it.
    #[error("{asked}: nothing happened in this time: no callback ran, no message was sent or taken")]
    Empty {
        /// As asked for.
        asked: String,
    },
    /// No clock of the run knew the date.
    #[error("{asked}: the run's clock is not related to the wall clock; expected times since its begin, such as 10s")]
    NoWallClock {
        /// As asked for.
        asked: String,
    },
    /// One time of the wall clock, and several repeats.
    #[error(
        "{asked}: the run has {repeats} repeats, each with times of its own; expected times since their begin, such as \
         10s"
    )]
    Repeats {
        /// As asked for.
        asked: String,
        /// How many.
        repeats: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-23T09:12:21.5Z, at 1000 s of the run's clock.
    const BEGIN: Begin = Begin { ns: 1_000 * NS_PER_S, realtime_offset_ns: Some(REALTIME - 1_000 * NS_PER_S) };
    const REALTIME: i64 = 1_795_425_141_500_000_000;

    fn between(from: &str, to: &str) -> Result<(i64, Option<i64>), WindowError> {
        let moment = |text: &str| text.parse().unwrap_or_else(|error| panic!("{error}"));
        Window::between(moment(from), moment(to)).on_clock(BEGIN)
    }

    #[test]
    fn the_same_moment_has_three_spellings() {
        let expected = Ok((1_010 * NS_PER_S, Some(1_020 * NS_PER_S)));
        assert_eq!(between("10s", "20s"), expected);
        assert_eq!(between("09:12:31.5", "09:12:41.5"), expected);
        assert_eq!(between("2026-11-23T09:12:31.5Z", "2026-11-23T11:12:41.500000+02:00"), expected);
        assert_eq!(between("10s", "09:12:41.5"), expected, "and they mix");
    }

    #[test]
    fn a_time_of_day_behind_midnight_is_of_the_next_day() {
        let day = 86_400 * NS_PER_S;
        assert_eq!(between("0s", "00:00:00").unwrap().1, Some(BEGIN.ns - REALTIME + REALTIME / day * day + day));
    }

    #[test]
    fn what_is_no_moment_is_refused_with_what_would_be() {
        for text in ["10", "09:12", "25:00:00", "2026-11-23", "2026-13-01T00:00:00Z", "2026-11-23T09:12:21", "", "-1s"]
        {
            let error = text.parse::<Moment>().expect_err(text);
            assert!(error.contains("such as 10s"), "{text}: {error}");
        }
    }

    #[test]
    fn impossible_windows_say_why() {
        let said = |window: Result<(i64, Option<i64>), WindowError>| window.unwrap_err().to_string();
        assert!(said(between("20s", "10s")).starts_with("--between 20s 10s: it ends before it begins"));
        assert!(said(between("10s", "10s")).contains("it ends before it begins"));
        assert!(said(between("09:12:20", "10s")).contains("the run began at 2026-11-23T09:12:21.500000Z"));
        let window = Window::skip(Duration::from_secs(90));
        assert_eq!(window.check_end((0, Some(60)), 0, 60), Ok(()));
        let beyond = window.check_end((90 * NS_PER_S, None), 0, 60 * NS_PER_S).unwrap_err().to_string();
        assert_eq!(beyond, "--skip 90s: beyond the end; the run is 60.000 s long");
        let counted_from_zero = Begin { realtime_offset_ns: Some(0), ..BEGIN };
        let of_day = Window::between(Moment::TimeOfDay(0), Moment::Offset(1));
        assert!(matches!(of_day.on_clock(counted_from_zero), Err(WindowError::NoWallClock { .. })));
        assert!(of_day.is_of_wall_clock() && !window.is_of_wall_clock());
    }
}
