//! Compares service calls and intra-process messages of real traces with truth.json, to the ns.

mod fixture;

use fixture::Fixture;
use serde_json::Value;
use tacho_events::run::RunInfo;
use tacho_events::RunDirectory;
use tacho_import::{import, Reader};
use tacho_tables::{CauseKind, Delivery, Tables};

fn analysed(fixture: &Fixture) -> (Tables, tacho_tables::summary::Summary) {
    let folder = tempfile::tempdir().expect("folder");
    let run = RunDirectory::new(folder.path());
    import(Reader::open(&[fixture.trace()]).expect("trace"), &run, RunInfo::default(), &mut |_| true)
        .expect("imported");
    let summary = tacho_figures::analyse_and_store(&run, None, &mut |_| {}).expect("analysed");
    (tacho_tables::store::read(&run.tables()).expect("tables"), summary)
}

/// count, mean, least and greatest of durations in ns, as truth.json has them.
fn agrees(found: &[i64], expected: &Value, what: &str) {
    assert_eq!(Some(found.len() as u64), expected["count"].as_u64(), "{what}: count");
    assert_eq!(
        (found.iter().min().copied(), found.iter().max().copied()),
        (expected["min_ns"].as_i64(), expected["max_ns"].as_i64()),
        "{what}"
    );
    let mean = found.iter().sum::<i64>() as f64 / found.len() as f64;
    assert!((mean - expected["mean_ns"].as_f64().expect(what)).abs() < 0.01, "{what}: mean {mean}");
}

#[test]
fn service_calls_are_those_of_truth() {
    let fixture = Fixture::unpack("service_5s");
    let (tables, summary) = analysed(&fixture);
    let truth = &fixture.truth["service_requests"];
    let [figures] = summary.services.as_slice() else { panic!("{:?}", summary.services) };
    assert_eq!((figures.service.as_str(), figures.sent), ("/get_it", truth["sent"].as_u64()));
    assert_eq!(
        (figures.complete, figures.unanswered),
        (truth["complete"].as_u64().unwrap(), Some(0)),
        "the last was on its way"
    );
    assert_eq!(
        (figures.clients.as_slice(), figures.servers.as_slice()),
        (&["/svc_client".to_string()][..], &["/svc_server".to_string()][..])
    );
    let complete: Vec<_> = tables.services.iter().filter(|call| call.response_taken_ns.is_some()).collect();
    let step = |of: fn(&tacho_tables::ServiceCall) -> Option<i64>| {
        complete.iter().map(|c| of(c).expect("complete")).collect::<Vec<_>>()
    };
    agrees(&step(|c| Some(c.request_taken_ns? - c.request_ns?)), &truth["request_send_to_take"], "request");
    agrees(&step(|c| Some(c.response_ns? - c.request_taken_ns?)), &truth["take_request_to_send_response"], "handling");
    agrees(&step(|c| Some(c.response_taken_ns? - c.response_ns?)), &truth["response_send_to_take"], "response");
    agrees(&step(|c| Some(c.response_taken_ns? - c.request_ns?)), &truth["round_trip"], "round trip");
    for call in complete {
        let execution = &tables.executions[call.execution.expect("its callback")];
        assert!(
            call.request_taken_ns < Some(execution.start_ns) && execution.end_ns.get() < call.response_ns,
            "{call:?}"
        );
        assert_eq!(tables.callbacks[execution.callback].topic.as_deref(), Some("/get_it"));
    }
    // The chain of the calls: the time between the client's callbacks is the round trip, and the server's part is its
    // handling.
    let [chain] = tables.chains.as_slice() else { panic!("{:?}", tables.chains) };
    assert_eq!(chain.path, ["/svc_client", "/get_it request", "/svc_server", "/get_it response", "/svc_client"]);
    let hops = |position: u32| tables.hops.iter().filter(move |hop| hop.position == position);
    let between: Vec<i64> = hops(0).zip(hops(2)).map(|(asks, handles)| handles.start_ns - asks.output_ns).collect();
    agrees(&between, &truth["round_trip"], "round trip in the chain");
    assert_eq!(tables.instances.len() as u64, figures.complete);
    assert!(
        !summary
            .notes
            .iter()
            .any(|note| note.name == "services-not-linked" || note.name == "process-did-not-end-in-order"),
        "{:?}",
        summary.notes
    );
}

#[test]
fn intra_process_messages_are_those_of_truth() {
    let fixture = Fixture::unpack("ipc_5s");
    let (tables, summary) = analysed(&fixture);
    for topic in ["/a", "/b"] {
        let of_topic: Vec<_> =
            tables.messages.iter().filter(|m| tables.endpoints[m.subscription].topic == topic).collect();
        let taken: Vec<i64> = of_topic.iter().filter_map(|m| Some(m.take_ns.get()? - m.arrival_ns.get()?)).collect();
        agrees(&taken, &fixture.truth["intra_process_enqueue_to_dequeue"][topic], topic);
        assert!(of_topic.iter().all(|m| m.delivery != Delivery::Lost), "{topic}");
    }
    // The chain leads from the timer of the source over two buffers to the sink. Its last message was in the second
    // buffer when the program ended.
    let chain = summary
        .chains
        .iter()
        .find(|c| c.path.join(" ") == "/ipc_source /a /ipc_relay /b /ipc_sink")
        .expect("the chain");
    assert_eq!((chain.instances, chain.lost), (249, 0));
    let pending: Vec<_> = chain.lost_inputs.iter().map(|lost| (lost.kind, lost.inputs)).collect();
    assert_eq!(pending, [(CauseKind::Pending, 1)]);
}

#[test]
fn lost_events_touch_what_lies_in_their_time_and_nothing_else() {
    let whole = Fixture::unpack("autoware_prio_discards_5s");
    let (tables, summary) = analysed(&whole);
    let note = summary.notes.iter().find(|note| note.name == "lost-events").expect("said");
    assert!(note.count >= 1 && note.text.contains("left out"), "{note:?}");
    assert!(summary.topics.iter().all(|topic| topic.lost.is_none()), "no topic says how many it lost");
    let run = tempfile::tempdir().expect("folder");
    let run = RunDirectory::new(run.path());
    import(Reader::open(&[whole.trace()]).expect("trace"), &run, RunInfo::default(), &mut |_| true).expect("imported");
    let gaps = run.info().expect("run.json").gaps;
    assert_eq!(gaps.iter().filter_map(|gap| gap.events).sum::<u64>(), 7_625);
    let in_gap = |from: i64, to: i64| gaps.iter().any(|gap| gap.from_ns < to && from <= gap.to_ns);
    assert!(tables.instances.iter().all(|i| !in_gap(i.start_ns, i.end_ns)));
    assert!(tables.instances.len() > 100, "most of the trace is whole: {}", tables.instances.len());
    assert!(tables
        .messages
        .iter()
        .filter(|m| m.delivery == Delivery::Lost)
        .all(|m| !in_gap(m.publish_ns.get().unwrap(), m.publish_ns.get().unwrap() + 1)));
    let counted: u64 = summary.callbacks.iter().map(|callback| callback.count).sum();
    let outside =
        tables.executions.iter().filter(|e| e.end_ns.get().is_some_and(|end| !in_gap(e.start_ns, end))).count() as u64;
    assert_eq!(counted, outside);
    assert!(counted < 3_087, "some lie in the gaps");
}
