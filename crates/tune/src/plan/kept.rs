//! What a plan promised, beside what was measured after its changes were made.

use super::{ChainTimes, Goal, Plan, SystemFigures};
use serde::Serialize;
use std::collections::BTreeMap;
use tacho_tables::summary::Summary;

/// A goal of a plan and what became of it, in the unit of its figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kept {
    /// The goal.
    pub goal: Goal,
    /// As simulated before the changes; absent if the chain had no such figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_is: Option<f64>,
    /// As simulated with the changes.
    pub promised: f64,
    /// The same and what the simulation may be off.
    pub at_most: f64,
    /// As measured with the changes; absent if the recording does not show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// Whether that is at most what was promised; absent if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_kept: Option<bool>,
}

impl SystemFigures {
    /// Those of a run. `name` gives the nodes on a path of the run the names of the workload.
    pub fn measured(summary: &Summary, plan: &Plan, mut name: impl FnMut(&str) -> String) -> SystemFigures {
        let mut chains = BTreeMap::new();
        for chain in &summary.chains {
            let nodes: Vec<String> = chain.path.iter().step_by(2).map(|node| name(node)).collect();
            let is_it = |known: &&tacho_workload::model::Chain| known.nodes == nodes;
            if let Some(known) = plan.tuned.workload.chains.iter().find(is_it) {
                chains.entry(known.name.clone()).or_insert_with(|| ChainTimes::of(chain));
            }
        }
        let cpu_percent = summary.points.first().and_then(|point| point.cpu_percent);
        SystemFigures { chains, cpu_percent }
    }
}

impl Plan {
    /// Each goal beside what was measured of it.
    pub fn kept(&self, measured: &SystemFigures) -> Vec<Kept> {
        let of = |goal: &Goal| {
            let promised = self.planned.of(goal, &self.chain)?;
            let at_most = promised * (1.0 + self.margin);
            let measured = measured.of(goal, &self.chain);
            let as_is = self.as_is.of(goal, &self.chain);
            let is_kept = measured.map(|measured| measured <= at_most);
            Some(Kept { goal: goal.clone(), as_is, promised, at_most, measured, is_kept })
        };
        self.goals.iter().filter_map(of).collect()
    }
}
