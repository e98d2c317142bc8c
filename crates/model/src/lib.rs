//! The twin of a recorded system: a workload made from the tables of a run. It says in words what it cannot express.

mod calls;
mod names;
mod seen;
mod twin;
mod work;
mod write;

pub use names::{is_chain, Names};
pub use twin::{name_chains, twin, Twin};
pub use write::write;
