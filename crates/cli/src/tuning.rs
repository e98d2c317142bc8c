//! Stores what a tuning was begun with and what it found in its directory, so that a proof can go on.

use crate::exit::{Failure, Outcome};
use crate::options::{callback_check, Change, Method, Tune};
use crate::{check, runs};
use anyhow::{anyhow, Context};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tacho_campaign::{difference, same_workload, LOCK};
use tacho_events::run::RunDirectory;
use tacho_tune::plan::{Bound, Goal, Plan};
use tacho_workload::model::Chain;
use tacho_workload::units::format_duration;
use tacho_workload::Workload;

const NAME: &str = "tuning.json";
const EXPECTED: &str = "expected the workload and the options that it was begun with, or another directory";

/// The content of `RUN/tuning.json`. `RUN/workload.yaml` beside it holds the workload that was asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tuning {
    /// The options.
    pub asked: Asked,
    /// What the search found; absent until it has finished.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub found: Option<Found>,
}

/// The options that decide what a tuning finds and proves, beside its workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The measured run, as an absolute path; absent if the tuning measures a workload file itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<PathBuf>,
    /// How to tune.
    pub method: Vec<Method>,
    /// The chain.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chain: Option<String>,
    /// Times of callback checks, as `--check` takes them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub check: Vec<String>,
    /// Cores that the nodes share.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cores: Option<u32>,
    /// What the search improves.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub goal: Vec<Goal>,
    /// What it keeps below.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub at_most: Vec<Bound>,
    /// What it may change.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub change: Vec<Change>,
    /// What it leaves as it is.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub keep: Vec<String>,
    /// Most candidates that it simulates.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub evaluations: Option<u32>,
    /// Whether it simulates all.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub exhaustive: bool,
}

/// The result of a search: enough to write the tuned workloads again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The chain that is tuned, which the workload need not name.
    pub chain: Chain,
    /// The common rate; absent without that method.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub common_rate_hz: Option<f64>,
    /// The plan; absent without a search.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub plan: Option<Plan>,
    /// Mean end-to-end time of the chain that the simulation predicts for each side of the proof, ms; empty without a
    /// search.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub promised_ms: BTreeMap<String, f64>,
}

/// The plan that a tuning found.
pub fn plan_of(directory: &Path) -> Result<Plan, Failure> {
    let path = directory.join(NAME);
    let text = runs::read_text(&path)?;
    let unreadable = |error| Failure::Usage(format!("{}: {error}", path.display()));
    let tuning: Tuning = serde_json::from_str(&text).map_err(unreadable)?;
    let missing = || Failure::Usage(format!("{}: has no plan; expected that of a finished search", path.display()));
    tuning.found.and_then(|found| found.plan).ok_or_else(missing)
}

/// A tuning that begins or goes on.
pub struct Begun {
    /// The options that it uses.
    pub tuning: Tuning,
    /// The workload as it was, with the repeats that were asked for.
    pub workload: Workload,
    /// Its directory, if it goes on.
    pub out: Option<RunDirectory>,
}

impl Begun {
    /// Makes it from the command line and, with `--resume`, from what its directory holds. Writes nothing.
    pub fn new(options: &Tune) -> Result<Begun, Failure> {
        let out = options.out.out.as_ref().filter(|out| options.resume && out.join(NAME).is_file());
        match (out, &options.run) {
            (Some(out), _) => Begun::again(options, RunDirectory::new(out)),
            (None, Some(run)) => {
                let tuning = Tuning { asked: Asked::of(options)?, found: None };
                Ok(Begun { tuning, workload: workload(run, options.repeats)?, out: None })
            }
            (None, None) => {
                let out = options.out.out.clone().unwrap_or_default();
                let expected = "expected one, or a run or workload to tune";
                Err(Failure::Usage(format!("{}: holds no tuning to go on with; {expected}", out.display())))
            }
        }
    }

    /// An option that is not on the command line keeps its value; one that is there must have the same value. If a run
    /// or workload is named, all options count.
    fn again(options: &Tune, out: RunDirectory) -> Result<Begun, Failure> {
        let text = runs::read_text(&out.path().join(NAME))?;
        let unreadable = |error| Failure::Usage(format!("{}: {error}", out.path().join(NAME).display()));
        let tuning: Tuning = serde_json::from_str(&text).map_err(unreadable)?;
        let now = Asked::of(options)?;
        for (there, now) in tuning.asked.words().into_iter().zip(now.words()) {
            if there != now && (options.run.is_some() || !now.is_default()) {
                let text = format!("the tuning was begun {there}, and is now asked for {now}; {EXPECTED}");
                return Err(Failure::Usage(format!("{}: {text}", out.path().display())));
            }
        }
        let workload = workload(options.run.as_deref().unwrap_or(&out.workload()), options.repeats)?;
        let begun_with = runs::read_text(&out.workload())?;
        if !same_workload(&begun_with, &workload) {
            let difference = difference(&begun_with, &tacho_workload::write(&workload));
            let text = format!("the tuning was begun with another workload: {difference}; {EXPECTED}");
            return Err(Failure::Usage(format!("{}: {text}", out.workload().display())));
        }
        Ok(Begun { tuning, workload, out: Some(out) })
    }
}

/// Reads the workload of a run, or of a file, with this number of repeats.
fn workload(path: &Path, repeats: Option<u32>) -> Result<Workload, Failure> {
    let mut workload = match path.is_file() {
        true => check::read(path)?,
        false => runs::workload(&runs::open(path)?)?.ok_or_else(|| {
            Failure::Usage(format!("{}: has no workload.yaml; expected a run of `tacho bench`", path.display()))
        })?,
    };
    workload.run.repeats = repeats.unwrap_or(workload.run.repeats);
    Ok(workload)
}

impl Tuning {
    /// Writes it into a new directory, with the workload that was asked for.
    pub fn begin(&self, out: &RunDirectory, workload: &Workload) -> Outcome {
        if out.path().join(NAME).is_file() {
            return Ok(());
        }
        std::fs::write(out.workload(), tacho_workload::write(workload))
            .with_context(|| out.workload().display().to_string())?;
        self.write(out) // last: with it, all is there
    }

    /// Empties the directory of a tuning for which nothing was measured, so that the command can be given again.
    pub fn withdraw(out: &RunDirectory) -> Outcome {
        let own = [out.path().join(NAME), out.workload()];
        let is_own = |path: PathBuf| own.contains(&path) || path.ends_with(LOCK);
        let mut entries = std::fs::read_dir(out.path()).with_context(|| out.path().display().to_string())?;
        if !entries.all(|entry| entry.is_ok_and(|entry| is_own(entry.path()))) {
            return Ok(());
        }
        let mut removed = own.iter().map(|path| std::fs::remove_file(path).with_context(|| path.display().to_string()));
        Ok(removed.try_for_each(|removed| removed)?)
    }

    /// Writes it in one step.
    pub fn write(&self, out: &RunDirectory) -> Outcome {
        let (new, path) = (out.path().join(".tuning.json"), out.path().join(NAME));
        let text = serde_json::to_vec_pretty(self).context("JSON")?;
        let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &path));
        Ok(written.with_context(|| path.display().to_string())?)
    }
}

impl Asked {
    fn of(options: &Tune) -> Result<Asked, Failure> {
        let run = options.run.as_ref().filter(|run| !run.is_file());
        let absolute = |run: &PathBuf| run.canonicalize().unwrap_or_else(|_| run.clone());
        let check = |(node, time): &(Option<String>, Duration)| match node {
            Some(node) => format!("{node}={}", format_duration(*time)),
            None => format_duration(*time),
        };
        Ok(Asked {
            run: run.map(absolute),
            method: match (options.method.is_empty(), &options.run) {
                (true, Some(_)) => vec![Method::Search],
                _ => options.method.clone(),
            },
            chain: options.chain.clone(),
            check: options.check.iter().map(check).collect(),
            cores: options.cores,
            goal: options.goal.clone(),
            at_most: options.at_most.clone(),
            change: options.change.clone(),
            keep: options.keep.clone(),
            evaluations: options.evaluations,
            exhaustive: options.exhaustive,
        })
    }

    /// Parses the times of callback checks, of one node or of all.
    pub fn checks(&self) -> Result<Vec<(Option<String>, Duration)>, Failure> {
        let checks = self.check.iter().map(|text| callback_check(text)).collect::<Result<_, _>>();
        Ok(checks.map_err(|error| anyhow!("{NAME}: check: {error}"))?)
    }

    /// Puts each option into words that can be compared.
    fn words(&self) -> [Words; 11] {
        let run = self.run.as_ref().map_or("a workload file".into(), |run| run.display().to_string());
        let name = |method: &Method| method.to_possible_value().map(|value| value.get_name().to_owned());
        let methods: Vec<String> = self.method.iter().filter_map(name).collect();
        [
            Words { option: "", value: run, default: self.run.is_none() },
            Words::new("--method", methods.join(", ")),
            Words::new("--chain", self.chain.clone().unwrap_or_default()),
            Words::new("--check", self.check.join(", ")),
            Words::new("--cores", self.cores.map_or(String::new(), |cores| cores.to_string())),
            Words::new("--goal", listed(&self.goal)),
            Words::new("--at-most", listed(&self.at_most)),
            Words::new("--change", listed(self.change.iter().map(|change| change.key().name()))),
            Words::new("--keep", listed(&self.keep)),
            Words::new("--evaluations", self.evaluations.map_or(String::new(), |count| count.to_string())),
            Words::new("--exhaustive", if self.exhaustive { "on".into() } else { String::new() }),
        ]
    }
}

fn listed(items: impl IntoIterator<Item = impl ToString>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

/// An option and its value; without a name, the run or workload to tune.
#[derive(Debug, PartialEq)]
struct Words {
    option: &'static str,
    value: String,
    default: bool,
}

impl Words {
    fn new(option: &'static str, value: String) -> Words {
        Words { option, default: value.is_empty(), value }
    }

    fn is_default(&self) -> bool {
        self.default
    }
}

impl std::fmt::Display for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Words { option: "", value, .. } => write!(f, "of {value}"),
            Words { option, default: true, .. } => write!(f, "without {option}"),
            Words { option, value, .. } => write!(f, "with {option} {value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Options, Verb};
    use clap::Parser;

    const WORKLOAD: &str = "nodes: {a: {publishes: {/t: {rate: 10 Hz}}}, b: {subscribes: [/t]}}\nchains: {c: [a, b]}\n\
                            run: {duration: 1 s, repeats: 2}\n";

    fn options(line: &str, folder: &Path) -> Tune {
        let line = line.replace("FOLDER", &folder.display().to_string());
        match Options::try_parse_from(line.split_whitespace()).expect("options").verb {
            Verb::Tune(tune) => tune,
            other => panic!("{other:?}"),
        }
    }

    /// A folder with w.yaml, and a tuning of it in `out`.
    fn begun(line: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("folder");
        std::fs::write(folder.path().join("w.yaml"), WORKLOAD).expect("workload");
        let out = RunDirectory::new(folder.path().join("out"));
        std::fs::create_dir(out.path()).expect("out");
        let begun = Begun::new(&options(line, folder.path())).expect("a tuning");
        begun.tuning.begin(&out, &begun.workload).expect("written");
        folder
    }

    #[test]
    fn a_tuning_goes_on_by_its_directory_alone_or_with_the_same_words() {
        let first = "tacho tune FOLDER/w.yaml --method common-rate --method arrival --check 0.05ms --check b=1ms \
                     --prove --repeats 3";
        let folder = begun(first);
        for line in ["tacho tune --prove", first] {
            let line = format!("{line} -o FOLDER/out --resume");
            let again = Begun::new(&options(&line, folder.path())).expect("the same");
            assert_eq!(again.tuning.asked.method, [Method::CommonRate, Method::Arrival]);
            let checks = again.tuning.asked.checks().expect("checks");
            let times = [(None, Duration::from_micros(50)), (Some("b".to_owned()), Duration::from_millis(1))];
            assert_eq!((checks, again.workload.run.repeats), (times.to_vec(), 3));
            assert!(again.out.is_some());
        }
    }

    #[test]
    fn other_words_are_refused_and_named() {
        let folder = begun("tacho tune FOLDER/w.yaml --method arrival --cores 2");
        let refused = |line: &str| {
            let line = format!("tacho tune {line} --prove -o FOLDER/out --resume");
            match Begun::new(&options(&line, folder.path())).map(|_| ()) {
                Err(Failure::Usage(text)) => text,
                other => panic!("{other:?}"),
            }
        };
        let other = refused("--method common-rate");
        assert!(
            other.contains("begun with --method arrival, and is now asked for with --method common-rate;"),
            "{other}"
        );
        let lacking = refused("FOLDER/w.yaml --method arrival");
        assert!(lacking.contains("begun with --cores 2, and is now asked for without --cores;"), "{lacking}");
        let added = refused("--chain c");
        assert!(added.contains("begun without --chain, and is now asked for with --chain c;"), "{added}");
        let longer = refused("--repeats 5");
        assert!(longer.contains("`  repeats: 2` there and `  repeats: 5` now"), "{longer}");
        std::fs::write(folder.path().join("w.yaml"), WORKLOAD.replace("1 s", "2 s")).expect("workload");
        let text = refused("FOLDER/w.yaml --method arrival --cores 2");
        assert!(text.contains("another workload") && text.contains("1 s") && text.contains("2 s"), "{text}");
    }

    #[test]
    fn where_no_tuning_was_begun_there_is_nothing_to_go_on_with_but_one_begins() {
        let folder = tempfile::tempdir().expect("folder");
        std::fs::write(folder.path().join("w.yaml"), WORKLOAD).expect("workload");
        let nothing = Begun::new(&options("tacho tune --prove -o FOLDER/out --resume", folder.path())).map(|_| ());
        assert!(matches!(nothing, Err(Failure::Usage(text)) if text.contains("holds no tuning to go on with")));
        let line = "tacho tune FOLDER/w.yaml --method arrival --prove -o FOLDER/out --resume";
        assert!(Begun::new(&options(line, folder.path())).expect("a tuning").out.is_none());
    }
}
