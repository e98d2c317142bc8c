//! Writes a report of invented runs, so that you can look at the page: `sample_report OUT
//! [tuned|single|preempted|system|sweep|hostile|empty]`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::path::Path;
use tacho_report::ReportRun;
use tacho_tables::summary::{
    ActionFigures, Distribution, ExecutorFigures, LifecycleFigures, PreemptorFigures, ServiceFigures,
};

/// Names that would be code if the page did not treat them as text.
const HOSTILE: [&str; 3] = [
    "</script><img src=x onerror=\"document.title='owned'\">",
    "\u{2028}'\"`${document.title='owned'}",
    "<!--<script>document.title='owned'</script>",
];

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (out, kind) = match arguments.as_slice() {
        [out] => (out, "tuned"),
        [out, kind] => (out, kind.as_str()),
        _ => return Err("expected: sample_report OUT [tuned|single|preempted|system|sweep|hostile|empty]".into()),
    };
    let runs = match kind {
        "tuned" => sample::tuned(),
        "single" => vec![sample::run("untuned", sample::Wake::Spin { hz: 10.0 })],
        "preempted" => vec![sample::preempted()],
        "sweep" => {
            let mut run = sample::run("study-a-dds", sample::Wake::Arrival);
            run.info.command.push("--short".into());
            let (summary, tables) = Default::default();
            vec![ReportRun { summary, tables, sweep: Some(sample::sweep::sweep()), ..run }]
        }
        "system" => vec![system("/driver")],
        "hostile" => vec![hostile()],
        "empty" => vec![ReportRun {
            summary: Default::default(),
            tables: Default::default(),
            ..sample::run("nothing", sample::Wake::Arrival)
        }],
        other => {
            return Err(format!("found {other}, expected tuned, single, preempted, system, sweep, hostile or empty"))
        }
    };
    tacho_report::write(&runs, Path::new(out)).map_err(|error| error.to_string())
}

/// Makes a run with services, an action, managed nodes, threads, and the threads that preempted them.
fn system(name: &str) -> ReportRun {
    let mut run = sample::run("arrival", sample::Wake::Arrival);
    let in_state_s = [("active", 5.5), ("configuring", 0.125), ("activating", 0.25), ("inactive", 1.0)]
        .map(|(state, s)| (state.to_owned(), s))
        .into();
    run.summary.lifecycle =
        vec![LifecycleFigures { node: name.into(), state: "active".into(), transitions: 4, in_state_s }];
    run.summary.services = vec![ServiceFigures {
        service: name.into(),
        clients: vec![name.into()],
        sent: Some(3),
        complete: 2,
        ..Default::default()
    }];
    run.summary.actions = vec![ActionFigures {
        action: name.into(),
        clients: vec![name.into()],
        servers: vec![name.into()],
        accepted: 10,
        rejected: 1,
        succeeded: 7,
        canceled: 2,
        aborted: 0,
        unfinished: 3,
        result_us: Some(Distribution { median: 1500.0, p99: 2250.0, max: 4000.0, ..Default::default() }),
        feedback: Some(55),
        feedback_received: Some(54),
        feedback_rate_hz: Some(12.5),
        ..Default::default()
    }];
    run.summary.executors = vec![ExecutorFigures {
        process_id: 7,
        thread_id: 8,
        nodes: vec![name.into()],
        executing_percent: 12.5,
        ..Default::default()
    }];
    run.summary.preemptors = vec![PreemptorFigures { by: None, count: 5, total_ms: 1.5, longest_ms: 0.75 }];
    run
}

/// Makes a run in which every name is hostile.
fn hostile() -> ReportRun {
    let [first, second, third] = HOSTILE;
    let mut run = system(second);
    let rename = |name: &mut String| {
        if name == "ndt_matching" {
            *name = first.into()
        }
        if name == "/ndt_pose" {
            *name = second.into()
        }
    };
    for chain in &mut run.summary.chains {
        chain.path.iter_mut().for_each(rename);
        chain.name = third.into();
    }
    for chain in &mut run.tables.chains {
        chain.path.iter_mut().for_each(rename);
        chain.name = third.into();
    }
    for topic in &mut run.summary.topics {
        rename(&mut topic.topic);
        topic.publishers.iter_mut().chain(&mut topic.subscribers).for_each(rename);
    }
    for callback in &mut run.summary.callbacks {
        callback.node.iter_mut().chain(&mut callback.topic).for_each(rename);
    }
    run.summary.notes[..].iter_mut().for_each(|note| note.text = first.into());
    run.summary.notes.push(tacho_tables::Note { name: first.into(), count: 1, text: second.into() });
    run.info.command.push(first.into());
    if let Some(machine) = &mut run.info.machine {
        machine.host = third.into();
    }
    run.info.versions.insert(first.into(), second.into());
    run.info.missing.push(third.into());
    run.label = first.into();
    run
}
