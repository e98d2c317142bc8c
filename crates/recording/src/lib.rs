//! Records a program: its events, and the facts of the machine that are needed to understand them. Each recording makes
//! one run directory.
//!
//! [`record`] starts a program with the recorder preloaded; [`attach`] probes a running one. [`scheduler_events`] are
//! recorded with either.

// This replaces the standard macro.
#[macro_use(eprintln)]
extern crate tacho_printing;

pub mod attach;
pub mod clock;
mod cpu_times;
pub mod descriptors;
mod environments;
pub mod load;
pub mod machine;
mod perf;
mod pid_namespace;
pub mod preemption;
pub mod preload;
mod recorded;
mod recorder_library;
mod recording;
mod remarks;
pub mod ring;
pub mod scheduler_events;
mod scheduling;
mod signals;
mod tracefs;
mod writers;

pub use recorded::{versions, RecordedProcess};
pub use recording::{record, Error, Recorded, Recording, Wanted};
