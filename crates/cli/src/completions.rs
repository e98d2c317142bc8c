//! `tacho completions`

use crate::exit::Outcome;
use crate::options::{Completions, Options};
use clap::CommandFactory;

pub fn run(options: Completions) -> Outcome {
    clap_complete::generate(options.shell, &mut Options::command(), "tacho", &mut std::io::stdout());
    Ok(())
}
