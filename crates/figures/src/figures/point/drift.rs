//! Whether latency changes over the run (study C 1.1): a slope, and instants at which the level changes.

use crate::figures::statistics::change_points::changes;
use crate::figures::statistics::median;
use crate::figures::statistics::slope::theil_sen;
use crate::figures::{latency_us, Repeat};
use tacho_tables::row::{rows_of, Column, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::summary::Drift;
use tacho_tables::Endpoint;

/// Most stretches that a run is cut in: pairs of them stay few, however many hours and messages it has.
const MOST_STRETCHES: usize = 128;
/// Fewer tell nothing.
const LEAST_STRETCHES: usize = 10;
/// Publish calls a stretch, at least, on the average.
const PUBLICATIONS_A_STRETCH: usize = 5;
/// Probability that a stretch of the run without a change is said to have one, all repeats together.
const FALSE_ALARM: f64 = 0.01;
const NS_PER_S: f64 = 1e9;

/// A stretch of a run: what its rows are rows of.
struct Stretch;

/// Median latency of each stretch of one run.
struct Course {
    /// (middle since the start of the window in s, median in us).
    points: Vec<(f64, f64)>,
    /// Length of a stretch, s.
    stretch_s: f64,
}

/// Of all repeats; a repeat with too few messages adds nothing, and where all have too few there is none.
pub(super) fn drift(repeats: &[Repeat<'_>]) -> Option<Drift> {
    let courses: Vec<Course> = repeats.iter().filter_map(course).collect();
    let series: Vec<Vec<(f64, f64)>> = courses.iter().map(|c| c.points.clone()).collect();
    let slope = theil_sen(&series)?;
    let false_alarm = FALSE_ALARM / courses.len() as f64;
    // Between the last stretch before the change and the first after it.
    let starts = |c: &Course| {
        changes(&c.points, false_alarm).into_iter().map(|i| c.points[i].0 - c.stretch_s / 2.0).collect::<Vec<_>>()
    };
    let mut changes_at_s: Vec<f64> = courses.iter().flat_map(starts).collect();
    changes_at_s.sort_by(f64::total_cmp);
    Some(Drift {
        stretches: courses.iter().map(|c| c.points.len() as u64).sum(),
        slope_us_per_s: slope.estimate,
        slope_low_us_per_s: slope.low,
        slope_high_us_per_s: slope.high,
        changes_at_s,
    })
}

fn course(Repeat { tables, options, .. }: &Repeat<'_>) -> Option<Course> {
    let messages =
        || tables.messages.iter().filter_map(|m| Some((m.subscription, m.publish_ns.get()?, latency_us(m)?)));
    // Messages stand in the order of their publish times.
    let (mut first, mut last, mut times) = (None, None, 0);
    for (_, publish_ns, _) in messages() {
        first = first.or(Some(publish_ns));
        times += usize::from(last != Some(publish_ns));
        last = Some(publish_ns);
    }
    let stretches = (times / PUBLICATIONS_A_STRETCH).min(MOST_STRETCHES);
    if stretches < LEAST_STRETCHES {
        return None;
    }
    let from = options.measured_from_ns.or(first)?;
    let to = options.measured_to_ns.or(last.map(|last| last + 1))?;
    let length_ns = (to - from) as f64 / stretches as f64;
    // Subscriptions differ in level and in how many messages each stretch has of them: that alone must not look like
    // drift.
    let latencies =
        Grouped::new(tables.endpoints.len(), || messages().map(|(subscription, _, latency)| (subscription, latency)));
    let level = |subscription| median(&mut latencies.of(subscription).to_vec());
    let levels: Column<Endpoint, Option<f64>> = Column::of(rows_of(&tables.endpoints).map(level));
    let latencies = Grouped::new(stretches, || {
        messages().filter_map(|(subscription, publish_ns, latency)| {
            let stretch = ((publish_ns - from) as f64 / length_ns).max(0.0) as usize;
            Some((Row::<Stretch>::behind(stretch.min(stretches - 1)), latency - levels[subscription]?))
        })
    });
    let stretch_s = length_ns / NS_PER_S;
    let point = |index: usize| {
        Some(((index as f64 + 0.5) * stretch_s, median(&mut latencies.of(Row::behind(index)).to_vec())?))
    };
    Some(Course { points: (0..stretches).filter_map(point).collect(), stretch_s })
}
