//! What the summary says of a chain besides its times: links, reaction time, data age, the causes of its worst
//! instances.

use crate::figures::Repeat;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use tacho_analysis::Options;
use tacho_events::wall;
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::summary::{ChainFigures, Distribution, LateInstance, LatePart, LinkFigures, LostInputs};
use tacho_tables::{CauseKind, Chain, Instance, Process, Tables};

const NS_PER_MS: f64 = 1e6;
/// Instances that the summary explains of the critical chain, and of those with a deadline; the table `causes` may hold
/// more.
const SHOWN: usize = 10;
/// Of each other chain: systems have hundreds.
const SHOWN_OF_OTHERS: usize = 2;

/// Of each chain of a repeat, its place among those of all repeats.
type Places = Column<Chain, Option<usize>>;

/// Fills in what the tables of the repeats know of each chain.
pub(crate) fn explain(chains: &mut [ChainFigures], repeats: &[Repeat<'_>]) {
    let index: HashMap<(String, Vec<String>), usize> =
        chains.iter().enumerate().map(|(i, c)| ((c.name.clone(), c.path.clone()), i)).collect();
    let place = |chain: &Chain| index.get(&(chain.name.clone(), chain.path.clone())).copied();
    let places: Vec<Places> = repeats.iter().map(|of| Column::of(of.tables.chains.iter().map(place))).collect();
    let mut of_inputs = spans_of_inputs(chains.len(), repeats, &places);
    for (repeat, (Repeat { tables, options, .. }, chain_of)) in repeats.iter().zip(&places).enumerate() {
        let waits = pending(tables, options);
        for ((row, chain), waits) in tables.chains.iter().zip(chain_of).zip(&waits) {
            let Some(chain) = chain.map(|c| &mut chains[c]) else { continue };
            let waits = waits.map(|ns| ns as f64 / NS_PER_MS);
            chain.reaction_pending_ms = chain.reaction_pending_ms.into_iter().chain(waits).reduce(f64::max);
            if let Some(deadline) = row.deadline_ns {
                let ms = deadline as f64 / NS_PER_MS;
                chain.deadline_ms = Some(ms);
            }
            let process = |node: &String| tables.nodes.iter().find(|n| n.name == *node).map(|n| n.process);
            let nodes: Vec<Row<Process>> = row.path.iter().step_by(2).filter_map(process).collect();
            let between = nodes.windows(2).filter_map(|pair| tables.clock_uncertainty_ns(pair[0], pair[1])).max();
            let between = between.map(|ns| ns as f64 / NS_PER_MS);
            chain.clock_uncertainty_ms = match (chain.clock_uncertainty_ms, between) {
                (Some(known), Some(between)) => Some(known.max(between)),
                (known, between) => known.or(between),
            };
            if chain.links.is_empty() {
                chain.links = links(tables, &row.path);
            }
        }
        let repeat = (repeats.len() > 1).then_some(repeat as u32);
        causes(chains, tables, options, chain_of, repeat);
        for instance in &tables.instances {
            let deadline = tables.chains[instance.chain].deadline_ns;
            let late = deadline.is_some_and(|deadline| instance.end_to_end_ns > deadline);
            if let (Some(chain), true) = (chain_of[instance.chain], deadline.is_some()) {
                *chains[chain].late_instances.get_or_insert(0) += u64::from(late);
            }
        }
    }
    for (place, chain) in chains.iter_mut().enumerate() {
        let mut distribution =
            |series: usize| Distribution::of_slice(of_inputs.of_mut(Row::behind(3 * place + series)));
        chain.reaction_time_ms = distribution(0);
        chain.data_age_ms = distribution(1);
        chain.data_age_held_ms = distribution(2);
        chain.worst.sort_by(|a, b| b.end_to_end_ms.total_cmp(&a.end_to_end_ms));
        chain.worst.truncate(if chain.critical || chain.deadline_ms.is_some() { SHOWN } else { SHOWN_OF_OTHERS });
        chain.lost_inputs.sort_by_key(|loss| std::cmp::Reverse(loss.inputs));
    }
}

/// A chain's reaction times, data ages, or data ages up to the output that replaces: what its rows are rows of.
struct Series;

/// Of all inputs, ms; three series a chain.
fn spans_of_inputs(chains: usize, repeats: &[Repeat<'_>], places: &[Places]) -> Grouped<Series, f64> {
    Grouped::new(3 * chains, || {
        let rows = repeats
            .iter()
            .zip(places)
            .flat_map(|(repeat, places)| repeat.tables.inputs.iter().filter_map(|row| Some((places[row.chain]?, row))));
        rows.flat_map(|(place, row)| {
            let since = |end: Option<i64>, start: Option<i64>| Some((end? - start?) as f64 / NS_PER_MS);
            let spans = [
                since(row.reflected_ns.get(), row.previous_ns.get()),
                since(row.last_used_ns.get(), Some(row.start_ns)),
                since(row.last_used_ns.get().and(row.replaced_ns.get()), Some(row.start_ns)),
            ];
            let series = (0..3).map(move |series| Row::behind(3 * place + series));
            series.zip(spans).filter_map(|(series, span)| Some((series, span?)))
        })
    })
}

/// Of each chain: how long the oldest change had waited at the end that no output reflects. The end is that of the
/// window, or of the first executor or process on the path that ended in order (of a trace: that ended): what was shut
/// down need not react. One that was killed should have.
fn pending(tables: &Tables, options: &Options) -> Column<Chain, Option<i64>> {
    // The kernel's events go on when nothing else does.
    let end = tables
        .processes
        .iter()
        .filter(|process| process.pid != 0)
        .map(|process| process.last_ns)
        .max()
        .unwrap_or(i64::MIN);
    let end_of = |node: &String| {
        let process = &tables.processes[tables.nodes.iter().find(|n| n.name == *node)?.process];
        (process.ended != Some(false)).then_some(process.last_ns)
    };
    let end_of_chain = |chain: &Chain| {
        let nodes = chain.path.iter().step_by(2).filter_map(end_of);
        nodes.chain(options.measured_to_ns).chain(chain.until_ns).fold(end, i64::min)
    };
    let ends: Column<Chain, i64> = Column::of(tables.chains.iter().map(end_of_chain));
    let mut waits: Column<Chain, Option<i64>> = Column::of(tables.chains.iter().map(|_| None));
    for row in tables.inputs.iter().filter(|row| row.reflected_ns.get().is_none()) {
        let since = ends[row.chain] - row.previous_ns.get().unwrap_or(row.start_ns);
        let longest = &mut waits[row.chain];
        *longest = (*longest).max(Some(since).filter(|ns| *ns > 0));
    }
    waits
}

/// The links of a path, in its order.
fn links(tables: &Tables, path: &[String]) -> Vec<LinkFigures> {
    let triple = |position: usize| (&path[position], &path[position - 1], path.get(position + 1));
    let found = (2..path.len()).step_by(2).filter_map(|position| {
        let (node, input, output) = triple(position);
        tables.links.iter().find(|link| {
            tables.nodes[link.node].name == *node && link.input == *input && link.output.as_ref() == output
        })
    });
    let figures = |link: &tacho_tables::Link| LinkFigures {
        node: tables.nodes[link.node].name.clone(),
        input: link.input.clone(),
        output: link.output.clone(),
        rule: link.rule,
        evidence: link.evidence,
        confidence: link.confidence,
        outputs: link.outputs,
        followed: link.followed,
        guess: link.guess == Some(true),
    };
    found.map(figures).collect()
}

fn causes(
    chains: &mut [ChainFigures],
    tables: &Tables,
    options: &Options,
    chain_of: &Column<Chain, Option<usize>>,
    repeat: Option<u32>,
) {
    let realtime_ns = |ns: i64| wall::realtime_ns(ns, options.realtime_offset_ns?);
    let mut of_instance: BTreeMap<Row<Instance>, Vec<LatePart>> = BTreeMap::new();
    for row in &tables.causes {
        let Some(chain) = chain_of[row.chain] else { continue };
        let node = tables.chains[row.chain].path.get(2 * row.position as usize).cloned().unwrap_or_default();
        match (row.instance, row.duration_ns.get()) {
            (Some(instance), Some(ns)) => {
                let (ms, usual_ms) = (ns as f64 / NS_PER_MS, row.usual_ns.get().map(|ns| ns as f64 / NS_PER_MS));
                part(of_instance.entry(instance).or_default(), node, row.kind, &row.by, ms, usual_ms);
            }
            _ => lost(&mut chains[chain].lost_inputs, node, row.kind, &row.by, row.count),
        }
    }
    for (instance, parts) in of_instance {
        let row = &tables.instances[instance];
        if let Some(chain) = chain_of[row.chain] {
            chains[chain].worst.push(LateInstance {
                repeat,
                start_ns: row.start_ns,
                start_realtime_ns: realtime_ns(row.start_ns),
                end_to_end_ms: row.end_to_end_ns as f64 / NS_PER_MS,
                parts,
            });
        }
    }
}

/// The same cause at several nodes is one part: what is usual of their sum is not known.
fn part(known: &mut Vec<LatePart>, node: String, kind: CauseKind, by: &str, ms: f64, usual_ms: Option<f64>) {
    match known.iter_mut().find(|p| p.kind == kind && p.by == by) {
        Some(part) => {
            part.ms += ms;
            part.usual_ms = None;
            part.nodes.push(node);
        }
        None => known.push(LatePart { nodes: vec![node], kind, by: by.into(), ms, usual_ms }),
    }
}

fn lost(known: &mut Vec<LostInputs>, node: String, kind: CauseKind, by: &str, inputs: u64) {
    match known.iter_mut().find(|l| l.node == node && l.kind == kind && l.by == by) {
        Some(row) => row.inputs += inputs,
        None => known.push(LostInputs { node, kind, by: by.into(), inputs }),
    }
}
