//! `tacho tune`

use crate::exit::{verdict, Failure, Outcome};
use crate::options::{Method, Tune};
use crate::progress::Progress;
use crate::runs::{ARRIVAL, COMMON_RATE, MEASURED, UNTUNED};
use crate::{analysis, check, explain, interrupt, runs};
use anyhow::Context;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tacho_analysis::store;
use tacho_analysis::summary::{ChainFigures, Summary};
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_runner::bench::{Bench, Ran};
use tacho_runner::callback_check;
use tacho_runner::install::Installation;
use tacho_tune::{Candidate, ObjectiveCurve, Proof, Tuned};
use tacho_printing::Lines;
use tacho_workload::model::Chain;
use tacho_workload::Workload;

/// What `--json` prints of a tuning.
#[derive(Serialize)]
struct Found {
    chain: String,
    changes: BTreeMap<&'static str, Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<ObjectiveCurve>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    proof: BTreeMap<&'static str, Proof>,
}

pub fn run(options: Tune) -> Outcome {
    let installation = Installation::find().context("installation")?;
    let from_workload = options.run.is_file();
    // Bad input is refused before anything is written.
    let (mut workload, measured) = if from_workload {
        (check::read(&options.run)?, None)
    } else {
        let run = runs::open(&options.run)?;
        let workload = runs::workload(&run)?.ok_or_else(|| {
            Failure::Usage(format!("{}: has no workload.yaml; expected a run of `tacho bench`", options.run.display()))
        })?;
        (workload, Some(run))
    };
    workload.run.repeats = options.repeats.unwrap_or(workload.run.repeats);
    named_chain(&workload, options.chain.as_deref())?;

    let interrupted = interrupt::catch()?;
    let out = runs::create_beside(options.out.out.clone(), &format!("{}-tuned", runs::stem(&options.run)), measured.as_ref())?;
    let scheduler = Default::default();
    let bench = Bench { installation: &installation, command: runs::command(), recorded: true, scheduler, cpu_time: true, interrupted };
    let mut failures = Vec::new();
    let measured = match measured {
        Some(run) => run,
        None => {
            let run = RunDirectory::new(out.path().join(MEASURED));
            let mut progress = Progress::new();
            let ran = bench.repeat(&workload, 0, &run, &mut |p| progress.show(&format!("measuring: {}", p.what), p.done))?;
            failures.extend(ran.failures);
            progress.finish();
            analysis::store(&run, Some(&workload))?;
            run
        }
    };
    let summary = store::read_summary(&measured).context("figures of the run")?;
    let chain = chain_to_tune(&mut workload, &summary, options.chain.as_deref())?;

    let mut objective = None;
    let mut tuned: Vec<(&'static str, Tuned)> = Vec::new();
    for method in &options.method {
        let result = match method {
            Method::CommonRate => {
                let of_all = options.check.iter().rev().find(|(node, _)| node.is_none());
                let check = match of_all {
                    Some((_, check)) => *check,
                    None => measured_check(&bench, &workload, &out)?,
                };
                let curve = objective_of(&measured, &summary, &chain, check, &options)?;
                write_json(&out.path().join("objective.json"), &curve)?;
                let best = tacho_tune::apply_common_rate(&workload, &chain, curve.best_hz).context("common rate")?;
                objective = Some(curve);
                best
            }
            Method::Arrival => tacho_tune::apply_arrival(&workload, &chain).context("arrival")?,
        };
        let name = directory_of(*method);
        if tuned.iter().all(|(known, _)| *known != name) {
            let path = out.path().join(format!("{name}.yaml"));
            std::fs::write(&path, tacho_workload::write(&result.workload)).with_context(|| path.display().to_string())?;
            tuned.push((name, result));
        }
    }
    if !options.json {
        describe(&out, &chain, objective.as_ref(), &tuned)?;
    }

    let mut found = Found {
        changes: tuned.iter().map(|(name, tuned)| (*name, tuned.changes.iter().map(ToString::to_string).collect())).collect(),
        chain,
        objective,
        proof: BTreeMap::new(),
    };
    let mut ran = Vec::new();
    if options.prove {
        let (proofs, all) = prove(&bench, &workload, &tuned, &found.chain, &out)?;
        ran = all;
        found.proof = tuned.iter().map(|(name, _)| *name).zip(proofs).collect();
        write_json(&out.path().join("proof.json"), &found.proof)?;
        if !options.json {
            print_gain(&out, &tuned)?;
        }
    }
    if options.json {
        runs::print_json(&found)?;
    }
    eprintln!("tacho: tuning: {}", out.path().display());
    verdict(failures.iter().chain(ran.iter().flat_map(|ran| &ran.failures)))
}

fn directory_of(method: Method) -> &'static str {
    match method {
        Method::CommonRate => COMMON_RATE,
        Method::Arrival => ARRIVAL,
    }
}

/// Refuses a chain that the workload does not name.
fn named_chain(workload: &Workload, asked: Option<&str>) -> Outcome {
    match asked {
        Some(name) if workload.chain(name).is_none() => {
            let known: Vec<&str> = workload.chains.iter().map(|chain| chain.name.as_str()).collect();
            Err(Failure::Usage(format!("chain {name}: not in the workload; expected one of: {}", known.join(", "))))
        }
        _ => Ok(()),
    }
}

/// The chain asked for, else the critical one; where the workload does not name that, it is named in it.
fn chain_to_tune(workload: &mut Workload, summary: &Summary, asked: Option<&str>) -> Result<String, Failure> {
    if let Some(name) = asked {
        return Ok(name.to_owned());
    }
    let critical = summary.chains.iter().find(|chain| chain.critical);
    let critical = critical.context("no chain of the run came through, so none is critical")?;
    if workload.chain(&critical.name).is_none() {
        let nodes = critical.path.iter().step_by(2).map(|name| name.trim_start_matches('/').to_owned()).collect();
        workload.chains.push(Chain { name: critical.name.clone(), nodes });
    }
    Ok(critical.name.clone())
}

/// The callback check on this machine, on the workload's middleware.
fn measured_check(bench: &Bench<'_>, workload: &Workload, out: &RunDirectory) -> Result<Duration, Failure> {
    let run = RunDirectory::new(out.path().join("callback_check"));
    let mut progress = Progress::new();
    let check_ns = callback_check::measure(bench, workload, &run, &mut |p| {
        progress.show(&format!("callback check: {}", p.what), p.done)
    })?;
    progress.finish();
    Ok(Duration::from_secs_f64(check_ns / 1e9))
}

/// How long the run measured, over its repeats.
fn measured_window(run: &RunDirectory) -> Result<Duration, Failure> {
    let mut parts = run.repeats().context("repeats of the run")?;
    if parts.is_empty() {
        parts.push(run.clone());
    }
    let mut window = Duration::ZERO;
    for part in parts {
        let info = part.info().context("run.json")?;
        let measured_ns = info.measured_to_ns.zip(info.measured_from_ns).and_then(|(to, from)| u64::try_from(to - from).ok());
        let missing = || format!("{}: run.json tells no measured window; expected a run of `tacho bench`", part.path().display());
        window += Duration::from_nanos(measured_ns.with_context(missing)?);
    }
    Ok(window)
}

/// The curve of a chain; `check` is that of the nodes for which the options name none.
fn objective_of(measured: &RunDirectory, summary: &Summary, chain: &str, check: Duration, options: &Tune) -> Result<ObjectiveCurve, Failure> {
    let tables = store::read_run(measured).context("tables of the run")?;
    let computation = tacho_tune::computation(&[&tables], summary, measured_window(measured)?, chain).context("execution times")?;
    if computation.without_cpu_time > 0 {
        eprintln!("tacho: {} executions have no CPU time in this run (record it with --cpu-time): their wall time stands in",
            computation.without_cpu_time);
    }
    let nodes: Vec<&str> = computation.chain.iter().map(|(name, _)| name.as_str()).collect();
    for name in options.check.iter().filter_map(|(name, _)| name.as_deref()) {
        if !nodes.contains(&name) {
            return Err(Failure::Usage(format!("--check {name}=...: no node of chain {chain}; expected one of: {}", nodes.join(", "))));
        }
    }
    let cores = match options.cores {
        Some(cores) => cores,
        None => std::thread::available_parallelism().context("number of CPUs")?.get() as u32,
    };
    let check_ms = |node: &str| {
        let own = options.check.iter().rev().find(|(name, _)| name.as_deref() == Some(node));
        own.map_or(check, |(_, own)| *own).as_secs_f64() * 1e3
    };
    let search = tacho_tune::common_rate(computation, check_ms, cores);
    Ok(search.curve().context("common rate")?)
}

fn describe(out: &RunDirectory, chain: &str, objective: Option<&ObjectiveCurve>, tuned: &[(&str, Tuned)]) -> Outcome {
    let mut text = Lines::new();
    text.line(format_args!("Chain {chain}"));
    if let Some(curve) = objective {
        text.line(format_args!("Least predicted response at {} Hz (study E); the whole curve is in objective.json", curve.best_hz));
    }
    for (name, tuned) in tuned {
        text.line("");
        text.line(format_args!("{name}: {}", out.path().join(format!("{name}.yaml")).display()));
        for change in &tuned.changes {
            text.line(format_args!("  {change}"));
        }
    }
    text.line("");
    runs::print(&text)
}

/// Runs everything in turns and leaves a run directory for each.
fn prove(
    bench: &Bench<'_>,
    untuned: &Workload,
    tuned: &[(&'static str, Tuned)],
    chain: &str,
    out: &RunDirectory,
) -> Result<(Vec<Proof>, Vec<Ran>), Failure> {
    let before = Candidate { name: UNTUNED, workload: untuned };
    let after: Vec<Candidate<'_>> = tuned.iter().map(|(name, tuned)| Candidate { name, workload: &tuned.workload }).collect();
    let runs_in_all = f64::from(untuned.run.repeats) * (1 + after.len()) as f64;
    let mut ran: Vec<(String, Ran)> = Vec::new();
    let mut progress = Progress::new();
    let proofs = tacho_tune::prove(before, &after, out, |candidate, repeat, directory| {
        let begun = ran.len() as f64;
        let what = format!("proving: {} {} of {}", candidate.name, repeat + 1, untuned.run.repeats);
        let done = bench
            .repeat(candidate.workload, repeat, directory, &mut |p| progress.show(&what, (begun + p.done) / runs_in_all))?;
        if bench.is_interrupted() {
            return Err("interrupted".into());
        }
        ran.push((candidate.name.to_owned(), done));
        let summary = tacho_analysis::analyse_and_store(directory, Some(candidate.workload), &mut |_| {})?;
        let figures: Option<ChainFigures> = summary.chains.into_iter().find(|figures| figures.name == chain);
        figures.ok_or_else(|| format!("chain {chain} was not seen in {}", directory.path().display()).into())
    });
    progress.finish();
    // Also after a failure: what was run is kept, as a run.
    for candidate in std::iter::once(before).chain(after.iter().copied()) {
        let of_candidate: Vec<RunInfo> =
            ran.iter().filter(|(name, _)| name == candidate.name).map(|(_, ran)| ran.info.clone()).collect();
        if !of_candidate.is_empty() {
            let run = RunDirectory::new(out.path().join(candidate.name));
            bench.write_whole(candidate.workload, &run, &of_candidate)?;
            analysis::store(&run, Some(candidate.workload))?;
        }
    }
    let proofs = proofs.context("proof")?;
    for (candidate, proof) in after.iter().zip(&proofs) {
        write_json(&out.path().join(candidate.name).join("proof.json"), proof)?;
    }
    write_summary(out, chain, &after)?;
    Ok((proofs, ran.into_iter().map(|(_, ran)| ran).collect()))
}

/// `summary.json` of the tuning: the chain under each, by the name of what was done to it.
fn write_summary(out: &RunDirectory, chain: &str, after: &[Candidate<'_>]) -> Outcome {
    let mut whole = Summary::default();
    for name in std::iter::once(UNTUNED).chain(after.iter().map(|candidate| candidate.name)) {
        let summary = store::read_summary(&RunDirectory::new(out.path().join(name))).context("figures of the proof")?;
        let figures = summary.chains.into_iter().find(|figures| figures.name == chain);
        whole.chains.extend(figures.map(|figures| ChainFigures { name: name.to_owned(), ..figures }));
        whole.notes.extend(summary.notes);
    }
    store::write_summary(out, &whole).context("summary.json")?;
    Ok(())
}

fn print_gain(out: &RunDirectory, tuned: &[(&str, Tuned)]) -> Outcome {
    let names: Vec<&str> = std::iter::once(UNTUNED).chain(tuned.iter().map(|(name, _)| *name)).collect();
    let summaries = names.iter()
        .map(|name| store::read_summary(&RunDirectory::new(out.path().join(name))))
        .collect::<Result<Vec<_>, _>>()
        .context("figures of the proof")?;
    let pairs: Vec<(&str, &Summary)> = names.iter().copied().zip(&summaries).collect();
    runs::print(&Lines::composed(&explain::terminal().before_after(&pairs)))
}

fn write_json(path: &Path, value: &impl Serialize) -> Outcome {
    let text = serde_json::to_string_pretty(value).context("JSON")?;
    std::fs::write(path, text).with_context(|| path.display().to_string())?;
    Ok(())
}
