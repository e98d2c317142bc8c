//! Tables into `summary.json`. Several repeats of one workload make one summary, over all that was measured in any of them.

use crate::point::point;
use crate::summary::{CallbackFigures, ChainFigures, Distribution, Summary, TopicFigures};
use crate::tables::{CallbackKind, Delivery, EndpointKind, Note, Tables};
use crate::threads;
use crate::Options;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use tacho_events::run::RunInfo;
use tacho_workload::model::Workload;

const NS_PER_US: f64 = 1e3;
const NS_PER_MS: f64 = 1e6;

/// One run of a workload, analysed.
#[derive(Debug, Clone, Copy)]
pub struct Repeat<'a> {
    /// Its tables.
    pub tables: &'a Tables,
    /// The options they were made with.
    pub options: Options,
    /// Its `run.json`, where there is one.
    pub info: Option<&'a RunInfo>,
}

/// The figures of a run: of one repeat, or of all that a run directory holds.
pub fn summarise(repeats: &[Repeat<'_>], workload: Option<&Workload>) -> Summary {
    let mut notes = notes(repeats);
    let topics = topics(repeats, &mut notes);
    let bag_topics = crate::bag::figures(repeats, &mut notes);
    let (mut callbacks, mut chains) = (callbacks(repeats), chains(repeats));
    crate::emulated::withhold(&mut callbacks, &mut chains, repeats);
    Summary {
        services: crate::services::figures(repeats),
        lifecycle: crate::lifecycle::figures(repeats),
        points: workload.map(|w| point(repeats, w)).into_iter().collect(),
        callbacks,
        topics,
        bag_topics,
        layers: crate::layers::figures(repeats),
        chains,
        executors: threads::executors(repeats),
        preemptors: threads::preemptors(repeats),
        findings: Some(crate::lints::findings(repeats, workload)),
        notes,
    }
}

/// Mean period of a series of instants, over several runs of it.
#[derive(Default, Clone, Copy)]
struct Series {
    intervals: u64,
    span_ns: i64,
}

impl Series {
    fn add(&mut self, times: impl Iterator<Item = i64>) {
        let (mut count, mut first, mut last) = (0u64, i64::MAX, i64::MIN);
        for time in times {
            count += 1;
            first = first.min(time);
            last = last.max(time);
        }
        if count > 1 {
            self.intervals += count - 1;
            self.span_ns += last - first;
        }
    }

    fn period_ns(self) -> Option<f64> {
        (self.intervals > 0 && self.span_ns > 0).then(|| self.span_ns as f64 / self.intervals as f64)
    }
}

fn notes(repeats: &[Repeat<'_>]) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for note in repeats.iter().flat_map(|r| &r.tables.notes) {
        match notes.iter_mut().find(|n| n.name == note.name && n.text == note.text) {
            Some(known) => known.count += note.count,
            None => notes.push(note.clone()),
        }
    }
    notes
}

/// Latency of a message that has one, us: to the first line of its callback, else to its take. One in emulated time has none.
pub(crate) fn latency_us(message: &crate::tables::Message) -> Option<f64> {
    (!message.emulated).then(|| elapsed_us(message)).flatten()
}

/// From publish call to first line as the clocks say, whosever time it is, us.
pub(crate) fn elapsed_us(message: &crate::tables::Message) -> Option<f64> {
    Some((message.callback_ns.or(message.take_ns)? - message.publish_ns?) as f64 / NS_PER_US)
}

#[derive(Default)]
struct Topic {
    publishers: BTreeSet<String>,
    subscribers: BTreeSet<String>,
    sent: u64,
    received: u64,
    lost: u64,
    losses_known: bool,
    series: Series,
    latency_us: Vec<f64>,
    uncertainty_ns: Option<i64>,
}

fn topics(repeats: &[Repeat<'_>], notes: &mut Vec<Note>) -> Vec<TopicFigures> {
    let mut topics: BTreeMap<&str, Topic> = BTreeMap::new();
    let mut to_take = 0;
    for Repeat { tables, info, .. } in repeats {
        for endpoint in &tables.endpoints {
            let topic =
                topics.entry(&endpoint.topic).or_insert_with(|| Topic { losses_known: true, ..Topic::default() });
            let node = &tables.nodes[endpoint.node as usize];
            let names = match endpoint.kind {
                EndpointKind::Publisher => &mut topic.publishers,
                EndpointKind::Subscription => &mut topic.subscribers,
            };
            names.insert(node.name.clone());
            topic.losses_known &= tables.processes[node.process as usize].dropped_events == 0;
            topic.losses_known &= info.is_none_or(|info| info.gaps.is_empty());
        }
        let mut published: HashMap<&str, Vec<i64>> = HashMap::new();
        for publication in &tables.publications {
            published
                .entry(&tables.endpoints[publication.publisher as usize].topic)
                .or_default()
                .push(publication.publish_ns);
        }
        for (name, times) in published {
            let topic = topics.entry(name).or_default();
            topic.sent += times.len() as u64;
            topic.series.add(times.into_iter());
        }
        for message in &tables.messages {
            let topic = topics.entry(&tables.endpoints[message.subscription as usize].topic).or_default();
            if message.delivery == Delivery::Lost {
                topic.lost += 1;
                continue;
            }
            topic.received += 1;
            to_take += u64::from(message.callback_ns.is_none() && message.publish_ns.is_some());
            topic.latency_us.extend(latency_us(message));
            let process = |e: u32| tables.nodes[tables.endpoints[e as usize].node as usize].process;
            let between = message.publisher.and_then(|p| tables.clock_uncertainty_ns(process(p), process(message.subscription)));
            topic.uncertainty_ns = topic.uncertainty_ns.max(between);
        }
    }
    if to_take > 0 {
        let text =
            "messages without a callback event: their latency ends at the take, not at the first line of a callback";
        notes.push(Note { name: "latency-to-take".into(), count: to_take, text: text.into() });
    }
    let figures = |(name, topic): (&str, Topic)| TopicFigures {
        topic: name.to_string(),
        lost: (topic.losses_known && !topic.publishers.is_empty() && !topic.subscribers.is_empty())
            .then_some(topic.lost),
        publishers: topic.publishers.into_iter().collect(),
        subscribers: topic.subscribers.into_iter().collect(),
        sent: topic.sent,
        received: topic.received,
        rate_hz: topic.series.period_ns().map(|ns| 1e9 / ns),
        latency_us: Distribution::of(topic.latency_us),
        latency_uncertainty_us: topic.uncertainty_ns.map(|ns| ns as f64 / NS_PER_US),
    };
    topics.into_iter().map(figures).collect()
}

/// One callback over all repeats: its figures so far.
#[derive(Default)]
struct CallbackSoFar {
    figures: CallbackFigures,
    /// Wall and CPU time of each call.
    calls: Vec<(i64, Option<i64>)>,
    waits_us: Vec<f64>,
    outputs: BTreeMap<String, Series>,
}

fn callbacks(repeats: &[Repeat<'_>]) -> Vec<CallbackFigures> {
    // The same callback has another address in another repeat: it is the n-th of its node, kind, topic and period.
    type Key = (Option<String>, String, Option<String>, Option<i64>, usize);
    let mut order: Vec<CallbackSoFar> = Vec::new();
    let mut known: HashMap<Key, usize> = HashMap::new();
    for Repeat { tables, options, info } in repeats {
        let mut of_row: Vec<Option<usize>> = vec![None; tables.callbacks.len()];
        let mut ordinals: HashMap<Key, usize> = HashMap::new();
        let mut ran = vec![false; tables.callbacks.len()];
        let measured = |e: &&crate::tables::Execution| options.measures(e.start_ns);
        tables.executions.iter().filter(measured).for_each(|e| ran[e.callback as usize] = true);
        for (row, callback) in tables.callbacks.iter().enumerate().filter(|(row, _)| ran[*row]) {
            let node = callback.node.map(|n| tables.nodes[n as usize].name.clone());
            let mut key: Key =
                (node.clone(), kind(callback.kind).into(), callback.topic.clone(), callback.period_ns, 0);
            let ordinal = ordinals.entry(key.clone()).or_default();
            key.4 = *ordinal;
            *ordinal += 1;
            let index = *known.entry(key).or_insert_with(|| {
                order.push(CallbackSoFar {
                    figures: CallbackFigures {
                        process_id: tables.processes[callback.process as usize].pid,
                        callback: format!("{:#x}", callback.address),
                        kind: kind(callback.kind).into(),
                        node,
                        topic: callback.topic.clone(),
                        period_ms: callback.period_ns.map(|ns| ns as f64 / NS_PER_MS),
                        symbol: callback.symbol.clone(),
                        ..CallbackFigures::default()
                    },
                    ..CallbackSoFar::default()
                });
                order.len() - 1
            });
            of_row[row] = Some(index);
        }
        // Of coroutines: the call that a part belongs to.
        let resumed: HashSet<u32> = tables.executions.iter().filter_map(|e| e.resumes).collect();
        let mut call_of_part: HashMap<u32, usize> = HashMap::new();
        for (row, execution) in tables.executions.iter().enumerate().filter(|(_, e)| measured(e)) {
            if let (Some(index), Some(end)) = (of_row[execution.callback as usize], execution.end_ns) {
                // Its end may be another's whose start was lost.
                if info.is_some_and(|info| info.gaps.iter().any(|gap| gap.from_ns < end && execution.start_ns <= gap.to_ns)) {
                    continue;
                }
                let (calls, took) = (&mut order[index].calls, (end - execution.start_ns, execution.cpu_ns));
                let call = match execution.resumes {
                    Some(before) => {
                        let Some(call) = call_of_part.remove(&before) else { continue };
                        calls[call] = (calls[call].0 + took.0, calls[call].1.zip(took.1).map(|(sum, part)| sum + part));
                        call
                    }
                    None => {
                        calls.push(took);
                        calls.len() - 1
                    }
                };
                if resumed.contains(&(row as u32)) {
                    call_of_part.insert(row as u32, call);
                }
            }
            if let (Some(index), Some(queued)) = (of_row[execution.callback as usize], execution.queued_ns) {
                order[index].waits_us.push((execution.start_ns - queued) as f64 / NS_PER_US);
            }
        }
        for message in &tables.messages {
            if let (Some(execution), Some(arrival)) = (message.execution, message.arrival_ns) {
                let execution = &tables.executions[execution as usize];
                if let Some(index) = of_row[execution.callback as usize].filter(|_| execution.start_ns >= arrival) {
                    order[index].waits_us.push((execution.start_ns - arrival) as f64 / NS_PER_US);
                }
            }
        }
        let mut published: BTreeMap<(usize, &str), Vec<i64>> = BTreeMap::new();
        for publication in &tables.publications {
            let Some(execution) = publication.execution else { continue };
            if let Some(index) = of_row[tables.executions[execution as usize].callback as usize] {
                let topic = tables.endpoints[publication.publisher as usize].topic.as_str();
                published.entry((index, topic)).or_default().push(publication.publish_ns);
            }
        }
        for ((index, topic), times) in published {
            order[index].outputs.entry(topic.to_string()).or_default().add(times.into_iter());
        }
    }
    let finish = |so_far: CallbackSoFar| CallbackFigures {
        count: so_far.calls.len() as u64,
        duration_us: Distribution::of(so_far.calls.iter().map(|call| call.0 as f64 / NS_PER_US).collect()),
        cpu_us: Distribution::of(so_far.calls.iter().filter_map(|call| Some(call.1? as f64 / NS_PER_US)).collect()),
        queue_wait_us: Distribution::of(so_far.waits_us),
        output_period_ms: so_far
            .outputs
            .into_iter()
            .filter_map(|(topic, series)| Some((topic, series.period_ns()? / NS_PER_MS)))
            .collect(),
        ..so_far.figures
    };
    order.into_iter().map(finish).collect()
}

fn kind(kind: CallbackKind) -> &'static str {
    match kind {
        CallbackKind::Subscription => "subscription",
        CallbackKind::Timer => "timer",
        CallbackKind::Service => "service",
        CallbackKind::Client => "client",
        CallbackKind::Unknown => "unknown",
    }
}

/// One chain over all repeats.
#[derive(Default)]
struct ChainSoFar {
    lost: u64,
    evidence: Vec<String>,
    /// end to end, computation, alignment, queueing, transport.
    parts_ms: [Vec<f64>; 5],
    preemption_ms: Vec<f64>,
    means_ms: Vec<f64>,
}

fn chains(repeats: &[Repeat<'_>]) -> Vec<ChainFigures> {
    let mut order: Vec<(&str, &[String])> = Vec::new();
    let mut so_far: Vec<ChainSoFar> = Vec::new();
    for Repeat { tables, .. } in repeats {
        let mut index_of = Vec::new();
        for chain in &tables.chains {
            let key = (chain.name.as_str(), chain.path.as_slice());
            let index = order.iter().position(|k| *k == key).unwrap_or_else(|| {
                order.push(key);
                so_far.push(ChainSoFar::default());
                order.len() - 1
            });
            index_of.push(index);
            so_far[index].lost += chain.lost;
            if !so_far[index].evidence.contains(&chain.evidence) {
                so_far[index].evidence.push(chain.evidence.clone());
            }
        }
        let before: Vec<usize> = so_far.iter().map(|c| c.parts_ms[0].len()).collect();
        for instance in &tables.instances {
            let parts = [
                instance.end_to_end_ns,
                instance.computation_ns,
                instance.alignment_ns,
                instance.queueing_ns,
                instance.transport_ns,
            ];
            let chain = &mut so_far[index_of[instance.chain as usize]];
            chain.preemption_ms.extend(instance.preemption_ns.map(|ns| ns as f64 / NS_PER_MS));
            for (values, ns) in chain.parts_ms.iter_mut().zip(parts) {
                values.push(ns as f64 / NS_PER_MS);
            }
        }
        for (chain, before) in so_far.iter_mut().zip(before) {
            let mine = &chain.parts_ms[0][before..];
            if !mine.is_empty() {
                chain.means_ms.push(mine.iter().sum::<f64>() / mine.len() as f64);
            }
        }
    }
    let worst = |chain: &ChainSoFar| chain.parts_ms[0].iter().copied().max_by(f64::total_cmp);
    let most = so_far.iter().filter_map(worst).max_by(f64::total_cmp);
    let critical = most.and_then(|most| so_far.iter().position(|c| worst(c) == Some(most)));
    let several = repeats.len() > 1;
    let mut figures: Vec<ChainFigures> = order
        .into_iter()
        .zip(so_far)
        .enumerate()
        .map(|(index, ((name, path), chain))| {
            let [end_to_end, computation, alignment, queueing, transport] = chain.parts_ms;
            ChainFigures {
                name: name.to_string(),
                path: path.to_vec(),
                critical: critical == Some(index),
                evidence: chain.evidence.join("; or "),
                instances: end_to_end.len() as u64,
                lost: chain.lost,
                end_to_end_ms: Distribution::of(end_to_end),
                repeat_means_ms: if several { Distribution::of(chain.means_ms) } else { None },
                computation_ms: Distribution::of(computation),
                preemption_ms: Distribution::of(chain.preemption_ms),
                alignment_ms: Distribution::of(alignment),
                queueing_ms: Distribution::of(queueing),
                transport_ms: Distribution::of(transport),
                ..ChainFigures::default()
            }
        })
        .collect();
    crate::explained::explain(&mut figures, repeats);
    figures
}
