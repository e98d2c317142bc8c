//! Which input made which output: observed, annotated, inferred, stated.

mod scene;

use scene::*;
use tacho_events::testing::FileBuilder;
use tacho_tables::{Link, LinkEvidence, LinkRule, Tables};

const B: u64 = 0x100;

fn link<'a>(tables: &'a Tables, node: &str, input: &str) -> &'a Link {
    let found = tables.links.iter().find(|l| tables.nodes[l.node].name == node && l.input == input);
    found.unwrap_or_else(|| panic!("no link of {node} {input} in {:?}", tables.links))
}

/// (start, end) of the instances of the chain that begins at a node.
fn instances(tables: &Tables, first: &str) -> Vec<(i64, i64)> {
    let of = |i: &&tacho_tables::Instance| tables.chains[i.chain].path[0] == first;
    tables.instances.iter().filter(of).map(|i| (i.start_ns, i.end_ns)).collect()
}

/// Two sensors, a fusion of both, a sink.
fn sensors() -> FileBuilder {
    FileBuilder::new()
        .node(1, "left")
        .publisher("/l")
        .timer(100)
        .node(2, "right")
        .publisher("/r")
        .timer(100)
        .node(3, "fusion")
        .subscription("/l")
        .another_subscription(B, "/r")
        .publisher("/fused")
        .timer(100)
        .node(4, "sink")
        .subscription("/fused")
}

fn sent(builder: FileBuilder, process: u32, at: i64) -> FileBuilder {
    builder.process(process).at(at).start_timer().at(at + 1).publish(at).at(at + 2).end_timer()
}

/// The fusion takes what was sent at `stamp`, and publishes `output`, which the sink takes.
fn fused(builder: FileBuilder, offset: u64, at: i64, stamp: i64, output: Option<i64>) -> FileBuilder {
    let builder = builder.process(3).at(at).start_taking_from(offset, stamp);
    match output {
        None => builder.at(at + 3).end_taking_from(offset),
        Some(output) => sunk(builder.at(at + 2).publish(output).at(at + 3).end_taking_from(offset), at + 5, output),
    }
}

fn sunk(builder: FileBuilder, at: i64, stamp: i64) -> FileBuilder {
    builder.process(4).at(at).start_taking(stamp).at(at + 1).end_taking()
}

/// A message filter: sets are completed now by the one, now by the other, and by the third output a newer /l is there
/// than matches.
fn filtered() -> FileBuilder {
    let mut b = sensors();
    b = sent(b, 1, 100);
    b = sent(b, 2, 101);
    b = fused(b, 0, 110, 100, None);
    b = fused(b, B, 120, 101, Some(9_001));
    b = sent(b, 2, 200);
    b = sent(b, 1, 202);
    b = fused(b, B, 210, 200, None);
    b = fused(b, 0, 220, 202, Some(9_002));
    b = sent(b, 1, 300);
    b = sent(b, 2, 304);
    b = sent(b, 1, 400);
    b = fused(b, 0, 410, 300, None);
    b = fused(b, 0, 415, 400, None);
    b = fused(b, B, 420, 304, Some(9_003));
    b
}

#[test]
fn a_message_filter_pairs_each_message_once_and_the_nearest_in_publish_time() {
    let tables = scene::tables(&filtered());
    for input in ["/l", "/r"] {
        let link = link(&tables, "/fusion", input);
        assert_eq!((link.rule, link.evidence), (LinkRule::Match, LinkEvidence::Inferred));
        assert!((link.confidence - 0.75).abs() < 1e-9, "{link:?}");
    }
    assert_eq!(
        instances(&tables, "/left"),
        [(100, 126), (202, 226), (300, 426)],
        "the third is made of 300, not of the newer 400"
    );
    assert_eq!(instances(&tables, "/right"), [(101, 126), (200, 226), (304, 426)]);
    assert!(tables.chains[0].evidence.contains("message filter, at /fusion"), "{}", tables.chains[0].evidence);
}

#[test]
fn a_node_that_answers_each_of_two_inputs_is_no_filter() {
    let mut b = sensors();
    for k in 0..4 {
        let t = 1_000 * k;
        b = sent(b, 1, t + 100);
        b = fused(b, 0, t + 110, t + 100, Some(t + 11));
        b = sent(b, 2, t + 200);
        b = fused(b, B, t + 210, t + 200, Some(t + 12));
    }
    let tables = scene::tables(&b);
    let left = link(&tables, "/fusion", "/l");
    assert_eq!(
        (left.rule, left.evidence, left.outputs, left.followed),
        (LinkRule::SameCallback, LinkEvidence::Observed, 8, 4)
    );
    assert!((left.confidence - 0.95 / 2.0).abs() < 1e-9, "half of the outputs are its own");
    assert_eq!(instances(&tables, "/left").len(), 4);
}

#[test]
fn an_annotation_is_stronger_than_what_is_inferred() {
    let plain = scene::tables(&latest());
    let inferred = link(&plain, "/fusion", "/l");
    assert_eq!((inferred.rule, inferred.evidence), (LinkRule::Latest, LinkEvidence::Inferred));
    assert!((inferred.confidence - 0.8).abs() < 1e-9, "{inferred:?}");
    let tables = scene::tables(&latest().process(3).at(1).message_link_periodic_async(SUBSCRIPTION, PUBLISHER));
    let annotated = link(&tables, "/fusion", "/l");
    assert_eq!(
        (annotated.rule, annotated.evidence, annotated.confidence),
        (LinkRule::Latest, LinkEvidence::Annotated, 1.0)
    );
    assert_eq!(instances(&tables, "/left"), instances(&plain, "/left"));
    let sync = scene::tables(&latest().process(3).at(1).message_link_partial_sync(SUBSCRIPTION, PUBLISHER));
    assert_eq!(link(&sync, "/fusion", "/l").rule, LinkRule::Match);
}

#[test]
fn annotations_of_handles_that_nobody_saw_are_counted() {
    let tables = scene::tables(&latest().process(3).message_link_partial_sync(0xdead, PUBLISHER));
    let note = tables.notes.iter().find(|n| n.name == "unknown-annotation");
    assert_eq!(note.map(|n| n.count), Some(1), "{:?}", tables.notes);
}

/// The fusion publishes on its timer with the latest of each.
fn latest() -> FileBuilder {
    let mut b = sensors();
    for k in 0..3 {
        let t = 1_000 * k;
        b = sent(b, 1, t + 100);
        b = fused(b, 0, t + 110, t + 100, None);
        b = sent(b, 2, t + 200);
        b = fused(b, B, t + 210, t + 200, None);
        b = b.process(3).at(t + 500).start_timer().at(t + 510).publish(t + 7).end_timer();
        b = sunk(b, t + 520, t + 7);
    }
    b
}

#[test]
fn a_timer_that_looks_at_its_queue_uses_what_it_took_last_even_if_nothing_new_came() {
    let b = FileBuilder::new()
        .node(1, "left")
        .publisher("/l")
        .timer(100)
        .node(3, "poller")
        .subscription("/l")
        .publisher("/out")
        .timer(100)
        .node(4, "sink")
        .subscription("/out");
    let b = sent(sent(b, 1, 100), 1, 150);
    // Takes both, uses the newer; next time there is nothing new.
    let b = b
        .process(3)
        .at(200)
        .start_timer()
        .at(201)
        .rmw_take(RMW_SUBSCRIPTION, MESSAGE, 100, true)
        .at(202)
        .rmw_take(RMW_SUBSCRIPTION, MESSAGE, 150, true)
        .at(210)
        .publish(1)
        .end_timer();
    let b = sunk(b, 220, 1);
    let b = b.process(3).at(300).start_timer().at(310).publish(2).end_timer();
    let tables = scene::tables(&sunk(b, 320, 2));
    let link = link(&tables, "/poller", "/l");
    assert_eq!((link.rule, link.evidence, link.followed), (LinkRule::Latest, LinkEvidence::Observed, 2));
    assert_eq!(instances(&tables, "/left"), [(150, 221), (150, 321)]);
}

/// A planner that empties what it keeps: on its timer it publishes if anything came since, whichever of its two inputs
/// it was. `idle`: its timer also runs where nothing came; `always`: it publishes then, too.
fn emptying(idle: bool, always: bool) -> FileBuilder {
    let mut b = sensors();
    for k in 0..12 {
        let t = 1_000 * k;
        let (left, right) = (k % 3 != 2, k % 3 != 1);
        if left {
            b = sent(b, 1, t + 100);
            b = fused(b, 0, t + 110, t + 100, None);
        }
        if right {
            b = sent(b, 2, t + 200);
            b = fused(b, B, t + 210, t + 200, None);
        }
        b = b.process(3).at(t + 500).start_timer().at(t + 510).publish(t + 7).end_timer();
        b = sunk(b, t + 520, t + 7);
        b = match (idle, always) {
            (false, _) => b,
            (true, false) => b.process(3).at(t + 700).start_timer().at(t + 710).end_timer(),
            (true, true) => {
                sunk(b.process(3).at(t + 700).start_timer().at(t + 710).publish(t + 8).end_timer(), t + 720, t + 8)
            }
        };
    }
    b
}

#[test]
fn a_node_that_publishes_only_what_is_new_uses_each_input_once() {
    let tables = scene::tables(&emptying(true, false));
    for (input, sensor, missing) in [("/l", "/left", 2), ("/r", "/right", 1)] {
        let link = link(&tables, "/fusion", input);
        assert_eq!(
            (link.rule, link.evidence, link.outputs, link.followed),
            (LinkRule::LatestOnce, LinkEvidence::Inferred, 12, 8),
            "{input}"
        );
        assert!((link.confidence - 0.55).abs() < 1e-9, "{link:?}");
        let found: Vec<i64> = instances(&tables, sensor).iter().map(|(_, end)| end / 1_000).collect();
        assert_eq!(found, (0..12).filter(|k| k % 3 != missing).collect::<Vec<_>>(), "{input}");
    }
    assert!(tables.chains[0].evidence.contains("each used once, at /fusion"), "{}", tables.chains[0].evidence);
}

#[test]
fn what_does_not_show_that_inputs_are_used_up_leaves_the_latest() {
    for (builder, why) in [
        (emptying(false, false), "the timer never ran in vain"),
        (emptying(true, true), "it publishes without anything new"),
    ] {
        let tables = scene::tables(&builder);
        assert_eq!(link(&tables, "/fusion", "/l").rule, LinkRule::Latest, "{why}");
    }
    // Each output has a new one of the left, and never of the right alone: the right may be kept.
    let mut b = sent(sensors(), 2, 10);
    b = fused(b, B, 20, 10, None);
    for k in 0..6 {
        let t = 1_000 * k;
        b = sent(b, 1, t + 100);
        b = fused(b, 0, t + 110, t + 100, None);
        b = sunk(b.process(3).at(t + 500).start_timer().at(t + 510).publish(t + 7).end_timer(), t + 520, t + 7);
        b = b.process(3).at(t + 700).start_timer().at(t + 710).end_timer();
    }
    let tables = scene::tables(&b);
    assert_eq!(link(&tables, "/fusion", "/r").rule, LinkRule::Latest);
    assert_eq!(instances(&tables, "/right").len(), 6);
    let left = link(&tables, "/fusion", "/l");
    assert_eq!((left.rule, left.followed), (LinkRule::LatestOnce, 6));
    assert!((left.confidence - 0.8).abs() < 1e-9, "{left:?}");
}

#[test]
fn with_latest_once_stated_no_output_repeats_an_input() {
    let stated = "links: {/fusion: {/l -> /fused: latest once, /r -> /fused: latest once}}";
    let tables = tables_with(&emptying(true, true), stated);
    let of = link(&tables, "/fusion", "/l");
    assert_eq!(
        (of.rule, of.evidence, of.outputs, of.followed, of.confidence),
        (LinkRule::LatestOnce, LinkEvidence::Stated, 24, 8, 1.0)
    );
    let ends = |sensor| instances(&tables, sensor).iter().map(|(_, end)| end / 100).collect::<Vec<_>>();
    assert_eq!(ends("/left"), (0..12).filter(|k| k % 3 != 2).map(|k| k * 10 + 5).collect::<Vec<_>>());
    assert_eq!(
        instances(&scene::tables(&emptying(true, true)), "/left").len(),
        24,
        "the latest is used again and again"
    );
}

/// Whatever the order of takes and timers.
#[test]
fn with_latest_once_no_input_is_tied_to_two_outputs() {
    let stated = "links: {/fusion: {/l -> /fused: latest once, /r -> /fused: latest once}}";
    let mut instances_found = 0;
    for seed in 0..40u64 {
        let mut chance = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut b = sensors();
        for k in 0..30 {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            let t = 1_000 * k;
            b = match chance % 4 {
                0 => fused(sent(b, 1, t + 100), 0, t + 110, t + 100, None),
                1 => fused(sent(b, 2, t + 100), B, t + 110, t + 100, None),
                _ => {
                    sunk(b.process(3).at(t + 500).start_timer().at(t + 510).publish(t + 7).end_timer(), t + 520, t + 7)
                }
            };
        }
        let tables = tables_with(&b, stated);
        for chain in 0..tables.chains.len() as u32 {
            let of = || tables.instances.iter().filter(move |i| i.chain.number() == chain);
            let inputs: std::collections::BTreeSet<i64> = of().map(|i| i.start_ns).collect();
            assert_eq!(inputs.len(), of().count(), "seed {seed}");
            instances_found += inputs.len();
        }
    }
    assert!(instances_found > 200, "{instances_found}");
}

#[test]
fn what_a_links_file_states_is_used() {
    let unrelated = tables_with(&latest(), "links:\n  /fusion:\n    /l -> /fused: unrelated\n");
    assert_eq!(unrelated.chains.iter().map(|c| c.path[0].as_str()).collect::<Vec<_>>(), ["/right"]);
    let matched = tables_with(&latest(), "links: {/fusion: {/l -> /fused: match, /r -> /fused: match}}");
    assert_eq!(
        (link(&matched, "/fusion", "/l").rule, link(&matched, "/fusion", "/l").evidence),
        (LinkRule::Match, LinkEvidence::Stated)
    );
    let named = tables_with(
        &latest(),
        "chains:\n  braking: {nodes: [/left, /fusion, /sink], deadline: 400 ns}\n  right to sink: {deadline: 1 ms}\n\
         \x20 nobody: {deadline: 1 ms}\n",
    );
    let chains: Vec<_> = named.chains.iter().map(|c| (c.name.as_str(), c.deadline_ns)).collect();
    assert_eq!(chains, [("braking", Some(400)), ("right to sink", Some(1_000_000))]);
    assert!(named.notes.iter().any(|n| n.name == "chain-not-found" && n.text.contains("nobody")), "{:?}", named.notes);
}
