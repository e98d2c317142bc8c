//! Time off the CPU: preempted, blocked, and what of a callback's time is its own.

use super::*;

#[test]
fn a_preempted_callback_names_all_who_had_the_cpu_and_its_cpu_time_is_the_rest() {
    let tables = tables(
        &on_a_timer()
            .ndt()
            .us(200)
            .start_timer()
            .cpu(1)
            .us(300)
            .switch(7, 0, 901)
            .us(310)
            .switch(901, SLEEPS, BURNER)
            .us(400)
            .switch(BURNER, 0, 7)
            .ndt()
            .us(500)
            .publish(1)
            .us(510)
            .end_timer()
            .cpu(1)
            .us(600)
            .switch(7, SLEEPS, 0),
    );
    assert_eq!(
        rows(&tables),
        [
            (Some(0), 300, 310, OffCpu::Runnable, false, 1, by("kworker")),
            (Some(0), 310, 400, OffCpu::Runnable, false, 1, by("burner")),
        ]
    );
    assert_eq!(cpu_us(&tables), [Some(310 - 100)]);
}

#[test]
fn a_blocked_callback_is_blocked_until_it_is_woken_and_runnable_until_it_has_a_cpu() {
    let tables = tables(
        &on_a_timer()
            .ndt()
            .us(200)
            .start_timer()
            .cpu(1)
            .us(250)
            .switch(7, SLEEPS, BURNER)
            .cpu(0)
            .us(300)
            .wake(7, 1, 901)
            .cpu(1)
            .us(340)
            .switch(BURNER, 0, 7)
            .ndt()
            .us(400)
            .end_timer()
            .cpu(1)
            .us(600)
            .switch(7, SLEEPS, 0),
    );
    assert_eq!(
        rows(&tables),
        [
            (Some(0), 250, 300, OffCpu::Blocked, false, 1, by("kworker")),
            (Some(0), 300, 340, OffCpu::Runnable, true, 1, by("burner")),
        ]
    );
    assert_eq!(cpu_us(&tables), [Some(200 - 90)]);
    assert_eq!(tables.executors[0].voluntary_switches, Some(1));
}

#[test]
fn without_wakeups_a_blocked_thread_is_blocked_until_it_comes_back() {
    let tables = tables(
        &on_a_timer()
            .ndt()
            .us(200)
            .start_timer()
            .cpu(1)
            .us(250)
            .switch(7, SLEEPS, BURNER)
            .cpu(0)
            .us(340)
            .switch(0, 0, 7)
            .ndt()
            .us(400)
            .end_timer()
            .cpu(1)
            .us(600)
            .switch(7, SLEEPS, 0),
    );
    assert_eq!(rows(&tables), [(Some(0), 250, 340, OffCpu::Blocked, false, 1, None)]);
}

#[test]
fn outside_of_callbacks_waiting_for_a_cpu_is_a_row_and_waiting_for_work_is_none() {
    let tables = tables(
        &on_a_timer()
            .ndt()
            .us(200)
            .start_timer()
            .us(210)
            .end_timer()
            .rclcpp_executor_wait_for_work(-1)
            .cpu(1)
            .us(220)
            .switch(7, SLEEPS, BURNER)
            .us(500)
            .wake(7, 1, 0)
            .us(530)
            .switch(BURNER, 0, 7)
            .ndt()
            .us(540)
            .rclcpp_executor_get_next_ready()
            .us(550)
            .start_timer()
            .us(560)
            .end_timer()
            .cpu(1)
            .us(600)
            .switch(7, SLEEPS, 0),
    );
    assert_eq!(rows(&tables), [(None, 500, 530, OffCpu::Runnable, true, 1, by("burner"))]);
    let row = &tables.executors[0];
    let us = |ns: Option<i64>| ns.map(|ns| ns / US);
    assert_eq!((us(row.waiting_ns), row.executing_ns / US), (Some(540 - 210), 20));
    assert_eq!(us(row.ready_ns), Some(560 - 330 - 20));
    assert_eq!(us(row.running_ns), Some(560 - (530 - 220)));
}

#[test]
fn executor_states_and_thread_states_each_make_the_whole_span() {
    let tables = tables(
        &FileBuilder::new()
            .cpu(1)
            .us(0)
            .switch(0, 0, 901)
            .us(90)
            .wake(7, 1, 0)
            .us(100)
            .switch(901, SLEEPS, 7)
            .ndt()
            .us(110)
            .rcl_init(1)
            .rcl_node_init(NODE, NODE + 1, "ndt", "/")
            .publisher("/pose")
            .timer(1_000_000)
            .us(200)
            .rclcpp_executor_wait_for_work(-1)
            .cpu(1)
            .us(210)
            .switch(7, SLEEPS, BURNER)
            .us(500)
            .wake(7, 1, 0)
            .us(530)
            .switch(BURNER, 0, 7)
            .ndt()
            .us(540)
            .rclcpp_executor_get_next_ready()
            .us(550)
            .start_timer()
            .cpu(1)
            .us(560)
            .switch(7, 0, BURNER)
            .us(600)
            .switch(BURNER, SLEEPS, 7)
            .ndt()
            .us(700)
            .end_timer()
            .us(710)
            .rclcpp_executor_wait_for_work(-1)
            .cpu(1)
            .us(720)
            .switch(7, SLEEPS, 0),
    );
    let row = &tables.executors[0];
    let us = |ns: Option<i64>| ns.map(|ns| ns / US);
    assert_eq!((row.from_ns / US, row.to_ns / US), (110, 710));
    assert_eq!((us(row.waiting_ns), us(row.ready_ns), row.executing_ns / US), (Some(340), Some(110), 150));
    assert_eq!((us(row.running_ns), us(row.runnable_ns), us(row.blocked_ns)), (Some(240), Some(70), Some(290)));
    assert_eq!(
        (row.voluntary_switches, row.involuntary_switches),
        (Some(1), Some(1)),
        "the last one is after its last event"
    );
}

#[test]
fn preemption_is_split_out_of_computation_and_the_parts_still_add_up() {
    let scene = |kernel: bool| {
        let builder = FileBuilder::new()
            .node(NDT, "ndt")
            .at(1)
            .publisher("/pose")
            .timer(1_000_000)
            .node(8, "control")
            .at(1)
            .subscription("/pose");
        let builder = if !kernel {
            builder
        } else {
            builder
                .cpu(1)
                .us(90)
                .wake(7, 1, 0)
                .us(100)
                .switch(0, 0, 7)
                .cpu(0)
                .us(90)
                .wake(8, 0, 0)
                .us(100)
                .switch(0, 0, 8)
                .cpu(1)
                .us(300)
                .switch(7, 0, BURNER)
                .us(400)
                .switch(BURNER, 0, 7)
                // After the publish call: no part of the chain.
                .us(520)
                .switch(7, 0, BURNER)
                .us(580)
                .switch(BURNER, 0, 7)
                .us(2_000)
                .switch(7, SLEEPS, 0)
        };
        tables(
            &builder
                .ndt()
                .us(200)
                .start_timer()
                .us(500)
                .publish(1)
                .us(600)
                .end_timer()
                .process(8)
                .thread(8)
                .us(700)
                .start_taking(1)
                .us(800)
                .end_taking(),
        )
    };
    let (with, without) = (scene(true), scene(false));
    let parts = |tables: &Tables| {
        let i = &tables.instances[0];
        assert_eq!(i.parts().whole_ns(), i.end_to_end_ns, "{i:?}");
        // In the hops as in the chain.
        assert_eq!(tables.hops.iter().map(Hop::parts).sum::<Parts>(), i.parts(), "{i:?}");
        (i.computation_ns / US, i.preemption_ns.get().map(|ns| ns / US), i.end_to_end_ns / US)
    };
    assert_eq!(parts(&with), (300, Some(100), 600));
    assert_eq!(parts(&without), (400, None, 600));
    assert_eq!(cpu_us(&with), [Some(240), Some(100)]);
    assert_eq!(cpu_us(&without), [None, None]);
}

#[test]
fn the_clock_of_a_thread_tells_cpu_time_where_the_kernel_does_not() {
    let with = |builder: FileBuilder| {
        builder
            .ndt()
            .us(199)
            .callback_cpu(5_000 * US, false)
            .us(200)
            .callback_start(TIMER_CALLBACK, false)
            .us(500)
            .end_timer()
            .us(501)
            .callback_cpu(5_120 * US, true)
    };
    let plain = FileBuilder::new().node(NDT, "ndt").at(1).publisher("/pose").timer(1_000_000);
    assert_eq!(cpu_us(&tables(&with(plain))), [Some(120)]);
    let both = with(on_a_timer()).cpu(1).us(600).switch(7, SLEEPS, 0);
    assert_eq!(cpu_us(&tables(&both)), [Some(300)], "switches are exact, the clock's reading costs itself");
}
