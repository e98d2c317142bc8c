//! What a plan promised, beside what was measured after its changes were made.

use super::{figures_of, Figure, Goal, Plan};
use serde::Serialize;
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

impl Plan {
    /// The most that a figure may be for a promise to be kept: what is promised, and what the simulation may be off.
    pub fn at_most(&self, figure: Figure, promised: f64) -> f64 {
        promised * (1.0 + self.margin.max(figure.usual_error()))
    }

    /// Each goal beside what was measured of it: the figures of a run whose chains have the names of the workload.
    pub fn kept(&self, measured: &Summary) -> Vec<Kept> {
        let measured = figures_of(measured);
        let of = |goal: &Goal| {
            let promised = self.planned.of(goal, &self.chain)?;
            let at_most = self.at_most(goal.figure, promised);
            let measured = measured.of(goal, &self.chain);
            let as_is = self.as_is.of(goal, &self.chain);
            let is_kept = measured.map(|measured| measured <= at_most);
            Some(Kept { goal: goal.clone(), as_is, promised, at_most, measured, is_kept })
        };
        self.goals.iter().filter_map(of).collect()
    }
}
