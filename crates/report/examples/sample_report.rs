//! Writes a report of invented runs, so that you can look at the page: `sample_report OUT
//! [tuned|single|verdict|preempted|system|sweep|hostile|empty]`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::path::Path;
use tacho_report::ReportRun;
use tacho_tables::summary::{
    ActionFigures, Culprit, Distribution, ExecutorFigures, LateInstance, LatePart, LifecycleFigures, PreemptorFigures,
    ServiceFigures, Verdict,
};
use tacho_tables::CauseKind;

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
        _ => {
            return Err("expected: sample_report OUT [tuned|single|verdict|preempted|system|sweep|hostile|empty]".into())
        }
    };
    let runs = match kind {
        "tuned" => sample::tuned(),
        "single" => vec![sample::run("untuned", sample::Wake::Spin { hz: 10.0 })],
        "verdict" => vec![judged("/planner", "Planner.reload_map")],
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
            return Err(format!(
                "found {other}, expected tuned, single, verdict, preempted, system, sweep, hostile or empty"
            ))
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

/// Makes a run with a verdict, and a chain of the same name as its critical one, shorter and first.
fn judged(node: &str, function: &str) -> ReportRun {
    let mut run = sample::run("untuned", sample::Wake::Spin { hz: 10.0 });
    let late = |ms: f64| LateInstance {
        end_to_end_ms: ms,
        parts: vec![LatePart {
            kind: CauseKind::ExecutorBusy,
            by: function.into(),
            nodes: vec![node.into()],
            ms,
            usual_ms: None,
        }],
        repeat: None,
        start_ns: 0,
        start_realtime_ns: None,
    };
    let critical = &mut run.summary.chains[0];
    critical.worst = vec![late(2000.0)];
    let (first, last) = (critical.path[0].clone(), critical.path[critical.path.len() - 1].clone());
    let mut shorter = critical.clone();
    (shorter.path, shorter.critical) = (vec![first, "/short_cut".into(), last], false);
    shorter.worst = vec![late(1320.0)];
    run.summary.verdict = Some(Verdict {
        text: format!("{node} is late in 5 of 162 outputs."),
        chain: Some(critical.name.clone()),
        path: critical.path.clone(),
        late_cases: 5,
        worst_ms: Some(2000.0),
        culprits: vec![
            Culprit {
                text: format!("{function} of {node} took up to 1950 ms."),
                next: format!("Give {function} a callback group of its own."),
                worst_without_ms: Some(57.2),
                late_without: Some(0),
                ..Culprit::default()
            };
            4
        ],
        ..Verdict::default()
    });
    run.summary.chains.insert(0, shorter);
    run
}

/// Makes a run in which every name is hostile.
fn hostile() -> ReportRun {
    let [first, second, third] = HOSTILE;
    let mut run = system(second);
    run.summary.verdict = judged(first, second).summary.verdict;
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
