//! Node processes and recorded programs: one run is one run directory.
//!
//! [`bench`] runs a workload, [`recording`] any program; [`node`] is what runs inside `tacho-node`.

// In place of the standard one.
#[macro_use(eprintln)]
extern crate tacho_printing;

pub mod attach;
pub mod background;
pub mod bench;
mod board_wire;
pub mod callback_check;
pub mod clock;
pub mod doctor;
mod descriptors;
mod domain;
mod environments;
mod hosts;
pub mod install;
pub mod instant;
pub mod leftovers;
pub mod load;
pub mod machine;
pub mod micro;
pub mod node;
mod node_process;
mod patience;
mod perf;
pub mod phases;
mod planning;
pub mod preemption;
pub mod preload;
mod processes;
pub mod protocol;
mod recorded;
mod recorder_library;
pub mod recording;
mod remarks;
pub mod resources;
pub mod ring;
pub mod scheduler_events;
mod scheduling;
mod signals;
mod starting_again;
mod tracefs;
mod window;
mod writers;
