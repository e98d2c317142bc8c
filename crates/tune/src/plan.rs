//! A plan: what to change in a workload, found by simulating candidates with the costs of a measured run.
//!
//! The search draws phases and work of its own, so a plan does not exploit the phases of the proof. Changes are then
//! taken back in yet other phases, so it does not exploit those of the search either. A change stays if it buys more
//! than the simulation is off for the system as it was measured, and more than other phases change.

mod alternatives;
mod code;
mod drive;
mod files;
mod fragments;
mod goal;
mod kept;
mod oracle;
mod space;
mod step;

pub use alternatives::{alternatives, Alternative, Seen};
pub use code::CodePlace;
pub use files::{write_files, PLAN_FOLDER};
pub use goal::{Bound, Figure, Goal};
pub use kept::Kept;
pub use oracle::{ChainTimes, SystemFigures};
pub use space::{Key, Machine, Turned};
pub use step::{doubt_of_threads, nodes_in_python, PlanStep};

use crate::apply::Tuned;
use crate::search::{self, Choice, Found, Move, Problem, Search, Settings, Value};
use anyhow::{bail, Context, Result};
use drive::Driving;
use oracle::Oracle;
use serde::{Deserialize, Serialize};
use space::Space;
use std::path::Path;
use std::time::Duration;
use tacho_events::run::RunDirectory;
use tacho_simulate::Simulator;
use tacho_tables::{store, summary::Summary};
use tacho_workload::random::mix;
use tacho_workload::Workload;

/// Candidates that are simulated unless the user names another number; if the car drives for each.
const EVALUATIONS: usize = 1000;
const EVALUATIONS_OF_DRIVES: usize = 100;
/// Draws of phases and work that each candidate gets: a prime, over which phases are stratified.
const DRAWS: u32 = 5;
/// Draws of other phases, for the candidate that was chosen: it may owe its place to the phases of the search.
const OTHER_DRAWS: u32 = 13;
/// Periods of the slowest node in each draw; more if a goal is about rare cases.
const PERIODS: f64 = 5.0;
const PERIODS_OF_RARE: f64 = 20.0;
/// Shortest draw.
const SHORTEST: Duration = Duration::from_millis(300);
/// The least that a simulation is taken to be off: what other phases and other work change.
const LEAST_MARGIN: f64 = 0.01;
/// Part of a chain's outputs that a candidate may lack.
const LACKING: f64 = 0.02;

/// What to plan.
pub struct Planning<'a> {
    /// Simulates, with the costs of `measured`.
    pub simulator: &'a Simulator<'a>,
    /// The workload as it is.
    pub workload: &'a Workload,
    /// The chain that is tuned.
    pub chain: &'a str,
    /// What to improve; at least one.
    pub goals: &'a [Goal],
    /// What to keep below.
    pub bounds: &'a [Bound],
    /// What may change.
    pub keys: &'a [Key],
    /// Nodes and topics that stay as they are, or one key of them (`ndt.priority`).
    pub keep: &'a [String],
    /// What the machine permits.
    pub machine: &'a Machine,
    /// A run of the workload on real middleware.
    pub measured: &'a RunDirectory,
    /// An existing folder for simulated events, which it leaves as it was.
    pub folder: &'a Path,
    /// How to search.
    pub settings: Settings,
    /// Whether to simulate every candidate.
    pub exhaustive: bool,
}

/// What to change, what it buys, and how far to trust that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The tuned workload and all changes.
    pub tuned: Tuned,
    /// The chain that is tuned.
    pub chain: String,
    /// What was to be improved.
    pub goals: Vec<Goal>,
    /// What was to be kept below.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub bounds: Vec<Bound>,
    /// Each change, and what it buys.
    pub steps: Vec<PlanStep>,
    /// How far the simulation of the system as it was measured is off.
    pub errors: Vec<ModelError>,
    /// How far the figures of the best candidate differ in other phases than those of the search, percent.
    pub phases_percent: f64,
    /// The greatest of these errors, as a part: what the figures of the plan may be off.
    pub margin: f64,
    /// What a change must buy to be in the plan, as a part: more than the simulation is off for the system as it was
    /// measured, and than the figure or its gain differs in other phases, the less of both.
    #[serde(default)]
    pub least_gain: f64,
    /// Simulated as it is, with the phases of the proof.
    pub as_is: SystemFigures,
    /// Simulated as planned, with the same phases.
    pub planned: SystemFigures,
    /// What the search did.
    pub search: SearchLog,
    /// What is beyond what was measured, or not modelled.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub doubts: Vec<String>,
    /// The system as it is and its alternatives, as measured; empty if none was.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub alternatives: Vec<Seen>,
}

/// A figure of the system as it is, measured and simulated with the same phases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelError {
    /// The figure, in words.
    pub figure: String,
    /// As measured.
    pub measured: f64,
    /// As simulated.
    pub simulated: f64,
    /// Difference of the simulated from the measured, percent of the measured.
    pub error_percent: f64,
}

/// What a search did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchLog {
    /// Candidates that were simulated, those that took changes back included.
    pub evaluations: usize,
    /// Candidates in all. It is inexact beyond 2^53.
    pub candidates: f64,
    /// Whether all of them were simulated.
    pub exhaustive: bool,
    /// Seed of the search.
    pub seed: u64,
    /// Virtual time of each draw, s, and draws of each candidate.
    pub draw_s: f64,
    /// Number of draws.
    pub draws: u32,
    /// Candidates that no other one is better than in every goal, before changes were taken back.
    pub front: Vec<Considered>,
    /// How the search came to the best of each goal.
    pub trail: Vec<TrailStep>,
    /// The plan as the search valued it, one figure a goal.
    pub value: Vec<f64>,
}

/// A candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Considered {
    /// One figure a goal.
    pub value: Vec<f64>,
    /// What it changes.
    pub changes: Vec<String>,
}

/// A step of a search that was better in one goal than all before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrailStep {
    /// Candidates that were simulated until then.
    pub evaluations: usize,
    /// The goal.
    pub goal: Goal,
    /// Its figure.
    pub value: f64,
    /// What led to it.
    pub by: Move,
    /// What it changes of the system as it is.
    pub changes: Vec<String>,
}

/// Candidates as the search sees them.
struct Candidates<'a> {
    planning: &'a Planning<'a>,
    space: &'a Space,
    oracle: Oracle<'a>,
    draw: Duration,
    /// Number of draws, and the seed of their phases.
    draws: u32,
    seed: u64,
    as_is: SystemFigures,
}

impl Planning<'_> {
    /// Number of candidates. Err: what is kept or tuned does not exist, or nothing may change.
    pub fn candidates(&self) -> Result<f64, String> {
        let measured = store::read_summary(self.measured).map_err(|error| error.to_string())?;
        Ok(search::size(&self.space(&measured)?.options) as f64)
    }

    fn space(&self, measured: &Summary) -> Result<Space, String> {
        let chain = self.workload.chain(self.chain).ok_or_else(|| format!("no chain `{}`", self.chain))?;
        if let Some(choice) = chain.choice(self.workload) {
            return Err(choice);
        }
        if self.is_about_driving() {
            drive::check(self.workload, self.simulator.tasks)?;
        }
        let of_chains = self.figures().filter(|goal| goal.figure.is_of_chain());
        if let Some(goal) = of_chains.into_iter().find(|goal| self.workload.chain(goal.chain(self.chain)).is_none()) {
            let known: Vec<&str> = self.workload.chains.iter().map(|chain| chain.name.as_str()).collect();
            return Err(format!("`{goal}`: no chain of the workload; expected one of: {}", known.join(", ")));
        }
        let python = nodes_in_python(measured, self.workload);
        let space = Space::of(self.workload, &chain.nodes, self.keys, self.keep, &python, self.machine)?;
        if space.options.is_empty() {
            return Err("nothing of the workload may change: expected fewer --keep, or more --change".into());
        }
        Ok(space)
    }

    /// `drives`: fewest drives at each speed.
    fn oracle(&self, drives: u32) -> Oracle<'_> {
        let driving = Driving { way_m: drive::way_m(self.workload, self.simulator.tasks), drives };
        let driving = self.is_about_driving().then_some(driving);
        Oracle { simulator: self.simulator, folder: self.folder, driving, as_it_is: None }
    }

    fn is_about_driving(&self) -> bool {
        drive::is_wanted(self.goals, self.bounds)
    }

    /// The goals, and those that are bounded.
    fn figures(&self) -> impl Iterator<Item = &Goal> {
        self.goals.iter().chain(self.bounds.iter().map(|bound| &bound.goal))
    }

    /// Searches, and takes back changes that buy less than the simulation is off. `progress` gets the number of
    /// candidates that were simulated. Errors: a key or bound that does not exist, nothing that may change, no
    /// candidate within the bounds, or a simulation that fails or was interrupted.
    pub fn plan(&self, progress: &mut dyn FnMut(usize)) -> Result<Plan> {
        let measured = store::read_summary(self.measured)?;
        let space = self.space(&measured).map_err(anyhow::Error::msg)?;
        let mut doubts = Vec::new();
        let oracle = |drives| self.oracle(drives);
        let (errors, margin) = self.errors(&measured)?;
        let as_is = oracle(OTHER_DRAWS).figures(self.workload, self.workload.run.repeats, &mut doubts)?;
        self.check_figures(&as_is)?;
        let draw = self.draw();
        let candidates = |draws: u32, seed: u64| -> Result<Candidates<'_>> {
            let drawn = self.drawn(self.workload, draw, draws, seed);
            let as_is = oracle(draws).figures(&drawn, draws, &mut vec![])?;
            let as_it_is = self.workload.chain(self.chain).map(|chain| (self.workload, chain));
            let oracle = Oracle { as_it_is, ..oracle(draws) };
            Ok(Candidates { planning: self, space: &space, oracle, draw, draws, seed, as_is })
        };
        let (candidates, others) = (candidates(DRAWS, 1)?, candidates(OTHER_DRAWS, 2)?);
        let mut search = Search::new(&candidates, self.settings, &mut *progress);
        if self.exhaustive {
            search.enumerate()?;
        } else {
            search.run()?;
        }
        let found = search.found();
        let best = middle(&found).with_context(|| {
            let bounds: Vec<String> = self.bounds.iter().map(ToString::to_string).collect();
            format!("none of {} candidates keeps {} without losing outputs", found.evaluations, bounds.join(", "))
        })?;
        let in_others = others.evaluate(&best)?;
        let own = search.value(&best).map(|value| value.goals.clone()).unwrap_or_default();
        let differs = |own: f64, other: f64| Some((other / own - 1.0).abs()).filter(|part| part.is_finite());
        let was = |of: &Candidates<'_>, goal: &Goal| of.as_is.of(goal, self.chain).unwrap_or(f64::NAN);
        // In other phases all candidates may be slower, and what one gains differs less; of a plan that states phases,
        // the figure itself does.
        let (mut phases, mut steadier) = (0.0_f64, 0.0_f64);
        for ((goal, own), there) in self.goals.iter().zip(&own).zip(&in_others.goals) {
            let figure = differs(*own, *there);
            let gain = differs(own / was(&candidates, goal), there / was(&others, goal));
            phases = phases.max(figure.unwrap_or(0.0));
            steadier = steadier.max(figure.into_iter().chain(gain).reduce(f64::min).unwrap_or(0.0));
        }
        let (least_gain, margin) = (margin.max(steadier), margin.max(phases));
        let margins = vec![least_gain; self.goals.len()];
        let (simulated, simpler) = (found.evaluations, search.simpler(&best, &margins));
        let mut after = |more: usize| progress(simulated + more);
        let mut search = Search::new(&others, self.settings, &mut after);
        let choice = search.simplify(best, simpler, &margins)?;
        let value = search.value(&choice).map(|value| value.goals.clone()).unwrap_or_default();
        let workload = space.apply(&choice);
        let planned = oracle(OTHER_DRAWS).figures(&workload, workload.run.repeats, &mut doubts)?;
        let steps = self.steps(&space, &choice, &search, &measured);
        let changes = steps.iter().flat_map(|step| step.turned.changes.clone()).collect();
        let words = |choice: &[usize]| space.turned(choice).iter().map(ToString::to_string).collect();
        let log = SearchLog {
            evaluations: simulated + search.found().evaluations,
            candidates: search::size(&space.options) as f64,
            exhaustive: self.exhaustive,
            seed: self.settings.seed,
            draw_s: draw.as_secs_f64(),
            draws: DRAWS,
            front: found
                .front
                .iter()
                .map(|(choice, value)| Considered { value: value.goals.clone(), changes: words(choice) })
                .collect(),
            trail: found
                .trail
                .iter()
                .filter(|advance| advance.value.is_possible())
                .map(|advance| TrailStep {
                    evaluations: advance.evaluations,
                    goal: self.goals[advance.goal].clone(),
                    value: advance.value.goals[advance.goal],
                    by: advance.by,
                    changes: words(&advance.choice),
                })
                .collect(),
            value,
        };
        Ok(Plan {
            tuned: Tuned { workload, changes },
            chain: self.chain.to_owned(),
            goals: self.goals.to_vec(),
            bounds: self.bounds.to_vec(),
            steps,
            errors,
            phases_percent: 100.0 * phases,
            margin,
            least_gain,
            as_is,
            planned,
            search: log,
            doubts,
            alternatives: vec![],
        })
    }

    /// Figures of another workload, with the phases of the proof: what is promised of it.
    pub fn predicted(&self, workload: &Workload) -> Result<SystemFigures> {
        self.oracle(OTHER_DRAWS).figures(workload, workload.run.repeats, &mut vec![])
    }

    /// What the simulation is off for the run that was measured, and the greatest of it, as a part. The mean is also
    /// compared without alignment: a plan has little of that, and it must not hide an error in the rest. In the place
    /// of a greatest speed, which one run does not show, the mean is compared.
    fn errors(&self, measured: &Summary) -> Result<(Vec<ModelError>, f64)> {
        let path = self.measured.workload();
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let mut workload = tacho_workload::kept(&text, &path.display().to_string())?;
        // The run need not name the chain that was found to be critical.
        if workload.chain(self.chain).is_none() {
            workload.chains.extend(self.workload.chain(self.chain).cloned());
        }
        let repeats = self.measured.repeats()?.len().max(1) as u32;
        if repeats == 1 {
            workload.state_phases(&self.measured.info()?.phases);
        }
        let oracle = Oracle { driving: None, ..self.oracle(0) };
        let simulated = oracle.figures(&workload, repeats, &mut vec![])?;
        let measured = figures_of(measured);
        let mut pairs: Vec<(String, Option<f64>, Option<f64>)> = Vec::new();
        let mean = Goal { figure: Figure::Mean, chain: None };
        for goal in self.goals {
            let compared = if goal.figure == Figure::Drive { &mean } else { goal };
            let of = |figures: &SystemFigures| figures.of(compared, self.chain);
            pairs.push((self.named(compared), of(&measured), of(&simulated)));
            if goal.figure == Figure::Mean {
                let awake = |of: &SystemFigures| of.chains.get(goal.chain(self.chain)).and_then(|chain| chain.awake_ms);
                pairs.push((format!("{} without alignment", self.named(goal)), awake(&measured), awake(&simulated)));
            }
        }
        let error = |(figure, measured, simulated): (String, Option<f64>, Option<f64>)| {
            let (measured, simulated) = (measured.filter(|measured| *measured > 0.0)?, simulated?);
            Some(ModelError { figure, measured, simulated, error_percent: 100.0 * (simulated / measured - 1.0) })
        };
        let errors: Vec<ModelError> = pairs.into_iter().filter_map(error).collect();
        let margin = errors.iter().map(|error| error.error_percent.abs() / 100.0).fold(LEAST_MARGIN, f64::max);
        Ok((errors, margin))
    }

    fn named(&self, goal: &Goal) -> String {
        match goal.figure {
            figure if figure.is_of_chain() => format!("{} {}", figure.name(), goal.chain(self.chain)),
            figure => figure.name().into(),
        }
    }

    /// Refuses goals and bounds of chains that nothing comes through. A system as it is may be safe at no speed.
    fn check_figures(&self, as_is: &SystemFigures) -> Result<()> {
        for goal in self.figures().filter(|goal| goal.figure != Figure::Drive) {
            if as_is.of(goal, self.chain).is_none() {
                bail!(
                    "`{}`: nothing came through the chain in the simulation of the system as it is",
                    self.named(goal)
                );
            }
        }
        Ok(())
    }

    /// Virtual time of a draw.
    fn draw(&self) -> Duration {
        let rare = |goal: &Goal| !matches!(goal.figure, Figure::Mean | Figure::Cpu | Figure::Drive);
        let is_rare = self.figures().any(rare);
        let periods = if is_rare { PERIODS_OF_RARE } else { PERIODS };
        Duration::from_secs_f64(periods / self.workload.slowest_hz()).max(SHORTEST).min(self.workload.run.duration)
    }

    /// A workload with draws of its own.
    fn drawn(&self, workload: &Workload, draw: Duration, draws: u32, seed: u64) -> Workload {
        let mut workload = workload.clone();
        workload.run.seed = mix(mix(workload.run.seed ^ self.settings.seed ^ 0x706c_616e) ^ seed);
        workload.run.duration = draw;
        workload.run.repeats = draws;
        workload
    }
}

/// Candidates that are simulated unless the user names another number: fewer if the car drives at several speeds for
/// each.
pub fn usual_evaluations(goals: &[Goal], bounds: &[Bound]) -> usize {
    if drive::is_wanted(goals, bounds) {
        EVALUATIONS_OF_DRIVES
    } else {
        EVALUATIONS
    }
}

impl Problem for Candidates<'_> {
    fn options(&self) -> &[usize] {
        &self.space.options
    }

    fn groups(&self) -> &[Vec<usize>] {
        &self.space.groups
    }

    fn evaluate(&self, choice: &[usize]) -> Result<Value> {
        let workload = self.planning.drawn(&self.space.apply(choice), self.draw, self.draws, self.seed);
        let figures = self.oracle.figures(&workload, self.draws, &mut vec![])?;
        let of = |goal: &Goal| figures.of(goal, self.planning.chain).unwrap_or(f64::INFINITY);
        let beyond = |bound: &Bound| (of(&bound.goal) / bound.most - 1.0).max(0.0);
        let excess = self.planning.bounds.iter().map(beyond).sum::<f64>() + self.lacking(&figures);
        Ok(Value { goals: self.planning.goals.iter().map(of).collect(), excess })
    }
}

impl Candidates<'_> {
    /// How much of its outputs a chain lacks, over all chains: a system that drops messages must not count as fast. One
    /// output a draw may lie at the edge of the window; inputs there do not count as lost.
    fn lacking(&self, figures: &SystemFigures) -> f64 {
        let of = |(name, as_is): (&String, &ChainTimes)| {
            let now = figures.chains.get(name).copied().unwrap_or_default();
            let (had, lost) = (as_is.instances as f64, as_is.lost as f64);
            let edge = f64::from(self.draws);
            let fewer = had * (1.0 - LACKING) - edge - now.instances as f64;
            let more_lost = now.lost as f64 - lost - (LACKING * had).max(1.0);
            (fewer.max(0.0) + more_lost.max(0.0)) / had.max(1.0)
        };
        self.as_is.chains.iter().map(of).sum()
    }
}

/// The candidate of a front that is nearest to the best of every goal; with one goal, the best.
fn middle(found: &Found) -> Option<Choice> {
    let range = |goal: usize| {
        let values = || found.front.iter().map(|(_, value)| value.goals[goal]);
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };
    let distance = |value: &Value| {
        let parts = value.goals.iter().enumerate().map(|(goal, of)| {
            let (least, most) = range(goal);
            if most > least {
                ((of - least) / (most - least)).powi(2)
            } else {
                0.0
            }
        });
        parts.sum::<f64>()
    };
    let nearest = found.front.iter().min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
    nearest.map(|(choice, _)| choice.clone())
}

/// The figures of a run that was measured.
pub fn figures_of(summary: &Summary) -> SystemFigures {
    SystemFigures {
        chains: summary.chains.iter().map(|chain| (chain.name.clone(), ChainTimes::of(chain))).collect(),
        cpu_percent: summary.points.first().and_then(|point| point.cpu_percent),
        safe_m_per_s: None,
    }
}

#[cfg(test)]
mod tests;
