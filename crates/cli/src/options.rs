//! The command line. The words are those of design and docs: a run, a workload, a chain.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Where does the time go between sensor and actuator, and how do I get it back?
#[derive(Debug, Parser)]
#[command(name = "tacho", version, propagate_version = true, disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  tacho record -- ros2 launch my_car car.launch.py   record a system as it is
  tacho explain runs/latest                          where its time goes
  tacho bench workloads/talker-listener.yaml         run a workload on real middleware
  tacho tune runs/latest --method common-rate --prove

Exit codes: 0 done, 1 an expectation failed, 2 bad usage or a bad file, 3 a fault of the machine or a middleware.")]
pub struct Options {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    Bench(Bench),
    Record(Record),
    Import(Import),
    Explain(Explain),
    Tune(Tune),
    Report(Report),
    Check(Check),
    Doctor(Doctor),
    /// Print the JSON Schema of the workload file, for editors
    Schema,
    Completions(Completions),
}

/// Run a workload on real middleware, recorded
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho bench workloads/talker-listener.yaml
  tacho bench workloads/autoware-localisation.yaml --repeats 3 -o runs/mine --json")]
pub struct Bench {
    /// Workload file
    pub workload: PathBuf,
    #[command(flatten)]
    pub out: Out,
    /// Run it this often, each time with other phases [default: as the workload says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeats: Option<u32>,
    /// How long each repeat lasts, with its unit: 5s [default: as the workload says]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// Seed of phases and of distributions [default: as the workload says]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run without the recorder, with the clocks inside the nodes only: shows what recording costs
    #[arg(long, conflicts_with = "json")]
    pub unrecorded: bool,
    /// Print the figures as JSON (the run's summary.json)
    #[arg(long)]
    pub json: bool,
}

/// Record any ROS 2 program, unmodified: no rebuild, no daemon, no root
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho record -- ros2 launch my_car car.launch.py
  tacho record -o runs/talker -- python3 talker.py")]
pub struct Record {
    #[command(flatten)]
    pub out: Out,
    /// Most that one process may write; what comes after is dropped and counted
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_mib: u64,
    /// Print the figures as JSON (the run's summary.json)
    #[arg(long)]
    pub json: bool,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Read traces of ros2_tracing and CARET into a run
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho import ~/.ros/tracing/my_trace
  tacho import trace-of-car trace-of-roadside -o runs/both")]
pub struct Import {
    /// Folders that hold traces, at any depth
    #[arg(required = true)]
    pub traces: Vec<PathBuf>,
    #[command(flatten)]
    pub out: Out,
    /// Print the figures as JSON (the run's summary.json)
    #[arg(long)]
    pub json: bool,
}

/// Say where the time of a run goes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho explain runs/latest
  tacho explain runs/latest --json | jq '.chains[] | select(.critical)'")]
pub struct Explain {
    /// Run directory
    pub run: PathBuf,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}

/// Search better spin rates for a chain, and prove the gain
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho tune runs/latest --method common-rate
  tacho tune workloads/autoware-localisation.yaml --method common-rate --method arrival --prove")]
pub struct Tune {
    /// Run directory of a workload, or a workload file (which is then run first, to measure it)
    pub run: PathBuf,
    /// How to tune; more than once to compare
    #[arg(long, value_enum, required = true)]
    pub method: Vec<Method>,
    /// Chain to tune [default: the critical one]
    #[arg(long, value_name = "NAME")]
    pub chain: Option<String>,
    /// Run the workload as it was and as tuned, in turns, and report the gain with its spread
    #[arg(long)]
    pub prove: bool,
    /// Repeats of each under --prove [default: as the workload says]
    #[arg(long, value_name = "N", requires = "prove", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeats: Option<u32>,
    #[command(flatten)]
    pub out: Out,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
}

/// A way of tuning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// One spin rate for all nodes of the chain, the best of 10, 20 ... 1000 Hz by study E's equations
    CommonRate,
    /// Nodes of the chain wake when their input arrives instead of spinning
    Arrival,
}

/// Write one HTML file about one or more runs, readable offline
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho report runs/latest
  tacho report runs/before runs/after -o comparison.html")]
pub struct Report {
    /// Run directories; what `tacho tune --prove` wrote counts as the runs in it
    #[arg(required = true)]
    pub runs: Vec<PathBuf>,
    /// File to write [default: report.html in the first run directory]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Check a workload file
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tacho check workloads/autoware-localisation.yaml")]
pub struct Check {
    /// Workload files
    #[arg(required = true)]
    pub workloads: Vec<PathBuf>,
}

/// Say whether tacho works on this machine, and what of it costs time
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho doctor
  tacho doctor --json | jq '.findings[] | select(.verdict == \"costs\")'
  tacho doctor --allow middleware-connext

Exit codes: 0 what recording and bench need works, 1 some of it is broken.")]
pub struct Doctor {
    /// Leave this finding out, by its name; more than once for several
    #[arg(long, value_name = "NAME")]
    pub allow: Vec<String>,
    /// Print the findings as JSON
    #[arg(long)]
    pub json: bool,
}

/// Print shell completions
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tacho completions bash > ~/.local/share/bash-completion/completions/tacho")]
pub struct Completions {
    /// Shell
    pub shell: clap_complete::Shell,
}

/// Where a verb writes its run directory.
#[derive(Debug, Args)]
pub struct Out {
    /// Run directory to write; must not hold a run already [default: runs/<name>-<date>-<time>, and runs/latest points to it]
    #[arg(short, long, value_name = "RUN")]
    pub out: Option<PathBuf>,
}

fn duration(text: &str) -> Result<Duration, String> {
    tacho_workload::units::parse_duration(text).map_err(|error| error.to_string())
}
