//! Rows about actions: their goals.

use crate::row::Row;
use crate::{Execution, Node};
use serde::{Deserialize, Serialize};

/// How a goal ended at its server (action_msgs/GoalStatus).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalOutcome {
    /// It was reached.
    Succeeded,
    /// It was given up, as asked for.
    Canceled,
    /// The server gave it up.
    Aborted,
}

/// A goal of an action. What was not recorded, or did not happen, is absent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// Name of the action; empty where neither its client's nor its server's creation was recorded.
    pub action: String,
    /// The goal's id, 32 hexadecimal digits.
    pub id: String,
    /// Row of [`super::Tables::nodes`] of the client.
    pub client: Option<Row<Node>>,
    /// Row of [`super::Tables::nodes`] of the server.
    pub server: Option<Row<Node>>,
    /// Just before rcl_action_send_goal_request.
    pub sent_ns: Option<i64>,
    /// Its request was taken by the server.
    pub taken_ns: Option<i64>,
    /// Whether the server accepted it.
    pub accepted: Option<bool>,
    /// When it did.
    pub accepted_ns: Option<i64>,
    /// Just before the server's answer, accepted or rejected, was sent.
    pub answered_ns: Option<i64>,
    /// The client took that answer.
    pub response_ns: Option<i64>,
    /// Its execution began, as the server says.
    pub executing_ns: Option<i64>,
    /// Just before the client first asked for its cancellation.
    pub cancel_sent_ns: Option<i64>,
    /// The server agreed to cancel it.
    pub canceling_ns: Option<i64>,
    /// How it ended.
    pub outcome: Option<GoalOutcome>,
    /// When it did, at the server.
    pub ended_ns: Option<i64>,
    /// Just before its result was first sent.
    pub result_sent_ns: Option<i64>,
    /// The client took the result.
    pub result_ns: Option<i64>,
    /// Feedback published; absent where nothing of its server was recorded.
    pub feedback: Option<u64>,
    /// First and last publish call of feedback.
    pub first_feedback_ns: Option<i64>,
    /// See `first_feedback_ns`.
    pub last_feedback_ns: Option<i64>,
    /// Row of [`super::Tables::executions`] that executes it, of a coroutine the first part. In a client library
    /// that does not tell: from the state executing (else accepted) to its end, on the thread that ended it.
    pub execution: Option<Row<Execution>>,
}

/// The action that a hidden service or topic belongs to.
pub fn action_of(name: &str) -> Option<&str> {
    name.rfind("/_action/").map(|at| &name[..at])
}

/// Whether a topic is the feedback of an action.
pub fn is_feedback(topic: &str) -> bool {
    topic.ends_with("/_action/feedback")
}
