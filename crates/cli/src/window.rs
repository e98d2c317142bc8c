//! The part of a run that counts, as the command line selects it.

use clap::Args;
use std::time::Duration;
use tacho_analysis::{Moment, Window};

/// Begin and end of what counts.
#[derive(Debug, Args)]
pub struct Counted {
    /// Leave the first TIME of the run out, with its unit: 5s. Without it, chains and findings of a recorded program
    /// leave its start-up out, and 0s counts it
    #[arg(long, value_name = "TIME", value_parser = crate::options::duration, conflicts_with = "between")]
    pub skip: Option<Duration>,
    /// Count only what happens from FROM to TO: times since the begin of the run with their unit, 10s, or of the wall
    /// clock, UTC, 09:12:21.5 or 2026-11-23T09:12:21.5Z
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"])]
    pub between: Vec<Moment>,
}

impl Counted {
    /// The window that is asked for.
    pub fn window(&self) -> Option<Window> {
        let between = match self.between[..] {
            [from, to] => Some(Window::between(from, to)),
            _ => None,
        };
        self.skip.map(Window::skip).or(between)
    }
}
