//! Nodes that several threads run together. Every node sleeps in its callbacks, so that the CPUs that are free do not
//! matter.

mod lab;

use lab::{figures, payloads, workload, Lab};
use std::collections::{BTreeMap, BTreeSet};
use tacho_events::run::RunDirectory;
use tacho_events::{Payload, Reader};
use tacho_runner::protocol::NodeFigures;

/// Three nodes of 15 ms each at every 25 ms: one thread is too slow for them, three are not.
fn system(middleware: &str, threads: &str) -> String {
    let qos = if middleware == "socket" { "depth: 100, reliability: best_effort" } else { "depth: 100" };
    let end =
        |name: &str| format!("  {name}: {{thread: many, {threads}sleep: 15 ms, subscribes: {{/a: {{{qos}}}}}}}\n");
    let ends = ["first", "second", "third"].map(end).concat();
    format!(
        "\nnodes:\n  source: {{publishes: {{/a: {{size: 64 B, rate: 40 Hz, {qos}}}}}}}\n{ends}run: {{duration: 1 s}}\n"
    )
}

/// Callback, thread, start and end of each execution that took a message.
fn executions(run: &RunDirectory) -> Vec<(u64, u32, i64, i64)> {
    let mut reader = Reader::open(run).unwrap();
    let (mut open, mut takes, mut all) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
    while let Some(event) = reader.next_event() {
        match event.payload {
            Payload::CallbackStart { callback, .. } => {
                open.insert((event.thread.0, callback), event.time.as_ns());
            }
            Payload::NodeTake { .. } => drop(takes.insert(event.thread.0)),
            Payload::CallbackEnd { callback } => {
                let start_ns = open.remove(&(event.thread.0, callback)).unwrap();
                if takes.remove(&event.thread.0) {
                    all.push((callback.0, event.thread.0, start_ns, event.time.as_ns()));
                }
            }
            _ => {}
        }
    }
    all
}

fn overlap(a: &(u64, u32, i64, i64), b: &(u64, u32, i64, i64)) -> bool {
    a.2 < b.3 && b.2 < a.3
}

#[test]
fn nodes_run_beside_each_other_and_the_callbacks_of_each_do_not() {
    for middleware in ["inproc", "ros2", "socket"] {
        let lab = Lab::new();
        let ran = lab.run(&workload(middleware, &system(middleware, "threads: 3, "))).unwrap();
        let sent = figures(&ran, "source").outputs[0].sent;
        for node in ["first", "second", "third"] {
            assert_eq!(figures(&ran, node).taken, [sent], "{middleware}: {node}");
        }
        let all = executions(&lab.run_directory());
        assert_eq!(all.len() as u64, 3 * sent, "{middleware}");
        let threads: BTreeSet<u32> = all.iter().map(|of| of.1).collect();
        assert_eq!(threads.len(), 3, "{middleware}");
        let pairs = || all.iter().enumerate().flat_map(|(at, a)| all[at + 1..].iter().map(move |b| (a, b)));
        assert!(pairs().filter(|(a, b)| a.0 == b.0).all(|(a, b)| !overlap(a, b)), "{middleware}");
        let beside = pairs().filter(|(a, b)| a.0 != b.0 && overlap(a, b)).count() as u64;
        assert!(beside > sent, "{middleware}: {beside} of {sent}");
    }
}

#[test]
fn messages_that_wait_for_a_busy_node_keep_no_thread_awake() {
    for middleware in ["inproc", "ros2", "socket"] {
        let lab = Lab::new();
        let busy = system(middleware, "threads: 3, ").replacen("sleep: 15 ms", "sleep: 120 ms", 1);
        let ran = lab.run(&workload(middleware, &busy)).unwrap();
        let sent = figures(&ran, "source").outputs[0].sent;
        assert!(figures(&ran, "first").taken[0] < sent, "{middleware}: it was never busy");
        let is_wait = |of: &Payload| matches!(of, Payload::RclcppExecutorWaitForWork { .. });
        let waits = payloads(&lab.run_directory()).iter().filter(|of| is_wait(of)).count() as u64;
        assert!(waits < 20 * sent, "{middleware}: {waits} waits for {sent} messages");
    }
}

#[test]
fn on_one_thread_they_take_turns() {
    let lab = Lab::new();
    lab.run(&workload("inproc", &system("inproc", ""))).unwrap();
    let all = executions(&lab.run_directory());
    assert!(all.len() > 10, "{}", all.len());
    let pairs = all.iter().enumerate().flat_map(|(at, a)| all[at + 1..].iter().map(move |b| (a, b)));
    assert!(pairs.into_iter().all(|(a, b)| !overlap(a, b)));
}

#[test]
fn timers_of_several_threads_are_sent_or_skipped() {
    let source = |name: &str, hz: u32| {
        format!("  {name}: {{thread: many, sleep: 25 ms, publishes: {{/{name}: {{size: 16 B, rate: {hz} Hz}}}}}}\n")
    };
    let text = format!(
        "\nnodes:\n{}{}  sink: {{thread: many, threads: 2, subscribes: {{/late: {{depth: 100}}, /timely: \
         {{depth: 100}}}}}}\nrun: {{duration: 1 s}}\n",
        source("late", 100),
        source("timely", 10)
    );
    let ran = Lab::new().run(&workload("inproc", &text)).unwrap();
    let (late, timely) = (figures(&ran, "late"), figures(&ran, "timely"));
    let due = |of: &NodeFigures| of.outputs[0].sent + of.outputs[0].skipped.unwrap();
    assert_eq!(due(late), 10 * due(timely));
    // Each takes two and a half periods.
    assert!((1..=due(late) * 2 / 5 + 1).contains(&late.outputs[0].sent), "{late:?}");
    assert_eq!(figures(&ran, "sink").taken, [late.outputs[0].sent, timely.outputs[0].sent]);
}
