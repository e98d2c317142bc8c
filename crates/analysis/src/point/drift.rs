//! Whether latency changes over the run (study C 1.1): a slope, and instants at which the level changes.

use crate::figures::{latency_us, Repeat};
use crate::statistics::change_points::changes;
use crate::statistics::median;
use crate::statistics::slope::theil_sen;
use crate::summary::Drift;
use std::collections::BTreeSet;

/// Most stretches that a run is cut in: pairs of them stay few, however many hours and messages it has.
const MOST_STRETCHES: usize = 128;
/// Fewer tell nothing.
const LEAST_STRETCHES: usize = 10;
/// Publish calls a stretch, at least, on the average.
const PUBLICATIONS_A_STRETCH: usize = 5;
/// Probability that a stretch of the run without a change is said to have one, all repeats together.
const FALSE_ALARM: f64 = 0.01;
const NS_PER_S: f64 = 1e9;

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
    let starts = |c: &Course| changes(&c.points, false_alarm).into_iter().map(|i| c.points[i].0 - c.stretch_s / 2.0).collect::<Vec<_>>();
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
    let mut publish_times = BTreeSet::new();
    let mut of: Vec<Vec<(i64, f64)>> = vec![Vec::new(); tables.endpoints.len()];
    for message in &tables.messages {
        if let (Some(publish_ns), Some(latency)) = (message.publish_ns, latency_us(message)) {
            publish_times.insert(publish_ns);
            of[message.subscription as usize].push((publish_ns, latency));
        }
    }
    let stretches = (publish_times.len() / PUBLICATIONS_A_STRETCH).min(MOST_STRETCHES);
    if stretches < LEAST_STRETCHES {
        return None;
    }
    let from = options.measured_from_ns.unwrap_or(*publish_times.first()?);
    let to = options.measured_to_ns.unwrap_or(*publish_times.last()? + 1);
    let length_ns = (to - from) as f64 / stretches as f64;
    let mut latencies = vec![Vec::new(); stretches];
    for messages in of {
        // Subscriptions differ in level and in how many messages each stretch has of them: that alone must not look like drift.
        let Some(level) = median(&mut messages.iter().map(|m| m.1).collect::<Vec<_>>()) else { continue };
        for (publish_ns, latency) in messages {
            let stretch = ((publish_ns - from) as f64 / length_ns).max(0.0) as usize;
            latencies[stretch.min(stretches - 1)].push(latency - level);
        }
    }
    let stretch_s = length_ns / NS_PER_S;
    let point = |(index, mut latencies): (usize, Vec<f64>)| Some(((index as f64 + 0.5) * stretch_s, median(&mut latencies)?));
    Some(Course { points: latencies.into_iter().enumerate().filter_map(point).collect(), stretch_s })
}
