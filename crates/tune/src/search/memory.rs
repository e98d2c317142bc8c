//! Remembers what was evaluated, and evaluates what is new on several threads.

use super::front::nondominated;
use super::{changes, Advance, Choice, Found, Move, Problem, Settings, Value};
use anyhow::{anyhow, Result};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tacho_tables::in_order::work_alone;

/// All candidates that were evaluated.
pub(super) struct Memory<'p> {
    pub problem: &'p dyn Problem,
    settings: Settings,
    known: HashMap<Choice, Value>,
    /// In the order of their evaluation.
    order: Vec<Choice>,
    trail: Vec<Advance>,
    /// The best candidate for each goal.
    best: Vec<Choice>,
    progress: &'p mut dyn FnMut(usize),
}

impl<'p> Memory<'p> {
    pub fn new(problem: &'p dyn Problem, settings: Settings, progress: &'p mut dyn FnMut(usize)) -> Memory<'p> {
        Memory { problem, settings, known: HashMap::new(), order: vec![], trail: vec![], best: vec![], progress }
    }

    /// Whether another candidate may be evaluated.
    pub fn has_budget(&self) -> bool {
        self.order.len() < self.settings.evaluations
    }

    /// Evaluates as many as are asked for from now on.
    pub fn lift_budget(&mut self) {
        self.settings.evaluations = usize::MAX;
    }

    pub fn knows(&self, choice: &[usize]) -> bool {
        self.known.contains_key(choice)
    }

    pub fn value(&self, choice: &[usize]) -> Option<&Value> {
        self.known.get(choice)
    }

    /// All candidates that were evaluated, in order.
    pub fn all(&self) -> impl Iterator<Item = (&Choice, &Value)> + use<'_, 'p> {
        self.order.iter().map(|choice| (choice, &self.known[choice]))
    }

    /// The best candidate for a goal, if any keeps the constraints.
    pub fn best(&self, goal: usize) -> Option<Choice> {
        self.best.get(goal).filter(|best| self.known[*best].is_possible()).cloned()
    }

    /// The value of each candidate of a batch: new ones are evaluated, in their order, while the budget lasts. `None`:
    /// it did not last.
    pub fn values(&mut self, batch: &[Choice], by: Move) -> Result<Vec<(Choice, Option<Value>)>> {
        let mut new: Vec<Choice> = Vec::new();
        for choice in batch {
            let room = self.order.len() + new.len() < self.settings.evaluations;
            if room && !self.knows(choice) && !new.contains(choice) {
                new.push(choice.clone());
            }
        }
        for (choice, value) in new.iter().zip(self.evaluated(&new)) {
            self.remember(choice.clone(), value?, by);
        }
        (self.progress)(self.order.len());
        Ok(batch.iter().map(|choice| (choice.clone(), self.known.get(choice).cloned())).collect())
    }

    fn evaluated(&self, new: &[Choice]) -> Vec<Result<Value>> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<Option<Result<Value>>>> = Mutex::new(new.iter().map(|_| None).collect());
        let work = || loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(choice) = new.get(at) else { return };
            let value = self.problem.evaluate(choice);
            results.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(value);
        };
        std::thread::scope(|scope| {
            for _ in 0..self.settings.threads.clamp(1, new.len().max(1)) {
                scope.spawn(|| {
                    // A candidate is simulated for so short that threads cost more than they save.
                    work_alone();
                    work();
                });
            }
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let lacking = || Err(anyhow!("a candidate was not evaluated"));
        results.into_iter().map(|result| result.unwrap_or_else(lacking)).collect()
    }

    fn remember(&mut self, choice: Choice, value: Value, by: Move) {
        self.order.push(choice.clone());
        self.known.insert(choice.clone(), value.clone());
        for goal in 0..value.goals.len() {
            let is_better = self.best.get(goal).is_none_or(|best| is_better(&value, &self.known[best], goal));
            if is_better {
                let evaluations = self.order.len();
                self.trail.push(Advance { evaluations, goal, by, choice: choice.clone(), value: value.clone() });
                if goal < self.best.len() {
                    self.best[goal] = choice.clone();
                } else {
                    self.best.push(choice.clone());
                }
            }
        }
    }

    /// The result so far.
    pub fn found(&self) -> Found {
        let possible = self.order.iter().map(|choice| (choice.clone(), self.known[choice].clone()));
        let mut possible: Vec<(Choice, Value)> = possible.filter(|(_, value)| value.is_possible()).collect();
        // Of equal values, the fewest changes; then the first that was evaluated.
        possible.sort_by(|(a, x), (b, y)| {
            let goals = x.goals.iter().zip(&y.goals).map(|(x, y)| x.total_cmp(y));
            goals.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then(changes(a).cmp(&changes(b)))
        });
        possible.dedup_by(|later, earlier| later.1 == earlier.1);
        let values: Vec<&Value> = possible.iter().map(|(_, value)| value).collect();
        let front = nondominated(&values).into_iter().map(|at| possible[at].clone()).collect();
        Found { evaluations: self.order.len(), front, trail: self.trail.clone() }
    }
}

/// Whether a value is better than another for one goal; what breaks constraints is worse than what keeps them.
pub(super) fn is_better(value: &Value, than: &Value, goal: usize) -> bool {
    match (value.excess > 0.0, than.excess > 0.0) {
        (false, false) => value.goals[goal] < than.goals[goal],
        (true, true) => value.excess < than.excess,
        (breaks, _) => !breaks,
    }
}
