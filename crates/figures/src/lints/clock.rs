//! Simulated time that stands still.

use super::facts::{time, Facts};
use super::{Case, Lint};
use tacho_tables::row::{numbered, Row};
use tacho_tables::{Endpoint, EndpointKind, CLOCK_TOPIC};

/// A pause is as many times as long as the clock usually takes from one message to the next, and at least this.
const TIMES: i64 = 5;
const LEAST_NS: i64 = 100_000_000;
/// Pauses before they are reported: a simulation may be paused once on purpose.
const PAUSES: usize = 2;

pub const STALLS: Lint = Lint {
    name: "clock-stalls",
    finds: "simulated time stands still now and then, and with it all timers that follow it",
    check: |facts| {
        let followers = facts.tables.endpoints.iter().filter(|endpoint| endpoint.is_clock()).count();
        let clocks = numbered(&facts.tables.endpoints)
            .filter(|(_, endpoint)| endpoint.kind == EndpointKind::Publisher && endpoint.topic == CLOCK_TOPIC);
        if followers == 0 {
            return Vec::new();
        }
        clocks.filter_map(|(publisher, _)| of_clock(facts, publisher, followers)).collect()
    },
};

fn of_clock(facts: &Facts<'_>, publisher: Row<Endpoint>, followers: usize) -> Option<Case> {
    let mut sent: Vec<i64> =
        facts.publications().filter(|row| row.publisher == publisher).map(|row| row.publish_ns).collect();
    sent.sort_unstable();
    let gaps: Vec<(i64, i64)> = sent.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let mut lengths: Vec<i64> = gaps.iter().map(|(from, to)| to - from).collect();
    lengths.sort_unstable();
    let usual = *lengths.get(lengths.len() / 2)?;
    let is_pause = |gap: &&(i64, i64)| gap.1 - gap.0 >= LEAST_NS.max(usual.saturating_mul(TIMES));
    let pauses: Vec<(i64, i64)> = gaps.iter().filter(is_pause).copied().collect();
    let longest = pauses.iter().copied().max_by_key(|(from, to)| to - from).filter(|_| pauses.len() >= PAUSES)?;
    let (node, topic) = facts.endpoint(publisher);
    let stood_ns: i64 = pauses.iter().map(|(from, to)| to - from).sum();
    let meanwhile = ran_most(facts, publisher, longest);
    let next = match meanwhile {
        Some(_) => "take the work out of what publishes the clock, or into a thread of its own",
        None => "see what keeps the simulator from its next step (physics, rendering, a busy machine)",
    };
    Some(Case {
        subject: format!("{node} {topic}"),
        evidence: format!(
            "stood still {} times for up to {}, usually {} from one message to the next{}",
            pauses.len(),
            time(longest.1 - longest.0),
            time(usual),
            meanwhile.map_or(String::new(), |(name, ns)| format!("; meanwhile {name} ran for {}", time(ns)))
        ),
        cost: format!(
            "{} in all, in which no timer of {followers} {} it was due",
            time(stood_ns),
            if followers == 1 { "node that follows" } else { "nodes that follow" }
        ),
        next: next.into(),
        weight: stood_ns as f64,
        delays: None,
    })
}

/// What the process of the clock ran for most of a pause, and for how long of it; `None`: nothing had half of it.
fn ran_most(facts: &Facts<'_>, publisher: Row<Endpoint>, (from, to): (i64, i64)) -> Option<(String, i64)> {
    let process = facts.process_of(publisher);
    let own = facts.threads().filter(|((of, _), _)| *of == process).flat_map(|(_, ran)| ran);
    let within = own.map(|ran| (ran.end_ns.min(to) - ran.start_ns.max(from), ran.callback));
    let (ns, callback) = within.max_by_key(|(ns, _)| *ns)?;
    (2 * ns >= to - from).then(|| (facts.callback(callback), ns))
}
