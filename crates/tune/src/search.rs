//! Finds the best of many combinations of choices: coordinate descent, then an integer NSGA-II, then descent again.
//!
//! A candidate has one option of each knob; option 0 leaves the knob as it is. No candidate is evaluated twice.
//! Candidates are evaluated in batches that do not depend on the number of threads, so one seed gives one result.
//!
//! NSGA-II: Deb, Pratap, Agarwal, Meyarivan, *A fast and elitist multiobjective genetic algorithm*, IEEE Transactions
//! on Evolutionary Computation 6(2), 2002, with its constrained domination.

mod descent;
mod evolution;
mod front;
mod memory;
mod simplify;

use anyhow::Result;
use memory::Memory;
use serde::{Deserialize, Serialize};

/// One option of each knob.
pub type Choice = Vec<usize>;

/// What is searched.
pub trait Problem: Sync {
    /// Number of options of each knob, at least 1.
    fn options(&self) -> &[usize];

    /// Knobs that have the same options in the same order: the search also sets all knobs of a group at once.
    fn groups(&self) -> &[Vec<usize>] {
        &[]
    }

    /// Evaluates a candidate.
    fn evaluate(&self, choice: &[usize]) -> Result<Value>;
}

/// The value of a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// One figure a goal; less is better. Infinite if the figure does not exist, because nothing came through.
    pub goals: Vec<f64>,
    /// How far it is beyond the constraints, as the sum of relative excesses; 0 if it keeps all.
    pub excess: f64,
}

impl Value {
    /// Whether it is at least as good in every goal and better in one. A candidate within the constraints dominates all
    /// beyond them; of two beyond them, the one with the smaller excess dominates.
    pub fn dominates(&self, other: &Value) -> bool {
        if self.excess > 0.0 || other.excess > 0.0 {
            return self.excess < other.excess;
        }
        let pairs = || self.goals.iter().zip(&other.goals);
        pairs().all(|(own, other)| own <= other) && pairs().any(|(own, other)| own < other)
    }

    /// Whether it keeps all constraints and has every figure.
    pub fn is_possible(&self) -> bool {
        self.excess <= 0.0 && self.goals.iter().all(|goal| goal.is_finite())
    }
}

/// Part of the budget that changes of the system as it is may have alone: a fourth.
const SINGLE: usize = 4;

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Seed of the search.
    pub seed: u64,
    /// Most candidates that are evaluated.
    pub evaluations: usize,
    /// Number of threads that evaluate candidates; the result does not depend on it.
    pub threads: usize,
}

/// What led the search to a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Move {
    /// The system as it is.
    AsIs,
    /// One knob, one group of knobs, or two of a group changed.
    Descent,
    /// Two candidates crossed and changed at random.
    Evolution,
    /// All candidates were evaluated.
    Enumeration,
    /// A change taken back, because it buys too little.
    Simplification,
}

/// A candidate that was better in a goal than all before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advance {
    /// Number of candidates that were evaluated until then.
    pub evaluations: usize,
    /// Number of the goal.
    pub goal: usize,
    /// What led to it.
    pub by: Move,
    /// The candidate.
    pub choice: Choice,
    /// Its value.
    pub value: Value,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Number of candidates that were evaluated.
    pub evaluations: usize,
    /// Candidates that no other one dominates, of those with equal values the one with the fewest changes; in the order
    /// of the first goal. Empty if no candidate is possible.
    pub front: Vec<(Choice, Value)>,
    /// How it came there.
    pub trail: Vec<Advance>,
}

/// Number of knobs that a candidate changes.
fn changes(choice: &[usize]) -> usize {
    choice.iter().filter(|option| **option > 0).count()
}

/// A search of one problem, which remembers all candidates that it evaluated.
pub struct Search<'p> {
    memory: Memory<'p>,
    settings: Settings,
}

impl<'p> Search<'p> {
    /// Begins one. `progress` gets the number of candidates that were evaluated.
    pub fn new(problem: &'p dyn Problem, settings: Settings, progress: &'p mut dyn FnMut(usize)) -> Search<'p> {
        Search { memory: Memory::new(problem, settings, progress), settings }
    }

    /// Searches until nothing better comes or the budget is used up.
    pub fn run(&mut self) -> Result<()> {
        let as_is = vec![0; self.memory.problem.options().len()];
        let begun = self.memory.values(std::slice::from_ref(&as_is), Move::AsIs)?;
        let goals = begun.first().and_then(|(_, value)| Some(value.as_ref()?.goals.len())).unwrap_or(0);
        // What each change buys alone, so that one is known that does what many others do together.
        let single = descent::single(&self.memory, &as_is);
        if single.len() <= self.settings.evaluations / SINGLE {
            self.memory.values(&single, Move::Descent)?;
        }
        for goal in 0..goals {
            descent::descend(&mut self.memory, as_is.clone(), goal)?;
        }
        evolution::evolve(&mut self.memory, self.settings.seed)?;
        for goal in 0..goals {
            if let Some(best) = self.memory.best(goal) {
                descent::descend(&mut self.memory, best, goal)?;
            }
        }
        Ok(())
    }

    /// Evaluates every candidate.
    pub fn enumerate(&mut self) -> Result<()> {
        self.memory.lift_budget();
        let options = self.memory.problem.options().to_vec();
        let mut batch = Vec::new();
        let mut next = Some(vec![0; options.len()]);
        while let Some(choice) = next {
            next = after(&choice, &options);
            batch.push(choice);
            if batch.len() == 256 || next.is_none() {
                self.memory.values(&batch, Move::Enumeration)?;
                batch.clear();
            }
        }
        Ok(())
    }

    /// Candidates with fewer changes than another one, and worse by at most the margin of each goal, a part of its
    /// value: those with the fewest changes first, some.
    pub fn simpler(&self, than: &Choice, margins: &[f64]) -> Vec<Choice> {
        simplify::simpler(&self.memory, than, margins)
    }

    /// A candidate with few changes that is worse than `from` by at most the margin of each goal, a part of its value.
    /// It begins with the first of `simpler` that is, and takes changes back, those that buy least first. Evaluates
    /// beyond the budget.
    pub fn simplify(&mut self, from: Choice, simpler: Vec<Choice>, margins: &[f64]) -> Result<Choice> {
        self.memory.lift_budget();
        simplify::simplify(&mut self.memory, from, simpler, margins)
    }

    /// The value of a candidate that was evaluated.
    pub fn value(&self, choice: &[usize]) -> Option<&Value> {
        self.memory.value(choice)
    }

    /// The result so far.
    pub fn found(&self) -> Found {
        self.memory.found()
    }
}

/// Number of candidates.
pub fn size(options: &[usize]) -> u128 {
    options.iter().fold(1, |size: u128, count| size.saturating_mul(*count as u128))
}

fn after(choice: &[usize], options: &[usize]) -> Option<Choice> {
    let mut next = choice.to_vec();
    for (option, count) in next.iter_mut().zip(options) {
        *option += 1;
        if *option < *count {
            return Some(next);
        }
        *option = 0;
    }
    None
}

#[cfg(test)]
mod tests;
