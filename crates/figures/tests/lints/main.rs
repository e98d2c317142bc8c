//! Each lint on a system that has what it finds, and on one that just has not.

mod chains;
mod clock;
mod delivery;
mod executors;
mod rates;
mod repeats;
#[path = "../../../analysis/tests/scene/mod.rs"]
mod scene;
mod timers;
mod waits;

use scene::*;
use tacho_analysis::Options;
use tacho_events::run::RunInfo;
use tacho_events::testing::FileBuilder;
use tacho_figures::{summarise, Repeat};
use tacho_tables::summary::{FindingCase, Summary};
use tacho_tables::{Execution, OffCpu, Preemption, Tables};
use tacho_workload::Workload;

/// Handles of a subscription to simulated time.
const CLOCK: u64 = 0x900;
const OTHER: u64 = 0x100;

fn summary_of(tables: &Tables, workload: Option<&Workload>) -> Summary {
    summarise(&[Repeat { tables, options: Options::default(), info: None }], workload)
}

/// The cases of one lint.
fn cases(builder: &FileBuilder, lint: &str) -> Vec<FindingCase> {
    cases_of(&scene::tables(builder), None, lint)
}

fn cases_of(tables: &Tables, workload: Option<&Workload>, lint: &str) -> Vec<FindingCase> {
    assert!(tacho_figures::lints::LINTS.iter().any(|known| known.name == lint), "no lint {lint}");
    let findings = summary_of(tables, workload).findings.expect("lints ran");
    findings.into_iter().filter(|f| f.lint == lint).flat_map(|f| f.cases).collect()
}

fn workload(text: &str) -> Workload {
    tacho_workload::parse(text, "test.yaml").map(|(workload, _)| workload).unwrap_or_else(|e| panic!("{e}"))
}

fn sensor_and(depth: u64) -> FileBuilder {
    FileBuilder::new()
        .node(1, "sensor")
        .publisher("/points")
        .timer(1_000)
        .node(2, "filter")
        .at(0)
        .rmw_subscription_init(RMW_SUBSCRIPTION, [3, 4])
        .rcl_subscription_init(SUBSCRIPTION, NODE, RMW_SUBSCRIPTION, depth, "/points")
        .rclcpp_subscription_init(SUBSCRIPTION, OBJECT)
        .rclcpp_subscription_callback_added(OBJECT, CALLBACK)
}

fn send(b: FileBuilder, at: i64) -> FileBuilder {
    b.process(1).at(at).start_timer().at(at + 1).publish(at).at(at + 2).end_timer()
}

fn take(b: FileBuilder, at: i64, stamp: i64, takes: i64) -> FileBuilder {
    b.process(2).at(at).start_taking(stamp).at(at + takes).end_taking()
}

/// A timer of 1000 ns whose callback takes `takes` each time, begun every `interval`.
fn ticking(takes: &[i64], interval: i64) -> FileBuilder {
    let mut b = FileBuilder::new().node(1, "talker").timer(1_000);
    for (k, takes) in takes.iter().enumerate() {
        let at = 10_000 + k as i64 * interval;
        b = b.at(at).start_timer().at(at + takes).end_timer();
    }
    b
}

/// A timer of 100 that a callback of `blocks` holds up once.
fn held_up(blocks: i64) -> FileBuilder {
    let mut b = FileBuilder::new().node(1, "control").timer(100).another_subscription(OTHER, "/map");
    for k in 0..5 {
        b = b.at(1_000 + 100 * k).start_timer().at(1_010 + 100 * k).end_timer();
    }
    b = b.at(1_420).callback_start(CALLBACK + OTHER, false).at(1_420 + blocks).end_taking_from(OTHER);
    b.at(1_425 + blocks).start_timer().at(1_435 + blocks).end_timer()
}
