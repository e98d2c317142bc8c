//! Executes many runs in one order: the repeats of `tacho bench` and `tacho simulate`, a sweep, a proof of `tacho
//! tune`.
//!
//! A [`Campaign`] is a list of [`Item`]s, each a repeat of a [`Subject`] in a run directory of its own. It holds the
//! [`RunLock`] of the directory above them, keeps what an earlier attempt finished, stops in order at ^C, and sums up
//! the repeats of each subject. [`SweepRun`] turns a sweep into a campaign; `tacho_tune` does so with a proof.

// Replaces the standard `eprintln!`.
#[macro_use(eprintln)]
extern crate tacho_printing;

mod campaign;
mod difference;
mod error;
mod finished;
mod lock;
mod order;
mod subject;
mod sweep;
pub mod testing;
mod together;
mod whole;

pub use campaign::{Analysis, Campaign, Ended, Failed, OnFailure, Step};
pub use difference::{difference, same_workload};
pub use error::Error;
pub use finished::is_finished;
pub use lock::{RunLock, NAME as LOCK};
pub use order::{in_turns, Item};
pub use subject::{Runner, Running, Subject};
pub use sweep::{same_sweep, SweepRun, Swept};
