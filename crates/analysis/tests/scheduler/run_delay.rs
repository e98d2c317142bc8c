//! Waits for a CPU before a callback, by the kernel's run delay of its thread.

use super::*;
use tacho_tables::row::Row;

/// `control` ends a callback at 310 us, waits for work `waits` times, and wakes up at 700 for what `ndt` published at
/// 500. Meanwhile it was ready to run and had no CPU for so many us. What the wait for that message consists of.
fn waited(waits: i64, delay_us: i64) -> Vec<(CauseKind, String, i64)> {
    let mut b = FileBuilder::new().node(NDT, "ndt").at(1).publisher("/pose").timer(1_000_000);
    b = b.node(8, "control").at(1).subscription("/pose");
    let taking = |b: FileBuilder, from: i64, stamp: i64, delay_us: i64| {
        let b = b.us(from).rclcpp_executor_execute(SUBSCRIPTION);
        let b = b.rmw_take(RMW_SUBSCRIPTION, MESSAGE, stamp, true).rcl_take(MESSAGE).rclcpp_take(MESSAGE);
        let b = b.callback_cpu_and_delay(from * US, delay_us * US, false).us(from + 5).callback_start(CALLBACK, false);
        b.us(from + 10).end_taking().callback_cpu_and_delay((from + 5) * US, delay_us * US, true)
    };
    for (stamp, from) in [(1, 200), (2, 480)] {
        b = b.ndt().us(from).start_timer().us(from + 20).publish(stamp).us(from + 21).end_timer();
    }
    b = taking(b.process(8).thread(8), 300, 1, 1_000);
    for wait in 0..waits {
        b = b.us(320 + wait).rclcpp_executor_wait_for_work(-1);
        if wait + 1 < waits {
            b = b.us(320 + wait).rclcpp_executor_get_next_ready();
        }
    }
    let tables = tables(&taking(b, 700, 2, 1_000 + delay_us));
    let parts = tables.causes.iter().filter(|c| c.instance == Some(Row::new(1)) && c.position == 1);
    let parts = parts.map(|c| (c.kind, c.by.to_string(), c.duration_ns.get().expect("an instance's") / US));
    parts.filter(|(kind, ..)| *kind != CauseKind::Computation).collect()
}

#[test]
fn a_thread_that_woke_up_late_lacked_a_cpu_for_as_long_as_the_kernel_counted() {
    let wake_up = || (CauseKind::WakeUp, "/control".to_string(), 5);
    let on_the_way = |us| (CauseKind::Transport, "/pose".to_string(), us);
    let unknown = |us| (CauseKind::NoCpu, "what is not known".to_string(), us);
    assert_eq!(waited(1, 0), [on_the_way(200), wake_up()]);
    // 10 us passed until it began to wait: it may have lacked one then.
    assert_eq!(waited(1, 160), [on_the_way(200 - 145), unknown(145 + 5)]);
    assert_eq!(waited(1, 10), [on_the_way(200), wake_up()]);
    // It cannot have lacked one for longer than the message waited.
    assert_eq!(waited(1, 400), [unknown(205)]);
    // Of two waits, it may have been the other: nobody is accused.
    assert_eq!(waited(2, 150), [on_the_way(200), wake_up()]);
}
