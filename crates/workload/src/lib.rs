//! The workload file: what a system does, whatever it runs on.

pub mod model;
