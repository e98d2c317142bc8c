//! Options of the verbs that record a running system, or watch its recording.

use super::{duration, Out, Scheduler};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use tacho_figures::live::watch::Trigger;

/// Whether to read the CPU-time clock around callbacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CpuTime {
    /// Read it
    On,
    /// Do not: for callbacks so short that a microsecond a call is too much
    Off,
}

/// Record any ROS 2 or ROS 1 program, unmodified: no rebuild, no daemon, no root
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho record -- ros2 launch my_car car.launch.py
  tacho record -o runs/talker -- python3 talker.py
  tacho record --attach 4711,4712 --duration 30s
  tacho record -o runs/car --ring 60s --trigger 'late /points 50ms' -- ros2 launch my_car car.launch.py
  tacho record --save runs/car                       from another terminal, while that goes on")]
pub struct Record {
    #[command(flatten)]
    pub out: Out,
    /// Limit of the event file of one process on the disk; events that do not fit are dropped and counted. With --ring,
    /// older events make room
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_mib: u64,
    /// Record the kernel's scheduler events: which thread had no CPU, and which thread had it
    #[arg(long, value_enum, value_name = "WHEN", default_value = "off")]
    pub scheduler: Scheduler,
    /// Read the CPU-time clock and the run delay around each callback, by two system calls (some 1.6 us) each time
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, require_equals = true)]
    #[arg(default_value = "on", default_missing_value = "on")]
    pub cpu_time: CpuTime,
    /// Print the figures as JSON (the run's summary.json)
    #[arg(long)]
    pub json: bool,
    /// Record running programs, by their process ids, until ^C or their end: needs root, costs them some microseconds
    /// an event, and names what they made before only in part
    #[arg(long, value_name = "PID", value_delimiter = ',', conflicts_with_all = ["command", "cpu_time"])]
    pub attach: Vec<u32>,
    /// Detach after this time, with its unit: 30s
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "attach")]
    pub duration: Option<Duration>,
    /// Keep only the events of the last TIME: 60s. --save, SIGUSR1 to tacho, and triggers save them below RUN/saves
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub ring: Option<Duration>,
    /// Save the ring when this happens: 'late TOPIC TIME', a message is not in its callback this time after its publish
    /// call; 'silent TOPIC TIME', nothing was published for this time. Repeat it for several
    #[arg(long, value_name = "CONDITION", requires = "ring")]
    pub trigger: Vec<Trigger>,
    /// Wait this time after a trigger before saving, with its unit [default: a quarter of the ring]
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "trigger")]
    pub after: Option<Duration>,
    /// Largest number of saves
    #[arg(long, value_name = "N", requires = "ring", default_value_t = 10)]
    pub saves: u32,
    /// Make the recording with --ring that goes on in this run directory save its ring, and wait for the save
    #[arg(long, value_name = "RUN", conflicts_with_all = ["command", "attach", "ring", "out", "json", "cpu_time"])]
    pub save: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required_unless_present_any = ["attach", "save"], last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Watch a system while it is recorded: topics, callbacks and chains of the last seconds, worst first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho top runs/latest                 in a second terminal, while tacho record goes on
  sudo tacho top --attach 4711,4712     running programs
  tacho top runs/latest --once --json   the last seconds, for a script
  tacho top runs/latest --browser       the last seconds as a page: timeline, chains, findings")]
pub struct Top {
    /// Run directory of a recording that goes on
    #[arg(required_unless_present = "attach", conflicts_with = "attach")]
    pub run: Option<PathBuf>,
    /// Attach to running programs, by their process ids, as tacho record --attach does; keeps no recording
    #[arg(long, value_name = "PID", value_delimiter = ',')]
    pub attach: Vec<u32>,
    /// Time over which the figures are made, with its unit
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    pub window: Duration,
    /// Time between updates, with its unit
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "1s", conflicts_with = "once")]
    pub interval: Duration,
    /// Show the report of the window as a page that goes on: http://127.0.0.1:PORT [default: a port that is free]
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    #[arg(conflicts_with = "once")]
    pub browser: Option<u16>,
    /// Wait until the window is full, print it and exit
    #[arg(long)]
    pub once: bool,
    /// Print JSON, as in summary.json
    #[arg(long, requires = "once")]
    pub json: bool,
}
