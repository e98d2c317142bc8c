//! Inputs that are used long after they were sent, and inputs of message filters that find no partner.

use super::facts::{percent, time, Facts};
use super::ran::Ran;
use super::{Case, Lint};
use std::collections::{BTreeMap, BTreeSet};
use tacho_tables::row::{numbered, Row};
use tacho_tables::{Delivery, Endpoint, EndpointKind, Link, LinkRule, Node};

/// Publications and uses that a topic and its reader are judged by.
const LEAST: usize = 20;
/// Part of the intervals of a topic that must lie near the median one: only who publishes regularly is late.
const REGULAR: f64 = 0.9;
const NEAR: f64 = 0.5;
/// Intervals after which an input should have been replaced.
const STALE: i64 = 2;
/// Stale uses that are no accident: so many, and more than this part.
const STALE_USES: usize = 3;
const STALE_PART: f64 = 0.01;

pub const STALE_INPUT: Lint = Lint {
    name: "stale-input",
    finds: "a timer uses an input again that its publisher should have replaced",
    check: |facts| {
        let held = |link: &&Link| matches!(link.rule, LinkRule::Latest | LinkRule::LatestOnce);
        let inputs: BTreeSet<(Row<Node>, &str)> =
            facts.tables.links.iter().filter(held).map(|link| (link.node, link.input.as_str())).collect();
        inputs.into_iter().filter_map(|(node, topic)| stale(facts, node, topic)).collect()
    },
};

/// A message as its reader saw it.
#[derive(Clone, Copy)]
struct Taken {
    publish_ns: i64,
    take_ns: i64,
}

fn subscription(facts: &Facts<'_>, node: Row<Node>, topic: &str) -> Option<Row<Endpoint>> {
    let is_it = |e: &Endpoint| e.kind == EndpointKind::Subscription && e.node == node && e.topic == topic;
    let mut own = numbered(&facts.tables.endpoints).filter(|(_, e)| is_it(e)).map(|(row, _)| row);
    own.next().filter(|_| own.next().is_none())
}

/// Median interval of a topic with one publisher that is regular.
fn interval(published: &[i64]) -> Option<i64> {
    let mut gaps: Vec<i64> = published.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    let median = *gaps.get(gaps.len() / 2).filter(|gap| gaps.len() >= LEAST && **gap > 0)?;
    let near = gaps.iter().filter(|gap| ((**gap - median) as f64).abs() <= NEAR * median as f64).count();
    (near as f64 >= REGULAR * gaps.len() as f64).then_some(median)
}

fn stale(facts: &Facts<'_>, node: Row<Node>, topic: &str) -> Option<Case> {
    let subscription = subscription(facts, node, topic)?;
    let publisher =
        |(row, e): (Row<Endpoint>, &Endpoint)| (e.kind == EndpointKind::Publisher && e.topic == topic).then_some(row);
    let mut publishers = numbered(&facts.tables.endpoints).filter_map(publisher);
    let (publisher, None) = (publishers.next()?, publishers.next()) else { return None };
    let published = facts.published(topic);
    let interval = interval(published)?;
    let own = || facts.messages().filter(|message| message.subscription == subscription);
    let mut taken: Vec<Taken> =
        own().filter_map(|m| Some(Taken { publish_ns: m.publish_ns.get()?, take_ns: m.take_ns.get()? })).collect();
    taken.sort_unstable_by_key(|taken| taken.take_ns);
    let lost: BTreeSet<i64> =
        own().filter(|m| m.delivery == Delivery::Lost).filter_map(|m| m.publish_ns.get()).collect();
    let mut latencies: Vec<i64> = taken.iter().map(|taken| taken.take_ns - taken.publish_ns).collect();
    latencies.sort_unstable();
    let usual = *latencies.get(latencies.len() / 2)?;
    // A shorter wait than this is its way, and a longer one than until the last message is no gap but an end.
    let (too_old, last_sent) = (STALE * interval + usual, *published.last()?);
    let uses: Vec<&Ran> = facts
        .timers()
        .filter(|(callback, ..)| facts.tables.callbacks[*callback].node == Some(node))
        .flat_map(|(_, _, ran)| ran)
        .filter(|ran| ran.start_ns < last_sent)
        .collect();
    let (mut old, mut longest, mut why): (usize, i64, BTreeMap<Why, usize>) = (0, 0, BTreeMap::new());
    let mut used = 0;
    for ran in uses {
        let Some(last) = taken.partition_point(|taken| taken.take_ns <= ran.start_ns).checked_sub(1) else { continue };
        used += 1;
        let held = taken[last];
        let age = ran.start_ns - held.publish_ns;
        if age <= too_old {
            continue;
        }
        old += 1;
        longest = longest.max(age);
        let since = held.publish_ns + 1..=ran.start_ns - usual;
        let sent = published[published.partition_point(|ns| *ns < *since.start())..]
            .iter()
            .take_while(|ns| since.contains(ns));
        let (sent, lost) = (sent.count(), lost.range(since).count());
        let reason = match (sent, lost) {
            (0, _) => Why::NotSent,
            (sent, lost) if lost >= sent => Why::Lost,
            _ => Why::NotTaken,
        };
        *why.entry(reason).or_default() += 1;
    }
    if used < LEAST || old < STALE_USES || old as f64 <= STALE_PART * used as f64 {
        return None;
    }
    let (name, from) = (&facts.tables.nodes[node].name, facts.endpoint(publisher).0);
    let most = *why.iter().max_by_key(|(_, count)| **count)?.0;
    let reasons: Vec<String> =
        why.iter().map(|(why, count)| format!("{count} times {}", why.words(&from, name))).collect();
    Some(Case {
        subject: format!("{name} {topic}"),
        evidence: format!(
            "{old} of {used} times ({}) its timer used a message older than {STALE} of the {} in which {from} \
             usually publishes, the oldest {}: {}",
            percent(old, used),
            time(interval),
            time(longest),
            reasons.join(", ")
        ),
        cost: format!("it acts on what was there up to {} before, as if it were new", time(longest)),
        next: most.next(&from, name),
        weight: old as f64,
        delays: None,
    })
}

/// Why there was no newer message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    NotSent,
    Lost,
    NotTaken,
}

impl Why {
    fn words(self, from: &str, to: &str) -> String {
        match self {
            Why::NotSent => format!("{from} had sent nothing newer"),
            Why::Lost => "what it had sent since was lost".into(),
            Why::NotTaken => format!("{to} had not taken what was sent since"),
        }
    }

    fn next(self, from: &str, to: &str) -> String {
        match self {
            Why::NotSent => format!(
                "why {from} comes late (late-timer, callback-exceeds-period of it; its own \
                inputs), and a check of the stamp's age in {to}"
            ),
            Why::Lost => "why the messages are lost (queue-too-short; reliability: reliable; \
                large-message-over-udp), and a check of the stamp's age before use"
                .into(),
            Why::NotTaken => format!(
                "what the executor of {to} was in: late-timer, starved-callback or single-threaded-bottleneck names \
                it, and how to run it beside the others"
            ),
        }
    }
}

/// Part of the sparser input that may find no partner.
const DROPS: f64 = 0.05;

pub const FILTER_DROPS: Lint = Lint {
    name: "filter-drops",
    finds: "a message filter finds no partner for its inputs, and drops them",
    check: |facts| {
        let mut filters: BTreeMap<(Row<Node>, &str), Vec<&str>> = BTreeMap::new();
        for link in facts.tables.links.iter().filter(|link| link.rule == LinkRule::Match) {
            if let Some(output) = &link.output {
                filters.entry((link.node, output)).or_default().push(&link.input);
            }
        }
        let cases = filters.into_iter().filter_map(|((node, output), inputs)| dropping(facts, node, output, &inputs));
        cases.collect()
    },
};

/// How far a time lies from the nearest of others, which stand in order.
fn nearest(times: &[i64], ns: i64) -> Option<i64> {
    let next = times.partition_point(|time| *time < ns);
    let around = [next.checked_sub(1), Some(next)].into_iter().flatten();
    around.filter_map(|place| times.get(place)).map(|time| (time - ns).abs()).min()
}

fn dropping(facts: &Facts<'_>, node: Row<Node>, output: &str, inputs: &[&str]) -> Option<Case> {
    let of = |topic| {
        let subscription = subscription(facts, node, topic)?;
        let taken = facts.messages().filter(|m| m.subscription == subscription && m.take_ns.get().is_some());
        let mut sent: Vec<i64> = taken.map(|m| m.publish_ns.get()).collect::<Option<_>>()?;
        sent.sort_unstable();
        Some((topic, sent))
    };
    let inputs: Vec<(&str, Vec<i64>)> = inputs.iter().copied().map(of).collect::<Option<_>>()?;
    let own = |publisher: Row<Endpoint>| {
        let endpoint = &facts.tables.endpoints[publisher];
        endpoint.node == node && endpoint.topic == output
    };
    let outputs = facts.publications().filter(|p| own(p.publisher)).count();
    let (sparse, sent) = inputs.iter().min_by_key(|(topic, sent)| (sent.len(), *topic))?;
    let dropped = sent.len().checked_sub(outputs)?;
    if outputs < LEAST || dropped < STALE_USES || dropped as f64 <= DROPS * sent.len() as f64 {
        return None;
    }
    // Of each other input: how far from it those of the sparse one lie that are farthest, as many as were dropped, and
    // the others at most.
    let apart = |(topic, others): &(&'_ str, Vec<i64>)| {
        let mut apart: Vec<i64> = sent.iter().filter_map(|ns| nearest(others, *ns)).collect();
        apart.sort_unstable();
        let matched = *apart.get(outputs.checked_sub(1)?)?;
        let missed = *apart.get(outputs + (apart.len() - outputs) / 2)?;
        Some((missed, matched, topic.to_string()))
    };
    let others = inputs.iter().filter(|(topic, _)| topic != sparse);
    let (missed, matched, other) = others.filter_map(apart).max()?;
    let longest = *sent.iter().max()? - *sent.iter().min()?;
    let usual = longest / (sent.len() as i64 - 1).max(1);
    Some(Case {
        subject: format!("{} {sparse} with {other}", facts.tables.nodes[node].name),
        evidence: format!(
            "{} messages of {sparse}, the sparser input, led to {outputs} outputs on {output}: {dropped} ({}) found \
             no partner. By publish times, the {dropped} farthest from {other} lie {} from it in the median, the \
             others at most {}",
            sent.len(),
            percent(dropped, sent.len()),
            time(missed),
            time(matched)
        ),
        cost: format!(
            "{dropped} outputs that never came, and up to {} between two of them",
            time(gap(facts, node, output).max(usual))
        ),
        next: format!(
            "a slop (max interval) above {} in an ApproximateTime filter, or one in place of ExactTime; a queue of \
             the filter that spans the distance; or one clock for both sensors (trigger, phase). Stamps decide, and \
             are not in these tables: compare those of both topics",
            time(missed)
        ),
        weight: dropped as f64,
        delays: None,
    })
}

/// Longest time between two outputs.
fn gap(facts: &Facts<'_>, node: Row<Node>, output: &str) -> i64 {
    let endpoints = &facts.tables.endpoints;
    let own =
        facts.publications().filter(|p| endpoints[p.publisher].node == node && endpoints[p.publisher].topic == output);
    let mut times: Vec<i64> = own.map(|p| p.publish_ns).collect();
    times.sort_unstable();
    times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
}
