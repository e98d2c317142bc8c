//! `tacho man`

use crate::exit::Outcome;
use crate::options::{Man, Options};
use anyhow::Context;
use clap::CommandFactory;

pub fn run(options: Man) -> Outcome {
    std::fs::create_dir_all(&options.folder).with_context(|| options.folder.display().to_string())?;
    clap_mangen::generate_to(Options::command(), &options.folder)
        .with_context(|| options.folder.display().to_string())?;
    Ok(())
}
