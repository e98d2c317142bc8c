//! Coordinate descent: one knob, or one group of knobs, at a time, until no change of one helps. Then two knobs of a
//! group at a time, one an option up and the other down: within a budget, one gains only by what another gives up.

use super::memory::{is_better, Memory};
use super::{changes, Choice, Move, Value};
use anyhow::Result;

/// Goes down from a candidate for one goal.
pub(super) fn descend(memory: &mut Memory<'_>, from: Choice, goal: usize) -> Result<()> {
    let mut at = from;
    loop {
        let before = at.clone();
        for knobs in lines(memory) {
            at = best_of_line(memory, at, &knobs, goal)?;
        }
        if at == before {
            at = best_exchange(memory, at, goal)?;
        }
        if at == before || !memory.has_budget() {
            return Ok(());
        }
    }
}

/// All candidates that change one knob of another candidate.
pub(super) fn single(memory: &Memory<'_>, from: &Choice) -> Vec<Choice> {
    let of_knob = |(knob, options): (usize, &usize)| {
        let with = |option: usize| {
            let mut choice = from.clone();
            choice[knob] = option;
            choice
        };
        (0..*options).filter(|option| *option != from[knob]).map(with).collect::<Vec<_>>()
    };
    memory.problem.options().iter().enumerate().flat_map(of_knob).collect()
}

/// Groups first, because they go further at once; then each knob.
fn lines(memory: &Memory<'_>) -> Vec<Vec<usize>> {
    let options = memory.problem.options();
    let single = (0..options.len()).filter(|knob| options[*knob] > 1).map(|knob| vec![knob]);
    memory.problem.groups().iter().filter(|group| group.len() > 1).cloned().chain(single).collect()
}

/// The best candidate in which one knob of a group is an option higher, and another an option lower.
fn best_exchange(memory: &mut Memory<'_>, from: Choice, goal: usize) -> Result<Choice> {
    let mut batch = Vec::new();
    for group in memory.problem.groups() {
        for up in group {
            for down in group.iter().filter(|down| *down != up && from[**down] > 0) {
                let mut choice = from.clone();
                (choice[*up], choice[*down]) = (from[*up] + 1, from[*down] - 1);
                if choice[*up] < memory.problem.options()[*up] {
                    batch.push(choice);
                }
            }
        }
    }
    best_of(memory, from, batch, goal)
}

/// The best candidate that differs from one in these knobs alone, which all get the same option.
fn best_of_line(memory: &mut Memory<'_>, from: Choice, knobs: &[usize], goal: usize) -> Result<Choice> {
    let Some(first) = knobs.first() else { return Ok(from) };
    let with = |option: usize| {
        let mut choice = from.clone();
        knobs.iter().for_each(|knob| choice[*knob] = option);
        choice
    };
    let batch = (0..memory.problem.options()[*first]).map(with).collect();
    best_of(memory, from, batch, goal)
}

/// The best of a candidate and a batch; of equal ones, the one with the fewest changes.
fn best_of(memory: &mut Memory<'_>, from: Choice, batch: Vec<Choice>, goal: usize) -> Result<Choice> {
    let batch: Vec<Choice> = std::iter::once(from.clone()).chain(batch).collect();
    let mut best: Option<(Choice, Value)> = None;
    for (choice, value) in memory.values(&batch, Move::Descent)? {
        let Some(value) = value else { continue };
        let better = best.as_ref().is_none_or(|(known, of)| {
            is_better(&value, of, goal) || (!is_better(of, &value, goal) && changes(&choice) < changes(known))
        });
        if better {
            best = Some((choice, value));
        }
    }
    Ok(best.map_or(from, |(choice, _)| choice))
}
