//! `tacho check`

use crate::exit::{Failure, Outcome};
use crate::options::Check;
use crate::runs::read_text;
use std::path::Path;
use tacho_workload::Workload;

pub fn run(options: Check) -> Outcome {
    let mut bad = 0;
    for path in &options.workloads {
        match read(path) {
            Ok(workload) => println!(
                "{}: in order ({} nodes, {} chains, middleware {})",
                path.display(),
                workload.nodes.len(),
                workload.chains.len(),
                workload.middleware
            ),
            Err(Failure::Usage(text)) => {
                eprintln!("{text}");
                bad += 1;
            }
            Err(failure) => return Err(failure),
        }
    }
    if bad > 0 {
        return Err(Failure::Code(2));
    }
    Ok(())
}

/// Reads a workload file; warnings go to stderr, mistakes are a usage error that shows each in its place.
pub fn read(path: &Path) -> Result<Workload, Failure> {
    let text = read_text(path)?;
    let (workload, warnings) =
        tacho_workload::parse(&text, &path.display().to_string()).map_err(|errors| Failure::Usage(errors.to_string()))?;
    for warning in warnings {
        eprintln!("{warning}\n");
    }
    Ok(workload)
}
