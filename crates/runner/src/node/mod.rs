//! The inside of a node process (`tacho-node`).

pub mod clock_log;
pub mod computation;
pub mod ending;
pub mod entities;
pub mod executor;
pub mod failure;
pub mod interpreter;
pub mod joined;
pub mod matcher;
pub mod process;
pub mod refusals;
pub mod signal;
pub mod timers;
pub mod trace;
pub mod work;
