//! What kept the thread of an executor from its CPU when it was woken for a message.

use super::*;
use tacho_tables::row::Row;

const PLANNER: u32 = 20;
const ACTUATOR: u32 = 21;

/// `ndt` publishes at 200 us. `control` sleeps, is woken at 230 us, and has its CPU at 390; another thread has it until
/// then.
fn woken_beside(other: u64) -> Tables {
    let mut b = FileBuilder::new().node(NDT, "ndt").at(1).publisher("/pose").timer(1_000_000);
    b = b.node(8, "control").at(1).subscription("/pose");
    b = b.cpu(0).us(50).switch(0, 0, 8).us(100).switch(8, SLEEPS, other).us(230).wake(8, 0, 901);
    b = b.us(390).switch(other, 0, 8).us(2_000).switch(8, SLEEPS, 0);
    b = b.ndt().us(150).start_timer().us(200).publish(1).us(201).end_timer();
    b = b.process(8).thread(9).us(220).node_data_available(SUBSCRIPTION);
    b = b.thread(8).us(60).rclcpp_executor_wait_for_work(0);
    tables(&b.us(395).rclcpp_executor_get_next_ready().us(400).start_taking(1).us(500).end_taking())
}

/// `ndt` publishes at 200 us. The thread 9 of `control`, which brings messages, is woken for it at 205 us and has its
/// CPU at 300; the burner has it until then. The executor's thread is woken at 310 and runs at once.
fn received_beside_a_burner() -> Tables {
    let mut b = FileBuilder::new().node(NDT, "ndt").at(1).publisher("/pose").timer(1_000_000);
    b = b.node(8, "control").at(1).subscription("/pose");
    b = b.cpu(0).us(50).switch(0, 0, 8).us(60).switch(8, SLEEPS, 9).us(90).switch(9, SLEEPS, BURNER);
    b = b.us(205).wake(9, 0, 901).us(300).switch(BURNER, 0, 9).us(310).wake(8, 0, 9).us(312).switch(9, SLEEPS, 8);
    b = b.us(2_000).switch(8, SLEEPS, 0);
    b = b.ndt().us(150).start_timer().us(200).publish(1).us(201).end_timer();
    b = b.process(8).thread(9).us(80).node_data_available(SUBSCRIPTION + 1);
    b = b.us(308).node_data_available(SUBSCRIPTION);
    b = b.thread(8).us(55).rclcpp_executor_wait_for_work(0);
    tables(&b.us(315).rclcpp_executor_get_next_ready().us(320).start_taking(1).us(500).end_taking())
}

#[test]
fn a_message_whose_receiving_thread_was_without_a_cpu_names_what_had_it() {
    let tables = received_beside_a_burner();
    let of = |kind| tables.causes.iter().find(|cause| cause.position == 1 && cause.kind == kind);
    let told = |kind| of(kind).map(|cause| (cause.by.as_str(), cause.duration_ns.get().expect("an instance's") / US));
    assert_eq!(told(CauseKind::NoCpu), Some(("burner", 95)));
    assert_eq!(told(CauseKind::Transport), Some(("/pose", 13)), "the rest of the 108 until it was there");
    waits(&tables);
}

fn waits(tables: &Tables) -> Vec<(CauseKind, &str, i64)> {
    let whole: i64 = tables.causes.iter().filter_map(|cause| cause.duration_ns.get()).sum();
    assert_eq!(whole, tables.instances[0].end_to_end_ns);
    let of = tables.causes.iter().filter(|cause| cause.instance == Some(Row::new(0)) && cause.position == 1);
    let waits = of.filter(|cause| matches!(cause.kind, CauseKind::WakeUp | CauseKind::NoCpu));
    waits.map(|cause| (cause.kind, cause.by.as_str(), cause.duration_ns.get().expect("an instance's") / US)).collect()
}

#[test]
fn a_thread_that_was_woken_names_the_one_that_had_its_cpu() {
    let tables = woken_beside(BURNER);
    assert_eq!(waits(&tables), [(CauseKind::WakeUp, "/control", 20), (CauseKind::NoCpu, "burner", 160)]);
    assert_eq!(tables.hops[1].alignment_ns, Some(180 * US), "both are alignment");
}

#[test]
fn a_recorded_thread_is_named_with_its_nodes() {
    assert_eq!(
        waits(&woken_beside(u64::from(NDT))),
        [(CauseKind::WakeUp, "/control", 20), (CauseKind::NoCpu, "ndt (/ndt)", 160)]
    );
}

/// `ndt` publishes at 110 us of each ms, `control` passes it on 40 us later, and the timer of `planner` uses it at 500.
/// In ms 12 the thread that brings messages to `control` is woken at 115 us and has its CPU at 630; then its executor's
/// is, beside a kworker.
#[test]
fn what_had_the_cpu_before_the_next_message_was_made_kept_it_away() {
    let mut b = FileBuilder::new().node(NDT, "ndt").at(1).publisher("/raw").timer(1_000_000);
    b = b.node(8, "control").at(1).subscription("/raw").publisher("/pose");
    b = b.node(PLANNER, "planner").at(1).subscription("/pose").publisher("/plan").timer(1_000_000);
    b = b.node(ACTUATOR, "actuator").at(1).subscription("/plan").cpu(0).us(50).switch(0, 0, 901);
    b = b.process(8).thread(9).us(80).node_data_available(SUBSCRIPTION + 1);
    b = b.cpu(0).us(12_000).switch(9, SLEEPS, BURNER).us(12_115).wake(9, 0, 901).us(12_630).switch(BURNER, 0, 9);
    b = b.us(12_635).wake(8, 0, 9).us(12_638).switch(9, SLEEPS, 901).us(12_645).switch(901, SLEEPS, 8);
    b = b.us(20_000).switch(8, SLEEPS, 0);
    for k in 1..20 {
        let (ms, made) = (1_000 * k, if k == 12 { 650 } else { 130 });
        b = b.ndt().us(ms + 100).start_timer().us(ms + 110).publish(k).us(ms + 120).end_timer();
        let pass_on = |b: FileBuilder| {
            let b = b.process(8).thread(8).us(ms + made).start_taking(k).us(ms + made + 20).publish(-k);
            let b = b.us(ms + made + 25).end_taking().process(PLANNER).us(ms + made + 30).start_taking(-k);
            b.us(ms + made + 35).end_taking()
        };
        let plan = |b: FileBuilder| {
            let b =
                b.process(PLANNER).us(ms + 500).start_timer().us(ms + 520).publish(100 + k).us(ms + 525).end_timer();
            b.process(ACTUATOR).us(ms + 530).start_taking(100 + k).us(ms + 540).end_taking()
        };
        b = if k == 12 { pass_on(plan(b)) } else { plan(pass_on(b)) };
    }
    let tables = tables(&b);
    let late = tables.instances.iter().position(|i| i.end_ns == 12_540 * US).expect("an instance");
    let of = |kind| {
        let mut own = tables.causes.iter().filter(|cause| cause.instance == Some(Row::behind(late)));
        own.find(|cause| cause.kind == kind).expect("a part")
    };
    let (no_cpu, no_newer) = (of(CauseKind::NoCpu), of(CauseKind::NoNewer));
    assert_eq!((no_cpu.by.as_str(), no_cpu.duration_ns.get()), ("burner", Some(385 * US)), "until the planner ran");
    // It came 170 us too late, less than the 515 that the burner had.
    assert_eq!(tables.executions[no_newer.execution.expect("what kept it away")].start_ns, 12_650 * US);
    assert_eq!(no_newer.execution, no_cpu.execution);
}
