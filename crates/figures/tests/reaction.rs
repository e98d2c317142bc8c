//! Reaction time and data age against closed formulas, and against brute force on random schedules.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;

use scene::*;
use tacho_events::testing::FileBuilder;
use tacho_figures::{summarise, Repeat};
use tacho_tables::summary::ChainFigures;

/// A sensor that reads at `reads` and publishes 1 later, and a controller that reads the latest of it at `ticks` and is
/// done after 3. The message takes 2 to be taken.
fn figures(reads: &[i64], ticks: &[i64]) -> ChainFigures {
    const TRANSPORT: i64 = 2;
    let mut events: Vec<(i64, Box<dyn Fn(FileBuilder) -> FileBuilder>)> = Vec::new();
    for read in reads.iter().copied() {
        events.push((
            read,
            Box::new(move |b| b.process(1).at(read).start_timer().at(read + 1).publish(read).end_timer()),
        ));
        let taken = read + 1 + TRANSPORT;
        events.push((taken, Box::new(move |b| b.process(2).at(taken).start_taking(read).end_taking())));
    }
    for tick in ticks.iter().copied() {
        events.push((
            tick,
            Box::new(move |b| b.process(2).thread(22).at(tick).start_timer().at(tick + 3).publish(-tick).end_timer()),
        ));
    }
    events.sort_by_key(|(time, _)| *time);
    let builder = FileBuilder::new()
        .node(1, "sensor")
        .publisher("/points")
        .timer(100)
        .node(2, "control")
        .subscription("/points")
        .publisher("/brake")
        .timer(100);
    let tables = scene::tables(&events.into_iter().fold(builder, |b, (_, write)| write(b)));
    let summary = summarise(&[Repeat { tables: &tables, options: Default::default(), info: None }], None);
    summary.chains.into_iter().next().expect("a chain")
}

/// Least and greatest in ns.
fn range(distribution: &Option<tacho_tables::summary::Distribution>) -> (i64, i64) {
    let ns = |ms: f64| (ms * 1e6).round() as i64;
    distribution.as_ref().map_or((0, 0), |d| (ns(d.min), ns(d.max)))
}

#[test]
fn an_undersampled_input_reacts_within_the_readers_period_and_its_phase() {
    // The controller's period is 5 of the sensor's 100; it reads 40 after a reading. By hand: an input missed just
    // after the reading that the last output used is first in the next output: 500 + 40 + 3. The latest possible is one
    // sensor period: 100 + 40 + 3.
    let reads: Vec<i64> = (0..100).map(|k| 1_000 + 100 * k).collect();
    let ticks: Vec<i64> = (0..19).map(|j| 1_040 + 500 * j).collect();
    let chain = figures(&reads, &ticks);
    assert_eq!(range(&chain.reaction_time_ms), (143, 543));
    assert_eq!(range(&chain.data_age_ms), (43, 43));
    assert_eq!(range(&chain.data_age_held_ms), (543, 543));
    assert_eq!(range(&chain.end_to_end_ms), (43, 43));
}

#[test]
fn an_oversampled_input_is_used_until_the_next_comes() {
    // The sensor's period is 5 of the controller's 100.
    let reads: Vec<i64> = (0..19).map(|k| 1_000 + 500 * k).collect();
    let ticks: Vec<i64> = (0..95).map(|j| 1_040 + 100 * j).collect();
    let chain = figures(&reads, &ticks);
    assert_eq!(range(&chain.reaction_time_ms), (543, 543));
    assert_eq!(range(&chain.data_age_ms), (443, 443));
    assert_eq!(range(&chain.data_age_held_ms), (543, 543));
    assert_eq!(range(&chain.end_to_end_ms), (43, 443), "each output counts there");
}

/// Draws that are the same at every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound) as i64
    }
}

#[test]
fn on_random_schedules_they_are_what_trying_every_input_and_output_gives() {
    for seed in 0..40 {
        let mut draw = Draw(seed);
        let mut instants = |from: i64, count: usize, least: i64, spread: u64| {
            let mut at = from;
            (0..count)
                .map(|_| {
                    at += least + draw.below(spread);
                    at
                })
                .collect::<Vec<i64>>()
        };
        let reads = instants(1_000, 60, 20, 200);
        let ticks = instants(1_100, 60, 20, 300);
        let chain = figures(&reads, &ticks);

        // Of each output the reading that it uses, by definition.
        let uses: Vec<Option<usize>> = ticks.iter().map(|t| reads.iter().rposition(|r| r + 3 <= *t)).collect();
        let first = uses.iter().flatten().copied().min().expect("an output that uses something");
        let (mut reactions, mut ages, mut held) = (Vec::new(), Vec::new(), Vec::new());
        for k in first..reads.len() {
            let reflecting =
                ticks.iter().zip(&uses).filter(|(_, u)| u.is_some_and(|u| u >= k)).map(|(t, _)| t + 3).min();
            if let (true, Some(output)) = (k > first, reflecting) {
                reactions.push(output - reads[k - 1]);
            }
            let last = ticks.iter().zip(&uses).filter(|(_, u)| **u == Some(k)).map(|(t, _)| t + 3).max();
            if let Some(last) = last {
                ages.push(last - reads[k]);
                held.extend(ticks.iter().map(|t| t + 3).find(|t| *t > last).map(|t| t - reads[k]));
            }
        }
        let of = |values: &[i64]| {
            (values.iter().min().copied().unwrap_or(0), values.iter().max().copied().unwrap_or(0), values.len() as u64)
        };
        for (name, got, expected) in [
            ("reaction", &chain.reaction_time_ms, of(&reactions)),
            ("age", &chain.data_age_ms, of(&ages)),
            ("held", &chain.data_age_held_ms, of(&held)),
        ] {
            let (min, max) = range(got);
            assert_eq!((min, max, got.as_ref().map_or(0, |d| d.count)), expected, "{name}, seed {seed}");
        }
    }
}
