//! The workload file: what a system does, independent of the middleware and machine it runs on.
//!
//! ```
//! let text = "
//! nodes:
//!   lidar: {publishes: {/points: {size: 64 KiB, rate: 10 Hz}}}
//!   ndt:   {subscribes: [/points], on: arrival, work: 12 ms}
//! chains: {localisation: [lidar, ndt]}
//! ";
//! let (workload, warnings) = tacho_workload::parse(text, "example.yaml")?;
//! assert_eq!(workload.nodes[0].publishes[0].rate_hz, Some(10.0));
//! assert!(warnings.is_empty());
//! # Ok::<(), tacho_workload::Errors>(())
//! ```

pub mod callbacks;
mod check;
mod diagnostic;
mod document;
pub mod expect;
mod generated;
mod grammar;
pub mod groups;
mod kept;
pub mod links;
pub mod model;
mod names;
pub mod random;
mod rates;
mod read;
mod run;
mod schema;
mod set;
mod short;
mod sweep;
pub mod tasks;
mod topology;
pub mod units;
mod values;
mod write;

pub use diagnostic::{Diagnostic, Errors, Severity, Warning};
pub use generated::{Generated, Keys};
pub use kept::kept;
pub use model::Workload;
pub use rates::{instances_hz, mean_hz, rates, Rates};
pub use schema::schema;
pub use short::Overrides;
pub use sweep::{sweep, Sweep, SweepPoint, MAX_POINTS};
pub use write::write;

/// Reads a workload file that is not a sweep: exactly one workload. `file` is only its name in messages.
///
/// All mistakes are reported at once, each with its place, what was found and what was expected.
pub fn parse(text: &str, file: &str) -> Result<(Workload, Vec<Warning>), Errors> {
    sweep::single(text, file, &Overrides::default())
}

/// Does the same as [`parse`] with overrides.
pub fn parse_with(text: &str, file: &str, overrides: &Overrides) -> Result<(Workload, Vec<Warning>), Errors> {
    sweep::single(text, file, overrides)
}
