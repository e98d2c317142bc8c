//! Scheduler events that are missing, and what is not derived from the rest.

use super::*;

#[test]
fn what_overlaps_lost_kernel_events_is_not_told_and_what_does_not_is() {
    let tables = tables(
        &on_a_timer()
            .ndt()
            .us(200)
            .start_timer()
            .us(210)
            .end_timer()
            .us(300)
            .start_timer()
            .cpu(1)
            .us(250)
            .switch(7, 0, BURNER)
            .us(260)
            .switch(BURNER, 0, 7)
            .us(400)
            .kernel_events_lost(17)
            .us(410)
            .switch(BURNER, 0, 7)
            .ndt()
            .us(420)
            .end_timer()
            .us(500)
            .start_timer()
            .cpu(1)
            .us(510)
            .switch(7, 0, BURNER)
            .us(520)
            .switch(BURNER, 0, 7)
            .ndt()
            .us(530)
            .end_timer()
            .cpu(1)
            .us(600)
            .switch(7, SLEEPS, 0),
    );
    assert_eq!(cpu_us(&tables), [Some(10), None, Some(20)]);
    assert_eq!(rows(&tables).iter().map(|r| r.0).collect::<Vec<_>>(), [Some(2)], "the first row touches the gap");
    assert!(tables.notes.iter().any(|n| n.name == "kernel-events-lost" && n.count == 1), "{:?}", tables.notes);
    assert_eq!(tables.executors[0].running_ns, None);
}

#[test]
fn a_switch_that_the_kernel_did_not_tell_leaves_out_what_it_touches_and_nothing_else() {
    let tables = tables(
        &on_a_timer()
            // Comes back from the first preemption unseen.
            .ndt()
            .us(200)
            .start_timer()
            .cpu(1)
            .us(210)
            .switch(7, 0, 901)
            .us(260)
            .switch(7, 0, BURNER)
            .us(270)
            .switch(BURNER, 0, 7)
            .ndt()
            .us(280)
            .end_timer()
            .us(300)
            .start_timer()
            .cpu(1)
            .us(310)
            .switch(7, 0, BURNER)
            .us(320)
            .switch(BURNER, 0, 7)
            .ndt()
            .us(330)
            .end_timer()
            .us(400)
            .start_timer()
            // Someone else had the CPU in the middle, and one switch of that is missing.
            .cpu(1)
            .us(410)
            .switch(7, 0, BURNER)
            .us(430)
            .switch(901, 0, BURNER)
            .us(440)
            .switch(BURNER, 0, 7)
            .ndt()
            .us(450)
            .end_timer()
            .cpu(1)
            .us(600)
            .switch(7, SLEEPS, 0),
    );
    assert_eq!(cpu_us(&tables), [None, Some(20), Some(20)]);
    let rows: Vec<_> = rows(&tables).into_iter().map(|r| (r.0, r.1, r.2, r.6)).collect();
    assert_eq!(
        rows,
        [(Some(1), 310, 320, by("burner")), (Some(2), 410, 430, None), (Some(2), 430, 440, by("burner")),]
    );
    assert!(tables.notes.iter().any(|n| n.name == "kernel-switches-missing" && n.count == 1), "{:?}", tables.notes);
}

#[test]
fn a_thread_of_which_single_switches_are_missing_has_its_sums_without_that_time() {
    let seen = |unseen_us: i64| {
        let mut b = on_a_timer();
        for n in 0..20 {
            let at = 1_000 * (n + 1);
            b = b.ndt().us(at).start_timer().us(at + 400).end_timer().cpu(1).us(at + 500).switch(7, SLEEPS, 0);
            b = b.us(at + 900).wake(7, 1, 0).us(at + 910).switch(0, 0, 7);
        }
        // It comes back unseen, and leaves again.
        let b = b
            .us(21_100)
            .switch(7, SLEEPS, 0)
            .us(21_100 + unseen_us)
            .switch(7, SLEEPS, 0)
            .us(22_000)
            .wake(7, 1, 0)
            .us(22_010)
            .switch(0, 0, 7);
        let tables =
            tables(&b.ndt().us(22_100).start_timer().us(22_200).end_timer().cpu(1).us(22_300).switch(7, SLEEPS, 0));
        let thread = &tables.executors[0];
        let span = thread.to_ns - thread.from_ns;
        (
            thread.running_ns.zip(thread.runnable_ns).zip(thread.blocked_ns).map(|((a, b), c)| span - a - b - c),
            thread.runnable_ns,
        )
    };
    assert_eq!(seen(150), (Some(150_000), Some(21 * 10_000)));
    assert_eq!(seen(600), (None, None), "more than 1 % of its time is not known");
}

#[test]
fn a_thread_that_acts_while_the_kernel_has_it_asleep_is_not_the_one_that_the_kernel_means() {
    let tables = tables(
        &on_a_timer()
            .cpu(1)
            .us(150)
            .switch(7, SLEEPS, 0)
            .ndt()
            .us(200)
            .start_timer()
            .us(300)
            .end_timer()
            .cpu(1)
            .us(400)
            .wake(7, 1, 0)
            .us(410)
            .switch(0, 0, 7)
            .us(600)
            .switch(7, SLEEPS, 0),
    );
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
        let builder = FileBuilder::new()
            .node(1, "sensor")
            .at(1)
            .publisher("/points")
            .timer(1_000)
            .node(2, "code")
            .at(1)
            .subscription("/points")
            .process(1)
            .us(100)
            .start_timer()
            .publish(1)
            .us(110)
            .end_timer()
            .process(2)
            .us(120)
            .start_taking(1)
            .us(130)
            .end_taking()
            // On its way when both ended.
            .process(1)
            .us(200)
            .start_timer()
            .publish(2)
            .us(210)
            .end_timer();
        tables(&if kernel { builder.cpu(0).us(0).switch(0, 0, 901).us(90_000).switch(901, 0, 0) } else { builder })
    };
    assert_eq!(run(true).messages, run(false).messages);
    assert!(!run(true).notes.iter().any(|n| n.name == "process-did-not-end-in-order"));
}
