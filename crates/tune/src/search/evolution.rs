//! The integer NSGA-II: candidates are crossed and changed at random, and the best of parents and children survive.

use super::front::ranked;
use super::memory::Memory;
use super::{Choice, Move, Value};
use anyhow::Result;
use std::collections::HashSet;
use tacho_workload::random::{mix, Draws};

/// Candidates of a generation.
const POPULATION: usize = 24;
/// Generations without a new candidate on the front after which it ends.
const PATIENCE: usize = 6;
/// Attempts to make a child that is not known yet.
const ATTEMPTS: usize = 8;
/// How often knobs of a group are set at once.
const GROUP: f64 = 0.15;

/// Evolves what the memory holds until the budget is used up or nothing better comes.
pub(super) fn evolve(memory: &mut Memory<'_>, seed: u64) -> Result<()> {
    let mut draws = Draws::new(mix(seed ^ 0x6576_6f6c));
    let mut population = survivors(memory, memory.all().map(|(choice, _)| choice.clone()).collect());
    let mut waited = 0;
    while memory.has_budget() && waited < PATIENCE {
        let children = children(memory, &population, &mut draws);
        if children.is_empty() {
            return Ok(());
        }
        let front = first_front(memory, &population);
        memory.values(&children, Move::Evolution)?;
        let both = population.into_iter().chain(children).filter(|choice| memory.knows(choice)).collect();
        population = survivors(memory, both);
        waited = if first_front(memory, &population) == front { waited + 1 } else { 0 };
    }
    Ok(())
}

fn values<'m>(memory: &'m Memory<'_>, choices: &[Choice]) -> Vec<&'m Value> {
    choices.iter().filter_map(|choice| memory.value(choice)).collect()
}

fn first_front(memory: &Memory<'_>, population: &[Choice]) -> HashSet<Choice> {
    let ranks = ranked(&values(memory, population));
    population.iter().zip(ranks).filter(|(_, rank)| rank.front == 0).map(|(choice, _)| choice.clone()).collect()
}

/// The best of them: by front, then by how alone they stand on it.
fn survivors(memory: &Memory<'_>, choices: Vec<Choice>) -> Vec<Choice> {
    let ranks = ranked(&values(memory, &choices));
    let mut order: Vec<usize> = (0..choices.len()).collect();
    order.sort_by(|a, b| ranks[*a].compare(&ranks[*b]));
    order.truncate(POPULATION);
    order.into_iter().map(|at| choices[at].clone()).collect()
}

/// Children that are not known yet. None: the space holds hardly any candidate that is not.
fn children(memory: &Memory<'_>, population: &[Choice], draws: &mut Draws) -> Vec<Choice> {
    let mut made: Vec<Choice> = Vec::new();
    // Survivors are in the order of their ranks, so of two the one that comes first wins a tournament.
    let parent = |draws: &mut Draws| below(population.len(), draws).min(below(population.len(), draws));
    for _ in 0..POPULATION * ATTEMPTS {
        if made.len() == POPULATION {
            break;
        }
        let (one, other) = (parent(draws), parent(draws));
        let mut child = population[one].clone();
        for (own, of_other) in child.iter_mut().zip(&population[other]) {
            if draws.uniform() < 0.5 {
                *own = *of_other;
            }
        }
        mutate(memory, &mut child, draws);
        if !memory.knows(&child) && !made.contains(&child) {
            made.push(child);
        }
    }
    made
}

fn mutate(memory: &Memory<'_>, child: &mut Choice, draws: &mut Draws) {
    let (options, groups) = (memory.problem.options(), memory.problem.groups());
    if !groups.is_empty() && draws.uniform() < GROUP {
        let group = &groups[below(groups.len(), draws)];
        if let Some(first) = group.first() {
            let option = below(options[*first], draws);
            group.iter().for_each(|knob| child[*knob] = option);
        }
    }
    let certain = below(child.len(), draws);
    let often = 1.0 / child.len() as f64;
    for knob in 0..child.len() {
        if knob == certain || draws.uniform() < often {
            child[knob] = match draws.uniform() {
                // Back to as it is: plans with few changes are what is wanted.
                back if back < 0.25 => 0,
                // Options of a knob lie in an order: the next one is the most similar.
                step if step < 0.5 => (child[knob] + 1).min(options[knob] - 1),
                step if step < 0.75 => child[knob].saturating_sub(1),
                _ => below(options[knob], draws),
            };
        }
    }
}

/// A number below a count.
fn below(count: usize, draws: &mut Draws) -> usize {
    (draws.bits() % count.max(1) as u64) as usize
}
