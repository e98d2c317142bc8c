//! `tacho bench --unrecorded`: prints what the nodes count themselves, and what recording costs.

use crate::exit::{verdict, Failure, Outcome};
use crate::options::{Bench as Options, Unrecorded};
use crate::progress::Progress;
use crate::{analysis, node_clocks, runs};
use anyhow::Context;
use tacho_campaign::{in_turns, Analysis, Campaign, Item, OnFailure, RunLock, Subject};
use tacho_events::run::{ProcessExit, Resources, RunDirectory};
use tacho_printing::Lines;
use tacho_report::{Column, Table};
use tacho_runner::bench::{Bench, Ran};
use tacho_runner::protocol::NodeFigures;
use tacho_tables::summary::Distribution;
use tacho_workload::{SweepPoint, Workload};

/// Folder of the runs of the same workload with the recorder.
const RECORDED: &str = "recorded";
/// Columns of a line.
const WIDTH: usize = 100;

/// Runs one workload without the recorder and, unless only that is asked for, with it: for each repeat one after the
/// other.
pub fn run(options: &Options, how: Unrecorded, bench: &Bench<'_>, point: &SweepPoint, name: &str) -> Outcome {
    let workload = &point.workload;
    let run = runs::create(options.out.out.clone(), name)?;
    let lock = RunLock::take(run.path(), "runs this workload")?;
    let with_recorder =
        Bench { installation: bench.installation, command: bench.command.clone(), recorded: true, ..*bench };
    let mut subjects = vec![Subject::new("unrecorded", workload, bench, run.clone())];
    if how == Unrecorded::Compared {
        let directory = RunDirectory::new(run.path().join(RECORDED));
        subjects.push(Subject::new("recorded", workload, &with_recorder, directory));
    }
    let campaign = Campaign {
        order: in_turns(&subjects),
        subjects,
        lock: &lock,
        interrupted: bench.interrupted,
        command: bench.command.clone(),
        analysis: Analysis::Later,
        on_failure: OnFailure::Stop,
        chain: None,
        discard_events: false,
    };
    let mut progress = Progress::new();
    let mut ran: Vec<Vec<Ran>> = campaign.subjects.iter().map(|_| Vec::new()).collect();
    let repeats = workload.run.repeats;
    let ended = campaign.run(
        &mut |step| {
            let repeat = step.repeat.map_or(String::new(), |repeat| format!(", repeat {} of {repeats}", repeat + 1));
            progress.show(&format!("{}{repeat}: {}", step.subject.name, step.what), step.done)
        },
        &mut |Item { subject, repeat }, one| {
            write_nodes(&campaign.subjects[subject].run(repeat), &one)?;
            ran[subject].push(one);
            Ok(())
        },
    )?;
    progress.finish();
    if let Some(failed) = ended.failed.into_iter().next() {
        return Err(failed.error.into());
    }
    for recorded in campaign.subjects.iter().zip(&ran).skip(1).filter(|(_, ran)| !ran.is_empty()) {
        analysis::store(&recorded.0.directory, Some(workload))?;
    }
    if ran[0].is_empty() {
        return Ok(()); // ^C came before there was anything to count
    }
    let mut text = own_figures(workload, &ran[0]);
    let used = campaign.subjects.iter().zip(&ran).map(|(subject, ran)| Used::of(subject, ran));
    let used: Vec<Used> = used.collect::<Result<_, _>>()?;
    if let [without, with] = used.as_slice() {
        text.push_str(&cost(without, with, repeats));
        text.push_str(&busy(&ran));
    }
    runs::print(&Lines::composed(&text))?;
    eprintln!("tacho: run: {}", run.path().display());
    verdict(ran.iter().flatten().flat_map(|ran| &ran.failures))
}

/// Writes what the nodes of a run counted into `nodes.json`.
fn write_nodes(run: &RunDirectory, ran: &Ran) -> anyhow::Result<()> {
    let path = run.path().join("nodes.json");
    let text = serde_json::to_vec_pretty(&ran.nodes).context("what the nodes say")?;
    std::fs::write(&path, text).with_context(|| path.display().to_string())
}

/// Makes a row for each endpoint, over all repeats.
fn own_figures(workload: &Workload, ran: &[Ran]) -> String {
    let headings = ["sent", "skipped", "refused", "taken"].map(Column::number);
    let mut table = Table::new([Column::text("node"), Column::text("topic")].into_iter().chain(headings));
    let of_node = |name: &str| -> Vec<&NodeFigures> {
        ran.iter().flat_map(|ran| &ran.nodes).filter(|node| node.node == name).collect()
    };
    for node in &workload.nodes {
        let figures = of_node(&node.name);
        for (place, output) in node.publishes.iter().enumerate() {
            let of: Vec<_> = figures.iter().filter_map(|f| f.outputs.get(place)).collect();
            let skipped: Option<u64> = of.iter().map(|o| o.skipped).sum();
            let refused: u64 = of.iter().flat_map(|o| &o.refused).map(|refusal| refusal.count).sum();
            let sent: u64 = of.iter().map(|o| o.sent).sum();
            let skipped = skipped.map_or("–".into(), |count| count.to_string());
            table.row(vec![
                node.name.clone(),
                output.topic.clone(),
                sent.to_string(),
                skipped,
                refused.to_string(),
                String::new(),
            ]);
        }
        for (place, input) in node.subscribes.iter().enumerate() {
            let taken: u64 = figures.iter().filter_map(|f| f.taken.get(place)).sum();
            table.row(vec![
                node.name.clone(),
                input.topic.clone(),
                String::new(),
                String::new(),
                String::new(),
                taken.to_string(),
            ]);
        }
    }
    format!("By the nodes' own counts, warm-up included, without the recorder\n{}", table.render(WIDTH))
}

/// What the nodes used with or without the recorder.
struct Used {
    /// One value a repeat, summed over all node processes.
    cpu_percent: Vec<f64>,
    cpu_a_callback_us: Vec<f64>,
    wakeups_per_s: Vec<f64>,
    pss_mib: Vec<f64>,
    /// Publish call to callback in the measured window, by the clocks inside the nodes.
    latency_us: Option<Distribution>,
}

impl Used {
    fn of(subject: &Subject<'_>, ran: &[Ran]) -> Result<Used, Failure> {
        let sums = |of: &dyn Fn(&Resources) -> Option<f64>| -> Vec<f64> {
            ran.iter().filter_map(|ran| sum(&ran.info.processes, of)).collect()
        };
        let mut cpu_a_callback_us = Vec::new();
        let mut latencies = Vec::new();
        for (repeat, ran) in (0u32..).zip(ran) {
            let callbacks: u64 = ran.nodes.iter().map(|node| node.callbacks).sum();
            let cpu_ns: u64 = ran.nodes.iter().map(|node| node.cpu_ns).sum();
            cpu_a_callback_us.extend((callbacks > 0).then(|| cpu_ns as f64 / 1e3 / callbacks as f64));
            let window = ran.info.measured_from_ns.unwrap_or(i64::MIN)..ran.info.measured_to_ns.unwrap_or(i64::MAX);
            node_clocks::messages(&subject.run(repeat).clock(), |stamp, received| {
                latencies.extend(window.contains(&stamp).then(|| (received - stamp) as f64 / 1e3));
            })?;
        }
        let a_second = |r: &Resources, count: f64| (r.over_ns > 0).then(|| count * 1e9 / r.over_ns as f64);
        Ok(Used {
            cpu_percent: sums(&|r| a_second(r, r.cpu_ns as f64).map(|ns| ns / 1e7)),
            cpu_a_callback_us,
            wakeups_per_s: sums(&|r| a_second(r, r.voluntary_switches as f64)),
            pss_mib: sums(&|r| Some(r.pss_bytes? as f64 / f64::from(1 << 20))),
            latency_us: Distribution::of(latencies),
        })
    }
}

/// Sums over the node processes; absent if the value of one is not known.
fn sum(processes: &[ProcessExit], of: &dyn Fn(&Resources) -> Option<f64>) -> Option<f64> {
    let nodes: Vec<&ProcessExit> = processes.iter().filter(|p| p.startup.is_some() || p.resources.is_some()).collect();
    nodes.iter().map(|p| of(p.resources.as_ref()?)).sum::<Option<f64>>().filter(|_| !nodes.is_empty())
}

/// Shows both sides beside each other: means over the repeats, what recording adds, and the least and greatest pair, so
/// that chance is visible.
fn cost(without: &Used, with: &Used, repeats: u32) -> String {
    let latency = |used: &Used, of: fn(&Distribution) -> f64| used.latency_us.as_ref().map(of).into_iter().collect();
    let rows: [(&str, Vec<f64>, Vec<f64>); 6] = [
        ("CPU of all node processes, % of one", without.cpu_percent.clone(), with.cpu_percent.clone()),
        ("CPU of the nodes' threads a callback, us", without.cpu_a_callback_us.clone(), with.cpu_a_callback_us.clone()),
        ("wake-ups a second", without.wakeups_per_s.clone(), with.wakeups_per_s.clone()),
        ("memory (PSS, without event buffers), MiB", without.pss_mib.clone(), with.pss_mib.clone()),
        ("latency by the nodes' clocks, median, us", latency(without, |d| d.median), latency(with, |d| d.median)),
        ("latency by the nodes' clocks, p99, us", latency(without, |d| d.p99), latency(with, |d| d.p99)),
    ];
    let headings = ["unrecorded", "recorded", "cost", "cost %", "least", "greatest"];
    let headings = &headings[..if repeats > 1 { 6 } else { 4 }];
    let mut table =
        Table::new([Column::text("figure")].into_iter().chain(headings.iter().map(|heading| Column::number(heading))));
    for (name, without, with) in rows {
        let mean = |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        let Some((before, after)) = mean(&without).zip(mean(&with)) else { continue };
        let percent = if before == 0.0 { "–".into() } else { format!("{:+.1}", 100.0 * (after - before) / before) };
        let mut cells = vec![
            name.into(),
            format!("{before:.2}"),
            format!("{after:.2}"),
            format!("{:+.2}", after - before),
            percent,
        ];
        let pairs = (without.len() > 1 && without.len() == with.len())
            .then(|| without.iter().zip(&with).map(|(before, after)| after - before));
        if repeats > 1 {
            let least = pairs.clone().and_then(|pairs| pairs.reduce(f64::min));
            let greatest = pairs.and_then(|pairs| pairs.reduce(f64::max));
            cells.extend([least, greatest].map(|of| of.map_or("–".into(), |of| format!("{of:+.2}"))));
        }
        table.row(cells);
    }
    let of = match repeats {
        1 => "one run of each: chance is part of the difference; --repeats N shows how much chance adds".to_owned(),
        repeats => format!("means of {repeats} pairs of runs, and the pairs with least and greatest cost"),
    };
    format!("\nWhat recording costs ({of})\n{}", table.render(WIDTH))
}

/// Reports if other programs used much of the machine in one of the runs, because that may exceed the cost of
/// recording.
fn busy(ran: &[Vec<Ran>]) -> String {
    let mut loads = ran.iter().flatten().filter_map(|ran| ran.info.load.as_ref()?.much());
    loads
        .next_back()
        .map_or(String::new(), |much| format!("Beside a run {much}: that may be more than what recording costs.\n"))
}
