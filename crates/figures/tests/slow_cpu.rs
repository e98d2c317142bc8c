//! A CPU that is slower for a while, planted: what computes takes longer by one factor.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;

use scene::*;
use tacho_analysis::Options;
use tacho_events::testing::FileBuilder;
use tacho_figures::{summarise, Repeat};
use tacho_tables::summary::Summary;
use tacho_tables::{Slowdown, Tables};

const MS: i64 = 1_000_000;
const OTHER: u64 = 0x100;
const PERIOD: i64 = 50 * MS;
const TAKES: i64 = 600;
/// Numbers of the takes in which something is slower, by tenths.
const SLOW: std::ops::Range<i64> = 200..280;

/// Factors of a while, in tenths.
#[derive(Clone, Copy)]
struct While {
    first: i64,
    second: i64,
    steps: i64,
    /// Of the CPU time, if that is recorded.
    cpu: Option<i64>,
}

const LIKE_ALWAYS: While = While { first: 10, second: 10, steps: 10, cpu: None };
const SLOWER: While = While { first: 15, second: 15, steps: 16, cpu: None };

/// A filter takes clouds and maps in turn, for 8 and 12 ms, give or take a twentieth.
fn filter(of: While, slow: std::ops::Range<i64>) -> FileBuilder {
    system(of, slow, [2, 2])
}

/// The same with a process for each of the two.
fn system(of: While, slow: std::ops::Range<i64>, pids: [u32; 2]) -> FileBuilder {
    let mut b = FileBuilder::new().node(1, "sensor").publisher("/points").timer(PERIOD);
    b = b.node(2, "filter").subscription("/points");
    b = if pids[1] == 2 { b } else { b.node(pids[1], "map") };
    b = b.another_subscription(OTHER, "/map");
    for take in 0..TAKES {
        let now = if slow.contains(&take) { of } else { LIKE_ALWAYS };
        let sent = 1_000 * MS + take * PERIOD;
        b = b.process(1).at(sent).start_timer().publish(sent).at(sent + MS / 10).end_timer();
        for (pid, offset, usual_ms, factor) in [(pids[0], 0, 8, now.first), (pids[1], OTHER, 12, now.second)] {
            let start = sent + MS + if offset == 0 { 0 } else { 20 * MS };
            let step = |steps: i64| start + steps * 200 * now.steps / 10;
            let took_ns = |factor: i64| usual_ms * MS * factor / 10 * (95 + take % 11) / 100;
            b = b.process(pid).at(step(0)).rclcpp_executor_execute(SUBSCRIPTION + offset);
            b = b.rmw_take(RMW_SUBSCRIPTION + offset, MESSAGE, sent, true).at(step(1)).rcl_take(MESSAGE);
            b = b.at(step(2)).rclcpp_take(MESSAGE).at(step(3));
            b = if now.cpu.is_some() { b.callback_cpu(0, false) } else { b };
            b = b.callback_start(CALLBACK + offset, false).at(step(3) + took_ns(factor)).end_taking_from(offset);
            b = match now.cpu {
                Some(cpu) => b.callback_cpu(took_ns(cpu), true),
                None => b,
            };
        }
    }
    b
}

fn slowdowns(of: While) -> Vec<Slowdown> {
    scene::tables(&filter(of, SLOW)).slowdowns
}

fn summary_of(tables: &Tables) -> Summary {
    summarise(&[Repeat { tables, options: Options::default(), info: None }], None)
}

#[test]
fn a_thread_of_which_all_takes_longer_by_one_factor_is_on_a_slower_cpu() {
    let found = slowdowns(SLOWER);
    assert_eq!(found.len(), 1, "{found:?}");
    let slow = &found[0];
    let planted = |take: i64| 1_000 * MS + take * PERIOD;
    assert_eq!(slow.from_ns, planted(SLOW.start) + MS + 3 * 320, "the first slow execution");
    assert!((planted(SLOW.end) - PERIOD..planted(SLOW.end)).contains(&slow.to_ns), "{slow:?}");
    assert!((slow.callbacks_factor - 1.5).abs() < 0.05 && (slow.steps_factor - 1.6).abs() < 0.01, "{slow:?}");
    assert_eq!((slow.executions, slow.callbacks), (160, 2));
    // Half of 20 ms, in 80 turns; the median has the slow ones in it.
    assert!((slow.longer_ns - 800 * MS).abs() < 32 * MS, "{slow:?}");
}

#[test]
fn what_computes_more_is_no_slower_cpu() {
    for (what, of) in [
        ("nothing", LIKE_ALWAYS),
        ("callbacks with more to do", While { steps: 10, ..SLOWER }),
        ("caches that are cold", While { first: 10, second: 10, ..SLOWER }),
        ("one callback, and cold caches", While { second: 10, ..SLOWER }),
        ("callbacks that wait longer: their CPU time is known", While { cpu: Some(10), ..SLOWER }),
        ("a twentieth", While { first: 11, second: 11, steps: 11, cpu: None }),
    ] {
        assert_eq!(slowdowns(of), [], "{what}");
    }
    assert_eq!(slowdowns(While { cpu: Some(15), ..SLOWER }).len(), 1);
}

#[test]
fn one_callback_alone_may_have_had_more_to_compute_but_not_two_threads_at_once() {
    let found = |of| scene::tables(&system(of, SLOW, [2, 3])).slowdowns;
    // Its data filled the caches.
    assert_eq!(found(While { second: 10, ..SLOWER }), []);
    assert_eq!(found(While { second: 20, ..SLOWER }), [], "not by one factor");
    // Two threads of one executor.
    let mut b = FileBuilder::new().node(2, "filter").subscription("/points");
    for take in 0..TAKES {
        let (start, factor) = (1_000 * MS + take / 2 * PERIOD, if SLOW.contains(&take) { 15 } else { 10 });
        let step = |steps: i64| start + steps * 200 * factor / 10;
        b = b.thread(2 + (take % 2) as u32).at(start).rmw_take(RMW_SUBSCRIPTION, MESSAGE, start, true);
        b = b.at(step(1)).rcl_take(MESSAGE).at(step(2)).rclcpp_take(MESSAGE).at(step(3));
        b = b.callback_start(CALLBACK, false).at(step(3) + 8 * MS * factor / 10).end_taking();
    }
    assert_eq!(scene::tables(&b).slowdowns, [], "one callback on two threads");
    let both: Vec<(u32, u32, u32)> = found(SLOWER).iter().map(|of| (of.tid, of.executions, of.callbacks)).collect();
    assert_eq!(both, [(2, 80, 1), (3, 80, 1)]);
}

#[test]
fn a_cpu_that_is_slower_for_most_of_the_run_has_no_usual_to_compare_with() {
    assert_eq!(scene::tables(&filter(SLOWER, 0..TAKES)).slowdowns, []);
    assert_eq!(scene::tables(&filter(SLOWER, 150..TAKES)).slowdowns, []);
}

#[test]
fn the_lint_names_the_thread_and_what_it_cost() {
    let summary = summary_of(&scene::tables(&filter(SLOWER, SLOW)));
    let finding = summary.findings.iter().flatten().find(|finding| finding.lint == "slow-cpu").expect("a finding");
    let case = &finding.cases[0];
    assert_eq!((finding.count, case.subject.as_str()), (1, "process 2 thread 2"));
    let begins = "for 3.99 s; the longest time 3.99 s from 11.001 s on: 160 calls of 2 callbacks took 1.49 ";
    assert!(case.evidence.starts_with(begins), "{}", case.evidence);
    assert!(case.evidence.ends_with("and the client library's own steps 1.60 times"), "{}", case.evidence);
    assert!(case.cost.starts_with("its callbacks took 782.2 ms longer") && case.next.contains("heat"), "{case:?}");
}

#[test]
fn late_outputs_of_that_time_are_the_cpu_s_and_not_the_callbacks_fault() {
    // So much slower that outputs are late by the usual measure.
    let much = While { first: 24, second: 15, steps: 20, cpu: None };
    let alike = While { first: 24, second: 24, ..much };
    let summary = summary_of(&scene::tables(&filter(alike, SLOW)));
    let verdict = summary.verdict.expect("a chain");
    assert_eq!((verdict.late_instances, verdict.instances), (80, 600), "{}", verdict.text);
    let first = &verdict.culprits[0];
    assert_eq!((first.lint.as_deref(), first.instances), (Some("slow-cpu"), 80), "{}", first.text);
    assert!(
        first.text.starts_with("The CPU of 1 thread was 2.4 times slower for 4.00 s: 80 of 80 late outputs"),
        "{}",
        first.text
    );
    assert!(first.worst_without_ms.is_some_and(|ms| (9.0..10.0).contains(&ms)), "{first:?}");
    // By the callbacks alone.
    let summary = summary_of(&scene::tables(&filter(While { steps: 10, ..alike }, SLOW)));
    let named = summary.verdict.expect("a chain").culprits;
    assert!(named.iter().all(|culprit| culprit.lint.as_deref() != Some("slow-cpu")), "{named:?}");
}
