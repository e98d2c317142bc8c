//! The search of `tacho tune`: the simulator with the costs of a run, and what the plan says.

use crate::alternatives::{self, Alternatives};
use crate::exit::Failure;
use crate::options::Change;
use crate::progress::Progress;
use crate::tuning::Asked;
use crate::{measuring, simulate};
use anyhow::Context;
use std::collections::BTreeMap;
use std::thread::available_parallelism;
use std::time::Duration;
use tacho_events::run::RunDirectory;
use tacho_printing::Lines;
use tacho_runner::bench::Bench;
use tacho_runner::callback_check::SPIN_HZ;
use tacho_runner::scheduling::is_permitted;
use tacho_simulate::costs::Check;
use tacho_simulate::{fit, Simulator};
use tacho_tune::plan::{usual_evaluations, write_files, Figure, Goal, Key, Machine, Plan, Planning, PLAN_FOLDER};
use tacho_tune::search::Settings;
use tacho_tune::{Promised, Proof};
use tacho_workload::model::{Executor, Node};
use tacho_workload::Workload;

/// Most candidates that `--exhaustive` simulates.
const MOST: f64 = 1e6;

/// What the search knows of the system as it is.
pub struct Measured<'a> {
    /// A run of it.
    pub run: &'a RunDirectory,
    /// What a wake-up of a node costs that spins at [`SPIN_HZ`], if that is known.
    pub check: Option<Duration>,
}

/// Whether the search may let nodes spin at rates so high that a wake-up costs less than in the run.
fn may_spin_faster(workload: &Workload, keys: &[Key]) -> bool {
    let is_slow = |node: &Node| matches!(node.executor, Executor::Spin { hz } if hz < SPIN_HZ / 2.0);
    keys.contains(&Key::Spin) && workload.nodes.iter().any(is_slow)
}

/// Searches for a plan of a chain and predicts every side of a proof. `tuned`: workloads of other methods, by name.
pub fn search(
    bench: &Bench<'_>,
    workload: &Workload,
    chain: &str,
    Measured { run: measured, check }: &Measured<'_>,
    asked: &Asked,
    tuned: &[(&str, &Workload)],
    out: &RunDirectory,
) -> Result<(Plan, BTreeMap<String, f64>), Failure> {
    let costs = fit::fit(std::slice::from_ref(measured)).context("costs of the run")?;
    let cpus = if costs.cpus > 0 { costs.cpus as usize } else { available_parallelism().map_or(1, usize::from) };
    let tasks = bench.installation.tasks_of(workload).context("libraries of tasks")?;
    let goals =
        if asked.goal.is_empty() { vec![Goal { figure: Figure::Mean, chain: None }] } else { asked.goal.clone() };
    let keys: Vec<Key> = match asked.change.as_slice() {
        [] => Key::USUAL.to_vec(),
        change => change.iter().copied().map(Change::key).collect(),
    };
    let alternatives = Alternatives::new(bench, workload, measured, &keys)?;
    let machine = Machine {
        cpus: (0..cpus as u32).filter(|cpu| is_permitted(&[*cpu], None)).collect(),
        scheduling: Machine::asked().filter(|scheduling| is_permitted(&[], Some(*scheduling))).collect(),
        transports: alternatives.transports(),
    };
    let evaluations =
        asked.evaluations.map_or_else(|| usual_evaluations(&goals, &asked.at_most), |count| count as usize);
    let settings =
        Settings { seed: workload.run.seed, evaluations, threads: available_parallelism().map_or(1, usize::from) };
    let simulator = |costs, other_transports| Simulator {
        scheduler: false,
        tasks: &tasks,
        other_transports,
        ..Simulator::new(costs, cpus, bench.interrupted)
    };
    let of_the_run = simulator(&costs, &[]);
    let planning = Planning {
        simulator: &of_the_run,
        workload,
        chain,
        goals: &goals,
        bounds: &asked.at_most,
        keys: &keys,
        keep: &asked.keep,
        machine: &machine,
        measured,
        folder: out.path(),
        settings,
        exhaustive: asked.exhaustive,
    };
    let candidates = planning.candidates().map_err(Failure::Usage)?;
    if asked.exhaustive && candidates > MOST {
        return Err(Failure::Usage(format!(
            "--exhaustive: found {candidates:.3e} candidates, expected at most {MOST}: let less --change, or \
             --keep more"
        )));
    }
    // What was asked for can be searched, so what it costs is measured now.
    let alternatives::Measured { mut costs, mut other_transports, seen } =
        alternatives.measure(bench, measured, out)?;
    let check = match check {
        None if may_spin_faster(workload, &keys) && alternatives::is_of_this_machine(measured)? => {
            Some(measuring::callback_check(bench, workload, out)?)
        }
        known => *known,
    };
    for costs in other_transports.iter_mut().chain([&mut costs]) {
        costs.checks.extend(check.map(|check| Check { hz: SPIN_HZ, cpu_ns: check.as_nanos() as i64 }));
    }
    let transports = other_transports.iter().map(|costs| costs.transport.clone()).collect();
    let (simulator, machine) = (simulator(&costs, &other_transports), Machine { transports, ..machine.clone() });
    let planning = Planning { simulator: &simulator, machine: &machine, ..planning };
    simulate::say_others(&costs);
    let mut progress = Progress::new();
    let of = if asked.exhaustive { candidates } else { evaluations as f64 };
    let plan = planning.plan(&mut |done| {
        progress.show(&format!("searching: {done} candidates simulated"), (done as f64 / of).min(1.0))
    });
    progress.finish();
    let plan = Plan { alternatives: seen, ..plan.context("search")? };
    let mean = |figures: &tacho_tune::plan::SystemFigures| figures.chains.get(chain).and_then(|chain| chain.mean_ms);
    let mut promised_ms = BTreeMap::new();
    for (name, tuned) in tuned {
        let predicted = planning.predicted(tuned).context("prediction")?;
        promised_ms.extend(mean(&predicted).map(|ms| ((*name).to_owned(), ms)));
    }
    promised_ms.extend(mean(&plan.planned).map(|ms| (crate::runs::PLANNED.to_owned(), ms)));
    let folder = out.path().join(PLAN_FOLDER);
    write_files(&plan, &folder).with_context(|| folder.display().to_string())?;
    if !keys.contains(&Key::Process) && !keys.contains(&Key::Transport) {
        alternatives::propose(measured, chain)?;
    }
    Ok((plan, promised_ms))
}

/// What is promised of a side of the proof.
pub fn promise(name: &str, plan: Option<&Plan>, promised_ms: &BTreeMap<String, f64>) -> Option<Promised> {
    let promised_ms = *promised_ms.get(name)?;
    Some(Promised::of(promised_ms, plan?.at_most(Figure::Mean, promised_ms)))
}

/// What the search did and what it promises, for the terminal.
pub fn describe(plan: &Plan, text: &mut Lines) {
    let log = &plan.search;
    text.line(format_args!(
        "  {} simulations, {} candidates; each change, why and how: plan/plan.md",
        log.evaluations,
        log.candidates_in_words()
    ));
    for error in &plan.errors {
        text.line(format_args!(
            "  {}: measured {:.2}, simulated {:.2} ({:+.1} %)",
            error.figure, error.measured, error.simulated, error.error_percent
        ));
    }
    for goal in &plan.goals {
        let of = |figures: &tacho_tune::plan::SystemFigures| figures.of(goal, &plan.chain);
        if let (Some(as_is), Some(planned)) = (of(&plan.as_is), of(&plan.planned)) {
            let (unit, most) = (goal.figure.unit(), plan.at_most(goal.figure, planned));
            text.line(format_args!(
                "  {goal}: {as_is:.2} {unit} as it is, {planned:.2} {unit} planned, at most {most:.2} {unit} \
                 (simulated)"
            ));
        }
    }
    if let Some(speeds) = plan.safe_speeds() {
        text.line(format_args!("  the car drives safely {speeds}"));
    }
    for seen in &plan.alternatives {
        let mean_ms = seen.figures.chains.get(&plan.chain).and_then(|times| times.mean_ms);
        mean_ms.iter().for_each(|ms| text.line(format_args!("  measured {}: mean {ms:.2} ms", seen.name)));
    }
    if let (Some(as_is), Some(planned)) = (plan.as_is.cpu_percent, plan.planned.cpu_percent) {
        text.line(format_args!("  CPU: {as_is:.1} % of one as it is, {planned:.1} % planned (simulated)"));
    }
    plan.doubts.iter().for_each(|doubt| text.line(format_args!("  {doubt}")));
}

/// What was promised beside what was measured, for the terminal.
pub fn kept<'p>(proofs: impl Iterator<Item = (&'static str, &'p Proof)>) -> Lines {
    let mut text = Lines::new();
    for (name, proof) in proofs {
        if let Some(promise) = &proof.promise {
            if let (Some(measured_ms), Some(error)) = (promise.measured_ms, promise.error_percent) {
                let kept = judged(measured_ms, proof.after.end_to_end_ms.interval, promise.at_most_ms);
                text.line(format_args!(
                    "{name}: promised {:.2} ms (at most {:.2} ms), measured {measured_ms:.2} ms: {kept}, {error:+.1} % \
                     off",
                    promise.promised_ms, promise.at_most_ms
                ));
            }
        }
        if let Some(cpu) = &proof.cpu_percent {
            text.line(format_args!("{name}: CPU {:.1} % of one before, {:.1} % after", cpu.before, cpu.after));
        }
    }
    text
}

/// Whether a promise is kept. Repeats that differ too much do not show that it is not.
fn judged(measured_ms: f64, interval: Option<[f64; 2]>, at_most_ms: f64) -> String {
    match interval {
        _ if measured_ms <= at_most_ms => "the promise is kept".into(),
        Some([low, high]) if low <= at_most_ms => {
            format!("whether the promise is kept is open (repeats: {low:.2} to {high:.2} ms, 95 %)")
        }
        _ => "the promise is not kept".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_that_differ_too_much_break_no_promise() {
        assert_eq!(judged(9.0, Some([7.0, 11.0]), 10.0), "the promise is kept");
        assert_eq!(judged(11.0, Some([10.5, 11.5]), 10.0), "the promise is not kept");
        assert_eq!(judged(11.0, None, 10.0), "the promise is not kept");
        assert!(judged(11.0, Some([9.5, 12.5]), 10.0).contains("is open (repeats: 9.50 to 12.50 ms, 95 %)"));
    }
}
