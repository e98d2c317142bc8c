//! Goals of actions, to the nanosecond: what became of them, and the chain through one that a thread without callbacks
//! works on.

#[path = "../../analysis/tests/scene/mod.rs"]
mod scene;

use scene::*;
use tacho_events::run::{EventGap, RunInfo};
use tacho_events::testing::FileBuilder;
use tacho_tables::row::Row;
use tacho_tables::{CallbackKind, GoalOutcome, Node, Tables};

const CLIENT: u64 = 0x60;
const SERVER: u64 = 0x70;
const SEND_GOAL: u64 = 1;
const CANCEL_GOAL: u64 = 2;
const GET_RESULT: u64 = 3;
const GID: [u64; 2] = [7, 8];
const ITSELF: [u64; 2] = [0, 0];
const FIRST: [u64; 2] = [0x0807_0605_0403_0201, 1];
const SECOND: [u64; 2] = [2, 2];
const THIRD: [u64; 2] = [3, 3];

/// asker, which sends goals from a timer and publishes /done with each result; counter; sink.
fn system() -> FileBuilder {
    FileBuilder::new()
        .node(2, "asker")
        .publisher("/done")
        .timer(1_000)
        .rcl_client_init(CLIENT + 8, NODE, CLIENT + 9, "/count/_action/get_result")
        .rcl_action_init(CLIENT)
        .node(3, "counter")
        .rcl_service_init(SERVER + 8, NODE, SERVER + 9, "/count/_action/get_result")
        .rcl_action_init(SERVER)
        .node(4, "sink")
        .subscription("/done")
}

/// Sent by the timer, accepted, worked on by a thread of its own, which publishes nothing, and ended.
fn reached() -> FileBuilder {
    system()
        .process(2)
        .at(1_000)
        .start_timer()
        .at(1_030)
        .rcl_action_request(CLIENT, SEND_GOAL, ITSELF, 1, FIRST, 10)
        .at(1_040)
        .end_timer()
        .process(3)
        .at(1_100)
        .rcl_action_request(SERVER, SEND_GOAL, GID, 1, FIRST, 0)
        .rcl_action_goal_state(FIRST, 1)
        .at(1_120)
        .rcl_action_response(SERVER, SEND_GOAL, GID, 1, 1, 5)
        .process(2)
        .at(1_160)
        .rcl_action_response(CLIENT, SEND_GOAL, ITSELF, 1, 1, 0)
        .at(1_170)
        .rcl_action_request(CLIENT, GET_RESULT, ITSELF, 5, FIRST, 3)
        .process(3)
        .at(1_180)
        .rcl_action_request(SERVER, GET_RESULT, GID, 5, FIRST, 0)
        .thread(31)
        .at(1_200)
        .rcl_action_goal_state(FIRST, 2)
        .at(1_700)
        .rcl_action_goal_state(FIRST, 4)
        .at(1_720)
        .rcl_action_response(SERVER, GET_RESULT, GID, 5, 4, 10)
        .process(2)
        .at(1_800)
        .rclcpp_executor_get_next_ready()
        .rcl_action_response(CLIENT, GET_RESULT, ITSELF, 5, 4, 0)
        .rclpy_action_callback(FIRST, 7)
        .callback_start(0x99, false)
        .at(1_850)
        .publish(1)
        .at(1_860)
        .callback_end(0x99)
        .process(4)
        .at(1_900)
        .start_taking(1)
        .at(1_950)
        .end_taking()
}

fn goal(tables: &Tables, row: usize) -> &tacho_tables::Goal {
    &tables.goals[row]
}

#[test]
fn a_goal_has_all_of_its_times_each_send_from_before_its_call() {
    let tables = tables(&reached());
    assert_eq!(tables.goals.len(), 1);
    let goal = goal(&tables, 0);
    assert_eq!((goal.action.as_str(), goal.id.as_str()), ("/count", "01020304050607080100000000000000"));
    let node = |row: Option<Row<Node>>| row.map(|row| tables.nodes[row].name.as_str());
    assert_eq!((node(goal.client), node(goal.server)), (Some("/asker"), Some("/counter")));
    assert_eq!(
        (goal.sent_ns, goal.taken_ns, goal.accepted, goal.accepted_ns),
        (Some(1_020), Some(1_100), Some(true), Some(1_100))
    );
    assert_eq!((goal.answered_ns, goal.response_ns, goal.executing_ns), (Some(1_115), Some(1_160), Some(1_200)));
    assert_eq!(
        (goal.outcome, goal.ended_ns, goal.result_sent_ns, goal.result_ns),
        (Some(GoalOutcome::Succeeded), Some(1_700), Some(1_710), Some(1_800))
    );
    assert_eq!((goal.cancel_sent_ns, goal.canceling_ns, goal.feedback), (None, None, Some(0)));
}

#[test]
fn feedback_has_no_rate_where_some_of_it_may_be_lost() {
    let mut tables = tables(&reached());
    let goal = &mut tables.goals[0];
    (goal.feedback, goal.first_feedback_ns, goal.last_feedback_ns) =
        (Some(5), Some(1_000_000_000), Some(3_000_000_000));
    let rate = |tables: &Tables, gap: Option<(i64, i64)>| {
        let gaps = gap.map(|(from_ns, to_ns)| EventGap { from_ns, to_ns, ..EventGap::default() });
        let info = RunInfo { gaps: gaps.into_iter().collect(), ..RunInfo::default() };
        let summary = tacho_figures::summarise(
            &[tacho_figures::Repeat { tables, options: Default::default(), info: Some(&info) }],
            None,
        );
        (summary.actions[0].feedback, summary.actions[0].feedback_rate_hz)
    };
    assert_eq!(rate(&tables, None), (Some(5), Some(2.0)));
    assert_eq!(rate(&tables, Some((3_500_000_000, 4_000_000_000))), (Some(5), Some(2.0)));
    assert_eq!(rate(&tables, Some((2_000_000_000, 2_500_000_000))), (Some(5), None));
    tables.processes.iter_mut().for_each(|process| process.dropped_events = 1);
    assert_eq!(rate(&tables, None), (Some(5), None));
}

#[test]
fn feedback_of_a_server_that_was_not_recorded_is_not_told() {
    let tables = tables(
        &FileBuilder::new()
            .node(2, "asker")
            .rcl_client_init(CLIENT + 8, NODE, CLIENT + 9, "/count/_action/get_result")
            .rcl_action_init(CLIENT)
            .at(1_030)
            .rcl_action_request(CLIENT, SEND_GOAL, ITSELF, 1, FIRST, 10)
            .at(1_160)
            .rcl_action_response(CLIENT, SEND_GOAL, ITSELF, 1, 1, 0),
    );
    let goal = goal(&tables, 0);
    assert_eq!((goal.accepted, goal.feedback), (Some(true), None));
    let summary = tacho_figures::summarise(
        &[tacho_figures::Repeat { tables: &tables, options: Default::default(), info: None }],
        None,
    );
    let [figures] = &summary.actions[..] else { panic!("one action") };
    assert_eq!((figures.sent, figures.accepted, figures.feedback, figures.feedback_received), (Some(1), 1, None, None));
}

#[test]
fn feedback_that_a_subscription_takes_like_any_other_message_is_handed_to_its_callback() {
    let tables = tables(
        &FileBuilder::new()
            .node(1, "counter")
            .publisher("/count/_action/feedback")
            .timer(1_000)
            .node(2, "display")
            .subscription("/count/_action/feedback")
            .process(1)
            .at(1_000)
            .start_timer()
            .at(1_010)
            .publish(1)
            .at(1_020)
            .end_timer()
            .process(2)
            .at(1_030)
            .start_taking(1)
            .at(1_090)
            .end_taking(),
    );
    assert_eq!(
        tables.messages.iter().map(|m| (m.publish_ns.get(), m.callback_ns.get())).collect::<Vec<_>>(),
        [(Some(1_010), Some(1_030))]
    );
}

#[test]
fn a_chain_runs_out_with_the_goal_and_back_with_its_result() {
    let tables = tables(&reached());
    let path = ["/asker", "/count goal", "/counter", "/count result", "/asker", "/done", "/sink"];
    let chain =
        tables.chains.iter().position(|c| c.path == path).unwrap_or_else(|| panic!("{:?}", tables.chains)) as u32;
    let (row, instance) =
        tables.instances.iter().enumerate().find(|(_, i)| i.chain.number() == chain).expect("an instance");
    assert_eq!((instance.start_ns, instance.end_ns), (1_000, 1_950));
    assert_eq!(instance.parts().whole_ns(), 950);
    let hops: Vec<_> = tables
        .hops
        .iter()
        .filter(|h| h.instance.number() == row as u32)
        .map(|h| (h.published_ns.get(), h.start_ns, h.output_ns))
        .collect();
    assert_eq!(
        hops,
        [(None, 1_000, 1_020), (Some(1_020), 1_200, 1_710), (Some(1_710), 1_800, 1_850), (Some(1_850), 1_900, 1_950)]
    );
    // Executed by no callback: from the state executing to the end, on the thread that ended it.
    let execution = &tables.executions[goal(&tables, 0).execution.expect("an execution")];
    assert_eq!((execution.tid, execution.start_ns), (31, 1_200));
    assert_eq!((execution.end_ns.get(), execution.cpu_ns.get()), (Some(1_700), None));
    let callback = &tables.callbacks[execution.callback];
    assert_eq!((callback.kind, callback.topic.as_deref()), (CallbackKind::Action, Some("/count execution")));
    let result = tables.callbacks.iter().find(|c| c.address == 0x99).expect("the callback of the result");
    assert_eq!((result.kind, result.topic.as_deref()), (CallbackKind::Action, Some("/count result")));
}

#[test]
fn rejected_canceled_and_unfinished_goals_are_told_apart() {
    let tables = tables(
        &system()
            .process(2)
            .at(1_000)
            .rcl_action_request(CLIENT, SEND_GOAL, ITSELF, 1, FIRST, 0)
            .rcl_action_request(CLIENT, SEND_GOAL, ITSELF, 2, SECOND, 0)
            .rcl_action_request(CLIENT, SEND_GOAL, ITSELF, 3, THIRD, 0)
            .process(3)
            .at(1_100)
            .rcl_action_request(SERVER, SEND_GOAL, GID, 1, FIRST, 0)
            .rcl_action_response(SERVER, SEND_GOAL, GID, 1, 0, 0)
            .rcl_action_request(SERVER, SEND_GOAL, GID, 2, SECOND, 0)
            .rcl_action_goal_state(SECOND, 1)
            .rcl_action_response(SERVER, SEND_GOAL, GID, 2, 1, 0)
            .rcl_action_request(SERVER, SEND_GOAL, GID, 3, THIRD, 0)
            .rcl_action_goal_state(THIRD, 1)
            .rcl_action_response(SERVER, SEND_GOAL, GID, 3, 1, 0)
            .process(2)
            .at(1_300)
            .rcl_action_request(CLIENT, CANCEL_GOAL, ITSELF, 1, SECOND, 20)
            .rcl_action_request(CLIENT, CANCEL_GOAL, ITSELF, 2, ITSELF, 0)
            .process(3)
            .at(1_400)
            .rcl_action_request(SERVER, CANCEL_GOAL, GID, 1, SECOND, 0)
            .rcl_action_goal_state(SECOND, 3)
            .at(1_450)
            .rcl_action_goal_state(SECOND, 5),
    );
    // A cancellation of all goals is of none.
    let told: Vec<_> =
        tables.goals.iter().map(|g| (g.accepted, g.outcome, g.cancel_sent_ns, g.canceling_ns, g.ended_ns)).collect();
    assert_eq!(
        told,
        [
            (Some(false), None, None, None, None),
            (Some(true), Some(GoalOutcome::Canceled), Some(1_280), Some(1_400), Some(1_450)),
            (Some(true), None, None, None, None),
        ]
    );
}
