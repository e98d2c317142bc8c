//! The command line. Its words are those of the documentation: a run, a workload, a chain.

mod compare;
mod drive;
mod export;
mod record;
mod tune;

use crate::window::Counted;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use tacho_figures::limits::Limit;
use tacho_workload::Overrides;

pub use compare::Compare;
pub use drive::Drive;
pub use export::{Export, Format};
pub use record::{CpuTime, Record, Top};
pub use tune::{Change, Method, Tune};

/// Find where the time goes between sensor and actuator, and get it back
#[derive(Debug, Parser)]
#[command(name = "tacho", version, propagate_version = true)]
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
    Simulate(Simulate),
    Drive(Drive),
    Record(Record),
    Import(Import),
    Explain(Explain),
    Top(Top),
    Model(Model),
    Tune(Tune),
    Report(Report),
    Compare(Compare),
    Export(Export),
    Check(Check),
    Doctor(Doctor),
    /// Print the JSON Schema of the workload file, for editors
    Schema,
    Completions(Completions),
    Man(Man),
}

/// Run a workload, or a sweep of workloads, on real middleware, and measure it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho bench workloads/talker-listener.yaml
  tacho bench workloads/autoware-localisation.yaml --repeats 3 -o runs/mine --json
  tacho bench workloads/autoware-localisation.yaml --set ndt_matching.spin='50 Hz' --set middleware=cyclonedds
  tacho bench workloads/study-a-dds.yaml --short -o runs/a
  tacho bench workloads/study-a-dds.yaml --short -o runs/a --resume
  tacho bench --middleware cyclonedds,fastdds --topology one-to-many --nodes 1,31 --size 64KiB --rate 100Hz \
--duration 5s")]
pub struct Bench {
    /// Workload file; or describe a workload with --topology
    #[arg(required_unless_present_any = ["topology", "resume"])]
    pub workload: Option<PathBuf>,
    #[command(flatten)]
    pub out: Out,
    #[command(flatten)]
    pub varied: Varied,
    /// Continue a sweep that was cut short, in the run directory of -o: finished runs are not run again
    #[arg(long, requires = "out", conflicts_with_all = ["topology", "unrecorded"])]
    pub resume: bool,
    #[command(flatten)]
    pub generated: Generated,
    /// Run without the recorder and print what the nodes count themselves; then run with it and print what recording
    /// costs
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "compared", conflicts_with = "json")]
    pub unrecorded: Option<Unrecorded>,
    /// Delete the events of each run when its tables and figures are written, because long sweeps fill disks
    #[arg(long, conflicts_with = "unrecorded")]
    pub discard_events: bool,
    /// Record the kernel's scheduler events: which thread had no CPU, and which thread had it
    #[arg(long, value_enum, value_name = "WHEN", default_value = "off", conflicts_with = "unrecorded")]
    pub scheduler: Scheduler,
    /// Read the CPU-time clock and the run delay around each callback, by two system calls each time; --scheduler makes
    /// this unnecessary
    #[arg(long, conflicts_with = "unrecorded")]
    pub cpu_time: bool,
    /// Print the figures as JSON (the run's summary.json)
    #[arg(long)]
    pub json: bool,
}

/// What `--unrecorded` runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Unrecorded {
    /// Run without the recorder, then with it
    Compared,
    /// Run without the recorder only
    Alone,
}

/// When to record scheduler events of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scheduler {
    /// Do not record them
    Off,
    /// Record them if permitted; if not, the run says so
    Auto,
    /// Record them, or fail and say what to do
    On,
}

impl Scheduler {
    /// Converts the choice into the recording crate's type.
    pub fn when(self) -> tacho_recording::scheduler_events::When {
        use tacho_recording::scheduler_events::When;
        match self {
            Scheduler::Off => When::Off,
            Scheduler::Auto => When::Permitted,
            Scheduler::On => When::Required,
        }
    }
}

/// A workload without a file. Several values, with commas between them, make a sweep.
#[derive(Debug, Args)]
#[command(next_help_heading = "Without a workload file")]
pub struct Generated {
    /// pairs: N pairs, each with its own topic; one-to-many: one publisher, N subscribers; many-to-one: N publishers,
    /// one node that takes all
    #[arg(long, value_name = "KIND", value_delimiter = ',', conflicts_with = "workload", requires = "rate")]
    #[arg(value_parser = ["pairs", "one-to-many", "many-to-one"])]
    pub topology: Vec<String>,
    /// Middleware plugin
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "topology", default_value = "ros2")]
    pub middleware: Vec<String>,
    /// Transport of the middleware [default: the middleware's]
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "topology")]
    pub transport: Vec<String>,
    /// Number of pairs, subscribers or publishers
    #[arg(long, value_name = "N", value_delimiter = ',', requires = "topology", default_value = "1")]
    pub nodes: Vec<u32>,
    /// Message type as the middleware names it [default: chosen by size]
    #[arg(long, value_name = "TYPE", value_delimiter = ',', requires = "topology")]
    pub r#type: Vec<String>,
    /// Data of one message, with its unit: 64KiB [default: 64 B]
    #[arg(long, value_name = "SIZE", value_delimiter = ',', value_parser = size, requires = "topology")]
    pub size: Vec<String>,
    /// Rate of each publisher, with its unit: 100Hz
    #[arg(long, value_name = "RATE", value_delimiter = ',', value_parser = rate, requires = "topology")]
    pub rate: Vec<String>,
    /// Deadline of a message, with its unit: a message that takes longer is late [default: the period of its publisher]
    #[arg(long, value_name = "TIME", value_delimiter = ',', value_parser = deadline, requires = "topology")]
    pub deadline: Vec<String>,
    /// reliable or best_effort [default: reliable]
    #[arg(long, value_name = "QOS", value_delimiter = ',', requires = "topology")]
    #[arg(value_parser = ["reliable", "best_effort"])]
    pub reliability: Vec<String>,
    /// volatile or transient_local [default: volatile]
    #[arg(long, value_name = "QOS", value_delimiter = ',', requires = "topology")]
    #[arg(value_parser = ["volatile", "transient_local"])]
    pub durability: Vec<String>,
    /// keep_last or keep_all [default: keep_last]
    #[arg(long, value_name = "QOS", value_delimiter = ',', requires = "topology")]
    #[arg(value_parser = ["keep_last", "keep_all"])]
    pub history: Vec<String>,
    /// Messages that keep_last keeps [default: 10]
    #[arg(long, value_name = "N", value_delimiter = ',', requires = "topology")]
    pub depth: Vec<u32>,
}

/// Run a workload, or a sweep of workloads, in virtual time, with costs as measured
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho simulate runs/car                                    a run of a workload again, beside what was measured
  tacho simulate runs/car --set control.on=arrival           what if control ran when its input comes
  tacho simulate runs/car --set /points.depth=1 --set 'run.cpus.ndt=[1]' -o runs/what-if
  tacho simulate workloads/autoware-localisation.yaml --costs runs/car --cpus 8

What is simulated: CPUs under Linux's fair and real-time scheduling, executors, queues. What middleware and machine take
is drawn from what runs show (--costs). Without any, they take no time.")]
pub struct Simulate {
    /// Workload file, run of a workload, or recording
    pub workload: PathBuf,
    #[command(flatten)]
    pub out: Out,
    /// Run on real middleware whose costs to take, or the prediction.json of another simulation; repeat it for several
    /// runs of one middleware [default: the run to simulate]
    #[arg(long, value_name = "RUN")]
    pub costs: Vec<PathBuf>,
    /// CPUs of the simulated machine [default: those of the machine of the costs, or of this one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub cpus: Option<u32>,
    #[command(flatten)]
    pub varied: Varied,
    /// Leave out the kernel's scheduler events, which name who had the CPU
    #[arg(long)]
    pub no_scheduler: bool,
    /// Delete the events of each run when its tables and figures are written, because long sweeps fill disks
    #[arg(long)]
    pub discard_events: bool,
    /// Print the figures as JSON (the run's summary.json)
    #[arg(long)]
    pub json: bool,
}

/// Read traces of ros2_tracing and CARET, or a bag, into a run; or join recordings of several hosts
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho import ~/.ros/tracing/my_trace
  tacho import trace-of-car trace-of-roadside -o runs/both
  tacho import runs/car runs/roadside -o runs/both       what tacho recorded on each")]
pub struct Import {
    /// Folders that hold traces, at any depth; or a bag: its folder or its files; or run directories of recordings, to
    /// join them into one run
    #[arg(required = true)]
    pub traces: Vec<PathBuf>,
    #[command(flatten)]
    pub out: Out,
    /// Print the figures as JSON (the run's summary.json)
    #[arg(long)]
    pub json: bool,
}

/// Make a workload from a recording: a twin that runs without the code of the system
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho model runs/car -o twin.yaml                  the twin of a recorded system
  tacho model runs/car --anonymous -o twin.yaml      the same with other names, to share it
  tacho model runs/car --validate                    how far its simulation is from what was measured

What a workload cannot express is named in the file and on stderr.")]
pub struct Model {
    /// Run directory: of a recording, an imported trace, or a workload
    pub run: PathBuf,
    /// File to write [default: print it]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace names of nodes, topics, processes, threads and chains
    #[arg(long)]
    pub anonymous: bool,
    /// Start the timers in the phases that were recorded, not in those that the seed draws
    #[arg(long)]
    pub phases: bool,
    /// Simulate the twin with the costs that the run shows, in the recorded phases, and print what was measured beside
    /// it
    #[arg(long)]
    pub validate: bool,
}

/// Report where the time of a run goes, and what is wrong with it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho explain runs/latest
  tacho explain runs/latest --chain 'lidar to brake'
  tacho explain runs/latest --node fusion
  tacho explain runs/latest --from /points --to /brake --limit 'reaction 150ms'
  tacho explain runs/latest --between 10s 20s
  tacho explain runs/latest --suggest > links.yaml         which input made which output, to correct it
  tacho explain runs/latest --links links.yaml --deny deadline-missed
  tacho explain runs/latest --json | jq '.chains[] | select(.critical)'

Exit codes: 0 done, 1 a limit was not kept or --deny found something, 2 bad usage or a bad file.")]
pub struct Explain {
    /// Run directory
    pub run: PathBuf,
    /// Explain this chain [default: the critical one]
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    pub chain: Option<String>,
    /// Show only what concerns nodes with this text in their name: their callbacks, topics, chains, findings
    #[arg(long, value_name = "NODE", conflicts_with_all = ["suggest", "deny"])]
    pub node: Option<String>,
    /// Show all tables with all their rows, and all cases of every finding; so does --node
    #[arg(long, conflicts_with_all = ["json", "suggest"])]
    pub all: bool,
    /// Explain the path from here: a topic (beginning with its publishers), a node, or a callback ('/planner timer 100
    /// ms', Planner.reload_map, planner.py:42); write topic:NAME, node:NAME or callback:NAME if several have the name
    #[arg(long, value_name = "END", requires = "to", conflicts_with_all = ["chain", "suggest"])]
    pub from: Option<String>,
    /// Explain the path to here: a topic (to the publish call on it), a node, or a callback
    #[arg(long, value_name = "END", requires = "from")]
    pub to: Option<String>,
    /// Exit 1 if the worst case of the explained chain is above this limit, or was not measured: 'end-to-end TIME',
    /// 'reaction TIME', 'age TIME', 'age-held TIME'. Repeat it for several
    #[arg(long, value_name = "LIMIT", conflicts_with = "suggest")]
    pub limit: Vec<Limit>,
    #[command(flatten)]
    pub counted: Counted,
    /// Links file that states which input made which output, chains, and their deadlines
    #[arg(long, value_name = "FILE")]
    pub links: Option<PathBuf>,
    /// Print only a links file of what was inferred
    #[arg(long, conflicts_with_all = ["json", "allow", "deny", "chain"])]
    pub suggest: bool,
    /// Leave this finding out, by the name of its lint; repeat it for several
    #[arg(long, value_name = "LINT", value_parser = lints(), hide_possible_values = true)]
    pub allow: Vec<String>,
    /// Exit 1 if this lint finds something, by its name; repeat it for several
    #[arg(long, value_name = "LINT", value_parser = lints(), hide_possible_values = true)]
    pub deny: Vec<String>,
    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}

/// Write one HTML file about one or more runs, readable offline
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho report runs/latest
  tacho report runs/before runs/after -o comparison.html")]
pub struct Report {
    /// Run directories; a directory of `tacho tune --prove` counts as the runs in it; sweeps are laid over each other
    #[arg(required = true)]
    pub runs: Vec<PathBuf>,
    /// File to write [default: report.html in the first run directory]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub counted: Counted,
}

/// Check workload files, and report what a sweep would run
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho check workloads/autoware-localisation.yaml
  tacho check workloads/study-a-dds.yaml --points --short")]
pub struct Check {
    /// Workload files
    #[arg(required = true)]
    pub workloads: Vec<PathBuf>,
    /// List the points of sweeps
    #[arg(long)]
    pub points: bool,
    /// List the points of the short form
    #[arg(long, requires = "points")]
    pub short: bool,
}

/// Report whether tacho works on this machine, and what makes its figures worse
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho doctor
  tacho doctor --json | jq '.findings[] | select(.verdict == \"costs\")'
  tacho doctor --allow middleware-connext

Exit codes: 0 everything that recording and bench need works, 1 some of it is broken.")]
pub struct Doctor {
    /// Leave this finding out, by its name; repeat it for several
    #[arg(long, value_name = "NAME")]
    pub allow: Vec<String>,
    /// Remove what killed runs left in shared memory and list it, instead of diagnosing
    #[arg(long, conflicts_with = "allow")]
    pub clean: bool,
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

/// Write the manual pages
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tacho man ~/.local/share/man/man1 && man tacho-record")]
pub struct Man {
    /// Folder to write a page for each verb into
    pub folder: PathBuf,
}

/// What a verb that runs a workload may take from the command line instead of from its file.
#[derive(Debug, Args)]
pub struct Varied {
    /// Run the short form of the workload file
    #[arg(long, requires = "workload")]
    pub short: bool,
    /// Number of runs, each with other phases [default: as the workload says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeats: Option<u32>,
    /// Duration of each run, with its unit: 5s [default: as the workload says]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Duration>,
    /// Seed of phases and of distributions [default: as the workload says]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Change one value of the workload: NODE.KEY=VALUE, TOPIC.OPTION=VALUE, or KEY=VALUE; repeat it for several
    #[arg(long, value_name = "PATH=VALUE", requires = "workload")]
    pub set: Vec<String>,
}

impl Varied {
    /// The same for the reader of workloads.
    pub fn overrides(&self) -> Overrides {
        let Varied { short, repeats, duration, seed, ref set } = *self;
        Overrides { short, repeats, duration, seed, set: set.clone(), ..Overrides::default() }
    }
}

/// Where a verb writes its run directory.
#[derive(Debug, Args)]
pub struct Out {
    /// Run directory to write; must not hold a run already [default: runs/<name>-<date>-<time>, and runs/latest points
    /// to it]
    #[arg(short, long, value_name = "RUN")]
    pub out: Option<PathBuf>,
}

/// Names of lints. An unknown name is an error that lists them, and shells complete them.
fn lints() -> clap::builder::PossibleValuesParser {
    tacho_figures::lints::LINTS.iter().map(|lint| lint.name).collect::<Vec<_>>().into()
}

pub fn duration(text: &str) -> Result<Duration, String> {
    tacho_workload::units::parse_duration(text).map_err(|error| {
        format!("{error}; expected a time with its unit ({}), such as 30s", tacho_workload::units::DURATION_UNITS)
    })
}

/// A time for all nodes, or for one node.
pub fn callback_check(text: &str) -> Result<(Option<String>, Duration), String> {
    match text.split_once('=') {
        Some((node, time)) => Ok((Some(node.to_owned()), duration(time)?)),
        None => Ok((None, duration(text)?)),
    }
}

/// Parses a size and writes it as a workload file does.
fn size(text: &str) -> Result<String, String> {
    tacho_workload::units::parse_size(text).map(tacho_workload::units::format_size).map_err(|error| {
        format!("{error}; expected a size with its unit ({}), such as 64KiB", tacho_workload::units::SIZE_UNITS)
    })
}

/// Parses a frequency and writes it as a workload file does.
fn rate(text: &str) -> Result<String, String> {
    tacho_workload::units::parse_frequency(text).map(tacho_workload::units::format_frequency).map_err(|error| {
        format!("{error}; expected a rate with its unit ({}), such as 100Hz", tacho_workload::units::FREQUENCY_UNITS)
    })
}

/// Parses a time and writes it as a workload file does.
fn deadline(text: &str) -> Result<String, String> {
    duration(text).map(tacho_workload::units::format_duration)
}
