//! What the page shows of a sweep: a point each, with its box of latencies and their course over the run.

use crate::drawn::Whiskers;
use crate::published::{self, Study};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use tacho_events::run::RunInfo;
use tacho_printing::reason_of;
use tacho_tables::summary::{quantile, Point};
use tacho_tables::Tables;

/// Stretches that the course of a point's latency is drawn in.
const BINS: usize = 48;
const NS_PER_US: f64 = 1e3;
const NS_PER_S: f64 = 1e9;

/// A sweep.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sweep {
    /// What was varied, in the order of the points' names.
    pub parameters: Vec<String>,
    /// In the order of the file.
    pub points: Vec<SweepPoint>,
    /// The published experiment that it repeats.
    pub study: Option<&'static Study>,
}

/// One point.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SweepPoint {
    /// Its folder below `points/`.
    pub name: String,
    /// What the sweep varied, as written.
    pub parameters: BTreeMap<String, String>,
    /// Absent where nothing was measured.
    pub figures: Option<Point>,
    /// What it lacks, and why: in the words of the first point that lacks it for the same reason.
    pub missing: Vec<String>,
    /// Publish call to first line, all messages of all repeats, us.
    pub latency_us: Option<Whiskers>,
    /// The same over the first repeat.
    pub course: Vec<Stretch>,
}

/// Latencies of the messages published in one stretch of the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stretch {
    /// Its middle, since the start of the window.
    pub at_s: f64,
    /// Least.
    pub min_us: f64,
    /// Median.
    pub median_us: f64,
    /// Greatest.
    pub max_us: f64,
}

impl Sweep {
    /// Of points in the order of the file; `study` as the workload names it.
    pub fn new(mut points: Vec<SweepPoint>, study: Option<&str>) -> Sweep {
        let mut first: HashMap<String, String> = HashMap::new();
        for text in points.iter_mut().flat_map(|point| &mut point.missing) {
            text.clone_from(first.entry(reason_of(text)).or_insert_with(|| text.clone()));
        }
        let mut parameters: Vec<String> = Vec::new();
        for name in points.iter().flat_map(|point| point.parameters.keys()) {
            if !parameters.contains(name) {
                parameters.push(name.clone());
            }
        }
        Sweep { parameters, points, study: study.and_then(published::study) }
    }
}

impl SweepPoint {
    /// `figures` of the point as a whole, and the tables of each of its repeats with their `run.json`.
    pub fn new(name: String, info: &RunInfo, figures: Option<Point>, repeats: &[(RunInfo, Tables)]) -> SweepPoint {
        let mut latencies: Vec<f64> =
            repeats.iter().flat_map(|(_, tables)| latencies(tables)).map(|(_, us)| us).collect();
        latencies.sort_by(f64::total_cmp);
        SweepPoint {
            name,
            parameters: info.parameters.clone(),
            figures,
            missing: info.missing.clone(),
            latency_us: Whiskers::of(&latencies),
            course: repeats.first().map(|(info, tables)| course(info, tables)).unwrap_or_default(),
        }
    }
}

/// When each message was published, and its latency in us: those that were taken. Emulated time is no latency.
fn latencies(tables: &Tables) -> impl Iterator<Item = (i64, f64)> + '_ {
    tables.messages.iter().filter(|message| !message.emulated).filter_map(|message| {
        let publish_ns = message.publish_ns.get()?;
        let first_line_ns = message.callback_ns.get().or(message.take_ns.get())?;
        Some((publish_ns, (first_line_ns - publish_ns) as f64 / NS_PER_US))
    })
}

fn course(info: &RunInfo, tables: &Tables) -> Vec<Stretch> {
    let published = || latencies(tables).map(|(ns, _)| ns);
    let (Some(from), Some(to)) =
        (info.measured_from_ns.or_else(|| published().min()), info.measured_to_ns.or_else(|| published().max()))
    else {
        return vec![];
    };
    let width = ((to - from).max(1) as f64 / BINS as f64).max(1.0);
    let mut stretches = vec![Vec::new(); BINS];
    for (ns, us) in latencies(tables) {
        stretches[(((ns - from).max(0) as f64 / width) as usize).min(BINS - 1)].push(us);
    }
    let stretch = |(index, mut us): (usize, Vec<f64>)| {
        us.sort_by(f64::total_cmp);
        Some(Stretch {
            at_s: (index as f64 + 0.5) * width / NS_PER_S,
            min_us: *us.first()?,
            median_us: quantile(&us, 0.5)?,
            max_us: *us.last()?,
        })
    };
    stretches.into_iter().enumerate().filter_map(stretch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_tables::row::Row;
    use tacho_tables::MaybeNs;
    use tacho_tables::{Delivery, Message};

    fn message(publish_ns: i64, latency_ns: Option<i64>) -> Message {
        let taken = latency_ns.map(|latency| publish_ns + latency);
        Message {
            publisher: Some(Row::new(0)),
            subscription: Row::new(1),
            sequence: None,
            publish_ns: publish_ns.into(),
            arrival_ns: MaybeNs::NONE,
            take_ns: taken.into(),
            callback_ns: taken.into(),
            execution: None,
            published_in: None,
            delivery: if taken.is_some() { Delivery::InTime } else { Delivery::Lost },
            lost_in: None,
            emulated: false,
        }
    }

    #[test]
    fn a_course_keeps_the_worst_of_each_stretch_and_leaves_out_where_nothing_was_sent() {
        // A message a ms over 480 ms, latency 10 us, one of 900; nothing in the second stretch, and one lost.
        let mut messages: Vec<Message> = (0..480)
            .filter(|ms| ms / 10 != 1)
            .map(|ms| message(1_000_000_000 + ms * 1_000_000, Some(10_000)))
            .collect();
        messages[470 - 10].take_ns = (messages[460].publish_ns.get().unwrap() + 900_000).into();
        messages[470 - 10].callback_ns = messages[460].take_ns;
        messages.push(message(1_000_000_500, None));
        let tables = Tables { messages: messages.into(), ..Tables::default() };
        let info = RunInfo {
            measured_from_ns: Some(1_000_000_000),
            measured_to_ns: Some(1_480_000_000),
            ..RunInfo::default()
        };
        let point = SweepPoint::new("000".into(), &info, None, &[(info.clone(), tables)]);
        assert_eq!(point.course.len(), BINS - 1);
        assert!((point.course[0].at_s - 0.005).abs() < 1e-12);
        assert!((point.course[1].at_s - 0.025).abs() < 1e-12);
        assert_eq!(
            point.course[0],
            Stretch { at_s: point.course[0].at_s, min_us: 10.0, median_us: 10.0, max_us: 10.0 }
        );
        assert_eq!(point.course[BINS - 2].max_us, 900.0);
        assert_eq!(
            point.latency_us,
            Some(Whiskers { low: 10.0, q1: 10.0, median: 10.0, q3: 10.0, high: 10.0, beyond: 1 })
        );
    }

    #[test]
    fn a_reason_has_the_same_words_at_every_point() {
        let point = |name: &str, why: &str| {
            let info = RunInfo { missing: vec![why.into()], ..RunInfo::default() };
            SweepPoint::new(name.into(), &info, None, &[])
        };
        let points =
            vec![point("0", "process a_1: no licence"), point("1", "process a_9: no licence"), point("2", "no room")];
        let words: Vec<_> = Sweep::new(points, None).points.into_iter().flat_map(|point| point.missing).collect();
        assert_eq!(words, ["process a_1: no licence", "process a_1: no licence", "no room"]);
    }

    #[test]
    fn nothing_taken_is_no_latency_and_neither_is_emulated_time() {
        let emulated = Message { emulated: true, ..message(5, Some(10_000)) };
        let tables = Tables { messages: vec![message(5, None), emulated].into(), ..Tables::default() };
        let point = SweepPoint::new("000".into(), &RunInfo::default(), None, &[(RunInfo::default(), tables)]);
        assert_eq!((point.latency_us, point.course.len()), (None, 0));
    }
}
