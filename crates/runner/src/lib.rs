//! Runs the node processes of a workload; each run has one run directory.
//!
//! [`bench`] runs a workload; [`node`] runs inside `tacho-node`.

// Replaces the standard `eprintln!`.
#[macro_use(eprintln)]
extern crate tacho_printing;

pub mod background;
pub mod bench;
pub mod board_wire;
pub mod callback_check;
pub mod domain;
pub mod hosts;
pub mod install;
pub mod instant;
pub mod leftovers;
pub mod micro;
pub mod node;
pub mod node_process;
mod patience;
pub mod phases;
pub mod planning;
mod processes;
pub mod protocol;
pub mod resources;
pub mod scheduling;
mod starting_again;
pub mod window;
