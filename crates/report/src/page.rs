//! What the page gets: the runs' figures as they are, and of the large tables what can be drawn.
//!
//! Durations are ms, times are ms from the start of their instance. web/src/data.ts holds the same shapes.

use crate::{Error, ReportRun, Result};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use tacho_analysis::summary::Summary;
use tacho_analysis::tables::{Hop, Instance, Note, Tables};
use tacho_events::run::RunInfo;

/// Most points of a distribution that are drawn; more cannot be told apart on a screen.
const DRAWN_POINTS: usize = 400;
const NS_PER_MS: f64 = 1e6;

/// Everything on the page.
#[derive(Debug, Serialize)]
pub struct Page<'a> {
    /// Version of this shape.
    pub format: u32,
    /// Version of tacho that wrote the report.
    pub tacho_version: &'static str,
    /// The runs, the first being the one to compare with.
    pub runs: Vec<PageRun<'a>>,
}

/// One run.
#[derive(Debug, Serialize)]
pub struct PageRun<'a> {
    /// See [`ReportRun::label`].
    pub label: &'a str,
    /// Path of the run directory.
    pub directory: String,
    /// `run.json`.
    pub info: &'a RunInfo,
    /// `summary.json`.
    pub summary: &'a Summary,
    /// Notes of the tables and of the summary, each once.
    pub notes: Vec<&'a Note>,
    /// One entry a chain of the tables.
    pub chains: Vec<PageChain<'a>>,
    /// See [`ReportRun::objective`].
    pub objective: Option<&'a Value>,
    /// See [`ReportRun::proof`].
    pub proof: Option<&'a Value>,
}

/// A chain with what of its instances is drawn.
#[derive(Debug, Serialize)]
pub struct PageChain<'a> {
    /// Name.
    pub name: &'a str,
    /// Node, topic, node ... node.
    pub path: &'a [String],
    /// End-to-end times; absent without an instance.
    pub end_to_end: Option<Drawn>,
    /// Best, median and worst instance.
    pub instances: Vec<PageInstance<'a>>,
    /// Mean parts of each node on the path, over the instances whose hops are all there.
    pub hops: Vec<HopMeans<'a>>,
}

/// A distribution as it is drawn.
#[derive(Debug, PartialEq, Serialize)]
pub struct Drawn {
    /// Values that it is made of.
    pub count: usize,
    /// True where not every value is among `points`.
    pub thinned: bool,
    /// (part of the values not above, value in ms), ascending; the least and the greatest are always among them.
    pub points: Vec<(f64, f64)>,
    /// Box as study A draws it.
    pub whiskers: Whiskers,
}

/// Box plot: quartiles by linear interpolation between closest ranks, whiskers to the last value within 1.5 times the
/// distance of the quartiles (study A, figures 9 and 10).
#[derive(Debug, PartialEq, Serialize)]
pub struct Whiskers {
    /// End of the lower whisker.
    pub low: f64,
    /// First quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Third quartile.
    pub q3: f64,
    /// End of the upper whisker.
    pub high: f64,
    /// Values beyond the whiskers.
    pub beyond: usize,
}

/// One instance of a chain, on its own time axis.
#[derive(Debug, Serialize)]
pub struct PageInstance<'a> {
    /// `best`, `median` or `worst` by end-to-end time; of an even count the lower of the two in the middle.
    pub rank: &'static str,
    /// Whole and parts.
    pub end_to_end_ms: f64,
    /// See `end_to_end_ms`.
    pub computation_ms: f64,
    /// See `end_to_end_ms`.
    pub alignment_ms: f64,
    /// See `end_to_end_ms`.
    pub queueing_ms: f64,
    /// See `end_to_end_ms`.
    pub transport_ms: f64,
    /// In the order of the path.
    pub hops: Vec<PageHop<'a>>,
}

/// One node of an instance.
#[derive(Debug, Serialize)]
pub struct PageHop<'a> {
    /// Node.
    pub node: &'a str,
    /// Topic of its input; absent for the first.
    pub topic: Option<&'a str>,
    /// When its input was published.
    pub published_ms: Option<f64>,
    /// When its input was there.
    pub arrival_ms: Option<f64>,
    /// Start of its callback; its publish call where there is no callback.
    pub start_ms: f64,
    /// Its output.
    pub output_ms: f64,
    /// Of the time before the start: executor busy.
    pub queueing_ms: f64,
}

/// Means over all instances, of one node of the path.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct HopMeans<'a> {
    /// Node.
    pub node: &'a str,
    /// Instances behind the means.
    pub count: usize,
    /// Start to output.
    pub computation_ms: f64,
    /// Publish to start; absent for the first node.
    pub waited_ms: Option<f64>,
    /// Arrival to start, executor asleep; absent for the first node and where an arrival is unknown.
    pub alignment_ms: Option<f64>,
    /// Arrival to start, executor busy.
    pub queueing_ms: Option<f64>,
    /// Publish to arrival.
    pub transport_ms: Option<f64>,
}

/// The data of a report.
pub fn page(runs: &[ReportRun]) -> Result<Page<'_>> {
    let runs = runs.iter().map(page_run).collect::<Result<_>>()?;
    Ok(Page { format: 1, tacho_version: env!("CARGO_PKG_VERSION"), runs })
}

fn page_run(run: &ReportRun) -> Result<PageRun<'_>> {
    let mut notes: Vec<&Note> = run.summary.notes.iter().collect();
    notes.extend(run.tables.notes.iter().filter(|note| !run.summary.notes.contains(note)));
    Ok(PageRun {
        label: &run.label,
        directory: run.directory.path().display().to_string(),
        info: &run.info,
        summary: &run.summary,
        notes,
        chains: chains(&run.label, &run.tables)?,
        objective: run.objective.as_ref(),
        proof: run.proof.as_ref(),
    })
}

fn chains<'a>(label: &str, tables: &'a Tables) -> Result<Vec<PageChain<'a>>> {
    let mut instances = vec![Vec::new(); tables.chains.len()];
    for (row, instance) in tables.instances.iter().enumerate() {
        let of_chain = instances.get_mut(instance.chain as usize).ok_or(Error::DanglingRow {
            run: label.to_owned(),
            table: "instances",
            row,
            column: "chain",
            found: instance.chain,
            rows: tables.chains.len(),
        })?;
        of_chain.push(row);
    }
    let mut hops: BTreeMap<u32, Vec<&Hop>> = BTreeMap::new();
    for (row, hop) in tables.hops.iter().enumerate() {
        if hop.instance as usize >= tables.instances.len() {
            return Err(Error::DanglingRow {
                run: label.to_owned(),
                table: "hops",
                row,
                column: "instance",
                found: hop.instance,
                rows: tables.instances.len(),
            });
        }
        hops.entry(hop.instance).or_default().push(hop);
    }
    hops.values_mut().for_each(|of_instance| of_instance.sort_by_key(|hop| hop.position));

    Ok(tables
        .chains
        .iter()
        .zip(&mut instances)
        .map(|(chain, rows)| {
            rows.sort_by_key(|&row| tables.instances[row].end_to_end_ns);
            let sorted: Vec<f64> = rows.iter().map(|&row| ms(tables.instances[row].end_to_end_ns)).collect();
            let hops_of = |row: usize| hops.get(&(row as u32)).map_or(&[][..], Vec::as_slice);
            let shown = match rows.as_slice() {
                [] => vec![],
                rows => {
                    vec![("best", rows[0]), ("median", rows[(rows.len() - 1) / 2]), ("worst", rows[rows.len() - 1])]
                }
            };
            PageChain {
                name: &chain.name,
                path: &chain.path,
                end_to_end: drawn(&sorted),
                instances: shown
                    .into_iter()
                    .map(|(rank, row)| page_instance(rank, &tables.instances[row], hops_of(row), &chain.path))
                    .collect(),
                hops: hop_means(&chain.path, rows.iter().map(|&row| hops_of(row))),
            }
        })
        .collect())
}

/// A distribution of ascending values, thinned to evenly spaced ranks where there are many.
fn drawn(sorted: &[f64]) -> Option<Drawn> {
    let (count, last) = (sorted.len(), sorted.len().checked_sub(1)?);
    let drawn = count.min(DRAWN_POINTS);
    let points = (0..drawn).map(|i| {
        let rank = if drawn == 1 { 0 } else { i * last / (drawn - 1) };
        ((rank + 1) as f64 / count as f64, sorted[rank])
    });
    let (q1, median, q3) = (quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75));
    let reach = 1.5 * (q3 - q1);
    let within: Vec<f64> = sorted.iter().copied().filter(|&v| v >= q1 - reach && v <= q3 + reach).collect();
    // Interpolated quartiles always have values on either side within their own distance, so `within` is never empty.
    let whiskers =
        Whiskers { low: within[0], q1, median, q3, high: within[within.len() - 1], beyond: count - within.len() };
    Some(Drawn { count, thinned: drawn < count, points: points.collect(), whiskers })
}

/// Linear interpolation between closest ranks.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let rank = part * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
    below + (above - below) * rank.fract()
}

fn page_instance<'a>(rank: &'static str, instance: &Instance, hops: &[&Hop], path: &'a [String]) -> PageInstance<'a> {
    let since_start = |ns: i64| ms(ns - instance.start_ns);
    PageInstance {
        rank,
        end_to_end_ms: ms(instance.end_to_end_ns),
        computation_ms: ms(instance.computation_ns),
        alignment_ms: ms(instance.alignment_ns),
        queueing_ms: ms(instance.queueing_ns),
        transport_ms: ms(instance.transport_ns),
        hops: hops
            .iter()
            .map(|hop| PageHop {
                node: node_at(path, hop.position),
                topic: (hop.position > 0)
                    .then(|| path.get(2 * hop.position as usize - 1).map(String::as_str))
                    .flatten(),
                published_ms: hop.published_ns.map(since_start),
                arrival_ms: hop.arrival_ns.map(since_start),
                start_ms: since_start(hop.start_ns),
                output_ms: since_start(hop.output_ns),
                queueing_ms: ms(hop.queueing_ns),
            })
            .collect(),
    }
}

fn hop_means<'a, 'h>(path: &'a [String], instances: impl Iterator<Item = &'h [&'h Hop]>) -> Vec<HopMeans<'a>> {
    let nodes = path.len().div_ceil(2);
    let whole: Vec<_> = instances.filter(|hops| hops.len() == nodes).collect();
    if whole.is_empty() {
        return vec![];
    }
    let mean = |position: usize, part: &dyn Fn(&Hop) -> Option<i64>| -> Option<f64> {
        let sum: i64 = whole.iter().map(|hops| part(hops[position])).sum::<Option<i64>>()?;
        Some(ms(sum) / whole.len() as f64)
    };
    (0..nodes)
        .map(|position| HopMeans {
            node: node_at(path, position as u32),
            count: whole.len(),
            computation_ms: mean(position, &|hop| Some(hop.output_ns - hop.start_ns))
                .expect("both ends are always there"),
            waited_ms: mean(position, &|hop| Some(hop.start_ns - hop.published_ns?)),
            alignment_ms: mean(position, &|hop| Some(hop.start_ns - hop.arrival_ns? - hop.queueing_ns)),
            queueing_ms: mean(position, &|hop| hop.published_ns.map(|_| hop.queueing_ns)),
            transport_ms: mean(position, &|hop| Some(hop.arrival_ns? - hop.published_ns?)),
        })
        .collect()
}

fn node_at(path: &[String], position: u32) -> &str {
    path.get(2 * position as usize).map_or("", String::as_str)
}

fn ms(ns: i64) -> f64 {
    ns as f64 / NS_PER_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_no_distribution() {
        assert_eq!(drawn(&[]), None);
    }

    #[test]
    fn a_small_distribution_is_drawn_whole() {
        let drawn = drawn(&[1.0, 2.0, 3.0, 4.0, 100.0]).unwrap();
        assert_eq!(drawn.points, [(0.2, 1.0), (0.4, 2.0), (0.6, 3.0), (0.8, 4.0), (1.0, 100.0)]);
        assert_eq!(drawn.whiskers, Whiskers { low: 1.0, q1: 2.0, median: 3.0, q3: 4.0, high: 4.0, beyond: 1 });
        assert!(!drawn.thinned);
    }

    #[test]
    fn a_large_distribution_is_thinned_and_keeps_both_ends() {
        let values: Vec<f64> = (0..100_000).map(f64::from).collect();
        let drawn = drawn(&values).unwrap();
        assert_eq!((drawn.count, drawn.thinned, drawn.points.len()), (100_000, true, DRAWN_POINTS));
        assert_eq!(drawn.points[0].1, 0.0);
        assert_eq!(drawn.points[DRAWN_POINTS - 1], (1.0, 99_999.0));
        assert!(drawn.points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
    }

    #[test]
    fn one_value_is_its_own_box() {
        let drawn = drawn(&[7.0]).unwrap();
        assert_eq!(drawn.points, [(1.0, 7.0)]);
        assert_eq!(drawn.whiskers, Whiskers { low: 7.0, q1: 7.0, median: 7.0, q3: 7.0, high: 7.0, beyond: 0 });
    }

    #[test]
    fn an_unknown_arrival_leaves_its_means_out() {
        let hop = |position, published_ns, arrival_ns, start_ns, output_ns| Hop {
            instance: 0,
            position,
            execution: None,
            published_ns,
            arrival_ns,
            start_ns,
            output_ns,
            queueing_ns: 0,
        };
        let hops = [hop(0, None, None, 0, 1_000_000), hop(1, Some(1_000_000), None, 4_000_000, 6_000_000)];
        let hops: Vec<&Hop> = hops.iter().collect();
        let path: Vec<String> = ["a", "/t", "b"].map(String::from).into();
        let means = hop_means(&path, std::iter::once(hops.as_slice()));
        assert_eq!(means[1].computation_ms, 2.0);
        assert_eq!((means[1].alignment_ms, means[1].transport_ms), (None, None));
        assert_eq!((means[0].waited_ms, means[1].waited_ms), (None, Some(3.0)));
        assert_eq!(means[0].queueing_ms, None);
    }
}
