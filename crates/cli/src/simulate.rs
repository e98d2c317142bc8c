//! `tacho simulate`

use crate::exit::{Failure, Outcome};
use crate::options::Simulate as Options;
use crate::{check, explain, interrupt, running, runs, twins};
use anyhow::Context;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use tacho_campaign::Running;
use tacho_events::run::{Load, RunDirectory};
use tacho_printing::Lines;
use tacho_report::{Column, Table};
use tacho_runner::install::Installation;
use tacho_simulate::prediction::{
    cpu_percent, of_chains, of_topics, Bound, Figures, Flow, PredictedChain, PredictedCpu, Prediction,
};
use tacho_simulate::{fit, Costs, Simulator};
use tacho_tables::store;
use tacho_tables::summary::Summary;
use tacho_tune::plan::{doubt_of_threads, nodes_in_python};
use tacho_workload::model::{Node, Work};
use tacho_workload::tasks::TaskKind;
use tacho_workload::{Overrides, Sweep, Workload};

/// File of the prediction, in its run directory.
const PREDICTION: &str = "prediction.json";
/// Folder of the run without the changes of `--set`.
const AS_IS: &str = "as-is";
/// Chains that are printed, critical ones first.
const SHOWN: usize = 10;
/// Columns of a line.
const WIDTH: usize = 100;

pub fn run(options: Options) -> Outcome {
    let measured = match options.workload.is_dir() {
        true => Some(of_workload(&options.workload)?),
        false => None,
    };
    let file = measured.as_ref().map_or(options.workload.clone(), RunDirectory::workload);
    let overrides = options.varied.overrides();
    let sweep = check::read_sweep(&file, &overrides)?;
    let costs = costs(&options.costs, measured.as_ref(), &sweep)?;
    let interrupted = interrupt::catch()?;
    let tasks = tasks(&sweep)?;
    let simulator = Simulator {
        scheduler: !options.no_scheduler,
        command: runs::command(),
        tasks: &tasks,
        ..Simulator::new(&costs, cpus(options.cpus, &costs), interrupted)
    };
    let (command, discard_events) = (runs::command(), options.discard_events);
    let by = Running { runner: &simulator, interrupted, command, discard_events };
    let name = format!("{}-simulated", runs::stem(&options.workload));
    let [point] = sweep.points.as_slice() else {
        running::run(&sweep, &name, &by, &options.out, false, options.json)?;
        say_spent(&simulator);
        return Ok(());
    };
    let run = runs::create(options.out.out.clone(), &name)?;
    let as_is = match &measured {
        Some(_) if !options.varied.set.is_empty() => {
            let sweep = check::read_sweep(&file, &Overrides { set: vec![], ..overrides })?;
            let directory = runs::create(Some(run.path().join(AS_IS)), AS_IS)?;
            running::made(&directory, &by, &sweep.points[0].workload, &name)?.0
        }
        _ => None,
    };
    let (Some(summary), _) = running::made(&run, &by, &point.workload, &name)? else { return Ok(()) };
    let before = measured.as_ref().map(store::read_summary).transpose().context("figures of the run")?;
    let chains = of_chains(&summary, as_is.as_ref(), before.as_ref());
    let topics = of_topics(&summary, before.as_ref());
    let bounds = tacho_bounds::bounds(&point.workload, &costs, simulator.settings.cpus);
    let set = options.varied.set.clone();
    let python = before.as_ref().map_or(vec![], |before| nodes_in_python(before, &point.workload));
    let doubt = doubt_of_threads(&point.workload, &python);
    doubt.iter().for_each(|doubt| eprintln!("tacho: {doubt}"));
    let doubts = doubt.into_iter().collect();
    // Costs of other runs say nothing of this one.
    let of_own = costs.used_percent.filter(|_| options.costs.is_empty() && measured.is_some());
    let point = before.as_ref().and_then(|before| before.points.first());
    let measured_percent = point.and_then(|point| point.cpu_percent).or(of_own);
    let as_is = as_is.map(|_| RunDirectory::new(run.path().join(AS_IS)));
    let cpu = cpu(&run, as_is.as_ref(), measured_percent)?;
    let prediction = predicted(&run, Prediction { set, chains, topics, cpu, bounds, doubts, ..of_costs(&costs) })?;
    show(&run, &summary, &prediction, options.json)?;
    say_spent(&simulator);
    eprintln!("tacho: run: {}", run.path().display());
    Ok(())
}

/// Simulates the twin of a run, and compares it with what was measured; both have the twin's names.
pub fn twin(name: &str, workload: &Workload, costs: &Costs, measured: &Summary) -> Result<Prediction, Failure> {
    let interrupted = interrupt::catch()?;
    // A twin has times as its work, and no tasks.
    let simulator = Simulator { command: runs::command(), ..Simulator::new(costs, cpus(None, costs), interrupted) };
    let by = Running { runner: &simulator, interrupted, command: runs::command(), discard_events: false };
    let run = runs::create(None, name)?;
    let Some(summary) = running::made(&run, &by, workload, name)?.0 else { return Ok(Prediction::default()) };
    let mut chains = of_chains(&summary, None, Some(measured));
    chains.retain(|chain| chain.measured.is_some());
    let topics = of_topics(&summary, Some(measured));
    let cpu = cpu(&run, None, costs.used_percent)?;
    let prediction = predicted(&run, Prediction { chains, topics, cpu, ..of_costs(costs) })?;
    say_spent(&simulator);
    eprintln!("tacho: run of the twin: {}", run.path().display());
    Ok(prediction)
}

/// CPU time of a simulated run, of that without the changes, and as measured.
fn cpu(
    run: &RunDirectory,
    as_is: Option<&RunDirectory>,
    measured_percent: Option<f64>,
) -> Result<Option<PredictedCpu>, Failure> {
    let simulated = |run: &RunDirectory| Ok::<_, Failure>(cpu_percent(&run.info().context("run.json")?));
    let as_is_percent = as_is.map(simulated).transpose()?.flatten();
    let of = |simulated_percent| PredictedCpu { measured_percent, as_is_percent, simulated_percent };
    Ok(simulated(run)?.map(of))
}

fn of_costs(costs: &Costs) -> Prediction {
    Prediction { costs: costs.clone(), ..Prediction::default() }
}

/// Completes a prediction by the doubts of its run, and stores it there.
fn predicted(run: &RunDirectory, mut prediction: Prediction) -> Result<Prediction, Failure> {
    prediction.doubts.splice(0..0, run.info().context("run.json")?.missing);
    let text = serde_json::to_string_pretty(&prediction).context(PREDICTION)?;
    let path = run.path().join(PREDICTION);
    std::fs::write(&path, text + "\n").with_context(|| path.display().to_string())?;
    Ok(prediction)
}

/// Says so if others used much of the machine while costs were measured.
pub fn say_others(costs: &Costs) {
    if costs.others_cpus > Load::MUCH_OTHERS_CPUS {
        eprintln!(
            "tacho: other processes used {:.2} CPUs while the costs were measured: the costs have what that took",
            costs.others_cpus
        );
    }
    if let Some(percent) = costs.stolen_percent.filter(|percent| *percent > Load::MUCH_STOLEN_PERCENT) {
        eprintln!(
            "tacho: the hypervisor gave others {percent:.0} % of the CPU time that was asked for while the costs were \
             measured: what is simulated has no such stalls"
        );
    }
}

pub fn say_spent(simulator: &Simulator<'_>) {
    let of = |count: &AtomicU64| count.load(Ordering::Relaxed) as f64;
    let (events, wall_s) = (of(&simulator.spent.events), of(&simulator.spent.wall_ns) / 1e9);
    eprintln!("tacho: simulated {events:.0} events in {wall_s:.3} s");
}

/// The tasks that nodes of a sweep may have; none are loaded if no node has one.
pub fn tasks(sweep: &Sweep) -> Result<Vec<TaskKind>, Failure> {
    let has_task = |node: &Node| matches!(node.work, Work::Task { .. });
    if !sweep.points.iter().any(|point| point.workload.nodes.iter().any(has_task)) {
        return Ok(vec![]);
    }
    Ok(Installation::find().context("installation")?.tasks().context("libraries of tasks")?)
}

/// A run of a workload; of a recording, its twin's.
fn of_workload(path: &Path) -> Result<RunDirectory, Failure> {
    let run = RunDirectory::new(path);
    if run.workload().is_file() {
        return Ok(run);
    }
    let (run, _) = twins::as_run(&runs::open(path)?, None)?;
    eprintln!("tacho: the recording has no workload, so its twin is simulated: {}", run.path().display());
    Ok(run)
}

/// The costs of the runs that are named, or of the run that is simulated.
pub fn costs(named: &[PathBuf], measured: Option<&RunDirectory>, sweep: &Sweep) -> Result<Costs, Failure> {
    if let [file] = named {
        if file.is_file() {
            let read = serde_json::from_str::<Prediction>(&runs::read_text(file)?);
            return Ok(read.with_context(|| format!("{}: expected a prediction.json", file.display()))?.costs);
        }
    }
    let named: Vec<RunDirectory> = named.iter().map(RunDirectory::new).collect();
    let runs = match (named.as_slice(), measured) {
        ([], Some(run)) => vec![run.clone()],
        _ => named,
    };
    if let Some(run) = runs.iter().find(|run| !run.path().is_dir()) {
        return Err(Failure::Usage(format!("{}: expected a run directory", run.path().display())));
    }
    if runs.is_empty() {
        eprintln!(
            "tacho: no costs: middleware and machine take no time beside the work; --costs RUN names a run of {} that \
             shows them (workloads/costs.yaml and costs-by-rate.yaml measure them)",
            sweep.points[0].workload.middleware
        );
        return Ok(Costs::default());
    }
    let costs = match runs.as_slice() {
        [recording] if !recording.workload().is_file() => twins::costs(&runs::open(recording.path())?)?,
        runs => fit::fit(runs)?,
    };
    let of = |middleware: &str, transport: &str| match transport {
        "" => middleware.to_owned(),
        transport => format!("{middleware} ({transport})"),
    };
    let measured_of = of(&costs.middleware, &costs.transport);
    let other = sweep.points.iter().map(|point| of(&point.workload.middleware, &point.workload.transport));
    if let Some(other) = other.into_iter().find(|other| *other != measured_of) {
        eprintln!("tacho: the costs are those of {measured_of}, and the workload is one of {other}");
    }
    say_others(&costs);
    Ok(costs)
}

pub fn cpus(asked: Option<u32>, costs: &Costs) -> usize {
    let here = || std::thread::available_parallelism().map_or(1, usize::from);
    match (asked, costs.cpus) {
        (Some(cpus), _) => cpus as usize,
        (None, 0) => here(),
        (None, cpus) => cpus as usize,
    }
}

/// Prints the figures of the simulated run, then what is predicted beside what was measured.
fn show(run: &RunDirectory, summary: &Summary, prediction: &Prediction, json: bool) -> Outcome {
    explain::show(run, summary, json)?;
    if json {
        return Ok(());
    }
    if prediction.chains.iter().any(|chain| chain.measured.is_some()) {
        runs::print(&Lines::composed(&compared(prediction)))?;
    }
    runs::print(&bounds(prediction))
}

/// The bounds of the chains, a line each; chains without one by the reason.
fn bounds(prediction: &Prediction) -> Lines {
    let mut lines = Lines::new();
    if prediction.bounds.is_empty() {
        return lines;
    }
    lines.line(format_args!(""));
    lines.line(format_args!(
        "Bounds of the end-to-end time, if nothing takes longer than the workload and the costs say"
    ));
    let mut refused: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Bound { chain, end_to_end_ms, refused: why } in &prediction.bounds {
        match (end_to_end_ms, why) {
            (Some(ms), _) => lines.line(format_args!("  {chain}: at most {ms:.2} ms")),
            (None, why) => refused.entry(why.as_deref().unwrap_or_default()).or_default().push(chain),
        }
    }
    for (why, chains) in refused {
        lines.line(format_args!("  {}: none, because {why}", chains.join(", ")));
    }
    lines
}

/// What was measured, simulated as it is, and simulated with the changes, a line each for every chain.
pub fn compared(prediction: &Prediction) -> String {
    let headings = ["mean", "median", "p99", "worst", "mean off", "p99 off"].map(Column::number);
    let mut table = Table::new([Column::text("chain"), Column::text("end to end, ms")].into_iter().chain(headings));
    let ms = |figures: &Figures| [figures.mean_ms, figures.median_ms, figures.p99_ms, figures.worst_ms];
    for chain in prediction.chains.iter().take(SHOWN) {
        let PredictedChain { name, measured, as_is, simulated, .. } = chain;
        let changed = !prediction.set.is_empty();
        let rows = [
            (measured.as_ref(), "measured", false),
            (as_is.as_ref(), "simulated as it is", true),
            (Some(simulated), if changed { "simulated, changed" } else { "simulated" }, !changed),
        ];
        for (place, (figures, what, is_compared)) in rows.into_iter().enumerate() {
            let Some(figures) = figures else { continue };
            let off = chain.error_percent.as_ref().filter(|_| is_compared);
            let mut cells = vec![if place == 0 { name.clone() } else { String::new() }, what.to_owned()];
            cells.extend(ms(figures).map(|ms| format!("{ms:.2}")));
            cells.extend([off.map(|off| off.mean), off.map(|off| off.p99)].map(|off| match off {
                Some(off) => format!("{off:+.1} %"),
                None => String::new(),
            }));
            table.row(cells);
        }
    }
    let more = match prediction.chains.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("{more} more chains stand in {PREDICTION}.\n"),
    };
    let cpu = prediction.cpu.as_ref().and_then(compared_cpu).unwrap_or_default();
    format!("\nPredicted beside measured\n{}{more}{cpu}", table.render(WIDTH))
}

/// CPU time, if it was measured.
fn compared_cpu(cpu: &PredictedCpu) -> Option<String> {
    let (measured, simulated) = (cpu.measured_percent?, cpu.simulated_percent);
    let same = cpu.as_is_percent.unwrap_or(simulated);
    let changed = cpu.as_is_percent.map_or(String::new(), |_| format!(", {simulated:.1} % with the changes"));
    let off = if measured > 0.0 { format!(" ({:+.1} %)", 100.0 * (same / measured - 1.0)) } else { String::new() };
    Some(format!("CPU of all nodes: {measured:.1} % of one measured, {same:.1} % simulated{off}{changed}\n"))
}

/// Rates and losses of topics, measured and simulated.
pub fn compared_topics(prediction: &Prediction) -> String {
    let headings = ["measured, Hz", "simulated, Hz", "off", "measured lost", "simulated lost"].map(Column::number);
    let mut table = Table::new([Column::text("topic")].into_iter().chain(headings));
    let hz = |of: Flow| of.rate_hz.map_or_else(String::new, |hz| format!("{hz:.2}"));
    let lost = |of: Flow| of.lost_percent.map_or_else(String::new, |percent| format!("{percent:.2} %"));
    for topic in &prediction.topics {
        let Some(measured) = topic.measured else { continue };
        let off = match (measured.rate_hz, topic.simulated.rate_hz) {
            (Some(was), Some(is)) => format!("{:+.1} %", 100.0 * (is - was) / was),
            _ => String::new(),
        };
        let of = topic.simulated;
        table.row(vec![topic.topic.clone(), hz(measured), hz(of), off, lost(measured), lost(of)]);
    }
    table.render(WIDTH)
}
