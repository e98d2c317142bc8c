//! Executors of several threads: what a callback waited for, and how the time of each thread divides.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;

use scene::*;
use tacho_events::testing::FileBuilder;
use tacho_tables::row::Row;
use tacho_tables::{CauseKind, Tables};

const MAP: u64 = 0x100;
const GROUP: u64 = 0x900;
const MAP_CALLBACK: u64 = CALLBACK + MAP;
const A_SUBSCRIPTION: u64 = 1;

/// (kind, by, ns) of what the filter's part of the first instance consists of.
fn parts(tables: &Tables) -> Vec<(CauseKind, &str, i64)> {
    let of = tables.causes.iter().filter(|c| c.instance == Some(Row::new(0)) && c.position == 1);
    of.map(|c| (c.kind, c.by.as_str(), c.duration_ns.get().unwrap_or(-1))).collect()
}

fn nodes() -> FileBuilder {
    FileBuilder::new()
        .node(1, "sensor")
        .publisher("/points")
        .timer(1_000)
        .node(2, "filter")
        .subscription("/points")
        .another_subscription(MAP, "/map")
        .timer(5_000)
}

trait Threads {
    fn waits(self, thread: u32, from: i64, to: i64) -> Self;
    fn runs(self, callback: u64, from: i64, to: i64) -> Self;
    /// Threads 2 and 3 of the filter are one executor's: each ran the same callback, and they wait in turn.
    fn two_threads(self) -> Self;
    fn grouped(self) -> Self;
    /// Published at 1100, there at 1130.
    fn points(self) -> Self;
}

impl Threads for FileBuilder {
    fn waits(self, thread: u32, from: i64, to: i64) -> Self {
        self.process(2)
            .thread(thread)
            .at(from)
            .rclcpp_executor_wait_for_work(-1)
            .at(to)
            .rclcpp_executor_get_next_ready()
    }

    fn runs(self, callback: u64, from: i64, to: i64) -> Self {
        self.at(from).callback_start(callback, false).at(to).callback_end(callback)
    }

    fn two_threads(self) -> Self {
        self.waits(2, 10, 20).runs(MAP_CALLBACK, 21, 22).waits(3, 23, 30).runs(MAP_CALLBACK, 31, 32)
    }

    fn grouped(self) -> Self {
        self.process(2).rclcpp_callback_group_add(GROUP, OBJECT, A_SUBSCRIPTION, true).rclcpp_callback_group_add(
            GROUP,
            OBJECT + MAP,
            A_SUBSCRIPTION,
            true,
        )
    }

    fn points(self) -> Self {
        self.process(1)
            .at(1_000)
            .start_timer()
            .at(1_100)
            .publish(1)
            .at(1_150)
            .end_timer()
            .process(2)
            .thread(22)
            .at(1_130)
            .node_data_available(SUBSCRIPTION)
    }
}

/// Thread 3 runs /map until 1300, thread 2 is free all the time and takes the message at 1310.
fn one_runs_and_one_is_free(nodes: FileBuilder) -> Tables {
    tables(
        &nodes
            .two_threads()
            .points()
            .waits(3, 1_000, 1_090)
            .runs(MAP_CALLBACK, 1_100, 1_300)
            .waits(2, 1_095, 1_140)
            .waits(2, 1_145, 1_305)
            .at(1_310)
            .start_taking(1)
            .at(1_350)
            .end_taking(),
    )
}

#[test]
fn a_callback_that_waits_for_its_group_names_the_one_that_runs() {
    assert_eq!(
        parts(&one_runs_and_one_is_free(nodes().grouped())),
        [
            (CauseKind::Computation, "/filter /points Listener::take", 40),
            (CauseKind::Transport, "/points", 30),
            (CauseKind::WakeUp, "/filter", 10),
            (CauseKind::GroupBusy, "/filter /map Listener::take", 170),
        ]
    );
}

#[test]
fn without_events_of_groups_it_is_said_that_the_cause_is_not_known() {
    assert_eq!(
        parts(&one_runs_and_one_is_free(nodes())),
        [
            (CauseKind::Computation, "/filter /points Listener::take", 40),
            (CauseKind::Transport, "/points", 30),
            (CauseKind::WakeUp, "/filter, or of its callback group (which callbacks share one is not recorded)", 180),
        ]
    );
}

/// rclpy: thread 4 waits, and gives callbacks to threads 2 and 3, which do not.
#[test]
fn threads_of_a_pool_are_those_of_the_executor_that_waits() {
    let pool = |nodes: FileBuilder, rclpy: bool| {
        let nodes = if rclpy { nodes.process(2).rclpy_callbacks("") } else { nodes };
        let taken = nodes
            .waits(4, 10, 20)
            .thread(2)
            .runs(MAP_CALLBACK, 21, 22)
            .thread(3)
            .runs(MAP_CALLBACK, 31, 32)
            .points()
            .thread(3)
            .runs(MAP_CALLBACK, 1_100, 1_300)
            .waits(4, 1_095, 1_305)
            .thread(2)
            .at(1_310)
            .start_taking(1)
            .at(1_350)
            .end_taking();
        tables(&taken)
    };
    let busy = (CauseKind::GroupBusy, "/filter /map Listener::take", 170);
    assert!(parts(&pool(nodes().grouped(), true)).contains(&busy));
    assert!(!parts(&pool(nodes(), true)).iter().any(|(kind, ..)| *kind == CauseKind::GroupBusy));
    assert!(!parts(&pool(nodes().grouped(), false)).contains(&busy), "not of rclpy: no pool");
    // Two executors of several threads: which of them has which threads is not known.
    let two = pool(nodes().grouped().waits(5, 40, 50), true);
    assert!(!parts(&two).contains(&busy));
}

#[test]
fn a_callback_in_a_group_of_its_own_was_not_woken() {
    let nodes = nodes()
        .process(2)
        .rclcpp_callback_group_add(GROUP, OBJECT, A_SUBSCRIPTION, true)
        .rclcpp_callback_group_add(GROUP + 1, OBJECT + MAP, A_SUBSCRIPTION, true);
    assert_eq!(parts(&one_runs_and_one_is_free(nodes))[2..], [(CauseKind::WakeUp, "/filter", 180)]);
}

#[test]
fn callbacks_that_keep_all_threads_are_named_together() {
    let tables = tables(
        &nodes()
            .two_threads()
            .points()
            .waits(2, 1_000, 1_090)
            .runs(MAP_CALLBACK, 1_100, 1_300)
            .waits(3, 1_095, 1_110)
            .runs(TIMER_CALLBACK, 1_140, 1_250)
            .at(1_260)
            .start_taking(1)
            .at(1_350)
            .end_taking(),
    );
    assert_eq!(
        parts(&tables),
        [
            (CauseKind::Computation, "/filter /points Listener::take", 90),
            (CauseKind::Transport, "/points", 30),
            (CauseKind::WakeUp, "/filter, or of its callback group (which callbacks share one is not recorded)", 20),
            (
                CauseKind::ExecutorBusy,
                "/filter /map Listener::take, /filter timer 0.005 ms Talker::tick (all 2 threads)",
                110
            ),
        ]
    );
}

#[test]
fn a_node_that_one_thread_spun_before_another_is_on_one_thread() {
    let tables = tables(
        &nodes()
            .points()
            .waits(2, 10, 20)
            .runs(MAP_CALLBACK, 21, 22)
            .waits(3, 40, 50)
            .runs(MAP_CALLBACK, 1_120, 1_300)
            .at(1_310)
            .start_taking(1)
            .at(1_350)
            .end_taking(),
    );
    assert_eq!(
        parts(&tables)[2..],
        [(CauseKind::WakeUp, "/filter", 10), (CauseKind::ExecutorBusy, "/filter /map Listener::take", 170)]
    );
}

#[test]
fn a_thread_that_stands_by_while_another_waits_is_waiting() {
    // Thread 2 ends its callback at 22 and gets its turn at 500.
    let tables = tables(
        &nodes()
            .two_threads()
            .process(2)
            .thread(2)
            .at(500)
            .rclcpp_executor_get_next_ready()
            .runs(MAP_CALLBACK, 510, 520)
            .waits(2, 520, 530)
            .waits(3, 100, 490)
            .runs(MAP_CALLBACK, 495, 505),
    );
    let second = tables.executors.iter().find(|row| row.tid == 2).expect("thread 2");
    assert_eq!((second.from_ns, second.to_ns, second.executing_ns), (0, 530, 11));
    assert_eq!(second.waiting_ns, Some(10 + 478 + 10));
}

#[test]
fn a_response_ends_where_the_executor_says_so() {
    let tables = tables(
        &FileBuilder::new()
            .node(2, "client")
            .rmw_client_init(7, [1, 2])
            .rcl_client_init(8, NODE, 7, "/ask")
            .waits(2, 10, 20)
            .at(30)
            .rclcpp_executor_execute(8)
            .rclcpp_client_execute()
            .at(32)
            .rmw_take_response(7, MESSAGE, 1, 25, true)
            .at(90)
            .rclcpp_executed()
            .at(900)
            .rclcpp_executor_get_next_ready(),
    );
    let [response] = &tables.executions[..] else { panic!("{:?}", tables.executions) };
    assert_eq!((response.start_ns, response.end_ns.get()), (32, Some(90)));
}

#[test]
fn a_response_of_an_action_is_taken_before_an_executor_that_tells_nothing_else_turns_to_it() {
    let client = |b: FileBuilder| {
        b.node(2, "client").rmw_client_init(7, [1, 2]).rcl_client_init(8, NODE, 7, "/count/_action/send_goal")
    };
    let response = |b: FileBuilder, at| {
        b.at(at).rmw_take_response(7, MESSAGE, 1, 25, true).rcl_action_response(9, 0, [0, 0], 1, 1, 0)
    };
    // The first is of a thread that handles nothing; what it does later belongs to no response.
    let tables = tables(
        &response(client(FileBuilder::new()), 10)
            .at(20)
            .rcl_publish(0x50, MESSAGE)
            .at(30)
            .rclcpp_client_execute()
            .at(31)
            .rclcpp_executed()
            .with(|b| response(b, 40))
            .at(42)
            .rclcpp_client_execute()
            .at(90)
            .rclcpp_executed()
            .thread(3)
            .with(|b| response(b, 50))
            .at(52)
            .rclcpp_client_execute()
            .at(95)
            .rclcpp_executed(),
    );
    let handled: Vec<_> = tables.executions.iter().map(|e| (e.tid, e.start_ns, e.end_ns.get())).collect();
    assert_eq!(handled, [(2, 40, Some(90)), (3, 50, Some(95))]);
}

#[test]
fn time_in_which_two_threads_of_an_executor_waited_at_once_counts_once() {
    // 2 and 3 ran the same callback, and so did 3 and 4, in turn; 2 and 4 wait at once, and when the message is there
    // is not recorded.
    let tables = tables(
        &nodes()
            .two_threads()
            .waits(3, 33, 34)
            .runs(TIMER_CALLBACK, 35, 36)
            .waits(4, 40, 50)
            .runs(TIMER_CALLBACK, 51, 52)
            .waits(3, 60, 61)
            .process(1)
            .at(1_000)
            .start_timer()
            .at(1_100)
            .publish(1)
            .at(1_150)
            .end_timer()
            .waits(4, 1_110, 1_190)
            .waits(2, 1_105, 1_120)
            .waits(2, 1_130, 1_200)
            .at(1_210)
            .start_taking(1)
            .at(1_250)
            .end_taking(),
    );
    let [instance] = &tables.instances[..] else { panic!("{:?}", tables.instances) };
    assert_eq!((instance.transport_ns, instance.queueing_ns, instance.alignment_ns.get()), (95, 0, Some(15)));
}

/// Cases of `single-threaded-bottleneck`.
fn bottlenecks(tables: &Tables) -> Vec<tacho_tables::summary::FindingCase> {
    let repeat = tacho_figures::Repeat { tables, options: tacho_analysis::Options::default(), info: None };
    let findings = tacho_figures::summarise(&[repeat], None).findings.expect("lints ran");
    findings.into_iter().filter(|f| f.lint == "single-threaded-bottleneck").flat_map(|f| f.cases).collect()
}

const LOG: u64 = 0x200;
const LOG_CALLBACK: u64 = CALLBACK + LOG;

/// Two threads of one executor, each `busy` of every 100 in a callback, which they swap each time. At once, or in turn.
fn two_threads_of(callbacks: &[u64], busy: i64, in_turn: bool) -> Tables {
    let b = nodes().process(2).another_subscription(LOG, "/log").two_threads();
    let later = if in_turn { busy } else { 0 };
    let b = (0..40).fold(b, |b, k| {
        let (at, of) = (110 + 100 * k, |thread: i64| callbacks[(k + thread) as usize % callbacks.len()]);
        let b = b.waits(2, at - 6, at - 5).at(at).callback_start(of(0), false);
        let b = if in_turn { b.at(at + busy).callback_end(of(0)) } else { b };
        let b = b
            .waits(3, at - 4 + later, at - 3 + later)
            .at(at + later)
            .callback_start(of(1), false)
            .at(at + later + busy)
            .callback_end(of(1));
        if in_turn {
            b
        } else {
            b.process(2).thread(2).at(at + busy).callback_end(of(0))
        }
    });
    tables(&b)
}

#[test]
fn a_full_executor_of_several_threads_is_one_case_and_advises_no_group() {
    let full = two_threads_of(&[CALLBACK, MAP_CALLBACK, LOG_CALLBACK], 90, false);
    assert_eq!(
        full.executors.iter().filter_map(|row| row.executor.zip(row.executor_threads)).collect::<Vec<_>>(),
        [(0, 2); 2]
    );
    let found = bottlenecks(&full);
    assert_eq!(found.iter().map(|case| case.subject.as_str()).collect::<Vec<_>>(), ["process 2 threads 2, 3"]);
    assert!(found[0].evidence.contains("of 2 threads together inside 3 callbacks"), "{:?}", found[0]);
    assert!(found[0].next.starts_with("more threads than 2") && !found[0].next.contains("group"), "{:?}", found[0]);
}

#[test]
fn a_thread_for_each_callback_is_no_bottleneck_however_full() {
    assert_eq!(bottlenecks(&two_threads_of(&[CALLBACK, MAP_CALLBACK], 90, false)), []);
}

#[test]
fn threads_whose_callbacks_never_run_at_once_are_told_that_these_share_a_group() {
    let found = bottlenecks(&two_threads_of(&[CALLBACK, MAP_CALLBACK, LOG_CALLBACK], 45, true));
    assert_eq!(found.len(), 1);
    assert!(found[0].evidence.contains("on 2 threads, never two at once"), "{:?}", found[0]);
    assert!(found[0].next.contains("in a callback group of its own"), "{:?}", found[0]);
}
