//! What is known of a run, stage by stage: observed, related, linked, ways, paths, chains.
//!
//! Each stage is made of the one before, which it consumes, so that a pass out of order does not compile. A pass that
//! changes what was seen runs inside the constructor of a stage; behind it [`Seen`](crate::observe::Seen) is there to
//! be read alone.

mod chains;
mod linked;
mod observed;
mod paths;
mod related;
mod ways;

pub(crate) use chains::Chains;
pub(crate) use linked::Linked;
pub(crate) use observed::Observed;
pub(crate) use paths::Paths;
pub(crate) use related::Related;
pub(crate) use ways::Ways;
