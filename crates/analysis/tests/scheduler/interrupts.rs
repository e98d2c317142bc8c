//! Interrupts on the CPU of a callback.

use super::*;
use tacho_tables::row::Row;

#[test]
fn an_interrupt_on_the_cpu_of_a_callback_is_a_cause_by_name_and_no_time_off_the_cpu() {
    let tables = tables(
        &FileBuilder::new()
            .node(NDT, "ndt")
            .at(1)
            .publisher("/pose")
            .timer(1_000_000)
            .node(8, "control")
            .at(1)
            .subscription("/pose")
            .cpu(1)
            .us(100)
            .switch(0, 0, 7)
            // Before the callback; and on a CPU that it does not have.
            .us(150)
            .irq_entry(27, "eth0")
            .us(160)
            .irq_exit(27)
            .cpu(0)
            .us(300)
            .irq_entry(9, "acpi")
            .us(400)
            .irq_exit(9)
            .ndt()
            .us(200)
            .start_timer()
            .cpu(1)
            .us(250)
            .irq_entry(27, "eth0")
            .us(290)
            .irq_exit(27)
            .us(300)
            .softirq_entry(3)
            .us(310)
            .irq_entry(27, "eth0")
            .us(340)
            .irq_exit(27)
            .us(380)
            .softirq_exit(3)
            // Its end is not reported before the next switch; after that nothing is known of it.
            .us(390)
            .softirq_entry(9)
            .us(400)
            .switch(7, 0, 900)
            .us(410)
            .softirq_exit(9)
            .us(450)
            .switch(900, 0, 7)
            .ndt()
            .us(500)
            .publish(1)
            .us(510)
            .end_timer()
            .process(8)
            .thread(8)
            .us(600)
            .start_taking(1)
            .us(700)
            .end_taking()
            .cpu(1)
            .us(2_000)
            .switch(7, SLEEPS, 0),
    );
    let interrupted: Vec<_> = rows(&tables).into_iter().filter(|row| row.3 == OffCpu::Interrupted).collect();
    let row = |from, to, name: &str| (Some(0), from, to, OffCpu::Interrupted, false, 1, by(name));
    assert_eq!(
        interrupted,
        [
            row(250, 290, "eth0 (irq 27)"),
            row(300, 310, "softirq NET_RX"),
            row(310, 340, "eth0 (irq 27)"),
            row(340, 380, "softirq NET_RX"),
        ]
    );
    let mut causes: Vec<_> = tables
        .causes
        .iter()
        .filter(|c| c.instance == Some(Row::new(0)))
        .map(|c| (c.kind, c.by.as_str(), c.duration_ns.get().unwrap_or(0) / US))
        .collect();
    causes.retain(|cause| cause.0 != CauseKind::Transport && cause.1 != "/control /pose Listener::take");
    assert_eq!(
        causes,
        [
            (CauseKind::Computation, "/ndt timer 1 ms Talker::tick", 300 - 50 - 70 - 50),
            (CauseKind::Preemption, "burner", 50),
            (CauseKind::Interrupt, "eth0 (irq 27)", 70),
            (CauseKind::Interrupt, "softirq NET_RX", 50),
        ]
    );
    let whole: i64 =
        tables.causes.iter().filter(|c| c.instance == Some(Row::new(0))).filter_map(|c| c.duration_ns.get()).sum();
    assert_eq!(whole, tables.instances[0].end_to_end_ns);
    assert_eq!(
        (tables.instances[0].preemption_ns.get(), cpu_us(&tables)[0]),
        (None, Some(310 - 50)),
        "the control's thread was never seen by the kernel"
    );
}

#[test]
fn interrupts_around_lost_kernel_events_are_not_told() {
    let tables = tables(
        &on_a_timer()
            .ndt()
            .us(200)
            .start_timer()
            .cpu(1)
            .us(210)
            .irq_entry(27, "eth0")
            .us(220)
            .kernel_events_lost(5)
            .us(230)
            .irq_exit(27)
            .ndt()
            .us(300)
            .end_timer()
            .cpu(1)
            .us(600)
            .switch(7, SLEEPS, 0),
    );
    assert_eq!(rows(&tables), []);
}
