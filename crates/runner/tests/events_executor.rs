//! Nodes on an events executor: what came first runs first.

mod lab;

use lab::{figures, workload, Lab};
use std::collections::BTreeMap;
use tacho_events::run::RunDirectory;
use tacho_events::{Payload, Reader};

/// Rate of the timer that publishes.
const TIMER_HZ: i64 = 13;

/// Callbacks that sleep, for `busy` hundredths of the time in all. Messages of the camera come in bursts, so that
/// others wait for those of a burst that came before them. What publishes by a timer has no inputs: it ends before its
/// messages are taken, however long the others of its thread still have messages to take.
fn system(middleware: &str, executor: &str, busy: u32) -> String {
    let [first, second, timer] = [7_500, 3_000, 2_000].map(|us| us * busy / 90);
    let qos = if middleware == "socket" { "depth: 100, reliability: best_effort" } else { "depth: 100" };
    format!(
        "
nodes:
  camera: {{publishes: {{/a: {{size: 64 B, sent_at: [0 ms, 1 ms, 2 ms, 3 ms, 4 ms], again: 50 ms, {qos}}}}}}}
  lidar:  {{publishes: {{/b: {{size: 64 B, rate: 17 Hz, {qos}}}}}}}
  first:  {{thread: one, {executor}sleep: {first} us, subscribes: {{/a: {{{qos}}}}}}}
  second: {{thread: one, sleep: {second} us, subscribes: {{/b: {{{qos}}}}},
           timers: {{tick: {{rate: 30 Hz, sleep: {timer} us}}}}}}
  third:  {{thread: one, publishes: {{/c: {{rate: {TIMER_HZ} Hz, sleep: {timer} us, size: 64 B, {qos}}}}}}}
  end:    {{subscribes: {{/c: {{{qos}}}}}}}
run: {{duration: 2 s}}
"
    )
}

/// When what the thread ran came, in the order in which it ran: messages, and the timer that publishes.
fn came_ns(run: &RunDirectory) -> Vec<i64> {
    let mut reader = Reader::open(run).unwrap();
    let (mut arrivals, mut takes): (BTreeMap<u64, Vec<i64>>, Vec<(u32, u64, i64)>) = Default::default();
    let (mut dues, mut skipped) = (Vec::new(), BTreeMap::new());
    while let Some(event) = reader.next_event() {
        let at_ns = event.time.as_ns();
        match event.payload {
            Payload::NodeDataAvailable { subscription } => arrivals.entry(subscription.0).or_default().push(at_ns),
            Payload::NodeTake { subscription, .. } => takes.push((event.thread.0, subscription.0, at_ns)),
            Payload::NodeSkipped { publisher, count } => *skipped.entry(publisher.0).or_default() += count as i64,
            // It publishes what is due last, and ran for what was due first and is skipped.
            Payload::NodeDue { publisher, due_ns, .. } => {
                let before = skipped.remove(&publisher.0).unwrap_or(0);
                dues.push((event.thread.0, due_ns - before * 1_000_000_000 / TIMER_HZ, at_ns));
            }
            _ => {}
        }
    }
    // The thread that takes from two subscriptions.
    let kinds = |thread: u32| takes.iter().filter(|of| of.0 == thread).map(|of| of.1).collect::<Vec<_>>();
    let is_it = |thread: &u32| kinds(*thread).iter().any(|of| *of != kinds(*thread)[0]);
    let thread = takes.iter().map(|of| of.0).find(is_it).expect("a thread with two subscriptions");
    let (mut taken, mut all): (BTreeMap<u64, usize>, Vec<(i64, i64)>) = Default::default();
    for (_, subscription, at_ns) in takes.iter().filter(|of| of.0 == thread) {
        let number = taken.entry(*subscription).or_default();
        all.push((*at_ns, arrivals[subscription][*number]));
        *number += 1;
    }
    all.extend(dues.iter().filter(|of| of.0 == thread).map(|(_, due_ns, at_ns)| (*at_ns, *due_ns)));
    all.sort_unstable();
    all.into_iter().map(|(_, came_ns)| came_ns).collect()
}

/// How many of them ran before something that had come earlier.
fn out_of_order(came_ns: &[i64]) -> usize {
    // The arrival is recorded just before the executor hears of it.
    let near_ns = 200_000;
    came_ns.windows(2).filter(|pair| pair[0] > pair[1] + near_ns).count()
}

#[test]
fn callbacks_run_in_the_order_in_which_messages_and_timers_came() {
    let counted = ["executor: events, ", ""].map(|executor| {
        let lab = Lab::new();
        lab.run(&workload("inproc", &system("inproc", executor, 90))).unwrap();
        let came_ns = came_ns(&lab.run_directory());
        assert!(came_ns.len() > 200, "{executor}: {}", came_ns.len());
        out_of_order(&came_ns)
    });
    // A thread that lost its CPU between the two lines may be late with one of them.
    assert!(counted[0] <= 2 && counted[1] > 20, "{counted:?}");
}

#[test]
fn all_messages_are_taken_on_every_middleware() {
    for middleware in ["inproc", "ros2", "socket"] {
        let lab = Lab::new();
        let ran = lab.run(&workload(middleware, &system(middleware, "executor: events, ", 30))).unwrap();
        for (node, source) in [("first", "camera"), ("second", "lidar"), ("end", "third")] {
            assert_eq!(figures(&ran, node).taken, [figures(&ran, source).outputs[0].sent], "{middleware}: {node}");
        }
        let (second, third) = (figures(&ran, "second"), figures(&ran, "third"));
        // 75 ticks were due.
        assert!(second.callbacks > second.taken[0] + 37, "{middleware}: {second:?}");
        // In the warm-up of 0.3 s and in 2 s.
        let due = third.outputs[0].sent + third.outputs[0].skipped.unwrap();
        assert!((29..=30).contains(&due), "{middleware}: {third:?}");
    }
}
