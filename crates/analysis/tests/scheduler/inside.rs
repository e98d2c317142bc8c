//! What of the time inside the callbacks of a chain was no time on a CPU: by scheduler events, by the CPU-time clock,
//! by both.

use super::*;
use tacho_tables::row::Row;

/// When `ndt` starts and publishes, when it ends, and when `control`, which publishes nothing, starts and ends; us.
const START: i64 = 200;
const PUBLISH: i64 = 500;
const END: i64 = 600;
const CONTROL: (i64, i64) = (700, 800);

/// Two nodes, each with or without the kernel's view of its thread and with or without its CPU time by the clock, us.
#[derive(Clone, Copy, Default)]
struct TwoNodes {
    ndt: Known,
    control: Known,
    /// What `ndt` waits in when it sleeps; absent: not recorded.
    waits_in: Option<&'static str>,
}

#[derive(Clone, Copy, Default)]
struct Known {
    scheduled: bool,
    cpu_us: Option<i64>,
    /// Ready to run and without a CPU, by the kernel's run delay.
    delay_us: Option<i64>,
}

impl TwoNodes {
    fn tables(self) -> Tables {
        let mut b = FileBuilder::new().node(NDT, "ndt").at(1).publisher("/pose").timer(1_000_000);
        b = b.node(8, "control").at(1).subscription("/pose");
        if self.control.scheduled {
            b = b.cpu(0).us(100).switch(0, 0, 8);
        }
        if self.ndt.scheduled {
            // It sleeps from 250 to 300 us, and has its CPU again at 340. After its publish call: no part of the chain.
            b = b.cpu(1).us(100).switch(0, 0, 7).us(250);
            if let Some(call) = self.waits_in {
                b = b.sched_waits_in(7, call);
            }
            b = b.switch(7, SLEEPS, BURNER);
            b = b.us(300).wake(7, 1, 901).us(340).switch(BURNER, 0, 7);
            b = b.us(520).switch(7, SLEEPS, 0).us(560).wake(7, 1, 901).us(561).switch(0, 0, 7);
            b = b.us(2_000).switch(7, SLEEPS, 0);
        }
        if self.control.scheduled {
            b = b.cpu(0).us(2_000).switch(8, SLEEPS, 0);
        }
        let read = |b: FileBuilder, of: Known, end: bool| {
            let at = |us: i64| if end { (5_000 + us) * US } else { 5_000 * US };
            match (of.cpu_us, of.delay_us) {
                (Some(cpu_us), Some(delay_us)) => b.callback_cpu_and_delay(at(cpu_us), at(delay_us), end),
                (Some(cpu_us), None) => b.callback_cpu(at(cpu_us), end),
                _ => b,
            }
        };
        b = b.ndt().us(START - 1).rclcpp_executor_execute(TIMER);
        b = read(b, self.ndt, false).us(START).callback_start(TIMER_CALLBACK, false);
        b = b.us(PUBLISH).publish(1).us(END).end_timer().us(END + 1);
        b = read(b, self.ndt, true).process(8).thread(8).us(CONTROL.0 - 1).rclcpp_executor_execute(SUBSCRIPTION);
        b = b.rmw_take(RMW_SUBSCRIPTION, MESSAGE, 1, true).rcl_take(MESSAGE).rclcpp_take(MESSAGE);
        b = read(b, self.control, false).us(CONTROL.0).callback_start(CALLBACK, false);
        tables(&read(b.us(CONTROL.1).end_taking().us(CONTROL.1 + 1), self.control, true))
    }
}

const SCHEDULED: Known = Known { scheduled: true, cpu_us: None, delay_us: None };

fn clock(cpu_us: i64) -> Known {
    Known { cpu_us: Some(cpu_us), ..Known::default() }
}

fn clock_and_delay(cpu_us: i64, delay_us: i64) -> Known {
    Known { delay_us: Some(delay_us), ..clock(cpu_us) }
}

/// Computation, off the CPU, preemption of the instance, us; they are those of its hops, and add up with the others.
fn inside(tables: &Tables) -> (i64, Option<i64>, Option<i64>) {
    let i = &tables.instances[0];
    assert_eq!(i.parts().whole_ns(), i.end_to_end_ns, "{i:?}");
    assert_eq!(i.end_to_end_ns, (CONTROL.1 - START) * US);
    assert_eq!(tables.hops.iter().map(Hop::parts).sum::<Parts>(), i.parts(), "{i:?}");
    let whole: i64 =
        tables.causes.iter().filter(|c| c.instance == Some(Row::new(0))).filter_map(|c| c.duration_ns.get()).sum();
    assert_eq!(whole, i.end_to_end_ns);
    (i.computation_ns / US, i.off_cpu_ns.get().map(|ns| ns / US), i.preemption_ns.get().map(|ns| ns / US))
}

/// Of the instance, what happened inside `ndt`, us.
fn causes(tables: &Tables) -> Vec<(CauseKind, &str, i64)> {
    let of_ndt = tables.causes.iter().filter(|c| c.instance == Some(Row::new(0)) && c.position == 0);
    of_ndt.map(|c| (c.kind, c.by.as_str(), c.duration_ns.get().expect("an instance's") / US)).collect()
}

const TICK: &str = "/ndt timer 1 ms Talker::tick";

#[test]
fn with_scheduler_events_of_all_nodes_off_the_cpu_is_what_was_blocked_and_preemption_stands_beside_it() {
    let tables = TwoNodes { ndt: SCHEDULED, control: SCHEDULED, waits_in: None }.tables();
    assert_eq!(inside(&tables), (300 - 50 - 40 + 100, Some(50), Some(40)));
    assert_eq!(
        causes(&tables),
        [(CauseKind::Computation, TICK, 210), (CauseKind::Blocked, TICK, 50), (CauseKind::Preemption, "burner", 40)]
    );
}

#[test]
fn a_blocked_callback_names_the_call_that_it_waits_in() {
    let known = TwoNodes { ndt: SCHEDULED, control: SCHEDULED, waits_in: Some("futex") }.tables();
    assert_eq!(causes(&known)[1], (CauseKind::Blocked, format!("{TICK}, in futex").as_str(), 50));
    let rows: Vec<_> =
        known.preemptions.iter().map(|row| (row.state, row.waits_in.map(|call| call.as_str()))).collect();
    let (blocked, runnable) = ((OffCpu::Blocked, Some("futex")), (OffCpu::Runnable, None));
    assert_eq!(rows, [blocked, runnable, blocked, runnable]);
    let unknown = TwoNodes { ndt: SCHEDULED, control: SCHEDULED, waits_in: Some("") }.tables();
    assert_eq!(causes(&unknown)[1], (CauseKind::Blocked, TICK, 50));
    assert!(unknown.preemptions.iter().all(|row| row.waits_in.is_none()));
}

#[test]
fn by_the_clock_alone_off_the_cpu_is_what_cannot_have_been_cpu_time() {
    // 120 us of CPU time in 400: at least 180 of the 300 before the publish call were none.
    let tables = TwoNodes { ndt: clock(120), control: clock(100), waits_in: None }.tables();
    assert_eq!(inside(&tables), (120 + 100, Some(180), None));
    assert_eq!(causes(&tables), [(CauseKind::Computation, TICK, 120), (CauseKind::OffCpu, TICK, 180)]);
    // All 350 us may have been before or after it.
    let tables = TwoNodes { ndt: clock(350), control: clock(40), waits_in: None }.tables();
    assert_eq!(inside(&tables), (300 + 40, Some(60), None));
    assert_eq!(causes(&tables), [(CauseKind::Computation, TICK, 300)]);
}

#[test]
fn the_run_delay_divides_what_was_off_the_cpu_as_far_as_the_rest_of_the_callback_leaves_it_open() {
    let ready = |us| (CauseKind::Preemption, "what is not known", us);
    // 120 us of CPU time in 400: of the 280 others, it was ready to run in so many.
    let of = |delay_us| {
        let ndt = clock_and_delay(120, delay_us);
        TwoNodes { ndt, control: clock_and_delay(100, 0), waits_in: None }.tables()
    };
    let none = of(0);
    assert_eq!(inside(&none), (120 + 100, Some(180), Some(0)));
    assert_eq!(causes(&none), [(CauseKind::Computation, TICK, 120), (CauseKind::OffCpu, TICK, 180)]);
    // At least 180 of the 300 us before the publish call were off the CPU, and no more than 130 of these asleep.
    let some = of(150);
    assert_eq!(inside(&some), (120 + 100, Some(130), Some(50)));
    let asleep = (CauseKind::OffCpu, TICK, 130);
    assert_eq!(causes(&some), [(CauseKind::Computation, TICK, 120), asleep, ready(50)]);
    let all = of(280);
    assert_eq!(inside(&all), (120 + 100, Some(0), Some(180)));
    assert_eq!(causes(&all), [(CauseKind::Computation, TICK, 120), ready(180)]);
    let runnable: Vec<_> = some.executions.iter().map(|row| row.runnable_ns.get().map(|ns| ns / US)).collect();
    assert_eq!(runnable, [Some(150), Some(0)]);
}

#[test]
fn a_node_by_events_and_one_by_the_run_delay_are_divided_alike() {
    let tables = TwoNodes { ndt: SCHEDULED, control: clock_and_delay(70, 10), waits_in: None }.tables();
    assert_eq!(inside(&tables), (210 + 70, Some(50 + 20), Some(40 + 10)));
    let runnable: Vec<_> = tables.executions.iter().map(|row| row.runnable_ns.get().map(|ns| ns / US)).collect();
    // By switches all of the callback: after its publish call, too.
    assert_eq!(runnable, [Some(40 + 1), Some(10)]);
}

#[test]
fn of_a_node_by_events_and_one_by_the_clock_off_the_cpu_holds_preemption() {
    let tables = TwoNodes { ndt: SCHEDULED, control: clock(70), waits_in: None }.tables();
    assert_eq!(inside(&tables), (210 + 70, Some(50 + 40 + 30), None));
    assert_eq!(
        causes(&tables),
        [(CauseKind::Computation, TICK, 210), (CauseKind::Blocked, TICK, 50), (CauseKind::Preemption, "burner", 40)]
    );
    // Where both know a thread, the events do: the clock's reading costs itself.
    let both = Known { scheduled: true, ..clock(399) };
    assert_eq!(
        inside(&TwoNodes { ndt: both, control: clock(70), waits_in: None }.tables()),
        (210 + 70, Some(50 + 40 + 30), None)
    );
}

#[test]
fn where_nothing_is_known_of_a_node_it_is_part_of_computation_and_named_at_the_others() {
    let tables = TwoNodes { ndt: clock(120), control: Known::default(), waits_in: None }.tables();
    assert_eq!(inside(&tables), (300 + 100, None, None));
    assert!(tables.hops.iter().all(|hop| hop.off_cpu_ns.get().is_none()));
    assert_eq!(causes(&tables), [(CauseKind::Computation, TICK, 120), (CauseKind::OffCpu, TICK, 180)]);
    assert_eq!(inside(&TwoNodes::default().tables()), (300 + 100, None, None));
}
