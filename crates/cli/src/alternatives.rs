//! Measures what a search for a plan needs beside the run of the system as it is: nodes in one process, and other
//! transports.

use crate::exit::Failure;
use crate::{analysis, measuring};
use anyhow::{ensure, Context};
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_recording::machine::machine;
use tacho_runner::bench::Bench;
use tacho_simulate::{fit, Costs};
use tacho_tables::store;
use tacho_tune::plan::{alternatives, figures_of, nodes_in_python, Alternative, Key, Seen};
use tacho_workload::Workload;

/// If messages take more than this part of a chain's mean, `tacho` proposes to measure other ways for them.
const LARGE: f64 = 0.2;
/// Folder of their runs, in the directory of a tuning.
const FOLDER: &str = "alternatives";

/// What was measured.
pub struct Measured {
    /// Costs of the measured run's transport.
    pub costs: Costs,
    /// Costs of the others.
    pub other_transports: Vec<Costs>,
    /// What the runs show themselves.
    pub seen: Vec<Seen>,
}

/// What is to be measured.
pub struct Alternatives {
    runs: Vec<Alternative>,
}

impl Alternatives {
    /// What the search needs if these keys may change. Refuses keys that cannot change.
    pub fn new(
        bench: &Bench<'_>,
        workload: &Workload,
        measured: &RunDirectory,
        keys: &[Key],
    ) -> Result<Alternatives, Failure> {
        let [process, transport] = [Key::Process, Key::Transport].map(|key| keys.contains(&key));
        if !process && !transport {
            return Ok(Alternatives { runs: vec![] });
        }
        let info = first_info(measured)?;
        check_machine(measured, &info)?;
        let others = if transport { other_transports(workload, measured, &info)? } else { vec![] };
        let middleware = &workload.middleware;
        if process && bench.installation.facts(middleware).one_process {
            return Err(Failure::Usage(format!("--change process: all nodes of {middleware} share a process")));
        }
        let summary = store::read_summary(measured).context("figures of the run")?;
        let runs = alternatives(workload, keys, &others, &nodes_in_python(&summary, workload));
        if process && runs.iter().all(|of| of.transport.is_some()) {
            let expected = "expected two nodes of one host in different processes, which are not in Python";
            return Err(Failure::Usage(format!(
                "--change process: no node could join the process of another; {expected}"
            )));
        }
        Ok(Alternatives { runs })
    }

    /// Other transports among them.
    pub fn transports(&self) -> Vec<String> {
        let mut transports: Vec<String> = self.runs.iter().filter_map(|of| of.transport.clone()).collect();
        transports.dedup();
        transports
    }

    /// Measures them, unless that is done. A transport that the workload cannot use is left out, and named.
    pub fn measure(&self, bench: &Bench<'_>, measured: &RunDirectory, out: &RunDirectory) -> Result<Measured, Failure> {
        let fitted = |runs: &[RunDirectory]| fit::fit(runs).context("costs of the run");
        let of = |transport: Option<&str>| -> Result<anyhow::Result<Vec<RunDirectory>>, Failure> {
            let mut ran = Vec::new();
            for alternative in self.runs.iter().filter(|of| of.transport.as_deref() == transport) {
                let run = RunDirectory::new(out.path().join(FOLDER).join(&alternative.name));
                match is_new(bench, alternative, &run) {
                    Ok(true) => drop(analysis::store(&run, Some(&alternative.workload))?),
                    Ok(false) => {}
                    Err(error) => return Ok(Err(error)),
                }
                ran.push(run);
            }
            Ok(Ok(ran))
        };
        let own = [vec![measured.clone()], of(None)??].concat();
        let mut all = own.clone();
        let mut other_transports = Vec::new();
        for transport in self.transports() {
            match of(Some(&transport))? {
                Ok(runs) => {
                    other_transports.push(fitted(&runs)?);
                    all.extend(runs);
                }
                Err(error) if bench.is_interrupted() => return Err(error.into()),
                Err(error) => eprintln!("tacho: transport {transport} is not tried: {error:#}"),
            }
        }
        Ok(Measured { costs: fitted(&own)?, other_transports, seen: seen(&all)? })
    }
}

/// What the runs show: the first of the system as it is, the others of alternatives. Nothing if there are no others.
fn seen(runs: &[RunDirectory]) -> anyhow::Result<Vec<Seen>> {
    let of = |(place, run): (usize, &RunDirectory)| {
        let name = run.path().file_name().filter(|_| place > 0).map(|name| name.to_string_lossy().into_owned());
        let figures = figures_of(&store::read_summary(run)?);
        Ok(Seen { name: name.unwrap_or_else(|| "as it is".into()), figures })
    };
    runs.iter().enumerate().filter(|_| runs.len() > 1).map(of).collect()
}

/// Proposes to measure them if messages take a large part of a chain's time.
pub fn propose(measured: &RunDirectory, chain: &str) -> Result<(), Failure> {
    if first_info(measured)?.verb != "bench" {
        return Ok(());
    }
    let summary = store::read_summary(measured).context("figures of the run")?;
    let of_chain = summary.chains.iter().find(|of| of.name == chain);
    // Without alignment, transport has it.
    let parts = of_chain.and_then(|of| of.parts.as_ref()).filter(|parts| parts.alignment.is_some());
    let times = parts.and_then(|parts| Some((parts.transport.mean, of_chain?.end_to_end_ms.as_ref()?.mean)));
    if let Some((transport_ms, mean_ms)) = times.filter(|(transport_ms, mean_ms)| *transport_ms > LARGE * mean_ms) {
        eprintln!(
            "tacho: next: transport takes {:.0} % of the mean of {chain}: --change process,transport measures what it \
             would be in one process and on other transports",
            100.0 * transport_ms / mean_ms
        );
    }
    Ok(())
}

/// Runs one, unless it is there; whether it is new, and has no figures yet.
fn is_new(bench: &Bench<'_>, alternative: &Alternative, run: &RunDirectory) -> anyhow::Result<bool> {
    let what = format!("measuring {}", alternative.name);
    let Some(failures) = measuring::run(bench, &alternative.workload, run, &what)? else { return Ok(false) };
    ensure!(!bench.is_interrupted(), "interrupted");
    ensure!(failures.is_empty(), "{}: {}", run.path().display(), failures.join("; "));
    Ok(true)
}

fn first_info(measured: &RunDirectory) -> Result<RunInfo, Failure> {
    let repeats = measured.repeats().context("repeats of the run")?;
    let first = repeats.first().unwrap_or(measured);
    Ok(first.info().with_context(|| first.path().display().to_string())?)
}

/// Whether what is measured now can be compared with a run.
pub fn is_of_this_machine(measured: &RunDirectory) -> Result<bool, Failure> {
    Ok(check_machine(measured, &first_info(measured)?).is_ok())
}

/// Costs of two machines cannot be compared.
fn check_machine(measured: &RunDirectory, info: &RunInfo) -> Result<(), Failure> {
    let here = machine();
    let there = info.machine.clone().unwrap_or_default();
    let words =
        |of: &tacho_events::run::Machine| format!("{}, {} CPUs of {}, Linux {}", of.host, of.cpus, of.cpu, of.kernel);
    if words(&here) == words(&there) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{}: was measured on another machine ({}) than this one ({}), on which processes and transports would be \
         measured; expected a run of this machine, or its workload file",
        measured.path().display(),
        words(&there),
        words(&here)
    )))
}

/// Transports of the workload's middleware other than its own.
fn other_transports(workload: &Workload, measured: &RunDirectory, info: &RunInfo) -> Result<Vec<String>, Failure> {
    let all = info.transports.get(&workload.middleware).map_or(&[][..], Vec::as_slice);
    let [default, ..] = all else {
        return Err(Failure::Usage(format!(
            "{}: run.json names no transports of {}, so --change transport has nothing to try; expected a run of a \
             plugin by this release of tacho (client libraries have executors in their place)",
            measured.path().display(),
            workload.middleware
        )));
    };
    let own = if workload.transport.is_empty() { default } else { &workload.transport };
    let others: Vec<String> = all.iter().filter(|name| *name != own).cloned().collect();
    if others.is_empty() {
        return Err(Failure::Usage(format!(
            "--change transport: {} has no other transport than {own}",
            workload.middleware
        )));
    }
    Ok(others)
}
