//! Callbacks of timers and services, and a message's way to its callback.

use super::*;

#[test]
fn timers_and_services_wait_in_their_callback_queue_and_a_timer_that_is_started_again_is_the_same() {
    let (timer, service, item) = (0x50, 0x60, 0x70);
    let tables = tables(
        &FileBuilder::new()
            .process(1)
            .at(0)
            .ros1_node_init(NODE, "/node")
            .ros1_timer_init(timer, NODE, 1_000, false, "tick()")
            .ros1_service_init(service, NODE, "/reset", "std_srvs/Empty")
            .at(100)
            .ros1_callback_queued(item)
            .at(130)
            .ros1_callback_call(item)
            .callback_start(timer, false)
            .at(140)
            .callback_end(timer)
            .at(150)
            .ros1_timer_init(timer, NODE, 1_000, false, "tick()")
            .at(200)
            .ros1_callback_queued(item)
            .at(210)
            .ros1_callback_call(item)
            .callback_start(timer, false)
            .at(220)
            .callback_end(timer)
            .at(300)
            .ros1_callback_queued(item)
            .at(307)
            .ros1_callback_call(item)
            .callback_start(service, false)
            .at(309)
            .callback_end(service),
    );
    let kinds: Vec<_> =
        tables.callbacks.iter().map(|c| (c.kind, c.period_ns, c.topic.as_deref(), c.symbol.as_deref())).collect();
    assert_eq!(
        kinds,
        [(CallbackKind::Timer, Some(1_000), None, Some("tick()")), (CallbackKind::Service, None, Some("/reset"), None),]
    );
    let waits: Vec<_> = tables
        .executions
        .iter()
        .map(|e| (e.callback.number(), e.queued_ns.get().map(|queued| e.start_ns - queued)))
        .collect();
    assert_eq!(waits, [(0, Some(30)), (0, Some(10)), (1, Some(7))]);
    assert_eq!(note(&tables, "services-not-linked"), 1);
}

#[test]
fn a_timer_whose_period_was_changed_has_none() {
    let tables = tables(
        &FileBuilder::new()
            .process(1)
            .at(0)
            .ros1_node_init(NODE, "/node")
            .ros1_timer_init(0x50, NODE, 1_000, false, "tick()")
            .at(10)
            .ros1_timer_period(0x50, 2_000)
            .at(100)
            .callback_start(0x50, false)
            .at(110)
            .callback_end(0x50),
    );
    assert_eq!(tables.callbacks[0].period_ns, None);
}

#[test]
fn the_layers_of_a_message_are_its_way_through_roscpp() {
    let tables = tables(
        &FileBuilder::new()
            .talker(TCPROS, false)
            .listener(TCPROS, 0)
            .process(1)
            .at(100)
            .publish(0xa)
            .at(130)
            .write(0, 0xa, 0)
            .process(2)
            .at(190)
            .push(TCPROS, 0, 1, 0)
            .at(260)
            .ros1_take(QUEUE, 1)
            .at(275)
            .callback_start(CALLBACK, false)
            .at(300)
            .callback_end(CALLBACK),
    );
    let [row] = &tables.layers[..] else { panic!("{} rows", tables.layers.len()) };
    assert_eq!(row.parts_ns(), [Some(30), None, None, None, Some(60), None, Some(70), None, None, Some(15)]);
    let summary = tacho_figures::summarise(
        &[tacho_figures::Repeat { tables: &tables, options: Default::default(), info: None }],
        None,
    );
    assert!(summary.layers[0].layers.iter().all(|part| part.includes.is_empty()), "{:?}", summary.layers);
}

#[test]
fn a_message_on_a_multi_threaded_spinner_waits_for_the_callbacks_of_all_its_threads() {
    let (upload, download) = (0x50, 0x60);
    // The first ran on both threads: they serve one queue.
    let system = |other: u32| {
        let b = FileBuilder::new().talker(TCPROS, false).listener(TCPROS, 0);
        let b = b.ros1_timer_init(upload, NODE, 1_000, false, "upload()");
        let b = b.ros1_timer_init(download, NODE, 1_000, false, "download()");
        let b = b.thread(other).at(30).callback_start(upload, false).at(40).callback_end(upload);
        let b = b.process(1).at(100).publish(0x9).at(101).write(0, 0x9, 0);
        let b = b.process(2).at(50).callback_start(upload, false);
        let b = b.thread(3).at(60).callback_start(download, false).at(400).callback_end(download);
        let b = b.thread(4).at(110).push(TCPROS, 0, 1, 0);
        let tables = tables(&b.thread(3).at(410).take(1).process(2).at(500).callback_end(upload));
        let waits = tables.causes.iter().filter(|cause| cause.kind == CauseKind::ExecutorBusy);
        waits.map(|cause| (cause.by.to_string(), cause.duration_ns.get())).collect::<Vec<_>>()
    };
    let both = "/listener timer 0.001 ms upload, /listener timer 0.001 ms download (all 2 threads)";
    assert_eq!(system(3), [(both.to_owned(), Some(290))], "from its arrival until one of them was free");
    assert_eq!(system(2), [("/listener timer 0.001 ms download".to_owned(), Some(290))], "a spinner each");
}
