//! Whether a tuning helped: before and after, run in turns.

use crate::spread::Spread;
use serde::{Deserialize, Serialize};
use std::error::Error;
use tacho_analysis::summary::{ChainFigures, Distribution};
use tacho_events::run::RunDirectory;
use tacho_workload::model::Workload;
use thiserror::Error;

/// `RUN/proof.json`: a chain before and after, over the same draws of phases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// The chain.
    pub chain: String,
    /// Before.
    pub before: Side,
    /// After.
    pub after: Side,
    /// Mean end-to-end time before / after; its least and greatest are those of single repeats.
    pub ratio: Spread,
    /// Every repeat, also those that do not count.
    pub repeats: Vec<Pair>,
    /// What does not count, and why. Empty where all repeats do.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One side over all repeats that count: means of the repeats' means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Mean end-to-end time, ms.
    pub end_to_end_ms: Spread,
    /// Worst instance of all repeats, ms.
    pub worst_ms: f64,
    /// Parts of the mean, ms; absent where a repeat lacks them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub computation_ms: Option<f64>,
    /// See `computation_ms`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alignment_ms: Option<f64>,
    /// See `computation_ms`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queueing_ms: Option<f64>,
    /// See `computation_ms`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub transport_ms: Option<f64>,
    /// Instances that came through.
    pub instances: u64,
    /// Inputs that led to no output.
    pub lost: u64,
}

/// One repeat of both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Which, from 0.
    pub repeat: u32,
    /// Before.
    pub before: RepeatFigures,
    /// After, with the same phases.
    pub after: RepeatFigures,
}

/// Means of one repeat of one side, ms; absent where no instance came through.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RepeatFigures {
    /// Mean end-to-end time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end_to_end_ms: Option<f64>,
    /// Worst instance.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst_ms: Option<f64>,
    /// Its parts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub computation_ms: Option<f64>,
    /// See `computation_ms`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alignment_ms: Option<f64>,
    /// See `computation_ms`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queueing_ms: Option<f64>,
    /// See `computation_ms`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub transport_ms: Option<f64>,
    /// Instances that came through.
    pub instances: u64,
    /// Inputs that led to no output.
    pub lost: u64,
}

/// Why there is no proof.
#[derive(Debug, Error)]
pub enum ProveError {
    /// The two sides would not be comparable.
    #[error("the workload as it was and `{name}` differ in {what}: {before} and {after}, expected the same")]
    Different {
        /// Name of the tuned one.
        name: String,
        /// `seed`, `duration`, `repeats`.
        what: &'static str,
        /// Of the workload before.
        before: String,
        /// Of the workload after.
        after: String,
    },
    /// A run failed.
    #[error("repeat {repeat} of `{name}`: {source}")]
    Run {
        /// Which, from 0.
        repeat: u32,
        /// Of which candidate.
        name: String,
        /// The failure.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A run's figures are of another chain.
    #[error("figures of chain `{found}` among those of `{expected}`")]
    OtherChain {
        /// Of the run.
        found: String,
        /// Of the first.
        expected: String,
    },
    /// No repeat has instances on both sides.
    #[error("in none of {0} repeats did the chain come through both before and after")]
    NothingCameThrough(u32),
}

/// A workload under the name of what was done to it: `untuned`, `common_rate`.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Also the name of its folder.
    pub name: &'a str,
    /// What runs.
    pub workload: &'a Workload,
}

/// Runs the workload as it was and every tuned one in turns, one repeat each (before, a, b, before, a, b ...), so that what
/// drifts on the machine drifts under all. One proof for each of `after`, in their order.
///
/// Repeats are those of the workload's `run`. Repeat i of all has the same number and, the seeds being the same, the same
/// phases; it goes to `run/<name>/repeats/i`. `run_one` makes one run and returns the figures of the chain.
pub fn prove(
    before: Candidate<'_>,
    after: &[Candidate<'_>],
    run: &RunDirectory,
    mut run_one: impl FnMut(Candidate<'_>, u32, &RunDirectory) -> Result<ChainFigures, Box<dyn Error + Send + Sync>>,
) -> Result<Vec<Proof>, ProveError> {
    for candidate in after {
        comparable(before, *candidate)?;
    }
    let mut chain: Option<String> = None;
    let mut repeats: Vec<Vec<Pair>> = vec![Vec::new(); after.len()];
    for repeat in 0..before.workload.run.repeats {
        let mut figures_of = |candidate: Candidate<'_>| {
            let directory = RunDirectory::new(run.path().join(candidate.name)).repeat(repeat);
            let figures = run_one(candidate, repeat, &directory)
                .map_err(|source| ProveError::Run { repeat, name: candidate.name.into(), source })?;
            let expected = chain.get_or_insert_with(|| figures.name.clone());
            if *expected != figures.name {
                return Err(ProveError::OtherChain { found: figures.name, expected: expected.clone() });
            }
            Ok(RepeatFigures::of(&figures))
        };
        let untuned = figures_of(before)?;
        for (pairs, candidate) in repeats.iter_mut().zip(after) {
            pairs.push(Pair { repeat, before: untuned.clone(), after: figures_of(*candidate)? });
        }
    }
    let chain = chain.unwrap_or_default();
    repeats.into_iter().map(|pairs| conclude(chain.clone(), pairs)).collect()
}

/// The same draws, the same time.
fn comparable(before: Candidate<'_>, after: Candidate<'_>) -> Result<(), ProveError> {
    let name = after.name;
    let (before, after) = (before.workload, after.workload);
    let (b, a) = (&before.run, &after.run);
    let pairs = [
        ("seed", b.seed.to_string(), a.seed.to_string()),
        ("repeats", b.repeats.to_string(), a.repeats.to_string()),
        ("duration", format!("{:?}", b.duration), format!("{:?}", a.duration)),
        ("middleware", before.middleware.clone(), after.middleware.clone()),
        ("transport", before.transport.clone(), after.transport.clone()),
    ];
    for (what, before, after) in pairs {
        if before != after {
            return Err(ProveError::Different { name: name.into(), what, before, after });
        }
    }
    Ok(())
}

/// A repeat counts where the chain came through on both sides; else its partner would be compared with nothing.
fn conclude(chain: String, repeats: Vec<Pair>) -> Result<Proof, ProveError> {
    let counts = |pair: &&Pair| pair.before.end_to_end_ms.is_some() && pair.after.end_to_end_ms.is_some();
    let counted: Vec<&Pair> = repeats.iter().filter(counts).collect();
    let nothing = || ProveError::NothingCameThrough(repeats.len() as u32);
    let before = Side::of(counted.iter().map(|pair| &pair.before)).ok_or_else(nothing)?;
    let after = Side::of(counted.iter().map(|pair| &pair.after)).ok_or_else(nothing)?;
    let means = |of: fn(&Pair) -> Option<f64>| counted.iter().filter_map(|pair| of(pair)).collect::<Vec<_>>();
    let ratio = Spread::of_ratio(&means(|pair| pair.before.end_to_end_ms), &means(|pair| pair.after.end_to_end_ms));
    let ratio = ratio.ok_or_else(nothing)?;
    let mut notes = Vec::new();
    for pair in repeats.iter().filter(|pair| !counts(pair)) {
        let side = if pair.before.end_to_end_ms.is_none() { "before" } else { "after" };
        notes
            .push(format!("repeat {}: the chain never came through {side} the change; it does not count", pair.repeat));
    }
    Ok(Proof { chain, before, after, ratio, repeats, notes })
}

impl RepeatFigures {
    fn of(figures: &ChainFigures) -> Self {
        let mean = |part: &Option<Distribution>| part.as_ref().filter(|d| d.count > 0).map(|d| d.mean);
        RepeatFigures {
            end_to_end_ms: mean(&figures.end_to_end_ms),
            worst_ms: figures.end_to_end_ms.as_ref().filter(|d| d.count > 0).map(|d| d.max),
            computation_ms: mean(&figures.computation_ms),
            alignment_ms: mean(&figures.alignment_ms),
            queueing_ms: mean(&figures.queueing_ms),
            transport_ms: mean(&figures.transport_ms),
            instances: figures.instances,
            lost: figures.lost,
        }
    }
}

impl Side {
    fn of<'r>(repeats: impl Iterator<Item = &'r RepeatFigures>) -> Option<Side> {
        let repeats: Vec<_> = repeats.collect();
        let all = |part: fn(&RepeatFigures) -> Option<f64>| repeats.iter().map(|r| part(r)).collect::<Option<Vec<_>>>();
        let mean = |part| all(part).and_then(|values| Spread::of(&values)).map(|spread| spread.mean);
        Some(Side {
            end_to_end_ms: Spread::of(&all(|r| r.end_to_end_ms)?)?,
            worst_ms: all(|r| r.worst_ms)?.into_iter().fold(f64::NEG_INFINITY, f64::max),
            computation_ms: mean(|r| r.computation_ms),
            alignment_ms: mean(|r| r.alignment_ms),
            queueing_ms: mean(|r| r.queueing_ms),
            transport_ms: mean(|r| r.transport_ms),
            instances: repeats.iter().map(|r| r.instances).sum(),
            lost: repeats.iter().map(|r| r.lost).sum(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply_common_rate;
    use std::path::Path;

    fn workloads() -> (Workload, Workload) {
        let text = include_str!("../../../workloads/autoware-localisation.yaml");
        let (before, _) = tacho_workload::parse(text, "autoware-localisation.yaml").unwrap_or_else(|e| panic!("{e}"));
        let tuned = apply_common_rate(&before, "localisation", 300.0).expect("tuned");
        (before, tuned.workload)
    }

    fn prove_one(
        before: &Workload,
        after: &Workload,
        mut run_one: impl FnMut(&Workload, u32, &RunDirectory) -> Result<ChainFigures, Box<dyn Error + Send + Sync>>,
    ) -> Result<Proof, ProveError> {
        let [before, after] = [("before", before), ("after", after)].map(|(name, workload)| Candidate { name, workload });
        prove(before, &[after], &RunDirectory::new("/run"), |candidate, repeat, directory| {
            run_one(candidate.workload, repeat, directory)
        })
        .map(|mut proofs| proofs.remove(0))
    }

    fn constant(value: f64) -> Option<Distribution> {
        Some(Distribution { count: 40, min: value, mean: value, max: value + 5.0, ..Distribution::default() })
    }

    fn figures(computation: f64, alignment: f64) -> ChainFigures {
        ChainFigures {
            name: "localisation".into(),
            instances: 40,
            lost: 1,
            end_to_end_ms: constant(computation + alignment),
            computation_ms: constant(computation),
            alignment_ms: constant(alignment),
            ..ChainFigures::default()
        }
    }

    #[test]
    fn sides_are_run_in_turns_into_directories_of_their_own() {
        let (before, after) = workloads();
        let mut calls = Vec::new();
        let proof = prove_one(&before, &after, |workload, repeat, directory| {
            let is_before = *workload == before;
            calls.push((is_before, repeat, directory.path().to_path_buf()));
            // Alignment of 400, 410, 420, 430, 440 ms before, of a twentieth after.
            let alignment = 400.0 + 10.0 * f64::from(repeat);
            Ok(if is_before { figures(25.0, alignment) } else { figures(25.0, alignment / 20.0) })
        })
        .expect("a proof");
        let order: Vec<_> = calls.iter().map(|(is_before, repeat, _)| (*is_before, *repeat)).collect();
        let expected: Vec<_> = (0..5).flat_map(|repeat| [(true, repeat), (false, repeat)]).collect();
        assert_eq!(order, expected);
        assert_eq!(calls[2].2, Path::new("/run/before/repeats/1"));
        assert_eq!(calls[3].2, Path::new("/run/after/repeats/1"));

        assert_eq!(proof.chain, "localisation");
        assert_eq!((proof.before.end_to_end_ms.mean, proof.after.end_to_end_ms.mean), (445.0, 46.0));
        assert_eq!((proof.before.end_to_end_ms.least, proof.before.end_to_end_ms.greatest), (425.0, 465.0));
        assert_eq!((proof.before.alignment_ms, proof.after.alignment_ms), (Some(420.0), Some(21.0)));
        assert_eq!((proof.before.worst_ms, proof.before.instances, proof.before.lost), (470.0, 200, 5));
        assert_eq!((proof.before.queueing_ms, proof.before.transport_ms), (None, None));
        assert!((proof.ratio.mean - 445.0 / 46.0).abs() < 1e-12);
        let [low, high] = proof.ratio.interval.expect("five pairs");
        assert!(low < proof.ratio.mean && proof.ratio.mean < high);
        assert_eq!(proof.notes, Vec::<String>::new());

        let json = serde_json::to_string(&proof).expect("JSON");
        assert!(!json.contains("queueing_ms"), "absent means not measured: {json}");
        assert_eq!(serde_json::from_str::<Proof>(&json).expect("the same"), proof);
    }

    #[test]
    fn a_repeat_that_never_came_through_is_named_and_does_not_count() {
        let (before, after) = workloads();
        let proof = prove_one(&before, &after, |workload, repeat, _| {
            let mut figures = if *workload == before { figures(25.0, 400.0) } else { figures(25.0, 20.0) };
            if repeat == 3 && *workload == after {
                figures = ChainFigures { name: figures.name, lost: 40, ..ChainFigures::default() };
            }
            Ok(figures)
        })
        .expect("a proof");
        assert_eq!((proof.repeats.len(), proof.before.instances, proof.notes.len()), (5, 160, 1));
        assert!(proof.notes[0].starts_with("repeat 3: the chain never came through after"), "{}", proof.notes[0]);
        let nothing = prove_one(&before, &after, |_, _, _| Ok(ChainFigures::default()));
        assert!(matches!(nothing, Err(ProveError::NothingCameThrough(5))));
    }

    #[test]
    fn a_failed_run_ends_the_proof_and_is_named() {
        let (before, after) = workloads();
        let mut runs = 0;
        let error = prove_one(&before, &after, |_, _, _| {
            runs += 1;
            if runs == 4 {
                Err("node `ndt_matching` died".into())
            } else {
                Ok(figures(25.0, 400.0))
            }
        })
        .expect_err("a failure");
        assert_eq!(error.to_string(), "repeat 1 of `after`: node `ndt_matching` died");
        assert_eq!(runs, 4);
    }

    #[test]
    fn sides_with_other_phases_or_chains_are_not_compared() {
        let (before, after) = workloads();
        let mut other = after.clone();
        other.run.seed += 1;
        let mut runs = 0;
        let error = prove_one(&before, &other, |_, _, _| {
            runs += 1;
            Ok(figures(25.0, 400.0))
        })
        .expect_err("other phases");
        assert_eq!(error.to_string(), "the workload as it was and `after` differ in seed: 2022 and 2023, expected the same");
        assert_eq!(runs, 0);
        let error = prove_one(&before, &after, |workload, _, _| {
            let name = if *workload == before { "a" } else { "b" };
            Ok(ChainFigures { name: name.into(), ..figures(25.0, 400.0) })
        });
        assert!(matches!(error, Err(ProveError::OtherChain { .. })));
    }

    #[test]
    fn several_candidates_take_turns_and_share_the_runs_before() {
        let (before, after) = workloads();
        let candidates = [Candidate { name: "a", workload: &after }, Candidate { name: "b", workload: &after }];
        let mut order = Vec::new();
        let untuned = Candidate { name: "untuned", workload: &before };
        let proofs = prove(untuned, &candidates, &RunDirectory::new("/run"), |candidate, _, _| {
            order.push(candidate.name.to_owned());
            Ok(figures(25.0, match candidate.name { "untuned" => 375.0, "a" => 15.0, _ => 5.0 }))
        })
        .expect("proofs");
        assert_eq!(order[..4], ["untuned", "a", "b", "untuned"]);
        assert_eq!(order.len(), 15);
        assert_eq!(proofs.iter().map(|p| p.ratio.mean).collect::<Vec<_>>(), [10.0, 400.0 / 30.0]);
    }
}
