//! Exit codes, one per verdict: 0 done, 1 an expectation failed, 2 bad usage or a bad file, 3 a fault of the machine or
//! a middleware, 4 nothing of ROS in what was imported, 128 + N cut short by signal N (130 by ^C). `tacho record`
//! passes the code of the program on.

use crate::options::Options;
use clap::Parser;
use std::process::ExitCode;
use tacho_figures::ReadError;
use tacho_printing::{lines_to_stderr, once, visible, Lines};

/// Exit code for traces that are whole and hold no usable event of ROS.
pub const NOTHING_OF_ROS: u8 = 4;

/// Why a verb did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// The request makes no sense: bad arguments, a bad workload file, not a run directory.
    Usage(String),
    /// A workload or links file has mistakes; the text shows each in its place, on lines of its own.
    Mistakes(tacho_workload::Errors),
    /// The machine, a middleware or a process failed.
    Fault(anyhow::Error),
    /// The verb has printed everything already; only the code is left.
    Code(u8),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Failure::Fault(error)
    }
}

impl From<tacho_workload::Errors> for Failure {
    fn from(errors: tacho_workload::Errors) -> Self {
        Failure::Mistakes(errors)
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Workload(errors) => Failure::Mistakes(errors),
            ReadError::WorkloadFile { .. } | ReadError::Sweep(_) | ReadError::Window(_) => {
                Failure::Usage(error.to_string())
            }
            ReadError::Info(error) => Failure::Fault(error.into()),
            fault => Failure::Fault(fault.into()),
        }
    }
}

impl From<tacho_campaign::Error> for Failure {
    fn from(error: tacho_campaign::Error) -> Self {
        match error {
            tacho_campaign::Error::Refused(text) => Failure::Usage(text),
            tacho_campaign::Error::Workload(errors) => Failure::Mistakes(errors),
            tacho_campaign::Error::Fault(error) => Failure::Fault(error),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Fault(error.into())
    }
}

/// The outcome of a verb.
pub type Outcome = Result<(), Failure>;

/// Prints what failed and returns the code.
pub fn code(outcome: Outcome) -> ExitCode {
    ExitCode::from(outcome.map_or_else(say, |()| 0))
}

/// Prints what failed; returns its code.
pub fn say(failure: Failure) -> u8 {
    match failure {
        Failure::Usage(text) => {
            eprintln!("tacho: {text}");
            2
        }
        Failure::Mistakes(errors) => {
            lines_to_stderr(&Lines::composed(&format!("tacho: {errors}\n")));
            2
        }
        Failure::Fault(error) => {
            eprintln!("tacho: {}", causes(&error));
            3
        }
        Failure::Code(code) => code,
    }
}

/// Formats an error with its causes, each once, because many of our errors name their cause themselves.
pub fn causes(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| match said.as_str() {
        "" => cause,
        known if known.contains(&cause) => said,
        _ => format!("{said}: {cause}"),
    })
}

/// Turns failures into a fault that names each reason once; the verb keeps all that was measured.
pub fn verdict<'a>(failures: impl IntoIterator<Item = &'a String>) -> Outcome {
    let mut outcome = Ok(());
    for failure in once(failures) {
        eprintln!("tacho: {failure}");
        outcome = Err(Failure::Code(3));
    }
    outcome
}

/// Prints what clap says: help and version to stdout with success, errors to stderr with 2.
pub fn usage(error: clap::Error) -> ExitCode {
    // clap quotes the words of the command line, in its own text and colours. If a word could steer the terminal, we
    // print the same with that word made harmless.
    let words: Vec<String> = std::env::args_os().map(|word| visible(&word.to_string_lossy()).into_owned()).collect();
    let error = Options::try_parse_from(words).err().unwrap_or(error);
    // A closed pipe (`tacho --help | head -1`) is no failure of ours.
    let _ = error.print();
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}
