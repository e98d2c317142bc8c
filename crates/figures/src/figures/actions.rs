//! Figures of every action, over all repeats. docs/figures.md, "actions".

use crate::figures::coroutines::{later_parts, LaterParts};
use crate::figures::{latency_us, Repeat};
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::row::Row;
use tacho_tables::summary::{ActionFigures, Distribution};
use tacho_tables::{action_of, is_feedback, Endpoint, EndpointKind, Goal, GoalOutcome, Node, Tables};

#[derive(Default)]
struct SoFar {
    clients: BTreeSet<String>,
    servers: BTreeSet<String>,
    figures: ActionFigures,
    acceptance_us: Vec<f64>,
    result_us: Vec<f64>,
    execution_us: Vec<f64>,
    cpu_us: Vec<f64>,
    cancel_us: Vec<f64>,
    feedback_us: Vec<f64>,
    /// Distances between feedback of one goal, and the time that they take together.
    distances: (u64, i64),
}

/// Of actions of which goals are known.
pub(crate) fn figures(repeats: &[Repeat<'_>]) -> Vec<ActionFigures> {
    let mut actions: BTreeMap<&str, SoFar> = BTreeMap::new();
    for Repeat { tables, info, .. } in repeats {
        let lost = |from: i64, to: i64| {
            info.is_some_and(|info| info.gaps.iter().any(|gap| gap.from_ns < to && from <= gap.to_ns))
        };
        let later = later_parts(&tables.executions, lost);
        for goal in &tables.goals {
            let so_far = actions.entry(&goal.action).or_default();
            so_far.count(goal, tables, &lost);
            so_far.measure(goal, tables, &lost);
            let cpu_ns = goal.execution.filter(|_| goal.ended_ns.is_some()).and_then(|execution| {
                let first = &tables.executions[execution];
                let whole = !lost(first.start_ns, first.end_ns.get()?);
                let later = later.get(&execution).copied().unwrap_or(Some(LaterParts::NONE))?;
                Some(first.cpu_ns.get()? + later.cpu_ns?).filter(|_| whole)
            });
            so_far.cpu_us.extend(cpu_ns.map(us));
        }
        for endpoint in tables.endpoints.iter().filter(|endpoint| endpoint.kind == EndpointKind::Subscription) {
            if let Some(so_far) = feedback_of(endpoint).and_then(|action| actions.get_mut(action)) {
                so_far.figures.feedback_received.get_or_insert(0);
            }
        }
        for message in &tables.messages {
            let subscription = &tables.endpoints[message.subscription];
            if let Some(so_far) = feedback_of(subscription).and_then(|action| actions.get_mut(action)) {
                *so_far.figures.feedback_received.get_or_insert(0) += u64::from(message.take_ns.get().is_some());
                so_far.feedback_us.extend(latency_us(message));
            }
        }
    }
    actions.into_iter().map(|(action, so_far)| so_far.finish(action)).collect()
}

/// The action that an endpoint of feedback belongs to.
fn feedback_of(endpoint: &Endpoint) -> Option<&str> {
    action_of(&endpoint.topic).filter(|_| is_feedback(&endpoint.topic))
}

fn us(ns: i64) -> f64 {
    ns as f64 / 1e3
}

impl SoFar {
    fn count(&mut self, goal: &Goal, tables: &Tables, lost: &impl Fn(i64, i64) -> bool) {
        let name = |node: Option<Row<Node>>| node.map(|node| tables.nodes[node].name.clone());
        self.clients.extend(name(goal.client));
        self.servers.extend(name(goal.server));
        let of = &mut self.figures;
        if goal.sent_ns.is_some() {
            *of.sent.get_or_insert(0) += 1;
            *of.cancel_requested.get_or_insert(0) += u64::from(goal.cancel_sent_ns.is_some());
        }
        of.accepted += u64::from(goal.accepted == Some(true));
        of.rejected += u64::from(goal.accepted == Some(false));
        match goal.outcome {
            Some(GoalOutcome::Succeeded) => of.succeeded += 1,
            Some(GoalOutcome::Canceled) => of.canceled += 1,
            Some(GoalOutcome::Aborted) => of.aborted += 1,
            None => of.unfinished += u64::from(goal.accepted == Some(true)),
        }
        if let Some(feedback) = goal.feedback {
            *of.feedback.get_or_insert(0) += feedback;
        }
        let whole = goal.server.is_none_or(|node| tables.processes[tables.nodes[node].process].dropped_events == 0);
        let feedback = goal.feedback.zip(goal.first_feedback_ns.zip(goal.last_feedback_ns));
        // Where events were lost, so may feedback have been, and the distances look longer.
        if let Some((count, (first, last))) = feedback.filter(|(_, (first, last))| whole && !lost(*first, *last)) {
            self.distances.0 += count - 1;
            self.distances.1 += last - first;
        }
    }

    fn measure(&mut self, goal: &Goal, tables: &Tables, lost: &impl Fn(i64, i64) -> bool) {
        let span = |from: Option<i64>, to: Option<i64>| {
            from.zip(to).filter(|(from, to)| !lost(*from, *to)).map(|(from, to)| us(to - from))
        };
        self.acceptance_us.extend(span(goal.sent_ns, goal.response_ns));
        self.result_us.extend(span(goal.sent_ns, goal.result_ns));
        self.execution_us.extend(span(goal.accepted_ns, goal.ended_ns));
        let clock = |node: Option<Row<Node>>| node.map(|node| tables.processes[tables.nodes[node].process].clock);
        if goal.outcome == Some(GoalOutcome::Canceled) && clock(goal.client) == clock(goal.server) {
            self.cancel_us.extend(span(goal.cancel_sent_ns, goal.ended_ns));
        }
    }

    fn finish(self, action: &str) -> ActionFigures {
        let (distances, time_ns) = self.distances;
        ActionFigures {
            action: action.to_string(),
            clients: self.clients.into_iter().collect(),
            servers: self.servers.into_iter().collect(),
            acceptance_us: Distribution::of(self.acceptance_us),
            result_us: Distribution::of(self.result_us),
            execution_us: Distribution::of(self.execution_us),
            execution_cpu_us: Distribution::of(self.cpu_us),
            cancel_us: Distribution::of(self.cancel_us),
            feedback_rate_hz: (time_ns > 0).then(|| distances as f64 * 1e9 / time_ns as f64),
            feedback_latency_us: Distribution::of(self.feedback_us),
            ..self.figures
        }
    }
}
