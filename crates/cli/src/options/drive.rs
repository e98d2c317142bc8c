//! Options of `tacho drive`.

use super::{Out, Scheduler, Varied};
use clap::Args;
use std::path::PathBuf;

/// Drive a car around a track with a workload's stack, in real or virtual time, and report whether it kept its lane
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho drive workloads/drive.yaml --speed 5m/s
  tacho drive workloads/drive.yaml --speed 36km/h --instances 1400 -o runs/drive
  tacho drive workloads/drive.yaml --short --set world.work.obstacles=1
  tacho drive workloads/drive.yaml --watch
  tacho drive workloads/study-e-drive.yaml --short -o runs/e
  tacho drive workloads/study-e-drive.yaml --short -o runs/e --resume
  tacho drive workloads/study-e-drive.yaml --virtual --costs runs/drive

Exit codes: 0 the lane was kept and nothing was touched, 1 not so, 2 bad usage or a bad file, 3 a fault of the machine,
a middleware or a node.")]
pub struct Drive {
    /// Workload file with a node of the task `vehicle`; if it is a sweep, each of its points drives
    pub workload: PathBuf,
    #[command(flatten)]
    pub out: Out,
    #[command(flatten)]
    pub varied: Varied,
    /// Continue a sweep that was cut short, in the run directory of -o: finished drives are not driven again
    #[arg(long, requires = "out")]
    pub resume: bool,
    /// Speed that planning aims at, with its unit: 5m/s [default: as the workload says]
    #[arg(long, value_name = "SPEED")]
    pub speed: Option<String>,
    /// Number of instances of the first chain, which determines the duration [default: as the workload says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "duration")]
    pub instances: Option<u32>,
    /// Drive in the simulator of `tacho simulate`, with the same tasks; a sweep keeps only the figures of its drives
    #[arg(long = "virtual")]
    pub is_virtual: bool,
    /// Drive on real middleware that shows how long tasks and messages take; repeat it for several
    #[arg(long, value_name = "RUN", requires = "is_virtual")]
    pub costs: Vec<PathBuf>,
    /// CPUs of the simulated machine [default: those of the machine of the costs, or of this one]
    #[arg(long, value_name = "N", requires = "is_virtual", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub cpus: Option<u32>,
    /// Record the kernel's scheduler events: which thread had no CPU, and which thread had it
    #[arg(long, value_enum, value_name = "WHEN", default_value = "off")]
    pub scheduler: Scheduler,
    /// Show the drive while it goes on, from above and as a timeline: http://127.0.0.1:PORT [default: a port that is
    /// free]
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    #[arg(conflicts_with_all = ["is_virtual", "resume"])]
    pub watch: Option<u16>,
    /// Print the figures as JSON (the run's summary.json)
    #[arg(long)]
    pub json: bool,
}
