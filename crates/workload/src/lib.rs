//! The workload file: what a system does, whatever it runs on.
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

mod check;
mod diagnostic;
mod document;
mod grammar;
pub mod model;
mod rates;
mod read;
mod schema;
pub mod units;
mod values;
mod write;

pub use diagnostic::{Diagnostic, Errors, Severity, Warning};
pub use model::Workload;
pub use rates::{rates, Rates};
pub use schema::schema;
pub use write::write;

use diagnostic::Report;

/// Reads a workload file. `file` is only how messages name it.
///
/// All mistakes are reported at once, each with its place, what was found and what was expected.
pub fn parse(text: &str, file: &str) -> Result<(Workload, Vec<Warning>), Errors> {
    let mut report = Report::new(file, text);
    let mut read_workload = None;
    match document::parse(text) {
        Err(error) => report.error("not-yaml", error.span, error.message, error.found, error.expected),
        Ok(None) => {
            let start = diagnostic::Span { line: 1, column: 1, width: 1 };
            report.error("no-nodes", start, "an empty workload", "nothing", grammar::Form::Nodes.expected());
        }
        Ok(Some(root)) => {
            let reading = read::read(&root, &mut report);
            check::check(&reading, &mut report);
            read_workload = Some(reading.workload);
        }
    }
    let (errors, warnings) = report.finish();
    match read_workload {
        Some(workload) if errors.is_empty() => Ok((workload, warnings)),
        _ => Err(Errors { errors, warnings }),
    }
}
