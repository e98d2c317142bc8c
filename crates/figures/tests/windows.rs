//! What counts of a run: of a window that was asked for, and behind the start-up of a recorded system.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;
mod simulated;

use scene::*;
use simulated::{Chance, Simulation};
use std::collections::BTreeMap;
use tacho_analysis::{analyse_window, Analysed, Error, Moment, Window, WindowError};
use tacho_events::testing::FileBuilder;
use tacho_events::RunDirectory;
use tacho_figures::{summarise, Repeat};
use tacho_tables::summary::{Summary, WindowFigures};
use tacho_tables::{Delivery, EndpointKind, Message, Tables};
use tacho_workload::links::Links;

const MS: i64 = 1_000_000;
const S: i64 = 1_000 * MS;

fn counted(run: &RunDirectory, window: Option<&Window>) -> Result<Analysed, Error> {
    analyse_window(run, None, &Links::default(), window, &mut |_| {})
}

fn between(from: i64, to: i64) -> Window {
    Window::between(Moment::Offset(from), Moment::Offset(to))
}

fn summary(Analysed { tables, options, info }: &Analysed) -> Summary {
    summarise(&[Repeat { tables, options: *options, info: info.as_ref() }], None)
}

fn begin(tables: &Tables) -> i64 {
    tables.processes.iter().filter(|p| p.pid != 0).map(|p| p.first_ns).min().expect("a process")
}

fn end(tables: &Tables) -> i64 {
    tables.processes.iter().filter(|p| p.pid != 0).map(|p| p.last_ns).max().expect("a process")
}

/// Messages without their delivery: how late one may be depends on how often its topic is published, which is a figure
/// of the window.
fn linked(messages: &[Message]) -> Vec<Message> {
    let taken =
        |message: &Message| if message.delivery == Delivery::Late { Delivery::InTime } else { message.delivery };
    messages.iter().map(|message| Message { delivery: taken(message), ..*message }).collect()
}

#[test]
fn a_window_has_the_rows_of_the_whole_run_that_lie_in_it() {
    let (mut with_instances, mut with_losses) = (0, 0);
    for seed in 0..40 {
        let (builder, truth) = Simulation::run(seed, |node| 100 + node as u32);
        let folder = tempfile::tempdir().expect("folder");
        let run = builder.write(folder.path()).expect("write");
        let whole = counted(&run, None).expect("analyse").tables;
        let (begin, end) = (begin(&whole), end(&whole));
        let mut chance = Chance(seed + 1_000);
        let from = chance.within(0, (end - begin) / 2);
        let to = chance.within(from + (end - begin) / 4, end - begin);
        let analysed = counted(&run, Some(&between(from, to))).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let part = &analysed.tables;
        let inside = |ns: i64| (begin + from..begin + to).contains(&ns);
        let of_whole: Vec<_> = whole.publications.iter().filter(|p| inside(p.publish_ns)).copied().collect();
        assert_eq!(part.publications.to_vec(), of_whole, "seed {seed}");
        let of_whole: Vec<_> = whole
            .messages
            .iter()
            .filter(|m| inside(m.publish_ns.get().or(m.take_ns.get()).expect("a time")))
            .copied()
            .collect();
        assert_eq!(linked(&part.messages), linked(&of_whole), "seed {seed}");
        with_losses += usize::from(part.messages.iter().any(|m| m.delivery == Delivery::Lost));
        assert_eq!(part.executions.to_vec(), whole.executions.to_vec(), "seed {seed}: ties are of the whole run");
        assert_eq!(part.links, whole.links, "seed {seed}");
        let instances = |tables: &Tables| {
            let of = tables.instances.iter().filter(|instance| inside(instance.start_ns));
            let mut of: Vec<_> =
                of.map(|i| (tables.chains[i.chain].path.clone(), i.start_ns, i.end_to_end_ns, i.queueing_ns)).collect();
            of.sort();
            of
        };
        assert_eq!(instances(part), instances(&whole), "seed {seed}");
        assert_eq!(part.instances.len(), instances(part).len(), "seed {seed}");
        with_instances += usize::from(!part.instances.is_empty());
        let counts = |tables: &Tables, of: &str| -> u64 {
            let named = tables.endpoints.iter().filter(|e| e.kind == EndpointKind::Publisher && e.topic == of);
            named.map(|e| e.count).sum()
        };
        // To each subscription, of what was sent in the window: all that can become of a message.
        for topic in &summary(&analysed).topics {
            let subscriptions = part.endpoints.iter();
            let subscriptions =
                subscriptions.filter(|e| e.kind == EndpointKind::Subscription && e.topic == topic.topic);
            let ends = [topic.lost, topic.pending, topic.before, topic.after, topic.unknown];
            let Some(ends) = ends.iter().copied().sum::<Option<u64>>() else { continue };
            let sent = counts(part, &topic.topic) * subscriptions.count() as u64;
            assert_eq!(topic.received + ends, sent, "seed {seed}: {topic:?}; ours: {}", truth.ours);
        }
    }
    assert!(with_instances > 20 && with_losses > 5, "{with_instances} {with_losses}");
}

/// A sensor of 100 Hz that is made at 0, and a listener that is made at `made` and takes what is sent from `met` on, a
/// millisecond later, for 10 s.
fn late_listener(verb: &str, made: i64, met: i64) -> FileBuilder {
    let mut b = FileBuilder::new().info(|info| info.verb = verb.into());
    b = b.node(1, "sensor").publisher("/points").timer(10 * MS).node(2, "listener").at(made).subscription("/points");
    for k in 0..1_000 {
        let at = 1 + 10 * MS * k;
        b = b.process(1).at(at).start_timer().publish(at).end_timer();
        if at >= met {
            b = b.process(2).at(at + MS).start_taking(at).end_taking();
        }
    }
    b
}

fn analysed(builder: &FileBuilder, window: Option<&Window>) -> (Summary, Option<WindowFigures>) {
    let folder = tempfile::tempdir().expect("folder");
    let run = builder.write(folder.path()).expect("write");
    let summary = summary(&counted(&run, window).unwrap_or_else(|e| panic!("{e}")));
    let window = summary.window;
    (summary, window)
}

#[test]
fn chains_of_a_recorded_program_begin_when_the_last_pair_has_met() {
    let (whole, window) = analysed(&late_listener("record", 200 * MS, 500 * MS), None);
    let window = window.expect("a window");
    assert_eq!(window.start_up_s.map(|s| (s * 100.0).round()), Some(50.0), "{window:?}");
    assert_eq!((window.from_s, window.run_s.round()), (0.0, 10.0));
    // The topic's figures are of the whole run: what was sent before the two met is reported, and is not lost.
    let topic = &whole.topics[0];
    assert_eq!((topic.sent, topic.received, topic.lost), (1_000, 950, Some(0)), "{topic:?}");
    assert_eq!((topic.before, topic.pending, topic.after, topic.unknown), (Some(50), Some(0), Some(0), Some(0)));
    assert_eq!(whole.chains[0].instances, 950);
    let (counting, window) =
        analysed(&late_listener("record", 200 * MS, 500 * MS), Some(&Window::skip(Default::default())));
    assert_eq!(counting.chains[0].instances, 950);
    assert_eq!(window.map(|w| (w.start_up_s, w.sentence())), Some((None, None)));
}

#[test]
fn messages_that_waited_until_the_pair_had_met_are_of_the_start_up() {
    let system = |others_took: i64| {
        let mut b = FileBuilder::new().info(|info| info.verb = "record".into());
        b = b.node(1, "sensor").publisher("/points").timer(10 * MS).node(2, "listener").subscription("/points");
        for k in 0..1_000 {
            let at = 1 + 10 * MS * k;
            b = b.process(1).at(at).start_timer().publish(at).end_timer();
            let taken = (90 * MS + MS * k).max(at + others_took);
            b = b.process(2).at(taken).start_taking(at).end_taking();
        }
        analysed(&b, None).1.expect("a window").start_up_s.map(|s| (s * 100.0).round())
    };
    assert_eq!(system(MS), Some(9.0));
    // All are on their way for so long.
    assert_eq!(system(10 * MS), None);
}

#[test]
fn what_joins_late_is_no_start_up_and_a_workload_has_none() {
    // A tenth of 10 s.
    let window = |builder: &FileBuilder| analysed(builder, None).1;
    let late = window(&late_listener("record", 1_500 * MS, 2 * S)).expect("a window");
    assert_eq!((late.start_up_s, late.sentence()), (None, None), "{late:?}");
    let made_early = window(&late_listener("record", 300 * MS, 2 * S)).expect("a window");
    assert_eq!(made_early.start_up_s, Some(0.3));
    assert_eq!(window(&late_listener("bench", 200 * MS, 500 * MS)), None);
}

#[test]
fn findings_leave_the_start_up_out() {
    // A timer whose first three executions of a hundred take longer than its period.
    let system = |verb: &str| {
        let mut b = FileBuilder::new().info(|info| info.verb = verb.into()).node(1, "slow").timer(10 * MS);
        for k in 0..100 {
            let (at, takes) = (100 * MS * k + 1, if k < 3 { 20 * MS } else { MS });
            b = b.at(at).start_timer().at(at + takes).end_timer();
        }
        b.node(2, "late").at(500 * MS).publisher("/late").process(1).at(10 * S).start_timer().end_timer()
    };
    let found = |builder: &FileBuilder, window: Option<&Window>| {
        let findings = analysed(builder, window).0.findings.expect("lints ran");
        findings.iter().filter(|f| f.lint == "callback-exceeds-period").count()
    };
    assert_eq!(found(&system("record"), None), 0);
    assert_eq!(found(&system("bench"), None), 1);
    assert_eq!(found(&system("record"), Some(&Window::skip(Default::default()))), 1);
    assert_eq!(found(&system("bench"), Some(&between(500 * MS, 10 * S))), 0);
}

#[test]
fn a_window_beyond_the_run_or_without_anything_in_it_is_an_error() {
    let folder = tempfile::tempdir().expect("folder");
    let mut b = late_listener("record", 200 * MS, 500 * MS);
    b = b.process(1).at(20 * S).start_timer().publish(20 * S).end_timer();
    let run = b.write(folder.path()).expect("write");
    let error = |window: Window| match counted(&run, Some(&window)) {
        Err(Error::Window(error)) => error,
        other => panic!("{window}: {:?}", other.map(|analysed| analysed.options)),
    };
    let beyond = error(between(25 * S, 30 * S)).to_string();
    assert_eq!(beyond, "--between 25s 30s: beyond the end; the run is 20.000 s long");
    assert!(matches!(error(between(5 * S, 21 * S)), WindowError::BeyondEnd { .. }));
    assert!(matches!(error(between(11 * S, 19 * S)), WindowError::Empty { .. }));
    assert_eq!(
        error(between(2 * S, S)).to_string(),
        "--between 2s 1s: it ends before it begins; expected the earlier time first"
    );
    let all = between(0, 20 * S);
    assert!(counted(&run, Some(&all)).is_ok(), "the end of the run is no part of what lies beyond it");
}

#[test]
fn figures_of_a_window_are_those_of_a_run_that_was_no_longer() {
    let (part, window) = analysed(&late_listener("record", 0, 0), Some(&between(2 * S, 4 * S)));
    assert_eq!(window.map(|w| (w.from_s, w.to_s, w.start_up_s)), Some((2.0, 4.0, None)));
    let topic = &part.topics[0];
    assert_eq!((topic.sent, topic.received, topic.lost), (200, 200, Some(0)));
    assert_eq!(part.chains[0].instances, 200);
    let counts: BTreeMap<&str, u64> = part.callbacks.iter().map(|c| (c.kind.as_str(), c.count)).collect();
    assert_eq!(counts, BTreeMap::from([("timer", 200), ("subscription", 200)]));
    let said = window.and_then(|w| w.sentence()).expect("a part");
    assert_eq!(said, "Only what happened from 2.000 s to 4.000 s counts; the run is 9.991 s long.");
}
