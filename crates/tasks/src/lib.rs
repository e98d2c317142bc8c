//! Finds and loads libraries of tasks, and runs the tasks.
//!
//! A library of tasks is a shared object `libtacho_tasks_<name>.so` that implements `native/include/tacho/task.h`. This
//! crate finds the libraries of a folder, checks their ABI, describes their kinds of tasks to the reader of workloads,
//! and wraps a task so that the rules of the seam hold by construction.

mod error;
mod library;
mod task;

pub use error::Error;
pub use library::{kinds, load, Kind};
pub use task::{Config, Endpoint, Figure, Input, OnSample, Output, Sample, Task};
