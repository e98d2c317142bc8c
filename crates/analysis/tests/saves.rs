//! Saves of one ring whose ties of outputs to inputs differ.

mod scene;

use scene::*;
use std::path::Path;
use tacho_events::testing::FileBuilder;
use tacho_tables::{LinkRule, Tables};

const SENSOR: u32 = 1;
const PLANNER: u32 = 2;
const CONTROL: u32 = 3;

/// A planner that publishes in the callback that takes its input, or on a timer.
fn save(on_timer: bool) -> FileBuilder {
    let mut b = FileBuilder::new()
        .node(SENSOR, "sensor")
        .publisher("/points")
        .timer(1_000)
        .node(PLANNER, "planner")
        .subscription("/points")
        .publisher("/plan")
        .timer(1_000)
        .node(CONTROL, "control")
        .subscription("/plan");
    for k in 1..20 {
        let at = 1_000 * k;
        b = b.process(SENSOR).at(at).start_timer().at(at + 10).publish(at).at(at + 20).end_timer();
        b = b.process(PLANNER).at(at + 100).start_taking(at);
        b = match on_timer {
            true => b.at(at + 110).end_taking().at(at + 500).start_timer().at(at + 510).publish(-at).end_timer(),
            false => b.at(at + 110).publish(-at).at(at + 120).end_taking(),
        };
        b = b.process(CONTROL).at(at + 600).start_taking(-at).at(at + 610).end_taking();
    }
    b
}

fn analysed(folder: &Path) -> Tables {
    tacho_analysis::analyse(&tacho_events::RunDirectory::new(folder), None, &mut |_| {}).expect("analyse")
}

fn said(tables: &Tables) -> Vec<&str> {
    tables.notes.iter().filter(|note| note.name == "ties-changed").map(|note| note.text.as_str()).collect()
}

#[test]
fn a_save_says_which_ties_are_not_those_of_the_save_before() {
    let ring = tempfile::tempdir().expect("folder");
    let path = |number: &str| ring.path().join("saves").join(number);
    for (number, on_timer) in [("001", false), ("002", true), ("003", true)] {
        save(on_timer).write(&path(number)).expect("write");
    }
    let [first, second, third] = ["001", "002", "003"].map(|number| analysed(&path(number)));
    let rule = |tables: &Tables| tables.links.iter().find(|link| link.input == "/points").map(|link| link.rule);
    assert_eq!((rule(&first), rule(&second)), (Some(LinkRule::SameCallback), Some(LinkRule::Latest)));
    assert_eq!((said(&first), said(&third)), (vec![], vec![]));
    let [text] = said(&second)[..] else { panic!("{:?}", second.notes) };
    assert!(text.contains("/planner ties /plan to /points by latest (same callback there)"), "{text}");
    assert!(text.contains("saves/001"), "{text}");
}

#[test]
fn a_save_before_that_cannot_be_read_is_named() {
    let ring = tempfile::tempdir().expect("folder");
    let path = |number: &str| ring.path().join("saves").join(number);
    std::fs::create_dir_all(path("001")).expect("folder");
    save(true).write(&path("002")).expect("write");
    let tables = analysed(&path("002"));
    let [text] = said(&tables)[..] else { panic!("{:?}", tables.notes) };
    assert!(text.contains("is not known") && text.contains("saves/001"), "{text}");
}
