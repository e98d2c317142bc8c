//! Upper bounds of end-to-end times, by response-time analysis of single-threaded executors.
//!
//! The analysis is that of Casini et al. (ECRTS 2019): timers and subscriptions of an executor that looks at them in
//! rounds. Messages arrive with the jitter of what sent them, so response times and arrivals are settled together. It
//! holds where each executor has a CPU for itself; everything else is refused with the reason.

mod arrivals;
mod callbacks;
mod cpus;
mod response;

use callbacks::System;
use tacho_simulate::prediction::Bound;
use tacho_simulate::Costs;
use tacho_workload::model::{Chain, Workload};

/// Bounds the end-to-end time of each chain of a workload on a machine with so many CPUs. They hold as far as work and
/// `costs` hold: no activation takes longer than the workload says, and no transport longer than the longest seen.
pub fn bounds(workload: &Workload, costs: &Costs, cpus: usize) -> Vec<Bound> {
    if workload.chains.is_empty() {
        return vec![];
    }
    let settled = settled(workload, costs, cpus);
    let of_chain = |chain: &Chain| {
        let (end_to_end_ms, refused) =
            match settled.as_ref().map_err(Clone::clone).and_then(|of| of.end_to_end_ns(chain)) {
                Ok(ns) => (Some(ns as f64 / 1e6), None),
                Err(reason) => (None, Some(reason)),
            };
        Bound { chain: chain.name.clone(), end_to_end_ms, refused }
    };
    workload.chains.iter().map(of_chain).collect()
}

fn settled(workload: &Workload, costs: &Costs, cpus: usize) -> Result<System, String> {
    let mut system = System::of(workload, costs)?;
    cpus::one_each(workload, &system, cpus)?;
    system.settle()?;
    Ok(system)
}
