//! Phases: when in its period each node wakes.
//!
//! Nodes that spin at one rate keep the phases they started with, so one run is one draw of them. Node i has one of the
//! phases frac(u_i + k * g_i / p), with p the least prime that is at least the number of repeats, u_i uniform and g a
//! random order of 0 to p - 1, both by seed; the repeats visit k = 0 and then the others in an order that the seed
//! draws. Each repeat alone is a uniform draw. Over all repeats, the difference between two nodes i and j visits p
//! strata of equal width evenly, unless p divides i - j: means over few repeats are close to the mean over all draws.
//! As g has no order, the delays of a chain's hops do not grow together: how often their sum is beyond a limit comes as
//! close as with independent draws, and mostly closer. As the k have none, the first of many repeats are a random
//! sample of them. So intervals of independent draws hold, also for a campaign that was interrupted.

use tacho_workload::model::{Node, RunOptions};
use tacho_workload::random::mix;

/// Phase of a node, whose place is `index`, in a repeat: the one that the workload states, otherwise as drawn.
pub fn of_node(run: &RunOptions, node: &Node, index: usize, repeat: u32) -> f64 {
    let stated = node.phase_percent.map(|percent| (percent / 100.0).fract());
    stated.unwrap_or_else(|| phase(run.seed, index, repeat, run.repeats))
}

/// Phase of the node at `index` in `repeat` of `repeats`, as a fraction of its period, 0 <= phase < 1.
pub fn phase(seed: u64, index: usize, repeat: u32, repeats: u32) -> f64 {
    let strata = prime_from(repeats.max(1));
    let step = match repeat.checked_sub(1) {
        None => 0,
        Some(later) => 1 + drawn(mix(seed ^ 0x7265_7065), strata - 1, later),
    };
    let generator = drawn(mix(seed ^ 0x6f72_6465), strata, index as u32);
    let advance = (f64::from(step) * f64::from(generator) / f64::from(strata)).fract();
    (uniform(seed, index as u64) + advance).fract()
}

/// What stands at a place in an order of 0 to `count` - 1 that the seed draws.
fn drawn(seed: u64, count: u32, place: u32) -> u32 {
    let last = place % count;
    let mut order: Vec<u32> = (0..count).collect();
    for place in 0..=last {
        let left = u64::from(count - place);
        order.swap(place as usize, place as usize + (mix(seed ^ u64::from(place)) % left) as usize);
    }
    order[last as usize]
}

/// Seed for everything that a node draws in a repeat.
pub fn node_seed(seed: u64, index: usize, repeat: u32) -> u64 {
    mix(mix(seed ^ 0x6e6f_6465) ^ (index as u64) << 32 ^ u64::from(repeat))
}

/// Seed for what a callback group of a node draws, by its number.
pub fn group_seed(node_seed: u64, number: u64) -> u64 {
    if number == 0 {
        node_seed
    } else {
        mix(node_seed ^ number)
    }
}

fn uniform(seed: u64, index: u64) -> f64 {
    (mix(mix(seed) ^ index) >> 11) as f64 / (1u64 << 53) as f64
}

fn prime_from(least: u32) -> u32 {
    let is_prime = |n: u32| n >= 2 && (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    (least..).find(|n| is_prime(*n)).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_phases_and_another_seed_others() {
        assert_eq!(phase(7, 3, 2, 5), phase(7, 3, 2, 5));
        assert_ne!(phase(7, 3, 2, 5), phase(8, 3, 2, 5));
    }

    #[test]
    fn differences_of_neighbours_visit_every_stratum_over_the_repeats() {
        for (i, j) in [(0, 1), (1, 2), (4, 6)] {
            let mut strata: Vec<u32> =
                (0..5).map(|r| ((phase(2022, j, r, 5) - phase(2022, i, r, 5)).rem_euclid(1.0) * 5.0) as u32).collect();
            strata.sort_unstable();
            assert_eq!(strata, [0, 1, 2, 3, 4], "nodes {i} and {j}");
        }
    }

    /// Irwin-Hall: a sum of five uniform delays of a period is above 3 periods with the probability 0.2250.
    #[test]
    fn a_sum_of_delays_is_beyond_a_limit_as_often_as_in_independent_draws() {
        let of_five: f64 = [1.0, -5.0, 10.0, -10.0].iter().zip(0..).map(|(c, k)| c * f64::from(3 - k).powi(5)).sum();
        let probability = 1.0 - of_five / 120.0;
        assert!((probability - 0.225).abs() < 1e-9, "{probability}");
        for (repeats, first) in [(20, 20), (200, 200), (200, 80)] {
            let seeds = 300;
            let (mut sum, mut squares) = (0.0, 0.0);
            for seed in 0..seeds {
                let chain = [3, 5, 6, 7, 8, 1];
                let beyond = (0..first).filter(|repeat| {
                    let at = |index| phase(seed, index, *repeat, repeats);
                    chain.windows(2).map(|hop| (at(hop[1]) - at(hop[0])).rem_euclid(1.0)).sum::<f64>() > 3.0
                });
                let share = beyond.count() as f64 / f64::from(first);
                (sum, squares) = (sum + share, squares + (share - probability).powi(2));
            }
            let (mean, variance) = (sum / seeds as f64, squares / seeds as f64);
            let independent = probability * (1.0 - probability) / f64::from(first);
            // Five standard deviations of the mean of independent draws.
            assert!((mean - probability).abs() < 5.0 * (independent / seeds as f64).sqrt(), "{repeats}: {mean}");
            assert!(variance < independent, "{first} of {repeats}: {variance}, independent draws {independent}");
        }
    }

    /// A normal estimate is off by three standard deviations in 0.3 % of all cases.
    #[test]
    fn the_first_of_many_repeats_are_a_random_sample_of_all() {
        let (repeats, first, seeds) = (200, 28, 400);
        let is_far = |seed: &u64| {
            let chain = [3, 5, 6];
            let is_beyond = |repeat: u32| {
                let at = |index| phase(*seed, index, repeat, repeats);
                chain.windows(2).map(|hop| (at(hop[1]) - at(hop[0])).rem_euclid(1.0)).sum::<f64>() > 1.0
            };
            let beyond: Vec<bool> = (0..repeats).map(is_beyond).collect();
            let share = |of: &[bool]| of.iter().filter(|is| **is).count() as f64 / of.len() as f64;
            let all = share(&beyond);
            let variance = all * (1.0 - all) * (1.0 / f64::from(first) - 1.0 / f64::from(repeats));
            (share(&beyond[..first as usize]) - all).abs() > 3.0 * variance.sqrt()
        };
        let far = (0..seeds).filter(is_far).count();
        assert!(far <= 4, "{far} of {seeds}");
    }

    #[test]
    fn a_phase_that_is_stated_is_not_drawn() {
        let text = "nodes: {a: {phase: 25 %, publishes: {/t: {rate: 10 Hz}}}, b: {subscribes: [/t]}}";
        let (workload, _) = tacho_workload::parse(text, "test.yaml").unwrap_or_else(|e| panic!("{e}"));
        let of = |index: usize, repeat| of_node(&workload.run, &workload.nodes[index], index, repeat);
        assert_eq!([of(0, 0), of(0, 1)], [0.25; 2]);
        assert_eq!(of(1, 1), phase(workload.run.seed, 1, 1, workload.run.repeats));
    }

    #[test]
    fn phases_are_uniform_over_seeds() {
        let n = 10_000;
        let mean: f64 = (0..n).map(|seed| phase(seed, 1, 0, 1)).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 0.015, "{mean}");
    }
}
