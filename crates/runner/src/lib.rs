//! Node processes and recorded programs: one run is one run directory.
//!
//! [`bench`] runs a workload, [`recording`] any program; [`node`] is what runs inside `tacho-node`.

pub mod bench;
pub mod callback_check;
pub mod clock;
pub mod doctor;
mod domain;
pub mod install;
pub mod machine;
pub mod node;
mod node_process;
pub mod phases;
mod planning;
pub mod preload;
pub mod protocol;
pub mod recording;
