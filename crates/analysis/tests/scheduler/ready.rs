//! What kept the thread of an executor from its CPU when it was woken for a message.

use super::*;
use tacho_tables::row::Row;

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
    let told = |kind| of(kind).map(|cause| (cause.by.as_str(), cause.duration_ns.expect("an instance's") / US));
    assert_eq!(told(CauseKind::NoCpu), Some(("burner", 95)));
    assert_eq!(told(CauseKind::Transport), Some(("/pose", 13)), "the rest of the 108 until it was there");
    waits(&tables);
}

fn waits(tables: &Tables) -> Vec<(CauseKind, &str, i64)> {
    let whole: i64 = tables.causes.iter().filter_map(|cause| cause.duration_ns).sum();
    assert_eq!(whole, tables.instances[0].end_to_end_ns);
    let of = tables.causes.iter().filter(|cause| cause.instance == Some(Row::new(0)) && cause.position == 1);
    let waits = of.filter(|cause| matches!(cause.kind, CauseKind::WakeUp | CauseKind::NoCpu));
    waits.map(|cause| (cause.kind, cause.by.as_str(), cause.duration_ns.expect("an instance's") / US)).collect()
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
