//! `tacho tune`

use crate::advice::{self, Recorded};
use crate::exit::{verdict, Failure, Outcome};
use crate::options::{Method, Tune};
use crate::progress::Progress;
use crate::runs::{ARRIVAL, COMMON_RATE, MEASURED, PLANNED, UNTUNED};
use crate::tuning::{Asked, Begun, Found, Tuning};
use crate::{analysis, explain, interrupt, measuring, planning, promised, runs, twins};
use anyhow::Context;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tacho_campaign::RunLock;
use tacho_events::run::RunDirectory;
use tacho_printing::Lines;
use tacho_runner::bench::Bench;
use tacho_runner::install::Installation;
use tacho_tables::store;
use tacho_tables::summary::Summary;
use tacho_tune::plan::Plan;
use tacho_tune::{Candidate, ObjectiveCurve, Proof, Proving, Tuned};
use tacho_workload::model::Chain;
use tacho_workload::Workload;

/// File of the curve of a tuning, in its directory.
const OBJECTIVE: &str = "objective.json";

/// What `--json` prints of a tuning.
#[derive(Serialize)]
struct Printed {
    chain: String,
    changes: BTreeMap<&'static str, Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<ObjectiveCurve>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Plan>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    proof: BTreeMap<&'static str, Proof>,
}

pub fn run(mut options: Tune) -> Outcome {
    if let (Some(tuned), Some(changed)) = (&options.promised, &options.run) {
        return promised::run(changed, tuned, options.json);
    }
    match advice::recording(&options)? {
        Some(Recorded::Steps(recording)) => return advice::show(&recording, options.json),
        Some(Recorded::Twin(recording)) => {
            let (run, chain) = twins::as_run(&recording, options.chain.as_deref())?;
            eprintln!("tacho: the recording has no workload, so its twin is tuned: {}", run.path().display());
            (options.run, options.chain) = (Some(run.path().to_owned()), chain);
        }
        None => {}
    }
    let installation = Installation::find().context("installation")?;
    // Refuse bad input before anything is written.
    let Begun { mut tuning, mut workload, out } = Begun::new(&options)?;
    // By the name that the user gives it, because the tuning may lie beside it.
    let measured = tuning.asked.run.as_ref().map(|run| RunDirectory::new(options.run.as_ref().unwrap_or(run)));
    named_chain(&workload, tuning.asked.chain.as_deref())?;
    let checks = tuning.asked.checks()?;
    let as_asked = workload.clone();
    let chain = match (&tuning.found, &tuning.asked.chain, &measured) {
        (Some(found), _, _) => Some(named_in(&mut workload, &found.chain)),
        (None, Some(chain), _) => Some(chain.clone()),
        (None, None, Some(run)) => {
            Some(chain_to_tune(&mut workload, &store::read_summary(run).context("figures of the run")?, None)?)
        }
        (None, None, None) => None,
    };
    checked_nodes(&workload, chain.as_deref(), &checks)?;

    let interrupted = interrupt::catch()?;
    let out = match out {
        Some(out) => out,
        None => {
            let tuned = options.run.as_deref().map_or("run".into(), runs::stem);
            runs::create_beside(options.out.out.clone(), &format!("{tuned}-tuned"), measured.as_ref())?
        }
    };
    let lock = RunLock::take(out.path(), "runs this tuning")?;
    tuning.begin(&out, &as_asked)?;
    let bench = Bench {
        installation: &installation,
        command: runs::command(),
        recorded: true,
        scheduler: Default::default(),
        cpu_time: true,
        interrupted,
    };
    let mut failures = Vec::new();
    let found = match tuning.found.clone() {
        Some(found) => found,
        None => {
            let measured = match measured {
                Some(run) => run,
                None => {
                    let run = RunDirectory::new(out.path().join(MEASURED));
                    failures.extend(measure(&bench, &as_asked, &run)?);
                    run
                }
            };
            if bench.is_interrupted() {
                return verdict(&failures);
            }
            let found = match search(&bench, &mut workload, &measured, &tuning.asked, &out) {
                Err(_) if bench.is_interrupted() => return verdict(&failures),
                Err(Failure::Usage(wrong)) => {
                    Tuning::withdraw(&out)?;
                    return Err(Failure::Usage(wrong));
                }
                found => found?,
            };
            tuning.found = Some(found.clone());
            tuning.write(&out)?;
            found
        }
    };
    let objective = found.common_rate_hz.map(|_| read_objective(&out)).transpose()?;
    let tuned = tuned(&workload, &found, &tuning.asked.method, &out)?;
    let chain = found.chain.name.clone();
    if !options.json {
        describe(&out, &found, objective.as_ref(), &tuned)?;
    }

    let changes = |(name, tuned): &(&'static str, Tuned)| {
        let changes = tuned.changes.iter().map(ToString::to_string).collect();
        (*name, changes)
    };
    let changes = tuned.iter().map(changes).collect();
    let plan = found.plan.clone();
    let mut printed = Printed { chain, changes, objective, plan, proof: BTreeMap::new() };
    if options.prove {
        match prove(&bench, &workload, &tuned, &found, &lock, &mut failures)? {
            Some(proofs) => printed.proof = tuned.iter().map(|(name, _)| *name).zip(proofs).collect(),
            None => return verdict(&failures),
        }
        if !options.json {
            print_gain(&out, &printed.chain, &tuned)?;
            runs::print(&planning::kept(printed.proof.iter().map(|(name, proof)| (*name, proof))))?;
        }
    }
    if options.json {
        runs::print_json(&printed)?;
    }
    eprintln!("tacho: tuning: {}", out.path().display());
    verdict(&failures)
}

/// Runs the workload as it is, unless that is done; what failed goes into `failures`.
fn measure(bench: &Bench<'_>, workload: &Workload, run: &RunDirectory) -> Result<Vec<String>, Failure> {
    let Some(failures) = measuring::run(bench, workload, run, "measuring")? else { return Ok(vec![]) };
    analysis::store(run, Some(workload))?;
    Ok(failures)
}

/// Finds the chain to tune, which the workload names from now on, and what each method needs to know.
fn search(
    bench: &Bench<'_>,
    workload: &mut Workload,
    measured: &RunDirectory,
    asked: &Asked,
    out: &RunDirectory,
) -> Result<Found, Failure> {
    let summary = store::read_summary(measured).context("figures of the run")?;
    let chain = chain_to_tune(workload, &summary, asked.chain.as_deref())?;
    let checks = asked.checks()?;
    // This run may have decided just now which chain is critical.
    checked_nodes(workload, Some(&chain), &checks)?;
    let mut common_rate_hz = None;
    let mut check = checks.iter().rev().find(|(node, _)| node.is_none()).map(|(_, check)| *check);
    if asked.method.contains(&Method::CommonRate) {
        let known = check.map_or_else(|| measuring::callback_check(bench, workload, out), Ok)?;
        check = Some(known);
        let curve = objective_of(measured, &summary, &chain, known, &checks, asked.cores)?;
        write_json(&out.path().join(OBJECTIVE), &curve)?;
        common_rate_hz = Some(curve.best_hz);
    }
    let chain = workload.chain(&chain).with_context(|| format!("chain {chain}: not in the workload"))?.clone();
    let mut found = Found { chain, common_rate_hz, plan: None, promised_ms: BTreeMap::new() };
    if asked.method.contains(&Method::Search) {
        let others: Vec<Method> = asked.method.iter().copied().filter(|method| *method != Method::Search).collect();
        let others = tuned(workload, &found, &others, out)?;
        let mut sides = vec![(UNTUNED, &*workload)];
        sides.extend(others.iter().map(|(name, tuned)| (*name, &tuned.workload)));
        let run = planning::Measured { run: measured, check };
        let (plan, promised_ms) = planning::search(bench, workload, &found.chain.name, &run, asked, &sides, out)?;
        (found.plan, found.promised_ms) = (Some(plan), promised_ms);
    }
    Ok(found)
}

fn read_objective(out: &RunDirectory) -> Result<ObjectiveCurve, Failure> {
    let path = out.path().join(OBJECTIVE);
    let text = runs::read_text(&path)?;
    Ok(serde_json::from_str(&text).with_context(|| path.display().to_string())?)
}

/// Tunes the workload by each method, under the name of the method's folder; each is also written as a file.
fn tuned(
    workload: &Workload,
    found: &Found,
    methods: &[Method],
    out: &RunDirectory,
) -> Result<Vec<(&'static str, Tuned)>, Failure> {
    let chain = &found.chain.name;
    let mut tuned: Vec<(&'static str, Tuned)> = Vec::new();
    for method in methods {
        let name = directory_of(*method);
        if tuned.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let result = match method {
            Method::CommonRate => {
                let hz = found.common_rate_hz.context("tuning.json has no common rate")?;
                tacho_tune::apply_common_rate(workload, chain, hz).context("common rate")?
            }
            Method::Arrival => tacho_tune::apply_arrival(workload, chain).context("arrival")?,
            Method::Search => found.plan.as_ref().context("tuning.json has no plan")?.tuned.clone(),
        };
        let path = out.path().join(format!("{name}.yaml"));
        std::fs::write(&path, tacho_workload::write(&result.workload)).with_context(|| path.display().to_string())?;
        tuned.push((name, result));
    }
    Ok(tuned)
}

fn directory_of(method: Method) -> &'static str {
    match method {
        Method::CommonRate => COMMON_RATE,
        Method::Arrival => ARRIVAL,
        Method::Search => PLANNED,
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

/// Refuses the callback check of a node that the chain does not have. If the chain is only found by measuring, it
/// refuses a node that can be on no chain of the workload.
fn checked_nodes(workload: &Workload, chain: Option<&str>, checks: &[(Option<String>, Duration)]) -> Outcome {
    let (nodes, of): (Vec<&str>, String) = match chain.and_then(|name| workload.chain(name)) {
        Some(chain) => (chain.nodes.iter().map(String::as_str).collect(), format!("chain {}", chain.name)),
        None => {
            let on_topics =
                workload.nodes.iter().filter(|node| !node.subscribes.is_empty() || !node.publishes.is_empty());
            (on_topics.map(|node| node.name.as_str()).collect(), "any chain".into())
        }
    };
    match checks.iter().filter_map(|(name, _)| name.as_deref()).find(|name| !nodes.contains(name)) {
        Some(name) => {
            Err(Failure::Usage(format!("--check {name}=...: no node of {of}; expected one of: {}", nodes.join(", "))))
        }
        None => Ok(()),
    }
}

/// The chain asked for, else the critical one. If the workload does not name that one, it is added to the workload.
fn chain_to_tune(workload: &mut Workload, summary: &Summary, asked: Option<&str>) -> Result<String, Failure> {
    if let Some(name) = asked {
        return Ok(name.to_owned());
    }
    let critical = summary.chains.iter().find(|chain| chain.critical);
    let critical = critical.context("no chain of the run came through, so none is critical")?;
    let nodes = critical.path.iter().step_by(2).map(|name| name.trim_start_matches('/').to_owned()).collect();
    let topics: Vec<&str> = critical.path.iter().skip(1).step_by(2).map(String::as_str).collect();
    let chain = Chain::over(critical.name.clone(), nodes, &topics, |name| workload.node(name));
    Ok(named_in(workload, &chain))
}

/// Names a chain in a workload that does not name it; returns the name.
fn named_in(workload: &mut Workload, chain: &Chain) -> String {
    if workload.chain(&chain.name).is_none() {
        workload.chains.push(chain.clone());
    }
    chain.name.clone()
}

/// How long the run measured, summed over its repeats.
fn measured_window(run: &RunDirectory) -> Result<Duration, Failure> {
    let mut parts = run.repeats().context("repeats of the run")?;
    if parts.is_empty() {
        parts.push(run.clone());
    }
    let mut window = Duration::ZERO;
    for part in parts {
        let info = part.info().context("run.json")?;
        let measured_ns =
            info.measured_to_ns.zip(info.measured_from_ns).and_then(|(to, from)| u64::try_from(to - from).ok());
        let missing =
            || format!("{}: run.json has no measured window; expected a run of `tacho bench`", part.path().display());
        window += Duration::from_nanos(measured_ns.with_context(missing)?);
    }
    Ok(window)
}

/// The curve of a chain; `check` is that of the nodes for which `checks` names none.
fn objective_of(
    measured: &RunDirectory,
    summary: &Summary,
    chain: &str,
    check: Duration,
    checks: &[(Option<String>, Duration)],
    cores: Option<u32>,
) -> Result<ObjectiveCurve, Failure> {
    let tables = store::read_run(measured).context("tables of the run")?;
    let computation =
        tacho_tune::computation(&[&tables], summary, measured_window(measured)?, chain).context("execution times")?;
    if computation.without_cpu_time > 0 {
        eprintln!(
            "tacho: {} executions have no CPU time in this run (record it with --cpu-time): their wall time stands in",
            computation.without_cpu_time
        );
    }
    let cores = match cores {
        Some(cores) => cores,
        None => std::thread::available_parallelism().context("number of CPUs")?.get() as u32,
    };
    let check_ms = |node: &str| {
        let own = checks.iter().rev().find(|(name, _)| name.as_deref() == Some(node));
        own.map_or(check, |(_, own)| *own).as_secs_f64() * 1e3
    };
    let search = tacho_tune::common_rate(computation, check_ms, cores);
    Ok(search.curve().context("common rate")?)
}

fn describe(out: &RunDirectory, found: &Found, objective: Option<&ObjectiveCurve>, tuned: &[(&str, Tuned)]) -> Outcome {
    let mut text = Lines::new();
    text.line(format_args!("Chain {}", found.chain.name));
    if let Some(curve) = objective {
        text.line(format_args!(
            "Least predicted response at {} Hz (study E); the whole curve is in objective.json",
            curve.best_hz
        ));
    }
    for (name, tuned) in tuned {
        text.line("");
        text.line(format_args!("{name}: {}", out.path().join(format!("{name}.yaml")).display()));
        for change in &tuned.changes {
            text.line(format_args!("  {change}"));
        }
        if let Some(plan) = found.plan.as_ref().filter(|_| *name == PLANNED) {
            planning::describe(plan, &mut text);
        }
    }
    text.line("");
    runs::print(&text)
}

/// Runs everything in turns and leaves a run directory for each; finished runs are kept. `None` if ^C came. What failed
/// goes into `failures`.
fn prove(
    bench: &Bench<'_>,
    untuned: &Workload,
    tuned: &[(&'static str, Tuned)],
    found: &Found,
    lock: &RunLock,
    failures: &mut Vec<String>,
) -> Result<Option<Vec<Proof>>, Failure> {
    let out = RunDirectory::new(lock.directory());
    let proving = Proving {
        before: Candidate { name: UNTUNED, workload: untuned, promise: None },
        after: tuned
            .iter()
            .map(|(name, tuned)| Candidate {
                name,
                workload: &tuned.workload,
                promise: planning::promise(name, found.plan.as_ref(), &found.promised_ms),
            })
            .collect(),
        chain: &found.chain.name,
    };
    let campaign = proving.campaign(bench, lock, bench.interrupted, bench.command.clone()).context("proof")?;
    runs::say_finished(&campaign);
    let mut progress = Progress::new();
    let ended = campaign.run(
        &mut |step| {
            let (name, of) = (&step.subject.name, step.subject.workload.run.repeats);
            let label = match step.repeat {
                Some(repeat) => format!("proving: {name} {} of {of}", repeat + 1),
                None => format!("{} {name}", step.what),
            };
            progress.show(&label, step.done)
        },
        &mut |_, _| Ok(()),
    )?;
    progress.finish();
    failures.extend(ended.deaths.iter().map(|(_, death)| death.clone()));
    if ended.unfinished > 0 && ended.failed.is_empty() {
        let (unfinished, of, path) = (ended.unfinished, campaign.order.len(), out.path().display());
        eprintln!("tacho: {unfinished} of {of} runs are not finished; tacho tune --prove -o {path} --resume goes on");
        return Ok(None);
    }
    Ok(Some(proving.conclude(ended, &out).context("proof")?))
}

fn print_gain(out: &RunDirectory, chain: &str, tuned: &[(&str, Tuned)]) -> Outcome {
    let names: Vec<&str> = std::iter::once(UNTUNED).chain(tuned.iter().map(|(name, _)| *name)).collect();
    let summaries = names
        .iter()
        .map(|name| store::read_summary(&RunDirectory::new(out.path().join(name))))
        .collect::<Result<Vec<_>, _>>()
        .context("figures of the proof")?;
    let pairs: Vec<(&str, &Summary)> = names.iter().copied().zip(&summaries).collect();
    runs::print(&Lines::composed(&explain::terminal().before_after(&pairs, Some(chain))))
}

fn write_json(path: &Path, value: &impl Serialize) -> Outcome {
    let text = serde_json::to_string_pretty(value).context("JSON")?;
    std::fs::write(path, text).with_context(|| path.display().to_string())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_of_a_node_that_no_chain_can_have_is_refused_without_a_measurement() {
        let text = "
middleware: inproc
nodes:
  beside: {on: timer 20 Hz, work: 4 ms}
  camera: {publishes: {/image: {rate: 10 Hz}}}
  lidar: {publishes: {/points: {rate: 10 Hz}}}
  fusion: {subscribes: [/points, /image]}
chains: {c: [lidar, fusion]}
run: {duration: 1 s}
";
        let (workload, _) = tacho_workload::parse(text, "w.yaml").expect("workload");
        let refused = |chain, node: &str| match checked_nodes(
            &workload,
            chain,
            &[(None, Duration::ZERO), (Some(node.into()), Duration::ZERO)],
        ) {
            Err(Failure::Usage(text)) => Some(text),
            _ => None,
        };
        for node in ["lidar", "fusion"] {
            assert_eq!((refused(None, node), refused(Some("c"), node)), (None, None));
        }
        assert_eq!(refused(None, "camera"), None, "which chain is critical is not known yet");
        assert_eq!(
            refused(Some("c"), "camera").as_deref(),
            Some("--check camera=...: no node of chain c; expected one of: lidar, fusion")
        );
        for chain in [None, Some("c")] {
            assert!(
                refused(chain, "beside").is_some()
                    && refused(chain, "nobody").is_some_and(|text| text.contains("lidar, fusion"))
            );
        }
    }
}
