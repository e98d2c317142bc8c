//! Executors of several threads, and callback groups.

use tacho_workload::parse;

/// Names of the errors of a text.
fn names(text: &str) -> Vec<&'static str> {
    parse(text, "w.yaml").err().map(|found| found.errors.iter().map(|of| of.name).collect()).unwrap_or_default()
}

/// A node that takes `/t` and `/u`.
fn joining(subscribes: &str, options: &str) -> String {
    format!(
        "nodes:\n  a: {{publishes: {{/t: {{rate: 10 Hz}}, /u: {{rate: 10 Hz}}}}}}\n  \
         b: {{subscribes: {{{subscribes}}}{options}}}\n"
    )
}

#[test]
fn threads_are_those_of_nodes_that_share_them() {
    let shared = |a: &str, b: &str| {
        format!(
            "nodes:\n  a: {{thread: t{a}, process: p, publishes: {{/t: {{rate: 10 Hz}}}}}}\n  \
             b: {{thread: t{b}, process: p, subscribes: [/t]}}\n  c: {{subscribes: [/t]}}\n"
        )
    };
    let (workload, _) = parse(&shared(", threads: 4", ""), "test.yaml").unwrap();
    assert_eq!(workload.nodes.iter().map(|node| workload.threads_of(node)).collect::<Vec<_>>(), [4, 4, 1]);
    for (text, name) in [
        (joining("/t: , /u: ", ", threads: 4"), "threads-of-one"),
        (joining("/t: , /u: ", ", thread: own, threads: 4"), "threads-of-one"),
        (shared(", threads: 4", ", threads: 3"), "threads-of-one"),
        (shared(", threads: 1", ""), "wrong-value"),
        (shared(", threads: 65", ""), "wrong-value"),
    ] {
        let found = names(&text);
        assert!(!found.is_empty() && found.iter().all(|of| *of == name), "{text}: {found:?}");
    }
}

#[test]
fn an_events_executor_is_one_thread_that_waits() {
    let of = |a: &str, b: &str| {
        format!(
            "nodes:\n  a: {{thread: t, publishes: {{/t: {{rate: 10 Hz}}}}{a}}}\n  \
             b: {{thread: t, subscribes: [/t]{b}}}\n  c: {{subscribes: [/t]}}\n"
        )
    };
    for text in
        [of(", executor: events", ""), of("", ", executor: events"), of(", executor: events", ", executor: events")]
    {
        let (workload, _) = parse(&text, "test.yaml").unwrap();
        let on_events: Vec<bool> = workload.nodes.iter().map(|node| workload.is_on_events(node)).collect();
        assert_eq!(on_events, [true, true, false], "{text}");
        assert_eq!(parse(&tacho_workload::write(&workload), "test.yaml").unwrap().0, workload);
    }
    let on_rclpy = of("", "").replace("thread: t, ", "").replacen("nodes", "middleware: {rclpy: events}\nnodes", 1);
    assert!(parse(&on_rclpy, "test.yaml").map(|(of, _)| of.is_on_events(&of.nodes[1])).unwrap());
    for (text, name) in [
        (of(", executor: events", ", executor: wait_set"), "split-thread"),
        (of(", executor: events", ", threads: 2"), "order-unsupported"),
        (joining("/t: , /u: ", ", spin: 5 Hz, executor: events"), "order-unsupported"),
        (joining("/t: , /u: ", ", middleware: rclcpp, executor: events"), "order-unsupported"),
        (joining("/t: , /u: ", ", middleware: {rclpy: events}, executor: events"), "order-unsupported"),
        (joining("/t: , /u: ", ", executor: polling"), "wrong-value"),
    ] {
        let found = names(&text);
        assert!(!found.is_empty() && found.iter().all(|of| *of == name), "{text}: {found:?}");
    }
}

#[test]
fn callbacks_that_run_beside_each_other_have_time_beside_each_other() {
    let of = |options: &str| {
        format!(
            "nodes:\n  a: {{publishes: {{/t: {{rate: 100 Hz}}}}}}\n  \
             b: {{thread: x, sleep: 25 ms, subscribes: {{/t: {{{options}}}}}, timers: {{tick: {{rate: 1 Hz}}}}}}\n  \
             c: {{thread: x, threads: THREADS, subscribes: [/t]}}\n"
        )
    };
    for (threads, options, expected) in [
        (4, "group: reentrant", None),
        (2, "group: reentrant", Some("the time between its activations (101 a second, 2 at once)")),
        (4, "", Some("the time between its activations (101 a second)")),
    ] {
        let (_, warnings) = parse(&of(options).replace("THREADS", &threads.to_string()), "test.yaml").unwrap();
        let found: Vec<&str> = warnings.iter().map(|of| of.message.as_str()).collect();
        match expected {
            None => assert!(found.is_empty(), "{found:?}"),
            Some(text) => assert!(found.len() == 1 && found[0].contains(text), "{found:?}"),
        }
    }
}

#[test]
fn groups_are_of_callbacks_that_run_beside_others_and_publish_for_themselves() {
    let of = |subscribes: &str, options: &str| joining(subscribes, &format!(", thread: x, threads: 2{options}"));
    let apart = "/t: {group: slow}, /u: ";
    let good = of(apart, ", publishes: {/x: {from: /t}, /y: {from: /u}, /z: {rate: 5 Hz, group: third}}");
    let (workload, _) = parse(&format!("{good}  c: {{subscribes: [/x, /y, /z]}}\n"), "test.yaml").unwrap();
    assert_eq!(workload.nodes[1].callback_groups().len(), 3);
    assert_eq!(parse(&tacho_workload::write(&workload), "test.yaml").unwrap().0, workload);
    let reentrant = of("/t: {group: reentrant}, /u: {group: reentrant}", ", publishes: [/x]");
    let (workload, _) = parse(&format!("{reentrant}  c: {{subscribes: [/x]}}\n"), "test.yaml").unwrap();
    assert!(workload.nodes[1].is_reentrant());
    for (text, name) in [
        (of(apart, ", publishes: [/x]"), "split-output"),
        (of(apart, ", timers: {tick: {rate: 1 Hz}}, publishes: {/x: {from: [/t, tick]}}"), "split-output"),
        (of(apart, ", publishes: {/x: {from: /t, group: slow}}"), "group-alone"),
        (joining(apart, ", spin: 5 Hz"), "group-alone"),
        (joining(apart, ", on: timer 5 Hz"), "group-alone"),
        (joining(apart, ", on: match exact"), "group-alone"),
        (joining(apart, ", middleware: rclcpp"), "callbacks-unsupported"),
        (of("/t: , /u: ", ""), "threads-of-one"),
        (of("/t: {group: one}, /u: {group: one}", ""), "threads-of-one"),
        (of("/t: {group: reentrant}, /u: ", ", publishes: [/x]"), "split-output"),
        (joining("/t: {group: reentrant}, /u: ", ", threads: 2"), "threads-of-one"),
        (joining("/t: {group: reentrant}, /u: ", ", spin: 5 Hz"), "group-alone"),
    ] {
        assert_eq!(names(&text), [name], "{text}");
    }
}
