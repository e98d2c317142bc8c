//! Runs the original and the tuned workload in turns: a proof as a campaign.

use crate::proof::{BeforeAfter, Promised, Proof};
use serde::Serialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tacho_campaign::{in_turns, Analysis, Campaign, Ended, OnFailure, RunLock, Runner, Subject};
use tacho_events::run::RunDirectory;
use tacho_tables::store;
use tacho_tables::summary::{ChainFigures, Summary};
use tacho_workload::model::Workload;
use thiserror::Error;

/// Why there is no proof.
#[derive(Debug, Error)]
pub enum ProveError {
    /// The two sides would not be comparable.
    #[error("the workload as it was and `{name}` differ in {what}: {before} and {after}, expected the same")]
    Different {
        /// Name of the tuned workload.
        name: String,
        /// The setting that differs: `seed`, `duration`, `repeats` or `middleware`.
        what: &'static str,
        /// Its value before.
        before: String,
        /// Its value after.
        after: String,
    },
    /// A run failed.
    #[error("repeat {repeat} of `{name}`: {source}")]
    Run {
        /// Number of the repeat, from 0.
        repeat: u32,
        /// Name of the candidate.
        name: String,
        /// Why it failed.
        source: Box<dyn Error + Send + Sync>,
    },
    /// No repeat has instances on both sides.
    #[error("in none of {0} repeats did the chain come through both before and after")]
    NothingCameThrough(u32),
    /// The figures of a run cannot be read.
    #[error(transparent)]
    Figures(#[from] store::Error),
    /// The proof cannot be written.
    #[error("{path}: {source}")]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

/// A workload named after its change: `untuned`, `common_rate`.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// The name, also of its folder.
    pub name: &'a str,
    /// The workload to run.
    pub workload: &'a Workload,
    /// What is promised of the chain; absent if nothing is.
    pub promise: Option<Promised>,
}

/// The original workload, every tuned one, and the chain that should gain.
#[derive(Debug, Clone)]
pub struct Proving<'a> {
    /// The original workload.
    pub before: Candidate<'a>,
    /// The tuned workloads.
    pub after: Vec<Candidate<'a>>,
    /// The chain's name.
    pub chain: &'a str,
}

impl<'a> Proving<'a> {
    /// Prepares the runs in the locked directory. They take turns, one repeat of each (before, a, b, before, a, b ...),
    /// so that drift of the machine affects all alike.
    ///
    /// The workload's `run` sets the number of repeats. Repeat i of all has the same number and, because the seeds are
    /// equal, the same phases; it goes to `<name>/repeats/i`. A run that fails, or that does not see the chain, ends
    /// the proof.
    pub fn campaign(
        &self,
        runner: &'a dyn Runner,
        lock: &'a RunLock,
        interrupted: &'a AtomicBool,
        command: Vec<String>,
    ) -> Result<Campaign<'a>, ProveError> {
        self.after.iter().try_for_each(|after| comparable(self.before, *after))?;
        let subject = |Candidate { name, workload, .. }| Subject {
            always_repeats: true,
            ..Subject::new(name, workload, runner, RunDirectory::new(lock.directory().join(name)))
        };
        let subjects: Vec<Subject<'a>> = self.candidates().map(subject).collect();
        Ok(Campaign {
            order: in_turns(&subjects),
            subjects,
            lock,
            interrupted,
            command,
            analysis: Analysis::OfEach,
            on_failure: OnFailure::Stop,
            chain: Some(self.chain),
            discard_events: false,
        })
    }

    /// Concludes a completed campaign with one proof for each of `after`, in their order. Writes `proof.json` and
    /// `summary.json` into `out`, and `proof.json` beside the runs of each.
    pub fn conclude(&self, mut ended: Ended, out: &RunDirectory) -> Result<Vec<Proof>, ProveError> {
        if !ended.failed.is_empty() {
            let failed = ended.failed.remove(0);
            let name = self.candidates().nth(failed.item.subject).map_or("", |candidate| candidate.name).to_owned();
            return Err(ProveError::Run { repeat: failed.item.repeat, name, source: failed.error.into() });
        }
        let before = self.figures(self.before, out)?;
        let mut proofs = Vec::new();
        for candidate in &self.after {
            let proof = Proof::of(self.chain, &before, &self.figures(*candidate, out)?);
            let proof = proof.ok_or(ProveError::NothingCameThrough(before.len() as u32))?;
            proofs.push(Proof {
                promise: candidate.promise.map(|promise| promise.kept(proof.after.end_to_end_ms.mean)),
                cpu_percent: self
                    .cpu_percent(self.before, out)?
                    .zip(self.cpu_percent(*candidate, out)?)
                    .map(|(before, after)| BeforeAfter { before, after }),
                ..proof
            });
        }
        for (candidate, proof) in self.after.iter().zip(&proofs) {
            write_json(out.path().join(candidate.name).join("proof.json"), proof)?;
        }
        self.write_summary(out)?;
        let by_name: BTreeMap<&str, &Proof> = self.after.iter().map(|after| after.name).zip(&proofs).collect();
        write_json(out.path().join("proof.json"), &by_name)?;
        Ok(proofs)
    }

    fn candidates(&self) -> impl Iterator<Item = Candidate<'a>> + use<'_, 'a> {
        std::iter::once(self.before).chain(self.after.iter().copied())
    }

    /// Reads the chain's figures of each repeat.
    fn figures(&self, candidate: Candidate<'_>, out: &RunDirectory) -> Result<Vec<ChainFigures>, ProveError> {
        let directory = RunDirectory::new(out.path().join(candidate.name));
        let mut figures = Vec::new();
        for repeat in 0..candidate.workload.run.repeats {
            let summary = store::read_summary(&directory.repeat(repeat))?;
            figures.extend(summary.chains.into_iter().find(|figures| figures.name == self.chain));
        }
        Ok(figures)
    }

    /// CPU time of all nodes, percent of one CPU; `None` if it was not measured.
    fn cpu_percent(&self, candidate: Candidate<'_>, out: &RunDirectory) -> Result<Option<f64>, ProveError> {
        let summary = store::read_summary(&RunDirectory::new(out.path().join(candidate.name)))?;
        Ok(summary.points.first().and_then(|point| point.cpu_percent))
    }

    /// Writes `summary.json` of the tuning: the chain under each change, by the name of the change.
    fn write_summary(&self, out: &RunDirectory) -> Result<(), ProveError> {
        let mut whole = Summary::default();
        for Candidate { name, .. } in self.candidates() {
            let summary = store::read_summary(&RunDirectory::new(out.path().join(name)))?;
            let figures = summary.chains.into_iter().find(|figures| figures.name == self.chain);
            whole.chains.extend(figures.map(|figures| ChainFigures { name: name.to_owned(), ..figures }));
            whole.notes.extend(summary.notes);
        }
        Ok(store::write_summary(out, &whole)?)
    }
}

/// Checks that both sides have the same random draws and the same duration.
fn comparable(before: Candidate<'_>, after: Candidate<'_>) -> Result<(), ProveError> {
    let name = after.name;
    let (before, after) = (before.workload, after.workload);
    let (b, a) = (&before.run, &after.run);
    let pairs = [
        ("seed", b.seed.to_string(), a.seed.to_string()),
        ("repeats", b.repeats.to_string(), a.repeats.to_string()),
        ("duration", format!("{:?}", b.duration), format!("{:?}", a.duration)),
        ("middleware", before.middleware.clone(), after.middleware.clone()),
    ];
    for (what, before, after) in pairs {
        if before != after {
            return Err(ProveError::Different { name: name.into(), what, before, after });
        }
    }
    Ok(())
}

fn write_json(path: PathBuf, value: &impl Serialize) -> Result<(), ProveError> {
    let written = serde_json::to_vec_pretty(value).map_err(std::io::Error::from);
    written.and_then(|text| std::fs::write(&path, text)).map_err(|source| ProveError::Write { path, source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply_common_rate;
    use crate::proof::testing::figures;
    use std::path::Path;
    use tacho_campaign::testing::StandIn;

    fn workloads() -> (Workload, Workload) {
        let text = include_str!("../../../workloads/autoware-localisation.yaml");
        let (before, _) = tacho_workload::parse(text, "autoware-localisation.yaml").unwrap_or_else(|e| panic!("{e}"));
        let tuned = apply_common_rate(&before, "localisation", 300.0).expect("tuned");
        (before, tuned.workload)
    }

    fn proving<'a>(before: &'a Workload, after: &'a Workload, names: &[&'a str]) -> Proving<'a> {
        Proving {
            before: Candidate { name: "before", workload: before, promise: None },
            after: names
                .iter()
                .map(|name| Candidate { name, workload: after, promise: Some(Promised::of(40.0, 44.0)) })
                .collect(),
            chain: "localisation",
        }
    }

    /// Runs what is left of a proof in `out`; `None`: ^C came.
    fn prove(proving: &Proving<'_>, out: &Path, runner: &StandIn<'_>) -> Option<Result<Vec<Proof>, ProveError>> {
        let lock = RunLock::take(out, "runs this test").expect("lock");
        let campaign = proving.campaign(runner, &lock, &runner.interrupted, vec![]);
        let ended = match campaign {
            Ok(campaign) => campaign.run(&mut |_| {}, &mut |_, _| Ok(())).expect("runs"),
            Err(error) => return Some(Err(error)),
        };
        let cut_short = ended.unfinished > 0 && ended.failed.is_empty();
        (!cut_short).then(|| proving.conclude(ended, &RunDirectory::new(out)))
    }

    /// Figures for the side and repeat that a run's path names: alignment of 400, 410 ... ms before, and a twentieth
    /// after.
    fn by_path(run: &Path) -> anyhow::Result<ChainFigures> {
        let repeat: f64 = run.file_name().expect("repeat").to_string_lossy().parse()?;
        let alignment = 400.0 + 10.0 * repeat;
        let is_before = run.iter().any(|part| part == "before");
        Ok(figures(25.0, if is_before { alignment } else { alignment / 20.0 }))
    }

    fn below(out: &Path, runs: &[std::path::PathBuf]) -> Vec<String> {
        runs.iter().map(|run| run.strip_prefix(out).expect("below").display().to_string()).collect()
    }

    #[test]
    fn with_a_stand_in_sides_are_run_in_turns_into_directories_of_their_own() {
        let (before, after) = workloads();
        let out = tempfile::tempdir().expect("directory");
        let runner = StandIn::new(by_path);
        let proofs =
            prove(&proving(&before, &after, &["a", "b"]), out.path(), &runner).expect("an end").expect("proofs");
        let turns = |repeat| ["before", "a", "b"].map(|name| format!("{name}/repeats/{repeat}"));
        assert_eq!(below(out.path(), &runner.ran()), (0..5).flat_map(turns).collect::<Vec<_>>());
        assert_eq!(proofs.len(), 2);
        assert_eq!((proofs[0].before.end_to_end_ms.mean, proofs[0].after.end_to_end_ms.mean), (445.0, 46.0));
        let promise = proofs[0].promise.expect("a promise");
        assert_eq!((promise.promised_ms, promise.measured_ms), (40.0, Some(46.0)));
        assert!((promise.at_most_ms - 44.0).abs() < 1e-9);
        assert!(promise.error_percent.is_some_and(|error| (error - 100.0 * (40.0 / 46.0 - 1.0)).abs() < 1e-9));
        let read = |name: &str| std::fs::read(out.path().join(name)).expect("written");
        assert_eq!(serde_json::from_slice::<Proof>(&read("b/proof.json")).expect("a proof"), proofs[1]);
        let all: BTreeMap<String, Proof> = serde_json::from_slice(&read("proof.json")).expect("proofs by name");
        assert_eq!((all["a"].clone(), all["b"].clone()), (proofs[0].clone(), proofs[1].clone()));
    }

    #[test]
    fn with_a_stand_in_a_proof_that_was_cut_short_goes_on_to_the_same_proof() {
        let (before, after) = workloads();
        let [whole, parts] = [0, 1].map(|_| tempfile::tempdir().expect("directory"));
        let proving = proving(&before, &after, &["after"]);
        let at_once = prove(&proving, whole.path(), &StandIn::new(by_path)).expect("an end").expect("a proof");
        assert!(prove(&proving, parts.path(), &StandIn::new(by_path).cut_short(3)).is_none());
        assert!(!parts.path().join("proof.json").exists());
        let runner = StandIn::new(by_path);
        let in_parts = prove(&proving, parts.path(), &runner).expect("an end").expect("a proof");
        assert_eq!(below(parts.path(), &runner.ran())[..2], ["after/repeats/1", "before/repeats/2"]);
        assert_eq!(runner.ran().len(), 7);
        assert_eq!(in_parts, at_once);
    }

    #[test]
    fn with_a_stand_in_a_failed_run_ends_the_proof_and_is_named() {
        let (before, after) = workloads();
        let out = tempfile::tempdir().expect("directory");
        let runner = StandIn::new(|run| match run.ends_with("after/repeats/1") {
            true => anyhow::bail!("node `ndt_matching` died"),
            false => by_path(run),
        });
        let error =
            prove(&proving(&before, &after, &["after"]), out.path(), &runner).expect("an end").expect_err("none");
        assert_eq!(error.to_string(), "repeat 1 of `after`: node `ndt_matching` died");
        assert_eq!(runner.ran().len(), 4);
    }

    #[test]
    fn with_a_stand_in_sides_with_other_phases_are_not_run_and_nothing_that_came_through_is_no_proof() {
        let (before, after) = workloads();
        let out = tempfile::tempdir().expect("directory");
        let mut other = after.clone();
        other.run.seed += 1;
        let runner = StandIn::new(by_path);
        let error =
            prove(&proving(&before, &other, &["after"]), out.path(), &runner).expect("an end").expect_err("none");
        assert_eq!(
            error.to_string(),
            "the workload as it was and `after` differ in seed: 2022 and 2023, expected the same"
        );
        assert!(runner.ran().is_empty());
        let runner = StandIn::new(|_| Ok(ChainFigures { name: "localisation".into(), ..ChainFigures::default() }));
        let nothing = prove(&proving(&before, &after, &["after"]), out.path(), &runner).expect("an end");
        assert!(matches!(nothing, Err(ProveError::NothingCameThrough(5))));
    }
}
