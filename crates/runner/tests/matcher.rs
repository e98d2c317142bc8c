//! Sets of messages are those that message_filters makes, for 4000 drawn sequences.
//!
//! `matcher/reference.cpp` draws the same sequences, gives them to message_filters 1.15 of ROS 1, whose policies those
//! of ROS 2 are ports of, and printed `matcher/sets.txt`.

use std::time::Duration;
use tacho_runner::node::matcher::Matcher;
use tacho_workload::model::{Matching, Policy};

/// splitmix64
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

const TOPICS: [&str; 4] = ["/a", "/b", "/c", "/d"];

struct Case {
    matching: Matching,
    inputs: usize,
    messages: u64,
    grain_us: u64,
    period_us: [u64; 4],
    jitter_us: [u64; 4],
}

fn case(draws: &mut Draws) -> Case {
    let approximate = draws.below(4) != 0;
    let inputs = 2 + draws.below(3) as usize;
    let queue = 1 + draws.below(12) as u32;
    let age_penalty_percent = (10 * draws.below(6)) as f64;
    let messages = 20 + draws.below(120);
    let max_interval = (draws.below(3) == 0).then(|| Duration::from_micros(5000 + draws.below(60_000)));
    let grain_us = if draws.below(2) == 0 { 10_000 } else { 1 };
    let (mut period_us, mut jitter_us, mut lower_bounds) = ([0; 4], [0; 4], Vec::new());
    for i in 0..4 {
        period_us[i] = if approximate { 10_000 + draws.below(90_000) } else { 10_000 };
        jitter_us[i] = draws.below(period_us[i]);
        if draws.below(2) == 0 {
            lower_bounds.push((TOPICS[i].to_string(), Duration::from_micros(period_us[i])));
        }
    }
    let policy = if approximate { Policy::Approximate } else { Policy::Exact };
    let matching = Matching { policy, queue, max_interval, age_penalty_percent, lower_bounds };
    Case { matching, inputs, messages, grain_us, period_us, jitter_us }
}

/// Number of sets, and a checksum of their members.
fn sets(case: &Case, draws: &mut Draws) -> (usize, u64) {
    let mut matcher = Matcher::new(&case.matching, &TOPICS[..case.inputs]);
    let mut last = [1_000_000; 4];
    let (mut sets, mut checksum) = (0, 0xcbf2_9ce4_8422_2325_u64);
    for number in 1..=case.messages {
        let input = draws.below(case.inputs as u64) as usize;
        let jitter = if case.jitter_us[input] > 0 { draws.below(case.jitter_us[input]) } else { 0 };
        last[input] += (case.period_us[input] + jitter).div_ceil(case.grain_us) * case.grain_us;
        for set in matcher.add(input, last[input] as i64 * 1000, number) {
            assert_eq!(set.len(), case.inputs);
            sets += 1;
            for (_, number) in set {
                checksum = (checksum ^ number).wrapping_mul(0x100_0000_01b3);
            }
        }
    }
    (sets, checksum)
}

#[test]
fn sets_are_those_of_message_filters() {
    let mut draws = Draws(2022);
    let (mut of_exact, mut of_approximate) = (0, 0);
    for (index, expected) in include_str!("matcher/sets.txt").lines().enumerate() {
        let case = case(&mut draws);
        let (count, checksum) = sets(&case, &mut draws);
        assert_eq!(format!("{count} {checksum:016x}"), expected, "case {index}: {:?}", case.matching);
        *if case.matching.policy == Policy::Approximate { &mut of_approximate } else { &mut of_exact } += count;
    }
    // Cases without sets would compare nothing.
    assert!(of_exact > 1000 && of_approximate > 10_000, "{of_exact} {of_approximate}");
}
