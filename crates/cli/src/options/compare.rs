//! Options of `tacho compare`.

use clap::Args;
use std::path::PathBuf;

/// Report which figures are better, worse, undecided or unchanged from one side of runs to another; check expectations
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho compare runs/before runs/after                   each a run with repeats
  tacho compare runs/a1 runs/a2 -- runs/b1 runs/b2       each side several runs
  tacho compare runs/before runs/after --expect limits.yaml --junit timing.xml --markdown summary.md
  tacho compare runs/latest --expect limits.yaml         one side: expectations alone
  tacho compare runs/latest --history history.csv --version-of 1.4.2

limits.yaml:
  loss: 0 %
  latency p99: < 2 ms
  chain localisation reaction: < 150 ms

Exit codes: 0 nothing is worse, 1 something is worse or an expectation failed, 2 bad usage or a bad file, 3 a run \
cannot be read.")]
pub struct Compare {
    /// Run directories before; or one before and one after. A run with repeats counts as its repeats
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Run directories after
    #[arg(last = true, value_name = "RUN")]
    pub after: Vec<PathBuf>,
    /// The smallest change that matters, in percent of the figure: a smaller one is unchanged or undecided
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "2%")]
    pub matters: f64,
    /// The accepted chance of any false alarm among all figures, in percent
    #[arg(long, value_name = "PERCENT", value_parser = chance, default_value = "5%")]
    pub false_alarms: f64,
    /// Compare only figures with this text in their name, such as 'chain braking' or 'latency p99': fewer figures need
    /// fewer runs. Repeat it for several
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// File of expectations, which every run after (or of the only side) must keep
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// Show all figures, also those that are unchanged, undecided or not judged
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
    /// Write the verdicts as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the verdicts as Markdown, for the summary of a pull request
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Add the runs after (or of the only side) to a history, a CSV file that apache-otava reads
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// What the runs are of, for the history: a version, a commit
    #[arg(long, value_name = "VERSION", requires = "history", default_value = "")]
    pub version_of: String,
    /// Print the verdicts as JSON
    #[arg(long)]
    pub json: bool,
}

/// `2%` as 0.02.
fn percent(text: &str) -> Result<f64, String> {
    let percent = tacho_workload::units::parse_percent(text)
        .map_err(|error| format!("{error}; expected a percentage, such as 2%"))?;
    Ok(percent / 100.0)
}

fn chance(text: &str) -> Result<f64, String> {
    match percent(text)? {
        chance if chance > 0.0 && chance <= 0.5 => Ok(chance),
        _ => Err("expected more than 0% and at most 50%".into()),
    }
}
