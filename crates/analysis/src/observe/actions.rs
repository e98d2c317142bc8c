//! Goals of actions. An action is three services and two topics (design.ros2.org, "Actions"); what ties them is the
//! goal's id, which the recorder reads where rcl_action hands it on. Of a trace without these events (ros2_tracing has
//! none) the services are reported as services.

use crate::observe::{PublicationSeen, Seen};
use crate::Options;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use tacho_events::{Gid, Handle, Payload, Texts};
use tacho_tables::row::{self, Row};
use tacho_tables::{action_of, Callback, CallbackKind, Execution, Goal, GoalOutcome, MaybeNs, Node, Process};

/// Services of an action, as enum tacho_action_service of events.h.
const SEND_GOAL: u64 = 1;
const CANCEL_GOAL: u64 = 2;
const GET_RESULT: u64 = 3;

/// What a callback of an action is for, as enum tacho_action_role of events.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    Goal,
    Accepted,
    Execution,
    Cancel,
    GoalResponse,
    Feedback,
    Result,
    CancelResponse,
}

impl Role {
    pub fn of(number: u64) -> Option<Role> {
        use Role::*;
        [Goal, Accepted, Execution, Cancel, GoalResponse, Feedback, Result, CancelResponse]
            .get(number.checked_sub(1)? as usize)
            .copied()
    }

    fn words(self) -> &'static str {
        match self {
            Role::Goal => "goal",
            Role::Accepted => "accepted",
            Role::Execution => "execution",
            Role::Cancel => "cancel",
            Role::GoalResponse => "goal response",
            Role::Feedback => "feedback",
            Role::Result => "result",
            Role::CancelResponse => "cancel response",
        }
    }

    fn is_of_server(self) -> bool {
        matches!(self, Role::Goal | Role::Accepted | Role::Execution | Role::Cancel)
    }
}

/// A client or server of an action.
#[derive(Clone)]
struct End {
    action: String,
    node: Option<Row<Node>>,
}

/// Where an event happens.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub process: Row<Process>,
    pub stream: usize,
    pub tid: u32,
    pub now: i64,
    /// Execution that the thread is inside of.
    pub running: Option<Row<Execution>>,
}

/// A goal, and where its ends belong to.
pub(crate) struct GoalSeen {
    pub row: Goal,
    /// Sent the goal.
    pub sent_in: Option<Row<Execution>>,
    /// Decided on the goal.
    pub decided_in: Option<Row<Execution>>,
    /// Ended it: execution, stream, thread.
    pub ended_in: Option<(Option<Row<Execution>>, usize, u32)>,
    /// Took the result.
    pub result_taken_in: Option<Row<Execution>>,
    /// Feedback that no callback published.
    feedback: Vec<Row<PublicationSeen>>,
}

/// Goals so far.
#[derive(Default)]
pub(crate) struct Actions {
    /// Action and node of the service or client of it that a thread made last.
    made: HashMap<usize, End>,
    ends: HashMap<(Row<Process>, Handle), End>,
    goals: Vec<GoalSeen>,
    by_id: HashMap<Gid, usize>,
    /// Goal of each request: process, action handle, service, client, sequence number.
    requests: HashMap<(Row<Process>, Handle, u64, Gid, i64), usize>,
    /// Goal whose request a thread took last.
    taken: HashMap<usize, usize>,
    /// Goal whose result was the response that a thread took last.
    result_taken: HashMap<usize, usize>,
    /// Callbacks by node, action and role, where no client library has any.
    untold: HashMap<(Row<Node>, String), Row<Callback>>,
}

impl Actions {
    /// Takes an event; those of no action change nothing.
    pub fn push(&mut self, at: At, payload: &Payload, texts: &Texts, node: impl Fn(Handle) -> Option<Row<Node>>) {
        match *payload {
            Payload::RclClientInit { node: of, name, .. } | Payload::RclServiceInit { node: of, name, .. } => {
                if let Some(action) = action_of(texts.get(name)) {
                    self.made.insert(at.stream, End { action: action.to_string(), node: node(of) });
                }
            }
            Payload::RclActionInit { action } => {
                if let Some(end) = self.made.get(&at.stream) {
                    self.ends.insert((at.process, action), end.clone());
                }
            }
            Payload::RclActionRequest { action, service, client, sequence, goal, took_ns } => {
                self.request(at, (action, service, client, sequence), goal, at.now - took_ns);
            }
            Payload::RclActionResponse { action, service, client, sequence, says, took_ns } => {
                if let Some(goal) = self.requests.remove(&(at.process, action, service, client, sequence)) {
                    self.response(at, goal, service, client == Gid::default(), says, at.now - took_ns);
                }
            }
            Payload::RclActionGoalState { goal, status } => self.state(at, goal, status),
            _ => {}
        }
    }

    fn request(&mut self, at: At, key: (Handle, u64, Gid, i64), goal: Gid, sent_ns: i64) {
        // Of no goal: a cancellation of all of them.
        if goal == Gid::default() {
            return;
        }
        let (action, service, client, sequence) = key;
        let index = self.goal(goal);
        self.requests.insert((at.process, action, service, client, sequence), index);
        let end = self.ends.get(&(at.process, action));
        let of = &mut self.goals[index];
        let sends = client == Gid::default();
        if let Some(End { action, node }) = end {
            of.row.action.clone_from(action);
            let side = if sends { &mut of.row.client } else { &mut of.row.server };
            *side = side.or(*node);
        }
        match (service, sends) {
            (SEND_GOAL, true) => (of.row.sent_ns, of.sent_in) = (Some(sent_ns), at.running),
            (SEND_GOAL, false) => {
                of.row.taken_ns = of.row.taken_ns.or(Some(at.now));
                of.row.feedback.get_or_insert(0);
                self.taken.insert(at.stream, index);
            }
            (CANCEL_GOAL, true) => of.row.cancel_sent_ns = of.row.cancel_sent_ns.or(Some(sent_ns)),
            _ => {}
        }
    }

    fn response(&mut self, at: At, goal: usize, service: u64, takes: bool, says: i64, sent_ns: i64) {
        self.result_taken.remove(&at.stream);
        let GoalSeen { row, result_taken_in, .. } = &mut self.goals[goal];
        match (service, takes) {
            (SEND_GOAL, false) => {
                (row.accepted, row.answered_ns) = (Some(says != 0), row.answered_ns.or(Some(sent_ns)))
            }
            (SEND_GOAL, true) => (row.accepted, row.response_ns) = (Some(says != 0), row.response_ns.or(Some(at.now))),
            (GET_RESULT, _) => {
                let Some(outcome) = outcome(says) else { return };
                row.outcome = Some(outcome);
                if takes {
                    *result_taken_in = at.running;
                    self.result_taken.insert(at.stream, goal);
                }
                let (time, now) = if takes { (&mut row.result_ns, at.now) } else { (&mut row.result_sent_ns, sent_ns) };
                *time = time.or(Some(now));
            }
            _ => {}
        }
    }

    /// An execution begins that handles the response which a thread took just now.
    pub fn handles_response(&mut self, stream: usize, execution: Row<Execution>) {
        if let Some(goal) = self.result_taken.remove(&stream) {
            self.goals[goal].result_taken_in = Some(execution);
        }
    }

    fn state(&mut self, at: At, goal: Gid, status: i64) {
        let index = self.goal(goal);
        let of = &mut self.goals[index];
        of.row.feedback.get_or_insert(0);
        match status {
            1 => (of.row.accepted, of.row.accepted_ns) = (Some(true), Some(at.now)),
            2 => of.row.executing_ns = Some(at.now),
            3 => of.row.canceling_ns = Some(at.now),
            _ => {
                if let Some(outcome) = outcome(status) {
                    (of.row.outcome, of.row.ended_ns) = (Some(outcome), Some(at.now));
                    of.ended_in = Some((at.running, at.stream, at.tid));
                }
            }
        }
    }

    /// A thread published this as feedback on a goal.
    pub fn feedback(&mut self, goal: Gid, publication: Row<PublicationSeen>, seen: &Seen) {
        let index = self.goal(goal);
        let (of, published) = (&mut self.goals[index], &seen.publications[publication]);
        *of.row.feedback.get_or_insert(0) += 1;
        of.row.first_feedback_ns = of.row.first_feedback_ns.or(Some(published.time));
        of.row.last_feedback_ns = Some(published.time);
        if published.execution.is_none() {
            of.feedback.push(publication);
        }
    }

    /// A callback starts for a goal. `whole`: it is not the later part of a coroutine, which does more than that.
    pub fn started(
        &mut self,
        at: At,
        goal: Gid,
        role: Role,
        execution: Row<Execution>,
        whole: bool,
        callback: &mut Callback,
    ) {
        let known = if role == Role::Goal { self.taken.remove(&at.stream) } else { self.by_id.get(&goal).copied() };
        let Some(of) = known.map(|index| &mut self.goals[index]) else { return };
        match role {
            Role::Goal => of.decided_in = Some(execution),
            Role::Execution => of.row.execution = of.row.execution.or(Some(execution)),
            Role::Result => of.result_taken_in = Some(execution),
            _ => {}
        }
        if whole && matches!(callback.kind, CallbackKind::Unknown | CallbackKind::Action) && !of.row.action.is_empty() {
            callback.kind = CallbackKind::Action;
            callback.node = if role.is_of_server() { of.row.server } else { of.row.client };
            callback.topic = Some(format!("{} {}", of.row.action, role.words()));
        }
    }

    /// Names what other ends tell of an action, gives goals that no callback executes an execution of their own, and
    /// their feedback too.
    pub fn complete(&mut self, seen: &mut Seen) {
        for of in &mut self.goals {
            let row = &mut of.row;
            if let (None, Some(from), Some(to), Some((_, stream, tid)), Some(server)) =
                (row.execution, row.executing_ns.or(row.accepted_ns), row.ended_ns, of.ended_in, row.server)
            {
                let topic = format!("{} {}", row.action, Role::Execution.words());
                let callback = *self.untold.entry((server, topic.clone())).or_insert_with(|| {
                    let process = seen.nodes[server].process;
                    let new = Callback {
                        node: Some(server),
                        topic: Some(topic),
                        ..Callback::new(process, 0, CallbackKind::Action)
                    };
                    row::add(&mut seen.callbacks, new)
                });
                row.execution = Some(seen.executions.add(Execution {
                    callback,
                    tid,
                    queued_ns: MaybeNs::NONE,
                    start_ns: from,
                    end_ns: to.into(),
                    cpu_ns: MaybeNs::NONE,
                    runnable_ns: MaybeNs::NONE,
                    executor_cpu_ns: MaybeNs::NONE,
                    executor_runnable_ns: MaybeNs::NONE,
                    resumes: None,
                }));
                seen.execution_stream.push(stream as u32);
            }
            if row.execution.is_some() {
                of.feedback.iter().for_each(|publication| seen.publications[*publication].execution = row.execution);
            }
        }
    }

    /// Actions of which goals are known.
    pub fn names(&self) -> HashSet<&str> {
        self.goals.iter().map(|of| of.row.action.as_str()).filter(|name| !name.is_empty()).collect()
    }

    /// All goals.
    pub fn goals(&self) -> &[GoalSeen] {
        &self.goals
    }

    /// The goals that began in the measured window, in the order of their first events.
    pub fn rows(self, options: &Options) -> Vec<Goal> {
        let mut rows: Vec<Goal> = self.goals.into_iter().map(|of| of.row).collect();
        let began = |goal: &Goal| {
            [goal.sent_ns, goal.taken_ns, goal.accepted_ns, goal.response_ns, goal.ended_ns, goal.result_ns]
                .into_iter()
                .flatten()
                .next()
        };
        rows.retain(|goal| began(goal).is_some_and(|ns| options.measures(ns)));
        rows
    }

    fn goal(&mut self, id: Gid) -> usize {
        *self.by_id.entry(id).or_insert_with(|| {
            let digits = |word: u64| word.to_le_bytes().map(|byte| format!("{byte:02x}")).concat();
            let row = Goal {
                action: String::new(),
                id: digits(id.0[0]) + &digits(id.0[1]),
                client: None,
                server: None,
                sent_ns: None,
                taken_ns: None,
                accepted: None,
                accepted_ns: None,
                answered_ns: None,
                response_ns: None,
                executing_ns: None,
                cancel_sent_ns: None,
                canceling_ns: None,
                outcome: None,
                ended_ns: None,
                result_sent_ns: None,
                result_ns: None,
                feedback: None,
                first_feedback_ns: None,
                last_feedback_ns: None,
                execution: None,
            };
            self.goals.push(GoalSeen {
                row,
                sent_in: None,
                decided_in: None,
                ended_in: None,
                result_taken_in: None,
                feedback: Vec::new(),
            });
            self.goals.len() - 1
        })
    }
}

/// Terminal states of action_msgs/GoalStatus.
fn outcome(status: i64) -> Option<GoalOutcome> {
    match status {
        4 => Some(GoalOutcome::Succeeded),
        5 => Some(GoalOutcome::Canceled),
        6 => Some(GoalOutcome::Aborted),
        _ => None,
    }
}
