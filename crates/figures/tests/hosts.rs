//! Several hosts: clocks related by messages both ways, latencies corrected, with their uncertainty.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;

use scene::*;
use tacho_events::run::{EventGap, RunInfo};
use tacho_events::testing::FileBuilder;
use tacho_figures::{summarise, Repeat};
use tacho_tables::Tables;

const PINGS: i64 = 200;
/// The roadside's clock is this far ahead.
const AHEAD: i64 = 7_000_000_000;

/// A car that pings each 10 ms, a roadside that answers in the callback. 1000 ns at least and up to 5000 there, 2000 to
/// 9000 back.
fn ping_pong(answers: bool) -> FileBuilder {
    let mut b = FileBuilder::new()
        .node(1, "car")
        .publisher("/ping")
        .with(|b| if answers { b.subscription("/pong") } else { b })
        .timer(10_000_000)
        .node(2, "roadside")
        .header(|h| {
            h.boot_id = "another".into();
            h.host = "roadside".into()
        })
        .at(AHEAD)
        .subscription("/ping")
        .publisher("/pong");
    for k in 0..PINGS {
        let sent = 1_000_000 + 10_000_000 * k;
        let taken = sent + 1_000 + (k * 7_919) % 4_000;
        let answered = taken + 300;
        let back = answered + 2_000 + (k * 104_729) % 7_000;
        b = b
            .process(1)
            .at(sent - 100)
            .start_timer()
            .at(sent)
            .publish(10 * k + 1)
            .at(sent + 50)
            .end_timer()
            .process(2)
            .at(AHEAD + taken)
            .start_taking(10 * k + 1)
            .at(AHEAD + answered);
        b = if answers { b.publish(10 * k + 2) } else { b };
        b = b.at(AHEAD + answered + 100).end_taking();
        if answers {
            b = b.process(1).at(back).start_taking(10 * k + 2).at(back + 10).end_taking();
        }
    }
    b
}

/// (publish to take, true publish to take) on a topic.
fn latencies(tables: &Tables, topic: &str) -> Vec<i64> {
    let on = |m: &&tacho_tables::Message| tables.endpoints[m.subscription].topic == topic;
    tables.messages.iter().filter(on).filter_map(|m| Some(m.take_ns.get()? - m.publish_ns.get()?)).collect()
}

#[test]
fn messages_both_ways_relate_the_clocks_and_latencies_are_right_within_the_uncertainty() {
    let tables = tables(&ping_pong(true));
    assert_eq!(tables.clocks.iter().map(|c| c.host.as_str()).collect::<Vec<_>>(), ["testhost", "roadside"]);
    let clock = &tables.clocks[1];
    let uncertainty = clock.uncertainty_ns.expect("related");
    assert!((clock.offset_ns.expect("related") - AHEAD).abs() <= uncertainty, "{clock:?}");
    assert!(uncertainty <= 3_000, "there and back take 3000 ns at least: {clock:?}");
    assert_eq!((clock.sent, clock.received), (PINGS as u64, PINGS as u64));
    let (there, back) = (latencies(&tables, "/ping"), latencies(&tables, "/pong"));
    assert_eq!((there.len(), back.len()), (PINGS as usize, PINGS as usize));
    for (k, latency) in there.iter().enumerate() {
        let truth = 1_000 + (k as i64 * 7_919) % 4_000;
        assert!(
            *latency >= 0 && (latency - truth).abs() <= uncertainty,
            "ping {k}: {latency}, in truth {truth}, +- {uncertainty}"
        );
    }
    for (k, latency) in back.iter().enumerate() {
        let truth = 2_000 + (k as i64 * 104_729) % 7_000;
        assert!(
            *latency >= 0 && (latency - truth).abs() <= uncertainty,
            "pong {k}: {latency}, in truth {truth}, +- {uncertainty}"
        );
    }
    let summary = summarise(&[Repeat { tables: &tables, options: Default::default(), info: None }], None);
    let ping = summary.topics.iter().find(|t| t.topic == "/ping").expect("topic");
    assert_eq!(ping.latency_uncertainty_us, Some(uncertainty as f64 / 1e3));
    assert_eq!(ping.lost, Some(0));
    assert!(
        tables.notes.iter().any(|n| n.name == "clocks-related" && n.text.contains("roadside")),
        "{:?}",
        tables.notes
    );
}

#[test]
fn times_at_which_events_were_lost_are_those_of_their_own_clock() {
    let folder = tempfile::tempdir().expect("folder");
    let run = ping_pong(true).write(folder.path()).expect("write");
    let executions = |boot: &str| {
        let around_the_tenth = AHEAD + 1_000_000 + 10_000_000 * 10;
        let gap = EventGap {
            boot_id: Some(boot.into()),
            from_ns: around_the_tenth - 10_000,
            to_ns: around_the_tenth + 30_000,
            ..EventGap::default()
        };
        run.write_info(&RunInfo { gaps: vec![gap], ..RunInfo::default() }).expect("run.json");
        let summary = tacho_figures::analyse_and_store(&run, None, &mut |_| {}).expect("analysed");
        let count = |node: &str| {
            summary.callbacks.iter().filter(|c| c.node.as_deref() == Some(node)).map(|c| c.count).sum::<u64>()
        };
        assert!(
            summary.topics.iter().all(|topic| topic.lost.is_none()),
            "which of them were sent and not taken, nobody knows"
        );
        (count("/roadside"), count("/car"))
    };
    let all = (PINGS as u64, 2 * PINGS as u64);
    assert_eq!(executions("another"), (all.0 - 1, all.1 - 2), "at that time of the roadside each callback ran once");
    assert_eq!(executions("of nobody"), all, "nothing ran at that time of the car");
}

#[test]
fn messages_one_way_have_no_latency_and_are_not_lost() {
    let tables = tables(&ping_pong(false));
    assert_eq!(latencies(&tables, "/ping"), [] as [i64; 0]);
    assert_eq!((tables.messages.len(), tables.chains.len(), tables.instances.len()), (PINGS as usize, 0, 0));
    assert_eq!(tables.clocks[1].uncertainty_ns, None);
    let note = tables.notes.iter().find(|n| n.name == "clocks-not-related").expect("note");
    assert_eq!(note.count, PINGS as u64);
    let summary = summarise(&[Repeat { tables: &tables, options: Default::default(), info: None }], None);
    let ping = summary.topics.iter().find(|t| t.topic == "/ping").expect("topic");
    assert_eq!((ping.sent, ping.received, &ping.latency_us), (PINGS as u64, PINGS as u64, &None));
}

#[test]
fn one_host_has_no_rows_of_clocks() {
    let tables = tables(&FileBuilder::new().node(1, "alone").timer(10).at(20).start_timer().at(25).end_timer());
    assert_eq!((tables.clocks.len(), tables.processes[0].clock), (0, None));
}
