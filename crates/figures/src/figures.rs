//! Tables into figures. Several repeats of one workload make one figure, over all that was measured in any of them.

pub(crate) mod actions;
pub(crate) mod bag;
mod coroutines;
pub(crate) mod emulated;
mod explained;
pub(crate) mod layers;
pub(crate) mod lifecycle;
pub(crate) mod point;
pub(crate) mod quality;
pub(crate) mod reactions;
mod repeat;
pub(crate) mod services;
mod statistics;
pub(crate) mod threads;
pub(crate) mod topics;
pub(crate) mod window;

pub use repeat::Repeat;

use coroutines::LaterParts;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use tacho_events::run::RunInfo;
use tacho_tables::row::{self, numbered, Column, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::rows::Rows;
use tacho_tables::summary::{CallbackFigures, ChainFigures, Distribution};
use tacho_tables::{Callback, Chain, Endpoint, Instance, Parts};

const NS_PER_US: f64 = 1e3;
const NS_PER_MS: f64 = 1e6;

/// Mean period of a series of instants, over several runs of it.
#[derive(Default, Clone, Copy)]
struct Series {
    intervals: u64,
    span_ns: i64,
}

/// The instants of one run of a series.
struct Instants {
    count: u64,
    first: i64,
    last: i64,
}

impl Default for Instants {
    fn default() -> Self {
        Instants { count: 0, first: i64::MAX, last: i64::MIN }
    }
}

impl Instants {
    fn add(&mut self, time: i64) {
        self.count += 1;
        self.first = self.first.min(time);
        self.last = self.last.max(time);
    }

    /// Takes those of another series to its own.
    fn join(&mut self, other: &Instants) {
        self.count += other.count;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

impl Series {
    fn add(&mut self, run: &Instants) {
        if run.count > 1 {
            self.intervals += run.count - 1;
            self.span_ns += run.last - run.first;
        }
    }

    fn period_ns(self) -> Option<f64> {
        (self.intervals > 0 && self.span_ns > 0).then(|| self.span_ns as f64 / self.intervals as f64)
    }
}

/// Latency of a message that has one, us: to the first line of its callback, else to its take. One in emulated time has
/// none.
pub(crate) fn latency_us(message: &tacho_tables::Message) -> Option<f64> {
    (!message.emulated).then(|| elapsed_us(message)).flatten()
}

/// From publish call to first line as the clocks say, whosever time it is, us.
pub(crate) fn elapsed_us(message: &tacho_tables::Message) -> Option<f64> {
    Some((message.callback_ns.get().or(message.take_ns.get())? - message.publish_ns.get()?) as f64 / NS_PER_US)
}

/// Whether events were lost at some time between two instants.
fn are_lost(info: Option<&RunInfo>, from: i64, to: i64) -> bool {
    info.is_some_and(|info| info.gaps.iter().any(|gap| gap.from_ns < to && from <= gap.to_ns))
}

/// One callback over all repeats: its figures so far.
#[derive(Default)]
struct CallbackSoFar {
    figures: CallbackFigures,
    outputs: BTreeMap<String, Series>,
}

pub(crate) fn callbacks(repeats: &[Repeat<'_>]) -> Vec<CallbackFigures> {
    // The same callback has another address in another repeat: it is the n-th of its node, kind, topic, period and
    // function.
    type Key = (Option<String>, &'static str, Option<String>, Option<i64>, Option<String>, usize);
    let mut order: Vec<CallbackSoFar> = Vec::new();
    let mut known: HashMap<Key, Row<CallbackSoFar>> = HashMap::default();
    // Of each repeat and callback row, its place in `order`.
    let mut of_rows: Vec<Column<Callback, Option<Row<CallbackSoFar>>>> = Vec::new();
    for Repeat { tables, options, .. } in repeats {
        let mut of_row: Column<Callback, Option<Row<CallbackSoFar>>> = Column::of(vec![None; tables.callbacks.len()]);
        let mut ordinals: HashMap<Key, usize> = HashMap::default();
        let mut ran: Column<Callback, bool> = Column::of(vec![false; tables.callbacks.len()]);
        let measured = |e: &&tacho_tables::Execution| options.measures(e.start_ns);
        tables.executions.iter().filter(measured).for_each(|e| ran[e.callback] = true);
        for (row, callback) in numbered(&tables.callbacks).filter(|(row, _)| ran[*row]) {
            let node = callback.node.map(|n| tables.nodes[n].name.clone());
            let (kind, topic, function) = (callback.kind.word(), callback.topic.clone(), callback.function.clone());
            let mut key: Key = (node.clone(), kind, topic, callback.period_ns, function, 0);
            let ordinal = ordinals.entry(key.clone()).or_default();
            key.5 = *ordinal;
            *ordinal += 1;
            let index = *known.entry(key).or_insert_with(|| {
                let new = CallbackSoFar {
                    figures: CallbackFigures {
                        process_id: tables.processes[callback.process].pid,
                        callback: format!("{:#x}", callback.address),
                        kind: callback.kind.word().into(),
                        node,
                        topic: callback.topic.clone(),
                        period_ms: callback.period_ns.map(|ns| ns as f64 / NS_PER_MS),
                        symbol: callback.symbol.clone(),
                        function: callback.function.clone(),
                        location: callback.location.clone(),
                        ..CallbackFigures::default()
                    },
                    ..CallbackSoFar::default()
                };
                row::add(&mut order, new)
            });
            of_row[row] = Some(index);
        }
        let mut by_endpoint: HashMap<(Row<CallbackSoFar>, Row<Endpoint>), Instants> = HashMap::default();
        for publication in &tables.publications {
            let Some(execution) = publication.execution else { continue };
            if let Some(index) = of_row[tables.executions[execution].callback] {
                by_endpoint.entry((index, publication.publisher)).or_default().add(publication.publish_ns);
            }
        }
        let mut published: BTreeMap<(Row<CallbackSoFar>, &str), Instants> = BTreeMap::new();
        for ((index, publisher), instants) in by_endpoint {
            let topic = tables.endpoints[publisher].topic.as_str();
            published.entry((index, topic)).or_default().join(&instants);
        }
        for ((index, topic), instants) in published {
            order[index].outputs.entry(topic.to_string()).or_default().add(&instants);
        }
        of_rows.push(of_row);
    }
    // Executions in the window, each with its repeat and row, that lost events do not touch.
    let measured = || {
        repeats.iter().zip(&of_rows).enumerate().flat_map(|(number, (Repeat { tables, options, info }, of_row))| {
            let executions = tables.executions.numbered().filter(|(_, e)| options.measures(e.start_ns));
            // Its end may be another's whose start was lost.
            let whole =
                executions.filter(move |(_, e)| e.end_ns.get().is_none_or(|end| !are_lost(*info, e.start_ns, end)));
            whole.filter_map(move |(row, e)| Some(((number, row), of_row[e.callback]?, e)))
        })
    };
    let later_parts = |Repeat { tables, info, .. }: &Repeat<'_>| {
        coroutines::later_parts(&tables.executions, |from, to| are_lost(*info, from, to))
    };
    let later: Vec<_> = repeats.iter().map(later_parts).collect();
    let calls = || {
        measured().filter(|(_, _, e)| e.resumes.is_none()).filter_map(|((number, row), index, e)| {
            let later = later[number].get(&row).copied().unwrap_or(Some(LaterParts::NONE))?;
            Some((
                index,
                e.end_ns.get()? - e.start_ns + later.wall_ns,
                e.cpu_ns.get().zip(later.cpu_ns).map(|(first, later)| first + later),
            ))
        })
    };
    let us = |ns: i64| ns as f64 / NS_PER_US;
    let mut durations = Grouped::new(order.len(), || calls().map(|(index, wall, _)| (index, us(wall))));
    let mut cpu = Grouped::new(order.len(), || calls().filter_map(|(index, _, cpu)| Some((index, us(cpu?)))));
    let mut off_cpu =
        Grouped::new(order.len(), || calls().filter_map(|(index, wall, cpu)| Some((index, us(wall - cpu?)))));
    let mut waits = Grouped::new(order.len(), || {
        let queued = measured().filter_map(|(_, index, e)| Some((index, us(e.start_ns - e.queued_ns.get()?))));
        let taken = repeats.iter().zip(&of_rows).flat_map(|(Repeat { tables, .. }, of_row)| {
            tables.messages.iter().filter_map(move |message| {
                let (execution, arrival) = (&tables.executions[message.execution?], message.arrival_ns.get()?);
                let index = of_row[execution.callback].filter(|_| execution.start_ns >= arrival)?;
                Some((index, us(execution.start_ns - arrival)))
            })
        });
        queued.chain(taken)
    });
    let mut finish = |(index, so_far): (Row<CallbackSoFar>, CallbackSoFar)| CallbackFigures {
        count: durations.of(index).len() as u64,
        duration_us: Distribution::of_slice(durations.of_mut(index)),
        cpu_us: Distribution::of_slice(cpu.of_mut(index)),
        off_cpu_us: Distribution::of_slice(off_cpu.of_mut(index)),
        queue_wait_us: Distribution::of_slice(waits.of_mut(index)),
        output_period_ms: so_far
            .outputs
            .into_iter()
            .filter_map(|(topic, series)| Some((topic, series.period_ns()? / NS_PER_MS)))
            .collect(),
        ..so_far.figures
    };
    order.into_iter().enumerate().map(|(index, so_far)| finish((Row::behind(index), so_far))).collect()
}

/// One chain over all repeats.
#[derive(Default)]
struct ChainSoFar {
    lost: u64,
    evidence: Vec<String>,
    /// In any repeat.
    guessed_at: Vec<String>,
    /// Of the first repeat that has any.
    callbacks: Vec<String>,
    means_ms: Vec<f64>,
    worst_ns: Option<i64>,
    /// In any repeat.
    critical: bool,
    /// Whether the events tell alignment of any instance.
    tells_alignment: bool,
    /// Instances, and those of which time off the CPU is known.
    instances: usize,
    know_off_cpu: usize,
}

impl ChainSoFar {
    /// Parts of instances that do not know them; see `chains`.
    fn told(&self) -> Told {
        let tells_off_cpu = self.know_off_cpu > 0 && self.know_off_cpu * 2 >= self.instances;
        Told { alignment: self.tells_alignment.then_some(0), off_cpu: tells_off_cpu.then_some(0) }
    }
}

/// What a part is in an instance that does not tell it; absent where the chain does not tell it either.
#[derive(Clone, Copy)]
struct Told {
    alignment: Option<i64>,
    off_cpu: Option<i64>,
}

impl Told {
    /// Off the CPU, and computation, which holds what is not reported.
    fn off_cpu(self, i: &Instance) -> Option<i64> {
        self.off_cpu.map(|none| i.off_cpu_ns.get().unwrap_or(none))
    }

    fn computation(self, i: &Instance) -> i64 {
        i.computation_ns + i.off_cpu_ns.get().unwrap_or(0) - self.off_cpu(i).unwrap_or(0)
    }
}

pub(crate) fn chains(repeats: &[Repeat<'_>]) -> Vec<ChainFigures> {
    let mut order: Vec<(&str, &[String])> = Vec::new();
    let mut so_far: Vec<ChainSoFar> = Vec::new();
    // Of each repeat and chain row, its place in `order`.
    let mut of_rows: Vec<Column<Chain, Row<ChainSoFar>>> = Vec::new();
    for Repeat { tables, .. } in repeats {
        let mut index_of = Column::default();
        for chain in &tables.chains {
            let key = (chain.name.as_str(), chain.path.as_slice());
            let index = order.iter().position(|k| *k == key).unwrap_or_else(|| {
                order.push(key);
                so_far.push(ChainSoFar::default());
                order.len() - 1
            });
            index_of.push(Row::behind(index));
            so_far[index].lost += chain.lost;
            so_far[index].critical |= chain.critical;
            if so_far[index].guessed_at.is_empty() {
                so_far[index].guessed_at.clone_from(&chain.guessed_at);
            }
            if so_far[index].callbacks.is_empty() {
                so_far[index].callbacks.clone_from(&chain.callbacks);
            }
            if !so_far[index].evidence.contains(&chain.evidence) {
                so_far[index].evidence.push(chain.evidence.clone());
            }
        }
        let mut sums = vec![(0u64, 0.0); order.len()];
        for instance in &tables.instances {
            let index = index_of[instance.chain].index();
            so_far[index].worst_ns = so_far[index].worst_ns.max(Some(instance.end_to_end_ns));
            so_far[index].tells_alignment |= instance.alignment_ns.get().is_some();
            so_far[index].instances += 1;
            so_far[index].know_off_cpu += usize::from(instance.off_cpu_ns.get().is_some());
            sums[index] = (sums[index].0 + 1, sums[index].1 + instance.end_to_end_ns as f64 / NS_PER_MS);
        }
        for (chain, (count, sum)) in so_far.iter_mut().zip(sums).filter(|(_, (count, _))| *count > 0) {
            chain.means_ms.push(sum / count as f64);
        }
        of_rows.push(index_of);
    }
    // Of one that tells none, in a chain whose others do, alignment is part of transport as in all: the parts' means
    // add up, too. Likewise off the CPU of computation, which is told where at least half of the instances know it.
    let told: Vec<Told> = so_far.iter().map(ChainSoFar::told).collect();
    let by_chain = Grouped::new(order.len(), || {
        (0u32..).zip(repeats.iter().zip(&of_rows)).flat_map(|(number, (Repeat { tables, .. }, index_of))| {
            tables.instances.numbered().map(move |(row, instance)| (index_of[instance.chain], (number, row)))
        })
    });
    let of_instances = |chain: Row<ChainSoFar>, part: fn(&Instance, Told) -> Option<i64>| {
        let instances =
            by_chain.of(chain).iter().map(|(number, row)| &repeats[*number as usize].tables.instances[*row]);
        let mut values: Rows<f64> =
            instances.filter_map(|instance| Some(part(instance, told[chain.index()])? as f64 / NS_PER_MS)).collect();
        Distribution::of_slice(&mut values)
    };
    let parts = |chain: Row<ChainSoFar>| {
        Some(Parts {
            computation: of_instances(chain, |i, told| Some(told.computation(i)))?,
            off_cpu: of_instances(chain, |i, told| told.off_cpu(i)),
            preemption: of_instances(chain, |i, _| i.preemption_ns.get()),
            transport: of_instances(chain, |i, _| Some(i.transport_ns))?,
            alignment: of_instances(chain, |i, told| i.alignment_ns.get().or(told.alignment)),
            queueing: of_instances(chain, |i, _| Some(i.queueing_ns))?,
            kept: of_instances(chain, |i, _| i.kept_ns.get()),
        })
    };
    // One that rests on a guess only where all do. Of equal ones the one that is critical in a repeat.
    let rank = |chain: &ChainSoFar| chain.worst_ns.map(|worst| (chain.guessed_at.is_empty(), worst));
    let most = so_far.iter().filter_map(rank).max();
    let critical = most.and_then(|most| {
        let worst = (0..order.len()).filter(|index| rank(&so_far[*index]) == Some(most));
        worst.min_by_key(|index| (!so_far[*index].critical, order[*index].1, order[*index].0))
    });
    let several = repeats.len() > 1;
    let mut figures: Vec<ChainFigures> = order
        .iter()
        .zip(so_far)
        .enumerate()
        .map(|(index, ((name, path), chain))| {
            let row = Row::behind(index);
            let end_to_end_ms = of_instances(row, |i, _| Some(i.end_to_end_ns));
            ChainFigures {
                name: name.to_string(),
                path: path.to_vec(),
                critical: critical == Some(index),
                guessed_at: chain.guessed_at,
                callbacks: chain.callbacks,
                evidence: chain.evidence.join("; or "),
                instances: end_to_end_ms.as_ref().map_or(0, |d| d.count),
                lost: chain.lost,
                end_to_end_ms,
                repeat_means_ms: if several { Distribution::of(chain.means_ms) } else { None },
                parts: parts(row),
                ..ChainFigures::default()
            }
        })
        .collect();
    explained::explain(&mut figures, repeats);
    figures
}
