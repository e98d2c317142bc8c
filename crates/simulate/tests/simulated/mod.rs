//! Simulated runs and their figures.

use std::sync::atomic::AtomicBool;
use tacho_events::run::RunDirectory;
use tacho_simulate::{Costs, Simulator};
use tacho_tables::summary::{ChainFigures, Summary};
use tacho_workload::Workload;

pub fn workload(text: &str) -> Workload {
    tacho_workload::parse(text, "test.yaml").expect("a workload").0
}

/// Simulates a repeat on this many CPUs.
pub fn simulated_with(costs: &Costs, workload: &Workload, cpus: usize, repeat: u32) -> (tempfile::TempDir, Summary) {
    let folder = tempfile::tempdir().expect("a folder");
    let run = RunDirectory::new(folder.path());
    let interrupted = AtomicBool::new(false);
    let simulator = Simulator::new(costs, cpus, &interrupted);
    simulator.repeat(workload, repeat, &run, &mut |_| {}).expect("a simulation");
    let summary = tacho_figures::analyse_and_store(&run, Some(workload), &mut |_| {}).expect("figures");
    (folder, summary)
}

pub fn chain<'a>(summary: &'a Summary, name: &str) -> &'a ChainFigures {
    summary.chains.iter().find(|chain| chain.name == name).unwrap_or_else(|| {
        let names: Vec<&str> = summary.chains.iter().map(|chain| chain.name.as_str()).collect();
        panic!("chain {name}: there are {names:?}")
    })
}

/// A chain of three nodes on arrival: 8 ms.
pub const CHAIN: &str = "
middleware: inproc
nodes:
  source: {publishes: {/a: {rate: 10 Hz}}, work: 1 ms}
  filter: {subscribes: [/a], publishes: [/b], work: 5 ms}
  act:    {subscribes: [/b], work: 2 ms}
chains: {chain: [source, filter, act]}
run: {duration: 5 s, seed: 3}
";
