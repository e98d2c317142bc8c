//! The event model, its file, and the run directory that holds it.

pub mod run;
