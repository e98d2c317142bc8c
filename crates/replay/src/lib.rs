//! The task `replay`: a source that publishes the recorded messages of a topic at their recorded times.
//!
//! It is a library of tasks (`native/include/tacho/task.h`) in Rust, because [`tacho_import`] reads bags.

mod recorded;
mod seam;

pub use recorded::{Recorded, Replay};
