//! Nodes that stand for publishers which were not recorded.

use super::messages::UNKNOWN_SIZE;
use super::node::rounded_hz;
use super::Maker;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tacho_tables::row::Row;
use tacho_tables::{Endpoint, EndpointKind, Tables};
use tacho_workload::mean_hz;
use tacho_workload::model::*;

/// Most recorded times of a source that a twin lists.
const LISTED: usize = 10_000;
/// Part of its intervals that differ from the mean by at most this part of it, if a source is periodic.
const REGULAR: f64 = 0.9;
const OFF: f64 = 0.2;

impl Maker<'_> {
    /// Nodes that stand for publishers which were not recorded; subscriptions of which nothing came are left out.
    pub(super) fn sources(&mut self) {
        let topics: BTreeMap<String, String> = self
            .endpoints
            .iter()
            .filter_map(|e| Some((self.names.of_topic(&e.topic)?.to_owned(), e.topic.clone())))
            .collect();
        let mut wanted: BTreeSet<String> = BTreeSet::new();
        for (node, _) in &self.nodes {
            wanted.extend(node.subscribes.iter().map(|s| s.topic.clone()));
        }
        let (mut source, mut remarks) = (Node::default(), Vec::new());
        let arrived_ns = arrived_ns(self.tables);
        for topic in wanted {
            let Some(recorded) = topics.get(&topic).filter(|recorded| !self.published.contains(*recorded)) else {
                continue;
            };
            let takes =
                || self.endpoints.iter().filter(|e| e.topic == *recorded && e.kind == EndpointKind::Subscription);
            match takes().map(|e| e.count).max().unwrap_or(0) {
                0 => {
                    for (node, remarks) in &mut self.nodes {
                        let before = node.subscribes.len();
                        node.subscribes.retain(|s| s.topic != topic);
                        node.publishes.iter_mut().for_each(|p| p.from.retain(|cause| cause.name != topic));
                        if node.subscribes.len() < before {
                            remarks.push(format!("{topic} had no message, and is left out."));
                        }
                    }
                }
                count => {
                    let qos =
                        Qos { transient_local: takes().any(|e| e.transient_local == Some(true)), ..Qos::default() };
                    let mut publication =
                        Publication { topic, size_bytes: UNKNOWN_SIZE, qos, ..Publication::default() };
                    let times = arrived_ns.get(recorded.as_str()).map_or(&[][..], Vec::as_slice);
                    self.send_as(times, count, &mut publication);
                    if !publication.sent_at.is_empty() {
                        let (topic, clock) = (&publication.topic, clock(&publication));
                        remarks.push(format!("A timer of {clock} stands for the publisher of {topic}."));
                    }
                    source.publishes.push(publication);
                }
            }
        }
        if !source.publishes.is_empty() {
            source.name = self.names.node("outside");
            source.process = source.name.clone();
            remarks
                .insert(0, "Stands for publishers that were not recorded, at their mean rates unless said.".to_owned());
            self.nodes.push((source, remarks));
        }
    }

    /// Lets a publication send as a source did: at its mean rate if it was periodic, or when it sent. `count`: of the
    /// messages, if their times are not known. Returns false if it never sent.
    pub(super) fn send_as(&self, times_ns: &[i64], count: u64, publication: &mut Publication) -> bool {
        let span_s = self.seen.span_s().max(1e-9);
        let is_measured = |ns: &i64| (self.seen.from_ns..=self.seen.to_ns).contains(ns);
        let mut times: Vec<i64> = times_ns.iter().copied().filter(is_measured).collect();
        times.sort_unstable();
        let count = if times_ns.is_empty() { count } else { times.len() as u64 };
        publication.rate_hz = (count > 0).then(|| rounded_hz(count as f64 / span_s));
        if times.len() > 1 && !is_periodic(&times, span_s) {
            times.truncate(LISTED);
            // To a microsecond: shorter for people, and closer than any clock that wakes a thread.
            let after_first = |ns: &i64| Duration::from_micros(((ns - times[0]) / 1_000) as u64);
            publication.sent_at = times.iter().map(after_first).collect();
            // Some of many times begin again as if the others followed; all of them, as if the recording did.
            let part_hz = mean_hz(&publication.sent_at).filter(|_| count as usize > LISTED);
            publication.rate_hz = part_hz.or(Some(times.len() as f64 / ((span_s * 1e3).ceil() / 1e3)));
        }
        publication.rate_hz.is_some()
    }
}

/// When messages of publishers that were not recorded arrived, by topic, at the subscription that had most of them,
/// ns; when they were taken, if their arrival is not known.
fn arrived_ns(tables: &Tables) -> BTreeMap<&str, Vec<i64>> {
    let mut times: BTreeMap<Row<Endpoint>, Vec<i64>> = BTreeMap::new();
    for message in tables.messages.iter().filter(|message| message.publisher.is_none()) {
        let at_ns = message.arrival_ns.get().or(message.take_ns.get()).or(message.callback_ns.get());
        times.entry(message.subscription).or_default().extend(at_ns);
    }
    let mut of_topics: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for (subscription, times) in times {
        let most = of_topics.entry(&tables.endpoints[subscription].topic).or_default();
        if times.len() >= most.len() {
            *most = times;
        }
    }
    of_topics
}

/// What wakes the timer that stands for a source, in words.
pub(super) fn clock(publication: &Publication) -> String {
    match publication.sent_at.len() {
        0 => "its mean rate".into(),
        LISTED => format!("the first {LISTED} of its recorded times"),
        _ => "its recorded times".into(),
    }
}

/// Whether a source sent at one rate all the time.
fn is_periodic(times_ns: &[i64], span_s: f64) -> bool {
    let mean_ns = 1e9 * span_s / times_ns.len() as f64;
    let is_near = |pair: &&[i64]| ((pair[1] - pair[0]) as f64 - mean_ns).abs() <= OFF * mean_ns;
    times_ns.windows(2).filter(is_near).count() as f64 >= REGULAR * (times_ns.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_periodic_if_it_sends_at_one_rate_all_the_time() {
        let every = |ms: i64, jitter: i64| (0..100).map(move |k| 1_000_000 * (ms * k + (k * 7 % 5) * jitter));
        let periodic = |times: &[i64], span_s| is_periodic(times, span_s);
        assert!(periodic(&Vec::from_iter(every(100, 0)), 10.0));
        assert!(periodic(&Vec::from_iter(every(100, 3)), 10.0));
        assert!(!periodic(&Vec::from_iter(every(100, 20)), 10.0), "each interval is another");
        assert!(!periodic(&Vec::from_iter(every(100, 0)), 30.0), "it stopped after a third");
    }
}
