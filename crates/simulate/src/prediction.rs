//! What a simulation predicts, beside what was measured.

use crate::costs::Costs;
use serde::{Deserialize, Serialize};
use tacho_events::run::{CpuTimes, RunInfo};
use tacho_tables::summary::{ChainFigures, Summary, TopicFigures};

/// `prediction.json`: what was changed, what is predicted, and from which costs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Changes of the workload, `PATH=VALUE`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub set: Vec<String>,
    /// One a chain.
    pub chains: Vec<PredictedChain>,
    /// One a topic; absent in a prediction of a time before there were topics in it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub topics: Vec<PredictedTopic>,
    /// CPU time of all nodes and their middleware; absent in a prediction of a time before it was there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<PredictedCpu>,
    /// One a chain that the workload names.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub bounds: Vec<Bound>,
    /// What is asked for beyond what was measured, and what is not modelled.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub doubts: Vec<String>,
    /// The costs.
    pub costs: Costs,
}

/// A chain, simulated and measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictedChain {
    /// Its name.
    pub name: String,
    /// Its nodes.
    pub path: Vec<String>,
    /// As measured; absent if no run was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured: Option<Figures>,
    /// As simulated without the changes; absent if nothing is changed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub as_is: Option<Figures>,
    /// As simulated.
    pub simulated: Figures,
    /// How far the simulation of what was measured is off; absent if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error_percent: Option<Off>,
}

/// A topic, simulated and measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictedTopic {
    /// Its name.
    pub topic: String,
    /// As measured; absent if no run was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured: Option<Flow>,
    /// As simulated.
    pub simulated: Flow,
}

/// CPU time of all nodes and their middleware, simulated and measured, percent of one CPU.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictedCpu {
    /// As measured; absent if no run was, or if it is not known of each process.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured_percent: Option<f64>,
    /// As simulated without the changes; absent if nothing is changed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub as_is_percent: Option<f64>,
    /// As simulated.
    pub simulated_percent: f64,
}

/// CPU time of all processes of a simulated run, percent of one CPU; `None` if it does not have it.
pub fn cpu_percent(info: &RunInfo) -> Option<f64> {
    let percent = |of: &CpuTimes| {
        let (first, last) = of.since(i64::MIN)?;
        Some(100.0 * (last.cpu_ns - first.cpu_ns) as f64 / (last.at_ns - first.at_ns) as f64)
    };
    let all: Vec<f64> = info.cpu_times.iter().map(percent).collect::<Option<_>>()?;
    (!all.is_empty()).then(|| all.iter().sum())
}

/// What goes over a topic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Publications a second; absent if there were less than two.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate_hz: Option<f64>,
    /// Messages lost, percent of those whose fate is known; absent if that is of none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lost_percent: Option<f64>,
}

/// A bound of a chain, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The chain.
    pub chain: String,
    /// No instance takes longer from its source's due time to the end of the last callback, ms.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end_to_end_ms: Option<f64>,
    /// Which assumption does not hold.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<String>,
}

/// End-to-end times of a chain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Instances.
    pub instances: u64,
    /// Arithmetic mean, ms.
    pub mean_ms: f64,
    /// Median, ms.
    pub median_ms: f64,
    /// 99th percentile, ms.
    pub p99_ms: f64,
    /// Greatest, ms.
    pub worst_ms: f64,
}

/// Difference of the simulated from the measured figure, percent of the measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Off {
    /// Of the mean.
    pub mean: f64,
    /// Of the 99th percentile.
    pub p99: f64,
}

/// What is predicted of each chain, critical ones first. `as_is` is the simulation without changes, `measured` the run.
pub fn of_chains(simulated: &Summary, as_is: Option<&Summary>, measured: Option<&Summary>) -> Vec<PredictedChain> {
    let mut chains: Vec<&ChainFigures> = simulated.chains.iter().collect();
    chains.sort_by_key(|chain| !chain.critical);
    let predicted = |chain: &ChainFigures| {
        let before = measured.and_then(|of| figures_of(of, chain));
        let alike = as_is.and_then(|of| figures_of(of, chain));
        let now = figures(chain)?;
        // Changes make another system: only what is as it was can be compared.
        let same = if as_is.is_some() { alike } else { Some(now) };
        let off = |was: f64, is: f64| if was > 0.0 { 100.0 * (is - was) / was } else { 0.0 };
        let error_percent = before
            .zip(same)
            .map(|(was, is)| Off { mean: off(was.mean_ms, is.mean_ms), p99: off(was.p99_ms, is.p99_ms) });
        Some(PredictedChain {
            name: chain.name.clone(),
            path: chain.path.clone(),
            measured: before,
            as_is: alike,
            simulated: now,
            error_percent,
        })
    };
    chains.into_iter().filter_map(predicted).collect()
}

/// What is predicted of each topic.
pub fn of_topics(simulated: &Summary, measured: Option<&Summary>) -> Vec<PredictedTopic> {
    let before = |topic: &str| measured?.topics.iter().find(|of| of.topic == topic).map(flow);
    let predicted = |of: &TopicFigures| PredictedTopic {
        topic: of.topic.clone(),
        measured: before(&of.topic),
        simulated: flow(of),
    };
    simulated.topics.iter().map(predicted).collect()
}

fn flow(topic: &TopicFigures) -> Flow {
    let lost_percent = topic.lost.and_then(|lost| {
        let known = lost + topic.received;
        (known > 0).then(|| 100.0 * lost as f64 / known as f64)
    });
    Flow { rate_hz: topic.rate_hz, lost_percent }
}

fn figures_of(summary: &Summary, chain: &ChainFigures) -> Option<Figures> {
    let is_it = |other: &&ChainFigures| other.path == chain.path;
    summary.chains.iter().find(is_it).and_then(figures)
}

fn figures(chain: &ChainFigures) -> Option<Figures> {
    let times = chain.end_to_end_ms.as_ref()?;
    Some(Figures {
        instances: times.count,
        mean_ms: times.mean,
        median_ms: times.median,
        p99_ms: times.p99,
        worst_ms: times.max,
    })
}
