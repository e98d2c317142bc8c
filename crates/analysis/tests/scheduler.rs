//! Scheduler events beside those of programs: who was kept from a CPU, by whom, and what of a callback's time is its own.

mod scene;

use scene::*;
use tacho_analysis::tables::{CauseKind, Hop, OffCpu, Parts, Preemption, Tables};
use tacho_events::testing::FileBuilder;

const KERNEL: u32 = 0;
const NDT: u32 = 7;
const BURNER: u64 = 900;
const SLEEPS: u64 = 1;
/// Coarse times, so that the tolerance for clocks that differ does not matter.
const US: i64 = 1_000;

/// What the kernel says on a CPU; times in us.
trait Kernel {
    fn us(self, us: i64) -> Self;
    fn cpu(self, cpu: u32) -> Self;
    fn switch(self, prev: u64, prev_state: u64, next: u64) -> Self;
    fn wake(self, tid: u64, target_cpu: u64, waker: u64) -> Self;
    fn ndt(self) -> Self;
}

fn name(tid: u64) -> &'static str {
    match tid {
        7 => "ndt",
        900 => "burner",
        901 => "kworker",
        _ => "",
    }
}

impl Kernel for FileBuilder {
    fn us(self, us: i64) -> Self {
        self.at(us * US)
    }

    fn cpu(self, cpu: u32) -> Self {
        self.process(KERNEL).thread(cpu)
    }

    fn switch(self, prev: u64, prev_state: u64, next: u64) -> Self {
        self.sched_switch(prev, prev_state, next, name(prev), name(next))
    }

    fn wake(self, tid: u64, target_cpu: u64, waker: u64) -> Self {
        self.sched_wakeup(tid, target_cpu, waker, name(tid))
    }

    fn ndt(self) -> Self {
        self.process(NDT).thread(NDT)
    }
}

/// A node on a timer, on CPU 1 from the start.
fn on_a_timer() -> FileBuilder {
    FileBuilder::new().cpu(1).us(0).switch(901, SLEEPS, 7).node(NDT, "ndt").publisher("/pose").timer(1_000_000)
}

/// (execution, from, to, state, woken, cpu, by) in us.
type Row = (Option<u32>, i64, i64, OffCpu, bool, u32, Option<String>);

fn rows(tables: &Tables) -> Vec<Row> {
    let row = |p: &Preemption| {
        assert_eq!((p.tid, p.by_tid.is_some()), (NDT, p.by_comm.is_some() && p.state != OffCpu::Interrupted));
        (p.execution, p.from_ns / US, p.to_ns / US, p.state, p.woken, p.cpu, p.by_comm.map(|by| by.to_string()))
    };
    tables.preemptions.iter().map(row).collect()
}

fn by(name: &str) -> Option<String> {
    Some(name.to_string())
}

fn cpu_us(tables: &Tables) -> Vec<Option<i64>> {
    tables.executions.iter().map(|e| e.cpu_ns.map(|ns| ns / US)).collect()
}

#[test]
fn a_preempted_callback_names_all_who_had_the_cpu_and_its_cpu_time_is_the_rest() {
    let tables = tables(&on_a_timer()
        .ndt().us(200).start_timer()
        .cpu(1).us(300).switch(7, 0, 901).us(310).switch(901, SLEEPS, BURNER).us(400).switch(BURNER, 0, 7)
        .ndt().us(500).publish(1).us(510).end_timer()
        .cpu(1).us(600).switch(7, SLEEPS, 0));
    assert_eq!(rows(&tables), [
        (Some(0), 300, 310, OffCpu::Runnable, false, 1, by("kworker")),
        (Some(0), 310, 400, OffCpu::Runnable, false, 1, by("burner")),
    ]);
    assert_eq!(cpu_us(&tables), [Some(310 - 100)]);
}

#[test]
fn a_blocked_callback_is_blocked_until_it_is_woken_and_runnable_until_it_has_a_cpu() {
    let tables = tables(&on_a_timer()
        .ndt().us(200).start_timer()
        .cpu(1).us(250).switch(7, SLEEPS, BURNER).cpu(0).us(300).wake(7, 1, 901).cpu(1).us(340).switch(BURNER, 0, 7)
        .ndt().us(400).end_timer()
        .cpu(1).us(600).switch(7, SLEEPS, 0));
    assert_eq!(rows(&tables), [
        (Some(0), 250, 300, OffCpu::Blocked, false, 1, by("kworker")),
        (Some(0), 300, 340, OffCpu::Runnable, true, 1, by("burner")),
    ]);
    assert_eq!(cpu_us(&tables), [Some(200 - 90)]);
    assert_eq!(tables.executors[0].voluntary_switches, Some(1));
}

#[test]
fn without_wakeups_a_blocked_thread_is_blocked_until_it_comes_back() {
    let tables = tables(&on_a_timer()
        .ndt().us(200).start_timer()
        .cpu(1).us(250).switch(7, SLEEPS, BURNER).cpu(0).us(340).switch(0, 0, 7)
        .ndt().us(400).end_timer()
        .cpu(1).us(600).switch(7, SLEEPS, 0));
    assert_eq!(rows(&tables), [(Some(0), 250, 340, OffCpu::Blocked, false, 1, None)]);
}

#[test]
fn outside_of_callbacks_waiting_for_a_cpu_is_a_row_and_waiting_for_work_is_none() {
    let tables = tables(&on_a_timer()
        .ndt().us(200).start_timer().us(210).end_timer().rclcpp_executor_wait_for_work(-1)
        .cpu(1).us(220).switch(7, SLEEPS, BURNER).us(500).wake(7, 1, 0).us(530).switch(BURNER, 0, 7)
        .ndt().us(540).rclcpp_executor_get_next_ready().us(550).start_timer().us(560).end_timer()
        .cpu(1).us(600).switch(7, SLEEPS, 0));
    assert_eq!(rows(&tables), [(None, 500, 530, OffCpu::Runnable, true, 1, by("burner"))]);
    let row = &tables.executors[0];
    let us = |ns: Option<i64>| ns.map(|ns| ns / US);
    assert_eq!((us(row.waiting_ns), row.executing_ns / US), (Some(540 - 210), 20));
    assert_eq!(us(row.ready_ns), Some(560 - 330 - 20));
    assert_eq!(us(row.running_ns), Some(560 - (530 - 220)));
}

#[test]
fn executor_states_and_thread_states_each_make_the_whole_span() {
    let tables = tables(&FileBuilder::new()
        .cpu(1).us(0).switch(0, 0, 901).us(90).wake(7, 1, 0).us(100).switch(901, SLEEPS, 7)
        .ndt().us(110).rcl_init(1).rcl_node_init(NODE, NODE + 1, "ndt", "/").publisher("/pose").timer(1_000_000)
        .us(200).rclcpp_executor_wait_for_work(-1)
        .cpu(1).us(210).switch(7, SLEEPS, BURNER).us(500).wake(7, 1, 0).us(530).switch(BURNER, 0, 7)
        .ndt().us(540).rclcpp_executor_get_next_ready().us(550).start_timer()
        .cpu(1).us(560).switch(7, 0, BURNER).us(600).switch(BURNER, SLEEPS, 7)
        .ndt().us(700).end_timer().us(710).rclcpp_executor_wait_for_work(-1)
        .cpu(1).us(720).switch(7, SLEEPS, 0));
    let row = &tables.executors[0];
    let us = |ns: Option<i64>| ns.map(|ns| ns / US);
    assert_eq!((row.from_ns / US, row.to_ns / US), (110, 710));
    assert_eq!((us(row.waiting_ns), us(row.ready_ns), row.executing_ns / US), (Some(340), Some(110), 150));
    assert_eq!((us(row.running_ns), us(row.runnable_ns), us(row.blocked_ns)), (Some(240), Some(70), Some(290)));
    assert_eq!((row.voluntary_switches, row.involuntary_switches), (Some(1), Some(1)), "the last one is after its last event");
}

#[test]
fn preemption_is_split_out_of_computation_and_the_parts_still_add_up() {
    let scene = |kernel: bool| {
        let builder = FileBuilder::new()
            .node(NDT, "ndt").at(1).publisher("/pose").timer(1_000_000)
            .node(8, "control").at(1).subscription("/pose");
        let builder = if !kernel { builder } else {
            builder.cpu(1).us(90).wake(7, 1, 0).us(100).switch(0, 0, 7)
                .cpu(0).us(90).wake(8, 0, 0).us(100).switch(0, 0, 8)
                .cpu(1).us(300).switch(7, 0, BURNER).us(400).switch(BURNER, 0, 7)
                // After the publish call: no part of the chain.
                .us(520).switch(7, 0, BURNER).us(580).switch(BURNER, 0, 7)
                .us(2_000).switch(7, SLEEPS, 0)
        };
        tables(&builder.ndt().us(200).start_timer().us(500).publish(1).us(600).end_timer()
            .process(8).thread(8).us(700).start_taking(1).us(800).end_taking())
    };
    let (with, without) = (scene(true), scene(false));
    let parts = |tables: &Tables| {
        let i = &tables.instances[0];
        assert_eq!(i.parts().whole_ns(), i.end_to_end_ns, "{i:?}");
        // In the hops as in the chain.
        assert_eq!(tables.hops.iter().map(Hop::parts).sum::<Parts>(), i.parts(), "{i:?}");
        (i.computation_ns / US, i.preemption_ns.map(|ns| ns / US), i.end_to_end_ns / US)
    };
    assert_eq!(parts(&with), (300, Some(100), 600));
    assert_eq!(parts(&without), (400, None, 600));
    assert_eq!(cpu_us(&with), [Some(240), Some(100)]);
    assert_eq!(cpu_us(&without), [None, None]);
}

#[test]
fn what_overlaps_lost_kernel_events_is_not_told_and_what_does_not_is() {
    let tables = tables(&on_a_timer()
        .ndt().us(200).start_timer().us(210).end_timer().us(300).start_timer()
        .cpu(1).us(250).switch(7, 0, BURNER).us(260).switch(BURNER, 0, 7)
        .us(400).kernel_events_lost(17).us(410).switch(BURNER, 0, 7)
        .ndt().us(420).end_timer().us(500).start_timer()
        .cpu(1).us(510).switch(7, 0, BURNER).us(520).switch(BURNER, 0, 7)
        .ndt().us(530).end_timer()
        .cpu(1).us(600).switch(7, SLEEPS, 0));
    assert_eq!(cpu_us(&tables), [Some(10), None, Some(20)]);
    assert_eq!(rows(&tables).iter().map(|r| r.0).collect::<Vec<_>>(), [Some(2)], "the first row touches the gap");
    assert!(tables.notes.iter().any(|n| n.name == "kernel-events-lost" && n.count == 1), "{:?}", tables.notes);
    assert_eq!(tables.executors[0].running_ns, None);
}

#[test]
fn a_switch_that_the_kernel_did_not_tell_leaves_out_what_it_touches_and_nothing_else() {
    let tables = tables(&on_a_timer()
        // Comes back from the first preemption unseen.
        .ndt().us(200).start_timer().cpu(1).us(210).switch(7, 0, 901).us(260).switch(7, 0, BURNER).us(270).switch(BURNER, 0, 7)
        .ndt().us(280).end_timer().us(300).start_timer()
        .cpu(1).us(310).switch(7, 0, BURNER).us(320).switch(BURNER, 0, 7)
        .ndt().us(330).end_timer().us(400).start_timer()
        // Someone else had the CPU in the middle, and one switch of that is missing.
        .cpu(1).us(410).switch(7, 0, BURNER).us(430).switch(901, 0, BURNER).us(440).switch(BURNER, 0, 7)
        .ndt().us(450).end_timer()
        .cpu(1).us(600).switch(7, SLEEPS, 0));
    assert_eq!(cpu_us(&tables), [None, Some(20), Some(20)]);
    let rows: Vec<_> = rows(&tables).into_iter().map(|r| (r.0, r.1, r.2, r.6)).collect();
    assert_eq!(rows, [
        (Some(1), 310, 320, by("burner")),
        (Some(2), 410, 430, None),
        (Some(2), 430, 440, by("burner")),
    ]);
    assert!(tables.notes.iter().any(|n| n.name == "kernel-switches-missing" && n.count == 1), "{:?}", tables.notes);
}

#[test]
fn a_thread_that_acts_while_the_kernel_has_it_asleep_is_not_the_one_that_the_kernel_means() {
    let tables = tables(&on_a_timer()
        .cpu(1).us(150).switch(7, SLEEPS, 0)
        .ndt().us(200).start_timer().us(300).end_timer()
        .cpu(1).us(400).wake(7, 1, 0).us(410).switch(0, 0, 7).us(600).switch(7, SLEEPS, 0));
    assert_eq!((cpu_us(&tables), rows(&tables)), (vec![None], vec![]));
    assert!(tables.notes.iter().any(|n| n.name == "kernel-threads-not-matched"), "{:?}", tables.notes);
}

#[test]
fn executions_after_the_end_of_the_kernels_events_have_no_cpu_time() {
    let tables = tables(&on_a_timer().ndt().us(200).start_timer().us(300).end_timer());
    assert_eq!(cpu_us(&tables), [None], "nothing says that it was not preempted");
}

#[test]
fn the_kernel_is_no_program_and_its_last_event_ends_no_run() {
    let run = |kernel: bool| {
        let builder = FileBuilder::new().node(1, "sensor").at(1).publisher("/points").timer(1_000).node(2, "code").at(1).subscription("/points")
            .process(1).us(100).start_timer().publish(1).us(110).end_timer()
            .process(2).us(120).start_taking(1).us(130).end_taking()
            // On its way when both ended.
            .process(1).us(200).start_timer().publish(2).us(210).end_timer();
        tables(&if kernel { builder.cpu(0).us(0).switch(0, 0, 901).us(90_000).switch(901, 0, 0) } else { builder })
    };
    assert_eq!(run(true).messages, run(false).messages);
    assert!(!run(true).notes.iter().any(|n| n.name == "process-did-not-end-in-order"));
}

#[test]
fn the_clock_of_a_thread_tells_cpu_time_where_the_kernel_does_not() {
    let with = |builder: FileBuilder| {
        builder.ndt().us(199).callback_cpu(5_000 * US, false).us(200).callback_start(TIMER_CALLBACK, false)
            .us(500).end_timer().us(501).callback_cpu(5_120 * US, true)
    };
    let plain = FileBuilder::new().node(NDT, "ndt").at(1).publisher("/pose").timer(1_000_000);
    assert_eq!(cpu_us(&tables(&with(plain))), [Some(120)]);
    let both = with(on_a_timer()).cpu(1).us(600).switch(7, SLEEPS, 0);
    assert_eq!(cpu_us(&tables(&both)), [Some(300)], "switches are exact, the clock's reading costs itself");
}

#[test]
fn an_interrupt_on_the_cpu_of_a_callback_is_a_cause_by_name_and_no_time_off_the_cpu() {
    let tables = tables(&FileBuilder::new()
        .node(NDT, "ndt").at(1).publisher("/pose").timer(1_000_000)
        .node(8, "control").at(1).subscription("/pose")
        .cpu(1).us(100).switch(0, 0, 7)
        // Before the callback; and on a CPU that it does not have.
        .us(150).irq_entry(27, "eth0").us(160).irq_exit(27)
        .cpu(0).us(300).irq_entry(9, "acpi").us(400).irq_exit(9)
        .ndt().us(200).start_timer()
        .cpu(1).us(250).irq_entry(27, "eth0").us(290).irq_exit(27).us(300).softirq_entry(3).us(310).irq_entry(27, "eth0").us(340).irq_exit(27).us(380).softirq_exit(3)
        // Its end is not told before the next switch; after that nothing is known of it.
        .us(390).softirq_entry(9).us(400).switch(7, 0, 900).us(410).softirq_exit(9).us(450).switch(900, 0, 7)
        .ndt().us(500).publish(1).us(510).end_timer()
        .process(8).thread(8).us(600).start_taking(1).us(700).end_taking()
        .cpu(1).us(2_000).switch(7, SLEEPS, 0));
    let interrupted: Vec<_> = rows(&tables).into_iter().filter(|row| row.3 == OffCpu::Interrupted).collect();
    let row = |from, to, name: &str| (Some(0), from, to, OffCpu::Interrupted, false, 1, by(name));
    assert_eq!(interrupted, [
        row(250, 290, "eth0 (irq 27)"),
        row(300, 310, "softirq NET_RX"),
        row(310, 340, "eth0 (irq 27)"),
        row(340, 380, "softirq NET_RX"),
    ]);
    let mut causes: Vec<_> = tables.causes.iter().filter(|c| c.instance == Some(0)).map(|c| (c.kind, c.by.as_str(), c.duration_ns.unwrap_or(0) / US)).collect();
    causes.retain(|cause| cause.0 != CauseKind::Transport && cause.1 != "/control /pose");
    assert_eq!(causes, [
        (CauseKind::Computation, "/ndt timer 1 ms", 300 - 50 - 70 - 50),
        (CauseKind::Preemption, "burner", 50),
        (CauseKind::Interrupt, "eth0 (irq 27)", 70),
        (CauseKind::Interrupt, "softirq NET_RX", 50),
    ]);
    let whole: i64 = tables.causes.iter().filter(|c| c.instance == Some(0)).filter_map(|c| c.duration_ns).sum();
    assert_eq!(whole, tables.instances[0].end_to_end_ns);
    assert_eq!((tables.instances[0].preemption_ns, cpu_us(&tables)[0]), (None, Some(310 - 50)), "the control's thread was never seen by the kernel");
}

#[test]
fn interrupts_around_lost_kernel_events_are_not_told() {
    let tables = tables(&on_a_timer()
        .ndt().us(200).start_timer()
        .cpu(1).us(210).irq_entry(27, "eth0").us(220).kernel_events_lost(5).us(230).irq_exit(27)
        .ndt().us(300).end_timer()
        .cpu(1).us(600).switch(7, SLEEPS, 0));
    assert_eq!(rows(&tables), []);
}
