//! Simulated systems with costs, whose figures follow from a formula.

mod simulated;

use simulated::{chain, simulated_with, workload, CHAIN};
use std::sync::atomic::AtomicBool;
use tacho_events::run::{RunDirectory, RunInfo};
use tacho_simulate::reach::Reach;
use tacho_simulate::spread::Spread;
use tacho_simulate::transfer::Transfer;
use tacho_simulate::warmth::Warmth;
use tacho_simulate::{Costs, NodeCost, Simulator};
use tacho_tables::store;

#[test]
fn a_node_takes_what_a_recording_shows_of_it_to_wake_up_and_its_recording_shows_that_again() {
    let fixed = |us: i64| Spread::fixed(1_000 * us);
    let filter = NodeCost {
        node: "filter".into(),
        wake_up: fixed(300),
        take_ns: 200_000,
        after_ns: Some(400_000),
        ..NodeCost::default()
    };
    let source = NodeCost {
        node: "source".into(),
        timer: fixed(50),
        timer_take_ns: 700_000,
        after_ns: Some(900_000),
        ..NodeCost::default()
    };
    let costs = Costs { wake_up: fixed(100), of_nodes: vec![filter, source], ..Costs::default() };
    let workload = workload(CHAIN);
    let (folder, summary) = simulated_with(&costs, &workload, 2, 0);
    let times = chain(&summary, "chain").end_to_end_ms.as_ref().expect("times");
    assert!((times.min - 8.6).abs() < 1e-6 && (times.max - 8.6).abs() < 1e-6, "{times:?}");

    let run = RunDirectory::new(folder.path());
    let info = RunInfo { verb: "record".into(), ..run.info().expect("run.json") };
    let found = tacho_simulate::fit::of_recording(&store::read_run(&run).expect("tables"), &info, &workload);
    let of = |node: &str| found.of_nodes.iter().find(|of| of.node == node).expect("a node that was seen");
    let whole_us = |node: &str| (of(node).wake_up.quantile(0.5) + of(node).take_ns) / 1_000;
    assert_eq!((whole_us("filter"), whole_us("act")), (500, 100));
    // Whatever wakes a thread: what its clock shows lies before the callback or behind it.
    let all_us = |node: &str, take_ns: i64| of(node).after_ns.map(|ns| (take_ns + ns) / 1_000);
    assert_eq!(all_us("filter", of("filter").take_ns), Some(200 + 400));
    assert_eq!((of("source").timer_take_ns, of("source").after_ns), (700_000, Some(900_000)));
}

#[test]
fn what_is_published_in_a_callback_waits_for_the_next_look_of_its_thread() {
    let text = "
middleware: inproc
nodes:
  source: {thread: one, work: 1 ms, publishes: {/a: {rate: 10 Hz}}}
  first:  {thread: one, work: 2 ms, subscribes: [/a]}
  second: {thread: one, work: 4 ms, subscribes: [/a]}
chains: {one: [source, first], two: [source, second]}
run: {duration: 5 s}
";
    let to_both = Transfer {
        topic: "/a".into(),
        size_bytes: workload(text).nodes[0].publishes[0].size_bytes,
        subscriptions: 2,
        reach: vec![Reach::Process; 2],
        send_cpu_ns: 2_000_000,
        receive_cpu_ns: 300_000,
        ..Transfer::default()
    };
    let with = |take_ns: i64, look_ns: Option<i64>| {
        let transfers = vec![to_both.clone()];
        let costs = Costs { middleware: "inproc".into(), transfers, take_ns, look_ns, ..Costs::default() };
        let (folder, summary) = simulated_with(&costs, &workload(text), 1, 0);
        let mean = |name| chain(&summary, name).end_to_end_ms.as_ref().expect("times").mean;
        let again = RunDirectory::new(folder.path().join("again"));
        let simulated =
            Simulator::new(&costs, 1, &AtomicBool::new(false)).simulated(&workload(text), 0, &again, &mut |_| {});
        let cpu_percent = simulated.expect("a simulation").cpu_percent.expect("CPU time");
        [mean("one"), mean("two"), cpu_percent].map(|figure| (figure * 1e3).round() / 1e3)
    };
    // The work of a period is 7 ms, and 2 ms and twice 0.3 ms are around it.
    assert_eq!(with(100_000, Some(500_000)), [3.6, 7.7, 9.6]);
    // How long a look takes is not known: all that is around the callback of the source.
    assert_eq!(with(100_000, None), [5.1, 9.2, 9.6]);
    // Nothing is known of what passes between callbacks.
    assert_eq!(with(0, None), [5.0, 9.3, 9.6]);
}

#[test]
fn messages_cost_less_shortly_after_others() {
    let whole = Warmth { pause_ns: 19_000_000, ..Warmth::WHOLE };
    let half = Warmth { pause_ns: 1_000_000, transit: 0.5, wake_up: 0.25, ..whole };
    let transfer = Transfer {
        topic: "/measured".into(),
        size_bytes: 64,
        subscriptions: 1,
        transit: vec![Spread::fixed(100_000)],
        wake_up: Spread::fixed(40_000),
        pause_ns: whole.pause_ns,
        ..Transfer::default()
    };
    let pause_ns = half.pause_ns;
    let costs = Costs { transfers: vec![transfer], warmth: vec![half, whole], pause_ns, ..Costs::default() };
    let simulated = |rate: &str, costs: &Costs| {
        let text = format!(
            "{{middleware: inproc, run: {{duration: 2 s}}, nodes: {{source: {{publishes: {{/a: {{rate: {rate}}}}}}}, \
             sink: {{subscribes: [/a]}}}}, chains: {{chain: [source, sink]}}}}"
        );
        let (folder, summary) = simulated_with(costs, &workload(&text), 2, 0);
        let doubts = RunDirectory::new(folder.path()).info().expect("run.json").missing;
        (chain(&summary, "chain").end_to_end_ms.as_ref().expect("times").median, doubts)
    };
    for (rate, expected_ms) in [("50 Hz", 0.140), ("20 Hz", 0.140), ("1000 Hz", 0.060)] {
        let (median_ms, doubts) = simulated(rate, &costs);
        assert!((median_ms - expected_ms).abs() < 1e-6, "{rate}: {median_ms} ms");
        assert!(doubts.is_empty(), "{doubts:?}");
    }
    // No run shows it: messages cost the same at any rate, and that is said.
    let (median_ms, doubts) = simulated("1000 Hz", &Costs { warmth: vec![], pause_ns: whole.pause_ns, ..costs });
    assert!((median_ms - 0.140).abs() < 1e-6, "{median_ms}");
    assert!(
        doubts[0].starts_with("messages are sent 1.00 ms apart on the average; measured were those 19.00"),
        "{doubts:?}"
    );
}

#[test]
fn callbacks_do_not_wait_for_other_threads_of_their_process() {
    let workload = workload(CHAIN);
    let with = |after_ns: Option<i64>| {
        let transfer = Transfer {
            topic: "/a".into(),
            size_bytes: workload.nodes[0].publishes[0].size_bytes,
            subscriptions: 1,
            receive_cpu_ns: 99_000_000,
            ..Transfer::default()
        };
        let filter = NodeCost { node: "filter".into(), after_ns, ..NodeCost::default() };
        let costs = Costs { transfers: vec![transfer], of_nodes: vec![filter], ..Costs::default() };
        let (folder, summary) = simulated_with(&costs, &workload, 2, 0);
        let info = RunDirectory::new(folder.path()).info().expect("run.json");
        let cpu_percent = tacho_simulate::prediction::cpu_percent(&info).expect("CPU time");
        (chain(&summary, "chain").end_to_end_ms.as_ref().expect("times").max, cpu_percent)
    };
    // The clock of its thread says that its executor computes nothing of those 99 ms a message.
    let (max_ms, cpu_percent) = with(Some(0));
    assert!((max_ms - 8.0).abs() < 1e-6, "{max_ms}");
    // 99 of the 5000 ms are those of the last message, which may not be over at the end.
    assert!((8.0 + 99.0 - 99.0 / 50.0..=8.0 + 99.0).contains(&cpu_percent), "{cpu_percent}");
    // Without it, the thread falls behind: it needs 104 ms for each 100.
    let (max_ms, _) = with(None);
    assert!(max_ms > 100.0, "{max_ms}");
}

#[test]
fn what_a_recorded_node_takes_to_wake_up_it_takes_on_a_busy_cpu_too() {
    let text = "
middleware: inproc
nodes:
  source: {work: 1 ms, publishes: {/a: {rate: 13 Hz}}}
  sink:   {work: 1 ms, subscribes: [/a]}
  busy:   {work: 5 ms, publishes: {/b: {rate: 100 Hz}}}
chains: {chain: [source, sink]}
run: {duration: 5 s}
";
    let least_ms = |after_ns: Option<i64>| {
        let sink = NodeCost { node: "sink".into(), wake_up: Spread::fixed(2_000_000), after_ns, ..NodeCost::default() };
        let costs = Costs { of_nodes: vec![sink], ..Costs::default() };
        let (_folder, summary) = simulated_with(&costs, &workload(text), 1, 0);
        chain(&summary, "chain").end_to_end_ms.as_ref().expect("times").min
    };
    let least = least_ms(Some(0));
    assert!((4.0 - 1e-6..4.5).contains(&least), "{least}");
    // Without the clock of its thread, only a CPU that was idle takes as long.
    let least = least_ms(None);
    assert!(least < 3.9, "{least}");
}
