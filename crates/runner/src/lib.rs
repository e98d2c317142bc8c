//! Node processes and recorded programs: one run is one run directory.

pub mod clock;
pub mod machine;
pub mod preload;
pub mod recording;
