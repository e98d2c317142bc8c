//! Figures of a workload that is simulated: the simulator's events, analysed as those of any run.

use super::drive::Driving;
use super::goal::{Figure, Goal};
use super::space::held;
use anyhow::{bail, Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use tacho_events::run::RunDirectory;
use tacho_simulate::{Simulated, Simulator};
use tacho_tables::row::numbered;
use tacho_tables::summary::{ChainFigures, Distribution};
use tacho_tables::Tables;
use tacho_workload::model::Chain;
use tacho_workload::Workload;

const NS_PER_MS: f64 = 1e6;

/// Simulates workloads.
pub(super) struct Oracle<'a> {
    pub simulator: &'a Simulator<'a>,
    /// An existing folder for the events, which it leaves as it was.
    pub folder: &'a Path,
    /// How it drives; `None` if no goal or bound is about that.
    pub driving: Option<Driving>,
    /// The workload as it is and the chain that is tuned, if the system misses phases that a plan states; `None`: it
    /// holds them exactly.
    pub as_it_is: Option<(&'a Workload, &'a Chain)>,
}

/// What is compared of a system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SystemFigures {
    /// The chains that the workload names.
    pub chains: BTreeMap<String, ChainTimes>,
    /// CPU time of all nodes, percent of one CPU; absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_percent: Option<f64>,
    /// Greatest speed at which every drive was safe; absent if there is none, and if no goal is about that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub safe_m_per_s: Option<f64>,
}

/// Times of one chain; absent if nothing came through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ChainTimes {
    /// Outputs of the chain.
    pub instances: u64,
    /// Inputs that led to no output.
    pub lost: u64,
    /// Mean end-to-end time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mean_ms: Option<f64>,
    /// Its 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p99_ms: Option<f64>,
    /// The greatest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst_ms: Option<f64>,
    /// Mean end-to-end time without alignment: what is left if no node sleeps while its message is there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub awake_ms: Option<f64>,
    /// Greatest reaction time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reaction_ms: Option<f64>,
    /// Greatest data age.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub age_ms: Option<f64>,
}

impl SystemFigures {
    /// The figure of a goal; `None` if there is none.
    pub fn of(&self, goal: &Goal, tuned: &str) -> Option<f64> {
        let chain = || self.chains.get(goal.chain(tuned));
        match goal.figure {
            Figure::Mean => chain()?.mean_ms,
            Figure::P99 => chain()?.p99_ms,
            Figure::Worst => chain()?.worst_ms,
            Figure::Reaction => chain()?.reaction_ms,
            Figure::Age => chain()?.age_ms,
            Figure::Cpu => self.cpu_percent,
            Figure::Drive => self.safe_m_per_s.map(|m_per_s| 100.0 / m_per_s),
        }
    }
}

impl ChainTimes {
    /// Those of a run that was measured.
    pub(super) fn of(chain: &ChainFigures) -> ChainTimes {
        let whole = chain.end_to_end_ms.as_ref();
        let most = |times: &Option<Distribution>| times.as_ref().map(|times| times.max);
        let alignment = chain.parts.as_ref().and_then(|parts| parts.alignment.as_ref());
        ChainTimes {
            instances: chain.instances,
            lost: chain.lost,
            mean_ms: whole.map(|times| times.mean),
            p99_ms: whole.map(|times| times.p99),
            worst_ms: whole.map(|times| times.max),
            awake_ms: whole.zip(alignment).map(|(whole, alignment)| whole.mean - alignment.mean),
            reaction_ms: most(&chain.reaction_time_ms),
            age_ms: most(&chain.data_age_ms),
        }
    }
}

/// Samples of one chain over all repeats, ms.
#[derive(Default)]
struct Samples {
    whole: Vec<f64>,
    awake: Vec<f64>,
    tells_alignment: bool,
    reaction: Vec<f64>,
    age: Vec<f64>,
    lost: u64,
}

impl Samples {
    fn times(self) -> ChainTimes {
        let instances = self.whole.len() as u64;
        let whole = Distribution::of(self.whole);
        let most = |values: Vec<f64>| values.into_iter().reduce(f64::max);
        ChainTimes {
            instances,
            lost: self.lost,
            mean_ms: whole.as_ref().map(|times| times.mean),
            p99_ms: whole.as_ref().map(|times| times.p99),
            worst_ms: whole.as_ref().map(|times| times.max),
            awake_ms: Distribution::of(self.awake).filter(|_| self.tells_alignment).map(|times| times.mean),
            reaction_ms: most(self.reaction),
            age_ms: most(self.age),
        }
    }
}

impl Oracle<'_> {
    /// Simulates this many repeats of a workload; `doubts` gets what lies beyond the model.
    pub fn figures(&self, workload: &Workload, repeats: u32, doubts: &mut Vec<String>) -> Result<SystemFigures> {
        let mut chains: BTreeMap<String, Samples> =
            workload.chains.iter().map(|chain| (chain.name.clone(), Samples::default())).collect();
        let mut cpu_percent = Vec::new();
        for repeat in 0..repeats {
            self.simulated(workload, repeat, |simulated, run| {
                for doubt in simulated.info.missing {
                    if !doubts.contains(&doubt) {
                        doubts.push(doubt);
                    }
                }
                cpu_percent.extend(simulated.cpu_percent);
                let tables = tacho_analysis::analyse_named_chains(run, workload)?;
                sample(&tables, &mut chains);
                Ok(())
            })?;
        }
        let all = cpu_percent.len() == repeats as usize && repeats > 0;
        let cpu_percent = all.then(|| cpu_percent.iter().sum::<f64>() / cpu_percent.len() as f64);
        let safe_m_per_s = match self.driving {
            Some(Driving { way_m, drives }) => {
                self.safe_m_per_s(workload, Driving { way_m, drives: drives.max(repeats) })?
            }
            None => None,
        };
        let chains = chains.into_iter().map(|(name, of)| (name, of.times())).collect();
        Ok(SystemFigures { chains, cpu_percent, safe_m_per_s })
    }

    /// Simulates one repeat and gives what `of` makes of it and of its events, which do not stay.
    pub(super) fn simulated<T>(
        &self,
        workload: &Workload,
        repeat: u32,
        of: impl FnOnce(Simulated, &RunDirectory) -> Result<T>,
    ) -> Result<T> {
        let folder = tempfile::Builder::new().prefix(".simulated-").tempdir_in(self.folder);
        let folder = folder.with_context(|| self.folder.display().to_string())?;
        let run = RunDirectory::new(folder.path());
        let held = self.as_it_is.map(|(as_it_is, chain)| held(workload, as_it_is, &chain.nodes, repeat));
        let workload = held.as_ref().unwrap_or(workload);
        let simulated = self.simulator.simulated(workload, repeat, &run, &mut |_| {})?;
        if self.simulator.interrupted.load(Ordering::Relaxed) {
            bail!("interrupted");
        }
        of(simulated, &run)
    }
}

fn sample(tables: &Tables, chains: &mut BTreeMap<String, Samples>) {
    let ms = |from: i64, to: i64| (to - from) as f64 / NS_PER_MS;
    for (row, chain) in numbered(&tables.chains) {
        let Some(of) = chains.get_mut(&chain.name) else { continue };
        of.lost += chain.lost;
        for instance in tables.instances.iter().filter(|instance| instance.chain == row) {
            of.whole.push(instance.end_to_end_ns as f64 / NS_PER_MS);
            of.tells_alignment |= instance.alignment_ns.get().is_some();
            of.awake.push((instance.end_to_end_ns - instance.alignment_ns.get().unwrap_or(0)) as f64 / NS_PER_MS);
        }
        for input in tables.inputs.iter().filter(|input| input.chain == row) {
            of.reaction.extend(input.previous_ns.get().zip(input.reflected_ns.get()).map(|(from, to)| ms(from, to)));
            of.age.extend(input.last_used_ns.get().map(|to| ms(input.start_ns, to)));
        }
    }
}
