//! A lint's cases over several repeats.

use super::*;

#[test]
fn a_case_of_several_repeats_is_one_told_as_in_the_worst() {
    let (bad, worse) = (scene::tables(&held_up(400)), scene::tables(&held_up(800)));
    let repeat = |tables| Repeat { tables, options: Options::default(), info: None };
    let summary = summarise(&[repeat(&bad), repeat(&worse)], None);
    let finding =
        summary.findings.expect("lints ran").into_iter().find(|f| f.lint == "starved-callback").expect("found");
    assert_eq!((finding.count, finding.cases[0].repeats), (1, Some(2)));
    assert!(finding.cases[0].evidence.contains("the longest 725 ns"), "{}", finding.cases[0].evidence);
}

#[test]
fn two_timers_of_one_name_are_two_cases_of_each_repeat() {
    let mut b = FileBuilder::new()
        .node(1, "talker")
        .timer(1_000)
        .rcl_timer_init(TIMER + 8, 1_000)
        .rclcpp_timer_callback_added(TIMER + 8, TIMER_CALLBACK + 8)
        .rclcpp_timer_link_node(TIMER + 8, NODE);
    for at in (0..10).map(|k| 10_000 + 4_000 * k) {
        b = b.at(at).start_timer().at(at + 1_200).end_timer();
        b = b.at(at + 1_200).callback_start(TIMER_CALLBACK + 8, false).at(at + 2_500).callback_end(TIMER_CALLBACK + 8);
    }
    let tables = scene::tables(&b);
    let repeat = Repeat { tables: &tables, options: Options::default(), info: None };
    for repeats in [1, 3] {
        let findings = summarise(&vec![repeat; repeats], None).findings.expect("lints ran");
        let finding = findings.iter().find(|f| f.lint == "callback-exceeds-period").expect("found");
        let in_repeats = (repeats > 1).then_some(repeats as u64);
        let mut told: Vec<_> = finding.cases.iter().map(|c| (c.subject.as_str(), c.repeats)).collect();
        told.sort_unstable();
        let expected =
            ["/talker timer 0.001 ms", "/talker timer 0.001 ms Talker::tick"].map(|subject| (subject, in_repeats));
        assert_eq!((finding.count, told.as_slice()), (2, &expected[..]));
        assert!(
            finding.cases.iter().any(|c| c.evidence.ends_with("the longest 1.3 us"))
                && finding.cases.iter().any(|c| c.evidence.ends_with("the longest 1.2 us"))
        );
    }
}
