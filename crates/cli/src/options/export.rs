//! Options of `tacho export`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Write a run for other tools: a timeline for Perfetto, figures over time for Foxglove, or its tables as CSV
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tacho export runs/latest --to perfetto -o trace.pftrace     open it at https://ui.perfetto.dev
  tacho export runs/latest --to mcap -o figures.mcap          latency and more over time, beside a bag
  tacho export runs/latest --to csv -o tables                 a folder with a file for each table")]
pub struct Export {
    /// Run directory; of a run with repeats, a repeat: RUN/repeats/0
    pub run: PathBuf,
    /// What to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub to: Format,
    /// File to write, which it replaces; for csv a new or empty folder
    #[arg(short, long, value_name = "PATH")]
    pub out: PathBuf,
}

/// Formats of other tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Threads, callbacks, messages as flows, latency, findings, for Perfetto
    Perfetto,
    /// Latency, loss, callbacks and chains over time, findings, for Foxglove and PlotJuggler
    Mcap,
    /// All tables as text
    Csv,
}
