//! Callback groups and executors in CARET's events: which callbacks exclude each other, and which threads belong to one
//! executor.

mod written;

use tacho_events::run::RunInfo;
use tacho_events::RunDirectory;
use tacho_import::{import, Reader};
use tacho_tables::row::Row;
use tacho_tables::{CauseKind, Tables};
use written::{preamble, write, Bits};

/// Events, by number: name, numbers (of 64 bits), texts.
const CLASSES: [(&str, &[&str], &[&str]); 20] = [
    ("ros2:rcl_node_init", &["node_handle", "rmw_handle"], &["node_name", "namespace"]),
    (
        "ros2:rcl_subscription_init",
        &["subscription_handle", "node_handle", "rmw_subscription_handle", "queue_depth"],
        &["topic_name"],
    ),
    ("ros2:rclcpp_subscription_init", &["subscription_handle", "subscription"], &[]),
    ("ros2:rclcpp_subscription_callback_added", &["subscription", "callback"], &[]),
    (
        "ros2:rcl_publisher_init",
        &["publisher_handle", "node_handle", "rmw_publisher_handle", "queue_depth"],
        &["topic_name"],
    ),
    ("ros2:rcl_timer_init", &["timer_handle", "period"], &[]),
    ("ros2:rclcpp_timer_callback_added", &["timer_handle", "callback"], &[]),
    ("ros2:rclcpp_timer_link_node", &["timer_handle", "node_handle"], &[]),
    ("ros2:callback_start", &["callback", "is_intra_process"], &[]),
    ("ros2:callback_end", &["callback"], &[]),
    ("ros2:rmw_publish", &["rmw_publisher_handle", "message", "timestamp"], &[]),
    ("ros2:rmw_take", &["rmw_subscription_handle", "message", "source_timestamp", "taken"], &[]),
    (
        "ros2_caret:callback_group_add_subscription",
        &["callback_group_addr", "subscription_handle", "init_timestamp"],
        &[],
    ),
    ("ros2_caret:callback_group_add_timer", &["callback_group_addr", "timer_handle", "init_timestamp"], &[]),
    (
        "ros2_caret:add_callback_group",
        &["executor_addr", "callback_group_addr", "init_timestamp"],
        &["group_type_name"],
    ),
    (
        "ros2_caret:callback_group_to_executor_entity_collector",
        &["entities_collector_addr", "callback_group_addr", "init_timestamp"],
        &["group_type_name"],
    ),
    (
        "ros2_caret:executor_entity_collector_to_executor",
        &["executor_addr", "entities_collector_addr", "init_timestamp"],
        &[],
    ),
    ("ros2_caret:construct_executor", &["executor_addr", "init_timestamp"], &["executor_type_name"]),
    (
        "ros2_caret:add_callback_group_static_executor",
        &["entities_collector_addr", "callback_group_addr", "init_timestamp"],
        &["group_type_name"],
    ),
    (
        "ros2_caret:construct_static_executor",
        &["executor_addr", "entities_collector_addr", "init_timestamp"],
        &["executor_type_name"],
    ),
];

const STREAM: &str = "stream { event.header := struct { u16 id; time_t timestamp; };
    event.context := struct { i32 _vpid; i32 _vtid; }; };\n";
const EXECUTOR: i128 = 0x900;
const COLLECTOR: i128 = 0x980;
const GROUP: i128 = 0xa00;
const MAP: i128 = 0x100;
const MULTI: &str = "multi_threaded_executor";
const EXCLUSIVE: &str = "mutually_exclusive";

/// A trace that grows event by event.
struct Trace {
    bits: Bits,
    time: i128,
    thread: (i128, i128),
}

impl Trace {
    fn event(self, name: &str, words: &[i128], texts: &[&str]) -> Trace {
        let id = CLASSES.iter().position(|(known, ..)| known.ends_with(&format!(":{name}"))).expect(name);
        let (.., texts_wanted) = CLASSES[id];
        assert_eq!((words.len(), texts.len()), (CLASSES[id].1.len(), texts_wanted.len()), "{name}");
        let head = self.bits.put(id as i128, 16).put(self.time, 64).put(self.thread.0, 32).put(self.thread.1, 32);
        let bits = words.iter().fold(head, |bits, word| bits.put(*word, 64));
        Trace { bits: texts.iter().fold(bits, |bits, text| bits.text(text)), ..self }
    }

    fn at(self, thread: (i128, i128), time: i128) -> Trace {
        Trace { time, thread, ..self }
    }

    fn subscription(self, offset: i128, topic: &str) -> Trace {
        self.event("rcl_subscription_init", &[0x30 + offset, 0x10, 0x31 + offset, 10], &[topic])
            .event("rclcpp_subscription_init", &[0x30 + offset, 0x32 + offset], &[])
            .event("rclcpp_subscription_callback_added", &[0x32 + offset, 0x33 + offset], &[])
    }

    fn tables(self) -> Tables {
        let folder = tempfile::tempdir().expect("folder");
        let fields = |of: &[&str], kind: &str| of.iter().map(|field| format!("{kind} _{field}; ")).collect::<String>();
        let described: String = (0..)
            .zip(CLASSES)
            .map(|(id, (name, words, texts))| {
                format!(
                    "event {{ id = {id}; name = \"{name}\"; fields := struct {{ {}{} }}; }};\n",
                    fields(words, "u64"),
                    fields(texts, "string")
                )
            })
            .collect();
        let trace =
            write(&folder.path().join("trace"), &(preamble(false, "", "") + STREAM + &described), &[self.bits.bytes()]);
        let run = RunDirectory::new(folder.path().join("run"));
        import(Reader::open(&[trace]).expect("trace"), &run, RunInfo::default(), &mut |_| true).expect("imported");
        tacho_analysis::analyse(&run, None, &mut |_| {}).expect("analysed")
    }
}

/// A sensor publishes /points, and a filter takes it and /map; `groups` describes the filter's executor.
fn nodes(groups: impl Fn(Trace) -> Trace) -> Trace {
    let sensor = Trace { bits: Bits::new(false), time: 0, thread: (1, 1) }
        .event("rcl_node_init", &[0x10, 0x11], &["sensor", "/"])
        .event("rcl_publisher_init", &[0x20, 0x10, 0x21, 10], &["/points"])
        .event("rcl_timer_init", &[0x40, 1_000], &[])
        .event("rclcpp_timer_callback_added", &[0x40, 0x41], &[])
        .event("rclcpp_timer_link_node", &[0x40, 0x10], &[]);
    let filter = sensor.at((2, 2), 1).event("rcl_node_init", &[0x10, 0x11], &["filter", "/"]);
    groups(filter.subscription(0, "/points").subscription(MAP, "/map"))
}

/// Thread 3 runs /map from 1080 to 1300; a message that was published at 1100 is taken by thread 2, which ran nothing,
/// at 1310.
fn one_runs_and_one_is_free(nodes: Trace) -> Tables {
    nodes
        .at((2, 3), 1_080)
        .event("callback_start", &[0x33 + MAP, 0], &[])
        .at((1, 1), 1_090)
        .event("callback_start", &[0x41, 0], &[])
        .at((1, 1), 1_100)
        .event("rmw_publish", &[0x21, 0x50, 1_100], &[])
        .at((1, 1), 1_110)
        .event("callback_end", &[0x41], &[])
        .at((2, 3), 1_300)
        .event("callback_end", &[0x33 + MAP], &[])
        .at((2, 2), 1_310)
        .event("rmw_take", &[0x31, 0x50, 1_100, 1], &[])
        .event("callback_start", &[0x33, 0], &[])
        .at((2, 2), 1_350)
        .event("callback_end", &[0x33], &[])
        .tables()
}

/// The parts of the filter in the only instance: (kind, by, ns).
fn parts(tables: &Tables) -> Vec<(CauseKind, &str, i64)> {
    let of = tables.causes.iter().filter(|c| c.instance == Some(Row::new(0)) && c.position == 1);
    of.map(|c| (c.kind, c.by.as_str(), c.duration_ns.get().unwrap_or(-1))).collect()
}

/// rclcpp 28 (Jazzy) does this: its events relate groups to an executor's collector.
fn collected(trace: Trace, group_of_map: i128, executor: &str, kind: &str) -> Trace {
    let groups = [GROUP, group_of_map];
    let trace = trace
        .event("executor_entity_collector_to_executor", &[EXECUTOR, COLLECTOR, 1], &[])
        .event("construct_executor", &[EXECUTOR, 1], &[executor])
        .event("callback_group_add_subscription", &[GROUP, 0x30, 1], &[])
        .event("callback_group_add_subscription", &[group_of_map, 0x30 + MAP, 1], &[]);
    groups.iter().fold(trace, |trace, group| {
        trace.event("callback_group_to_executor_entity_collector", &[COLLECTOR, *group, 1], &[kind])
    })
}

#[test]
fn callbacks_of_an_exclusive_group_keep_each_other() {
    let tables = one_runs_and_one_is_free(nodes(|filter| collected(filter, GROUP, MULTI, EXCLUSIVE)));
    let busy = parts(&tables).into_iter().find(|(kind, ..)| *kind == CauseKind::GroupBusy);
    assert_eq!(busy, Some((CauseKind::GroupBusy, "/filter /map", 200)), "{:?}", parts(&tables));
}

#[test]
fn executors_of_humble_and_what_is_said_before_the_callbacks_are_known_are_used_too() {
    let tables = one_runs_and_one_is_free({
        let sensor_and_groups = Trace { bits: Bits::new(false), time: 0, thread: (2, 2) }
            .event("callback_group_add_subscription", &[GROUP, 0x30, 1], &[])
            .event("callback_group_add_subscription", &[GROUP, 0x30 + MAP, 1], &[])
            .event("add_callback_group", &[EXECUTOR, GROUP, 1], &[EXCLUSIVE])
            .event("construct_executor", &[EXECUTOR, 1], &[MULTI]);
        let rest = nodes(|filter| filter);
        Trace { bits: sensor_and_groups.bits.followed_by(rest.bits), ..rest }
    });
    assert!(parts(&tables).contains(&(CauseKind::GroupBusy, "/filter /map", 200)), "{:?}", parts(&tables));
}

#[test]
fn callbacks_of_other_groups_and_of_one_that_is_reentrant_keep_nobody() {
    for (group, kind) in [(GROUP + 1, EXCLUSIVE), (GROUP, "reentrant")] {
        let tables = one_runs_and_one_is_free(nodes(|filter| collected(filter, group, MULTI, kind)));
        let kinds: Vec<CauseKind> = parts(&tables).iter().map(|(kind, ..)| *kind).collect();
        assert_eq!(kinds, [CauseKind::Computation, CauseKind::Transport], "{group:#x} {kind}");
    }
}

#[test]
fn threads_of_one_executor_are_busy_together_and_those_of_two_are_not() {
    // Both threads run until 1300; the message is taken by thread 2, which began last.
    let both_busy = |nodes: Trace| {
        nodes
            .at((2, 3), 1_080)
            .event("callback_start", &[0x33 + MAP, 0], &[])
            .at((2, 2), 1_085)
            .event("callback_start", &[0x33 + 2 * MAP, 0], &[])
            .at((1, 1), 1_090)
            .event("callback_start", &[0x41, 0], &[])
            .at((1, 1), 1_100)
            .event("rmw_publish", &[0x21, 0x50, 1_100], &[])
            .at((1, 1), 1_110)
            .event("callback_end", &[0x41], &[])
            .at((2, 3), 1_200)
            .event("callback_end", &[0x33 + MAP], &[])
            .at((2, 2), 1_300)
            .event("callback_end", &[0x33 + 2 * MAP], &[])
            .at((2, 2), 1_310)
            .event("rmw_take", &[0x31, 0x50, 1_100, 1], &[])
            .event("callback_start", &[0x33, 0], &[])
            .at((2, 2), 1_350)
            .event("callback_end", &[0x33], &[])
            .tables()
    };
    let grouped = |executor: &'static str| {
        move |filter: Trace| {
            collected(filter.subscription(2 * MAP, "/other"), GROUP + 1, executor, EXCLUSIVE)
                .event("callback_group_add_subscription", &[GROUP + 2, 0x30 + 2 * MAP, 1], &[])
                .event("callback_group_to_executor_entity_collector", &[COLLECTOR, GROUP + 2, 1], &[EXCLUSIVE])
        }
    };
    let busy = |tables: &Tables| {
        parts(tables).iter().filter(|(kind, ..)| *kind == CauseKind::ExecutorBusy).map(|(.., ns)| ns).sum::<i64>()
    };
    assert_eq!(busy(&both_busy(nodes(grouped(MULTI)))), 100, "thread 3 was free from 1200 on");
    assert_eq!(busy(&both_busy(nodes(grouped("single_threaded_executor")))), 200, "its own thread was not free");
}

#[test]
fn events_of_groups_are_used_and_not_said_to_be_of_no_use() {
    let folder = tempfile::tempdir().expect("folder");
    let described = "event { id = 12; name = \"ros2_caret:callback_group_add_subscription\";
        fields := struct { u64 callback_group_addr; u64 subscription_handle; u64 init_timestamp; }; };";
    let bytes = (0..2)
        .fold(Bits::new(false), |bits, _| {
            bits.put(12, 16).put(1, 64).put(2, 32).put(2, 32).put(GROUP, 64).put(0x30, 64).put(1, 64)
        })
        .bytes();
    let path = write(folder.path(), &(preamble(false, "", "") + STREAM + described), &[bytes]);
    let mut reader = Reader::open(&[path]).expect("trace");
    let read = std::iter::from_fn(|| reader.next_event()).count();
    // An exact repetition is dropped.
    assert_eq!((read, reader.skipped()["ros2_caret:callback_group_add_subscription"]), (1, 1));
}
