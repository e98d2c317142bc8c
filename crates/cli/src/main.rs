//! The `tacho` command: one module a verb, no logic of its own.

// It replaces the standard macro.
#[macro_use(eprintln)]
extern crate tacho_printing;

mod advice;
mod alternatives;
mod analysis;
mod bench;
mod check;
mod compare;
mod completions;
mod doctor;
mod drive;
mod exit;
mod explain;
mod export;
mod generate;
mod import;
mod interrupt;
mod live_page;
mod man;
mod measuring;
mod model;
mod node_clocks;
mod options;
mod planning;
mod progress;
mod promised;
mod record;
mod report;
mod running;
mod runs;
mod schema;
mod simulate;
mod top;
mod tune;
mod tuning;
mod twins;
mod unrecorded;
mod window;

use clap::Parser;
use options::{Options, Verb};
use std::process::ExitCode;

/// As many heaps as CPUs. By default each thread may have one of its own, and what it gave back stays there: half as
/// much memory again after the figures of a long run, which many short threads compute.
fn share_heaps() {
    #[cfg(target_env = "gnu")]
    {
        let heaps = tacho_tables::in_order::threads().try_into().unwrap_or(libc::c_int::MAX);
        // SAFETY: a call without conditions; where it fails, there are as many as before.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, heaps) };
    }
}

fn main() -> ExitCode {
    share_heaps();
    let verb = match Options::try_parse() {
        Ok(options) => options.verb,
        Err(error) => return exit::usage(error),
    };
    let outcome = match verb {
        Verb::Bench(options) => interrupt::whole(bench::run(options)),
        Verb::Simulate(options) => interrupt::whole(simulate::run(options)),
        Verb::Drive(options) => interrupt::whole(drive::run(options)),
        Verb::Record(options) => record::run(options),
        Verb::Import(options) => interrupt::whole(import::run(options)),
        Verb::Explain(options) => explain::run(options),
        Verb::Top(options) => top::run(options),
        Verb::Model(options) => interrupt::whole(model::run(options)),
        Verb::Tune(options) => interrupt::whole(tune::run(options)),
        Verb::Report(options) => report::run(options),
        Verb::Compare(options) => compare::run(options),
        Verb::Export(options) => export::run(options),
        Verb::Check(options) => check::run(options),
        Verb::Doctor(options) => doctor::run(options),
        Verb::Schema => schema::run(),
        Verb::Completions(options) => completions::run(options),
        Verb::Man(options) => man::run(options),
    };
    exit::code(outcome)
}
