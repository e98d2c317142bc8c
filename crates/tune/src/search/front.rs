//! Domination of candidates: fronts, and how alone candidates stand on them.

use super::Value;
use std::cmp::Ordering;

/// Places of the values that no other one dominates, in their order.
pub(super) fn nondominated(values: &[&Value]) -> Vec<usize> {
    let dominated = |at: &usize| values.iter().any(|other| other.dominates(values[*at]));
    (0..values.len()).filter(|at| !dominated(at)).collect()
}

/// Rank of a candidate among others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rank {
    /// Number of its front, from 0.
    pub front: usize,
    /// Crowding distance: how far its neighbours on the front are.
    pub alone: f64,
}

impl Rank {
    /// Better ranks first.
    pub fn compare(&self, other: &Rank) -> Ordering {
        self.front.cmp(&other.front).then(other.alone.total_cmp(&self.alone))
    }
}

/// The rank of each value (Deb and others 2002, III A and B).
pub(super) fn ranked(values: &[&Value]) -> Vec<Rank> {
    let mut ranks = vec![Rank { front: 0, alone: 0.0 }; values.len()];
    let mut left: Vec<usize> = (0..values.len()).collect();
    let mut number = 0;
    while !left.is_empty() {
        let of_left: Vec<&Value> = left.iter().map(|at| values[*at]).collect();
        let front: Vec<usize> = nondominated(&of_left).into_iter().map(|at| left[at]).collect();
        for (at, alone) in front.iter().zip(crowding(&front, values)) {
            ranks[*at] = Rank { front: number, alone };
        }
        left.retain(|at| !front.contains(at));
        number += 1;
    }
    ranks
}

fn crowding(front: &[usize], values: &[&Value]) -> Vec<f64> {
    let mut alone = vec![0.0; front.len()];
    let goals = front.first().map_or(0, |at| values[*at].goals.len());
    for goal in 0..goals {
        let of = |place: usize| values[front[place]].goals[goal];
        let mut order: Vec<usize> = (0..front.len()).collect();
        order.sort_by(|a, b| of(*a).total_cmp(&of(*b)));
        let (Some(first), Some(last)) = (order.first(), order.last()) else { continue };
        let range = of(*last) - of(*first);
        (alone[*first], alone[*last]) = (f64::INFINITY, f64::INFINITY);
        for around in order.windows(3) {
            // Differences of infinite figures are no numbers.
            let part = (of(around[2]) - of(around[0])) / range;
            alone[around[1]] += if part.is_finite() { part } else { 0.0 };
        }
    }
    alone
}
