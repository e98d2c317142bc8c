//! Goals of actions: one goes from client to server like a message, its result comes back like
//! another, and so does its feedback, which is one. docs/figures.md, "actions".

use super::{Legs, Passage};
use crate::observe::actions::GoalSeen;
use crate::observe::Seen;
use tacho_tables::rows::Rows;

/// The goals whose client and server are both known.
pub(super) fn passages(goals: &[GoalSeen], seen: &mut Seen, legs: &mut Legs) -> Rows<Passage> {
    let mut passages = Rows::new();
    for GoalSeen { row, sent_in, decided_in, ended_in, result_taken_in, .. } in goals {
        let (Some(client), Some(server), false) = (row.client, row.server, row.action.is_empty()) else { continue };
        let [goal, result] =
            legs.both(&mut seen.topics, &format!("{} goal", row.action), &format!("{} result", row.action));
        legs.also_returns(&mut seen.topics, &format!("{}/_action/feedback", row.action), goal);
        if let Some(sent_ns) = row.sent_ns {
            let sent_ns = row.taken_ns.map_or(sent_ns, |taken| sent_ns.min(taken));
            let taken = row.taken_ns.map(|ns| (ns, row.execution.or(*decided_in)));
            passages.push(Passage {
                topic: goal,
                from: client,
                to: server,
                sent: (sent_ns, *sent_in),
                taken,
                answers_ns: None,
            });
        }
        if let Some(sent_ns) = row.result_sent_ns {
            let sent_ns = row.result_ns.map_or(sent_ns, |taken| sent_ns.min(taken));
            // The part of a coroutine that ended it.
            let ended_in = ended_in
                .and_then(|ended| ended.0)
                .filter(|ended| row.execution.is_some_and(|e| seen.continues(*ended, e)));
            let taken = row.result_ns.map(|ns| (ns, *result_taken_in));
            passages.push(Passage {
                topic: result,
                from: server,
                to: client,
                sent: (sent_ns, ended_in.or(row.execution)),
                taken,
                answers_ns: row.taken_ns,
            });
        }
    }
    passages
}
