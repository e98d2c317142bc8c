//! The search on problems whose best candidates follow from a formula or from evaluating all of them.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rates that a node may spin at, Hz.
const RATES: [f64; 12] = [10.0, 15.0, 20.0, 30.0, 50.0, 80.0, 100.0, 150.0, 200.0, 300.0, 500.0, 1000.0];

/// A chain of spinning nodes: half a period of alignment a node, a check of its own at each wake, and a loss of time to
/// the checks of the others, as in study E's equations. Goals: response in ms, checks in percent of a CPU.
struct Spinning {
    checks_ms: Vec<f64>,
    options: Vec<usize>,
    groups: Vec<Vec<usize>>,
    goals: usize,
    most_percent: f64,
    evaluated: AtomicUsize,
}

impl Spinning {
    fn new(checks_ms: &[f64], goals: usize, most_percent: f64) -> Spinning {
        Spinning {
            checks_ms: checks_ms.to_vec(),
            options: vec![RATES.len(); checks_ms.len()],
            groups: vec![(0..checks_ms.len()).collect()],
            goals,
            most_percent,
            evaluated: AtomicUsize::new(0),
        }
    }

    fn figures(&self, choice: &[usize]) -> (f64, f64) {
        let rates = || choice.iter().map(|option| RATES[*option]);
        let alignment_ms: f64 = rates().map(|hz| 500.0 / hz).sum();
        let used: f64 = rates().zip(&self.checks_ms).map(|(hz, check_ms)| hz * check_ms / 1e3).sum();
        // What is left of the CPU after the checks computes the chain's 20 ms.
        let computed_ms = 20.0 / (1.0 - used).max(1e-3);
        (alignment_ms + computed_ms, 100.0 * used)
    }
}

impl Problem for Spinning {
    fn options(&self) -> &[usize] {
        &self.options
    }

    fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    fn evaluate(&self, choice: &[usize]) -> Result<Value> {
        self.evaluated.fetch_add(1, Ordering::Relaxed);
        let (response_ms, percent) = self.figures(choice);
        let goals = [response_ms, percent][..self.goals].to_vec();
        Ok(Value { goals, excess: (percent / self.most_percent - 1.0).max(0.0) })
    }
}

fn settings(evaluations: usize) -> Settings {
    Settings { seed: 7, evaluations, threads: 2 }
}

fn exact(problem: &Spinning) -> Found {
    let mut progress = |_| {};
    let mut search = Search::new(problem, settings(0), &mut progress);
    search.enumerate().expect("all");
    assert_eq!(search.found().evaluations as u128, size(&problem.options));
    search.found()
}

fn searched(problem: &dyn Problem, settings: Settings) -> Found {
    let mut progress = |_| {};
    let mut search = Search::new(problem, settings, &mut progress);
    search.run().expect("a result");
    search.found()
}

#[test]
fn a_hundredth_of_the_candidates_leads_to_within_two_percent_of_the_best() {
    let systems: [(&[f64], f64); 4] = [
        (&[0.05, 0.05, 0.05, 0.05], 100.0),
        (&[0.05, 0.5, 0.05, 1.0], 100.0),
        (&[0.2, 0.01, 0.6, 0.05], 12.0),
        (&[1.0, 0.3, 0.02, 0.02], 5.0),
    ];
    for (checks_ms, most_percent) in systems {
        let problem = Spinning::new(checks_ms, 1, most_percent);
        let best = exact(&problem).front[0].1.goals[0];
        let found = searched(&problem, settings(20_736 / 100));
        let ours = found.front[0].1.goals[0];
        assert!(found.evaluations <= 207, "{}", found.evaluations);
        assert!(ours <= 1.02 * best, "{ours} of {best} at {checks_ms:?}");
    }
}

/// Area that points of two goals dominate below a reference.
fn hypervolume(points: impl Iterator<Item = (f64, f64)>, reference: (f64, f64)) -> f64 {
    let mut points: Vec<(f64, f64)> = points.filter(|(x, y)| *x < reference.0 && *y < reference.1).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut area, mut ceiling) = (0.0, reference.1);
    for (x, y) in points {
        if y < ceiling {
            area += (reference.0 - x) * (ceiling - y);
            ceiling = y;
        }
    }
    area
}

#[test]
fn the_volume_of_a_staircase_is_that_of_its_steps() {
    let points = [(1.0, 3.0), (2.0, 1.0), (2.5, 2.0), (9.0, 0.0)];
    assert_eq!(hypervolume(points.into_iter(), (4.0, 4.0)), 3.0 * 1.0 + 2.0 * 2.0);
}

#[test]
fn the_front_of_two_goals_covers_what_the_exact_front_covers() {
    let problem = Spinning::new(&[0.05, 0.5, 0.05, 1.0], 2, 100.0);
    let volume = |found: &Found| {
        let points = found.front.iter().map(|(_, value)| (value.goals[0], value.goals[1]));
        hypervolume(points, (400.0, 100.0))
    };
    let (all, ours) = (exact(&problem), searched(&problem, settings(600)));
    assert!(volume(&ours) >= 0.99 * volume(&all), "{} of {}", volume(&ours), volume(&all));
    let dominated = |value: &Value| ours.front.iter().any(|(_, other)| other.dominates(value));
    assert!(ours.front.iter().all(|(_, value)| !dominated(value)));
}

#[test]
fn nothing_is_evaluated_twice_and_the_number_of_threads_changes_nothing() {
    let found = |threads| {
        let problem = Spinning::new(&[0.05, 0.5, 0.05], 2, 50.0);
        let found = searched(&problem, Settings { threads, ..settings(300) });
        assert_eq!(problem.evaluated.load(Ordering::Relaxed), found.evaluations);
        assert!(found.evaluations <= 300);
        found
    };
    let one = found(1);
    assert_eq!(found(4), one);
    assert_eq!(found(4), one);
    let last = one.trail.iter().rfind(|advance| advance.goal == 0).expect("an advance");
    assert_eq!(last.value.goals[0], one.front[0].1.goals[0], "the trail ends at what was found");
    assert_eq!((one.trail[0].by, one.trail[0].evaluations), (Move::AsIs, 1));
}

#[test]
fn what_breaks_a_constraint_is_never_on_the_front() {
    let problem = Spinning::new(&[1.0, 1.0], 1, 3.0);
    let found = searched(&problem, settings(144));
    let (choice, value) = &found.front[0];
    assert!(problem.figures(choice).1 <= 3.0 && value.excess == 0.0);
    assert_eq!(value.goals[0], exact(&problem).front[0].1.goals[0]);
    let impossible = Spinning::new(&[1.0, 1.0], 1, 0.5);
    assert!(searched(&impossible, settings(144)).front.is_empty());
}

/// Two knobs that help only together, among knobs that do nothing.
struct Together;

impl Problem for Together {
    fn options(&self) -> &[usize] {
        &[3, 3, 3, 3, 3, 3]
    }

    fn evaluate(&self, choice: &[usize]) -> Result<Value> {
        let gain = if choice[1] == 2 && choice[4] == 1 { 5.0 } else { 0.0 };
        Ok(Value { goals: vec![10.0 - gain], excess: 0.0 })
    }
}

#[test]
fn changes_that_help_only_together_are_found_and_those_that_do_nothing_are_left_out() {
    let found = searched(&Together, settings(500));
    assert_eq!(found.front[0].1.goals, [5.0]);
    assert_eq!(found.front[0].0, [0, 2, 0, 0, 1, 0]);
}

/// Each change of a knob saves its own number of ms.
struct Savings([f64; 5]);

impl Problem for Savings {
    fn options(&self) -> &[usize] {
        &[2, 2, 2, 2, 2]
    }

    fn evaluate(&self, choice: &[usize]) -> Result<Value> {
        let saved: f64 = choice.iter().zip(self.0).map(|(option, ms)| *option as f64 * ms).sum();
        Ok(Value { goals: vec![200.0 - saved], excess: 0.0 })
    }
}

/// One change that buys nearly as much as three others together.
struct OneOrThree;

impl Problem for OneOrThree {
    fn options(&self) -> &[usize] {
        &[2, 2, 2, 2]
    }

    fn evaluate(&self, choice: &[usize]) -> Result<Value> {
        let three = 30.0 * choice[1..].iter().sum::<usize>() as f64;
        let goal = if choice[0] == 1 { 115.0 } else { 200.0 - three };
        Ok(Value { goals: vec![goal], excess: 0.0 })
    }
}

#[test]
fn one_change_is_taken_instead_of_three_that_buy_hardly_more() {
    let simple = |margin: f64| {
        let mut progress = |_| {};
        let mut search = Search::new(&OneOrThree, settings(100), &mut progress);
        search.run().expect("a result");
        let best = search.found().front[0].0.clone();
        assert_eq!(best, [0, 1, 1, 1]);
        let simpler = search.simpler(&best, &[margin]);
        search.simplify(best, simpler, &[margin]).expect("a plan")
    };
    // 115 ms instead of 110 ms.
    assert_eq!(simple(0.04), [0, 1, 1, 1]);
    assert_eq!(simple(0.05), [1, 0, 0, 0]);
}

#[test]
fn changes_that_buy_less_than_the_margin_are_taken_back_as_long_as_all_together_stay_within_it() {
    let simple = |margin: f64| {
        let mut progress = |_| {};
        let problem = Savings([50.0, 0.6, 40.0, 0.0, 0.7]);
        let mut search = Search::new(&problem, settings(100), &mut progress);
        search.run().expect("a result");
        search.simplify(vec![1; 5], vec![], &[margin]).expect("a plan")
    };
    // The best has 108.7 ms.
    assert_eq!(simple(0.0), [1, 1, 1, 0, 1]);
    assert_eq!(simple(0.006), [1, 0, 1, 0, 1], "0.6 ms are below 0.65 ms, 1.3 ms are not");
    assert_eq!(simple(0.02), [1, 0, 1, 0, 0]);
    assert_eq!(simple(1.0), [0, 0, 0, 0, 0]);
}
