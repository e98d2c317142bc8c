//! Whether the subscribers of a topic are served alike (study A, figure 14).

use super::{ends, Ends};
use crate::figures::statistics::rank::{chance_of_correlation, correlation_with_order};
use crate::figures::{latency_us, Repeat};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use tacho_tables::row::{Column, Row};
use tacho_tables::summary::Fairness;
use tacho_tables::{Endpoint, EndpointKind, Tables};

/// Fewer subscriptions stand in order by chance too often to tell anything.
const LEAST_OF_A_STAIRCASE: usize = 4;

/// One subscription of a topic over all repeats.
#[derive(Default)]
struct Served {
    sum_us: f64,
    /// Sum of its places in the order of creation, a repeat each.
    places: usize,
}

/// A publication, until it is seen that all subscriptions took it.
struct Taken {
    missing: usize,
    /// Of each subscription, in the order of creation.
    latencies_us: Vec<Option<f64>>,
}

/// A topic over all repeats.
struct Topic {
    subscriptions: Ends<Served>,
    messages: u64,
}

/// Of the topic with the greatest spread; absent where no topic has two subscriptions that got the same message.
pub(super) fn fairness(repeats: &[Repeat<'_>]) -> Option<Fairness> {
    let mut topics: BTreeMap<String, Topic> = BTreeMap::new();
    for Repeat { tables, .. } in repeats {
        let mut of_topic: BTreeMap<String, Vec<(Row<Endpoint>, super::End)>> = BTreeMap::new();
        for (row, end) in ends(tables, EndpointKind::Subscription) {
            of_topic.entry(end.topic.clone()).or_default().push((row, end));
        }
        of_topic.retain(|_, subscriptions| subscriptions.len() > 1);
        let mut common = got_by_all(tables, &of_topic);
        for (name, subscriptions) in of_topic {
            let Some((messages, sums_us)) = common.remove(&name).filter(|(messages, _)| *messages > 0) else {
                continue;
            };
            let topic = topics.entry(name).or_insert_with(|| Topic { subscriptions: Ends::new(), messages: 0 });
            // Where a node died before it subscribed, the others got other messages: not to be added up with theirs.
            let same = subscriptions.iter().filter(|(_, end)| topic.subscriptions.knows(end)).count();
            if topic.messages > 0 && (same != subscriptions.len() || same != topic.subscriptions.order.len()) {
                continue;
            }
            topic.messages += messages;
            for (place, ((_, end), sum_us)) in subscriptions.into_iter().zip(sums_us).enumerate() {
                let index = topic.subscriptions.index(end);
                let served = &mut topic.subscriptions.order[index].1;
                served.sum_us += sum_us;
                served.places += place;
            }
        }
    }
    topics.into_iter().map(|(name, topic)| of_topic(name, topic)).max_by(|a, b| a.spread_us.total_cmp(&b.spread_us))
}

/// By topic, the messages that all its subscriptions took, and the sum of each one's latencies of them, in the order of
/// creation.
fn got_by_all(
    tables: &Tables,
    topics: &BTreeMap<String, Vec<(Row<Endpoint>, super::End)>>,
) -> HashMap<String, (u64, Vec<f64>)> {
    let mut place: Column<Endpoint, Option<(usize, usize)>> = Column::of(vec![None; tables.endpoints.len()]);
    for subscriptions in topics.values() {
        subscriptions.iter().enumerate().for_each(|(i, (row, _))| place[*row] = Some((i, subscriptions.len())));
    }
    // Of the publish time that the messages, which stand in its order, have got to. One that is taken twice counts the
    // first time.
    let mut taken: HashMap<Row<Endpoint>, Taken> = HashMap::default();
    let mut publish_time = None;
    let mut common: HashMap<String, (u64, Vec<f64>)> = HashMap::default();
    for message in &tables.messages {
        let (Some(latency), Some(publisher), Some(publish_ns), Some((place, count))) =
            (latency_us(message), message.publisher, message.publish_ns.get(), place[message.subscription])
        else {
            continue;
        };
        if publish_time.replace(publish_ns) != Some(publish_ns) {
            taken.clear();
        }
        let all = taken.entry(publisher).or_insert_with(|| Taken { missing: count, latencies_us: vec![None; count] });
        if all.latencies_us[place].is_some() {
            continue;
        }
        all.latencies_us[place] = Some(latency);
        all.missing -= 1;
        if all.missing == 0 {
            let topic = &tables.endpoints[message.subscription].topic;
            let (messages, sums_us) = common.entry(topic.clone()).or_insert_with(|| (0, vec![0.0; count]));
            *messages += 1;
            sums_us.iter_mut().zip(&all.latencies_us).for_each(|(sum, latency)| *sum += latency.unwrap_or(0.0));
        }
    }
    common
}

fn of_topic(topic: String, Topic { subscriptions, messages }: Topic) -> Fairness {
    let mut served: Vec<Served> = subscriptions.order.into_iter().map(|(_, served)| served).collect();
    served.sort_by_key(|s| s.places);
    let means: Vec<f64> = served.iter().map(|s| s.sum_us / messages as f64).collect();
    let (least, greatest) = means.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, g), m| (l.min(*m), g.max(*m)));
    let enough = means.len() >= LEAST_OF_A_STAIRCASE;
    Fairness {
        topic,
        messages,
        subscriptions: means.len() as u64,
        spread_us: greatest - least,
        staircase: enough.then(|| correlation_with_order(&means)).flatten(),
        staircase_p: enough.then(|| chance_of_correlation(&means)).flatten(),
    }
}
