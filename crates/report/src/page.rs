//! What the page gets: the runs' figures as they are, and of the large tables what can be drawn.
//!
//! Durations are ms, times are ms from the start of their instance. web/src/shapes/ is made of these types.

use crate::comparison::{compare, Compared};
use crate::drawn::Drawn;
use crate::live::Live;
use crate::published::{self, Study};
use crate::sweep::Sweep;
use crate::timeline::{timeline, Timeline, BUDGET_BYTES};
use crate::top_view::{top_view, TopView};
use crate::{Error, ReportRun, Result};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use tacho_events::run::RunInfo;
use tacho_printing::{once, once_with};
use tacho_tables::row::Row;
use tacho_tables::summary::{Summary, WindowFigures};
use tacho_tables::{Execution, Hop, Instance, Note, OffCpu, Parts, Preemption, Tables};
use tacho_tune::{ObjectiveCurve, Pair, Proof};

const NS_PER_MS: f64 = 1e6;

/// Everything on the page.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Page<'a> {
    /// Version of this shape.
    pub format: u32,
    /// Version of tacho that wrote the report.
    pub tacho_version: &'static str,
    /// The runs, the first being the one to compare with.
    pub runs: Vec<PageRun<'a>>,
    /// How the recording of its only run goes on; absent of a report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<Live>,
}

/// One run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageRun<'a> {
    /// See [`ReportRun::label`].
    pub label: &'a str,
    /// Path of the run directory.
    pub directory: String,
    /// `run.json`; what is missing for the same reason once.
    pub info: RunInfo,
    /// `summary.json`.
    pub summary: &'a Summary,
    /// Notes of the tables and of the summary, each once.
    pub notes: Vec<Note>,
    /// Those of the notes for whose sake figures are absent that a reader looks for first.
    pub in_doubt: Vec<Note>,
    /// What of it does not count, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// One entry a chain of the tables.
    pub chains: Vec<PageChain<'a>>,
    /// See [`ReportRun::objective`].
    pub objective: Option<&'a ObjectiveCurve>,
    /// The critical chain of the first run in this one; absent where the first has none.
    pub compared: Option<PageCompared>,
    /// See [`ReportRun::proof`].
    pub proof: Option<PageProof<'a>>,
    /// See [`ReportRun::sweep`].
    pub sweep: Option<&'a Sweep>,
    /// The published experiment that it repeats, of a single workload.
    pub study: Option<&'static Study>,
    /// See [`ReportRun::in_node_clock_ms`].
    pub in_node_clock_ms: &'a BTreeMap<String, f64>,
    /// The run over time; absent if no execution of a callback was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline<'a>>,
    /// The drive from above; absent if no task reported where a car was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_view: Option<TopView<'a>>,
}

/// What became of the chain that the runs are compared by.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageCompared {
    /// Its figures.
    #[serde(flatten)]
    pub of: Compared,
    /// What is drawn of it: an index into [`PageRun::chains`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<usize>,
}

/// A proof with the gain of each pair.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageProof<'a> {
    /// As it was written.
    #[serde(flatten)]
    pub proof: &'a Proof,
    /// Mean before over mean after, of each of its repeats; null where a side has none.
    pub gains: Vec<Option<f64>>,
}

/// A chain with what of its instances is drawn.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageChain<'a> {
    /// Name.
    pub name: &'a str,
    /// Node, topic, node ... node.
    pub path: &'a [String],
    /// End-to-end times; absent without an instance.
    pub end_to_end: Option<Drawn>,
    /// Best, median and worst instance.
    pub instances: Vec<PageInstance<'a>>,
    /// Mean parts of each node on the path; none where only some instances have hops, as they are not of all.
    pub hops: Vec<HopMeans<'a>>,
}

/// Which of its chain's instances one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Rank {
    /// The least end-to-end time.
    Best,
    /// Of an even count the lower of the two in the middle.
    Median,
    /// The greatest.
    Worst,
}

/// One instance of a chain, on its own time axis.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageInstance<'a> {
    /// By end-to-end time.
    pub rank: Rank,
    /// First node's callback start to last node's output.
    pub end_to_end_ms: f64,
    /// What that is made of.
    pub parts: Parts<f64>,
    /// In the order of the path.
    pub hops: Vec<PageHop<'a>>,
}

/// One node of an instance.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageHop<'a> {
    /// Node.
    pub node: &'a str,
    /// Topic of its input; absent for the first.
    pub topic: Option<&'a str>,
    /// When its input was published.
    pub published_ms: Option<f64>,
    /// Start of its callback; its publish call where there is no callback.
    pub start_ms: f64,
    /// Its output.
    pub output_ms: f64,
    /// Where the time went from the publication of its input, of the first from its start, to its output.
    pub parts: Parts<f64>,
    /// From start to output: who had the CPU that its thread could have gone on with; only with scheduler events.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preemptions: Vec<PagePreemption<'a>>,
    /// From start to output: when its thread was blocked; only with scheduler events.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<PageBlocked<'a>>,
}

/// A thread had the CPU of a callback.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PagePreemption<'a> {
    /// Since the start of the instance.
    pub from_ms: f64,
    /// See `from_ms`.
    pub to_ms: f64,
    /// Name of the thread; absent where it is not known.
    pub by: Option<&'a str>,
}

/// A callback was blocked.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageBlocked<'a> {
    /// Since the start of the instance.
    pub from_ms: f64,
    /// See `from_ms`.
    pub to_ms: f64,
    /// Name of the thread that woke it; absent where an interrupt did (of a timer or a device), or it is not known.
    pub woken_by: Option<&'a str>,
}

/// Means over all instances, of one node of the path.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HopMeans<'a> {
    /// Node.
    pub node: &'a str,
    /// Instances behind the means.
    pub count: usize,
    /// Publish to start; absent for the first node.
    pub waited_ms: Option<f64>,
    /// Their sums over the nodes are the means of the chain.
    pub parts: Parts<f64>,
}

/// The data of a report.
pub fn page(runs: &[ReportRun]) -> Result<Page<'_>> {
    let summaries: Vec<&Summary> = runs.iter().map(|run| &run.summary).collect();
    let tuned = runs.iter().find_map(|run| run.proof.as_ref());
    let compared = compare(&summaries, tuned.map(|proof| proof.chain.as_str()));
    let path = compared.first().and_then(|first| Some(&summaries[0].chains[first.chain?].path));
    let compared = |run: usize| {
        let drawn = runs[run].tables.chains.iter().position(|chain| Some(&chain.path) == path);
        compared.get(run).map(|of| PageCompared { of: *of, drawn })
    };
    let budget = BUDGET_BYTES / runs.len().max(1);
    let runs = runs.iter().enumerate().map(|(i, run)| page_run(run, compared(i), budget)).collect::<Result<_>>()?;
    Ok(Page { format: 1, tacho_version: env!("CARGO_PKG_VERSION"), runs, live: None })
}

fn page_run(run: &ReportRun, compared: Option<PageCompared>, budget_bytes: usize) -> Result<PageRun<'_>> {
    let more = run.tables.notes.iter().filter(|note| !run.summary.notes.contains(note));
    let notes = run.summary.notes.iter().chain(more).map(|note| (note.name.clone(), note.count, note.text.clone()));
    let notes: Vec<Note> = once_with(notes).into_iter().map(|(name, count, text)| Note { name, count, text }).collect();
    let timeline = timeline(run, budget_bytes);
    Ok(PageRun {
        label: &run.label,
        directory: run.directory.path().display().to_string(),
        info: RunInfo {
            missing: once(&run.info.missing),
            failed_starts: once(&run.info.failed_starts),
            ..run.info.clone()
        },
        summary: &run.summary,
        in_doubt: notes.iter().filter(|note| note.casts_doubt()).cloned().collect(),
        notes,
        window: run.summary.window.as_ref().and_then(WindowFigures::sentence),
        chains: chains(&run.label, &run.tables)?,
        objective: run.objective.as_ref(),
        compared,
        proof: run
            .proof
            .as_ref()
            .map(|proof| PageProof { proof, gains: proof.repeats.iter().map(Pair::gain).collect() }),
        sweep: run.sweep.as_ref(),
        study: run.study.as_deref().and_then(published::study),
        in_node_clock_ms: &run.in_node_clock_ms,
        top_view: timeline.as_ref().and_then(|timeline| top_view(run, timeline)),
        timeline,
    })
}

fn chains<'a>(label: &str, tables: &'a Tables) -> Result<Vec<PageChain<'a>>> {
    let mut instances = vec![Vec::new(); tables.chains.len()];
    for (row, instance) in tables.instances.iter().enumerate() {
        let of_chain = instances.get_mut(instance.chain.index()).ok_or(Error::DanglingRow {
            run: label.to_owned(),
            table: "instances",
            row,
            column: "chain",
            found: instance.chain.number(),
            rows: tables.chains.len(),
        })?;
        of_chain.push(row);
    }
    let mut hops: BTreeMap<Row<Instance>, Vec<&Hop>> = BTreeMap::new();
    for (row, hop) in tables.hops.iter().enumerate() {
        if hop.instance.index() >= tables.instances.len() {
            return Err(Error::DanglingRow {
                run: label.to_owned(),
                table: "hops",
                row,
                column: "instance",
                found: hop.instance.number(),
                rows: tables.instances.len(),
            });
        }
        hops.entry(hop.instance).or_default().push(hop);
    }
    hops.values_mut().for_each(|of_instance| of_instance.sort_by_key(|hop| hop.position));
    let mut off_cpu: ByExecution<'_> = HashMap::new();
    for row in tables.preemptions.iter().filter(|row| row.state != OffCpu::Interrupted) {
        row.execution.iter().for_each(|execution| off_cpu.entry(*execution).or_default().push(row));
    }

    Ok(tables
        .chains
        .iter()
        .zip(&mut instances)
        .map(|(chain, rows)| {
            rows.sort_by_key(|&row| tables.instances[row].end_to_end_ns);
            let sorted: Vec<f64> = rows.iter().map(|&row| ms(tables.instances[row].end_to_end_ns)).collect();
            let hops_of = |row: usize| hops.get(&Row::behind(row)).map_or(&[][..], Vec::as_slice);
            let shown = match rows.as_slice() {
                [] => vec![],
                rows => {
                    vec![
                        (Rank::Best, rows[0]),
                        (Rank::Median, rows[(rows.len() - 1) / 2]),
                        (Rank::Worst, rows[rows.len() - 1]),
                    ]
                }
            };
            PageChain {
                name: &chain.name,
                path: &chain.path,
                end_to_end: Drawn::of(&sorted),
                instances: shown
                    .into_iter()
                    .map(|(rank, row)| page_instance(rank, &tables.instances[row], hops_of(row), &chain.path, &off_cpu))
                    .collect(),
                hops: hop_means(&chain.path, rows.iter().map(|&row| hops_of(row))),
            }
        })
        .collect())
}

/// Of each execution, the intervals in which it was off the CPU.
type ByExecution<'a> = HashMap<Row<Execution>, Vec<&'a Preemption>>;

fn page_instance<'a>(
    rank: Rank,
    instance: &Instance,
    hops: &[&Hop],
    path: &'a [String],
    off_cpu: &ByExecution<'a>,
) -> PageInstance<'a> {
    let since_start = |ns: i64| ms(ns - instance.start_ns);
    // Of a hop, from its start to its output.
    let off = |hop: &Hop, state: OffCpu| {
        let of = hop.execution.and_then(|execution| off_cpu.get(&execution));
        let (start, output) = (hop.start_ns, hop.output_ns);
        let of = of.into_iter().flatten().filter(move |row| row.state == state);
        of.map(move |row| (row.from_ns.max(start), row.to_ns.min(output), row.by_comm.as_deref()))
            .filter(|(from, to, _)| from < to)
            .map(move |(from, to, by)| (since_start(from), since_start(to), by))
    };
    PageInstance {
        rank,
        end_to_end_ms: ms(instance.end_to_end_ns),
        parts: instance.parts().in_ms(),
        hops: hops
            .iter()
            .map(|hop| PageHop {
                node: node_at(path, hop.position),
                topic: (hop.position > 0)
                    .then(|| path.get(2 * hop.position as usize - 1).map(String::as_str))
                    .flatten(),
                published_ms: hop.published_ns.get().map(since_start),
                start_ms: since_start(hop.start_ns),
                output_ms: since_start(hop.output_ns),
                parts: hop.parts().in_ms(),
                preemptions: off(hop, OffCpu::Runnable)
                    .map(|(from_ms, to_ms, by)| PagePreemption { from_ms, to_ms, by })
                    .collect(),
                blocked: off(hop, OffCpu::Blocked)
                    .map(|(from_ms, to_ms, woken_by)| PageBlocked { from_ms, to_ms, woken_by })
                    .collect(),
            })
            .collect(),
    }
}

fn hop_means<'a, 'h>(path: &'a [String], instances: impl Iterator<Item = &'h [&'h Hop]>) -> Vec<HopMeans<'a>> {
    let nodes = path.len().div_ceil(2);
    let whole: Vec<_> = instances.collect();
    if whole.is_empty() || whole.iter().any(|hops| hops.len() != nodes) {
        return vec![];
    }
    let means = |position: usize| {
        let hops: Vec<&Hop> = whole.iter().map(|hops| hops[position]).collect();
        let waited: Option<i64> = hops.iter().map(|hop| Some(hop.start_ns - hop.published_ns.get()?)).sum();
        let parts: Vec<Parts<f64>> = hops.iter().map(|hop| hop.parts().in_ms()).collect();
        Some(HopMeans {
            node: node_at(path, position as u32),
            count: hops.len(),
            waited_ms: waited.map(|ns| ms(ns) / hops.len() as f64),
            parts: Parts::mean(&parts)?,
        })
    };
    (0..nodes).filter_map(means).collect()
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
    use tacho_tables::MaybeNs;

    #[test]
    fn a_hop_shows_who_had_its_cpu_from_its_start_to_its_output() {
        let row = |from_ns, to_ns, by: &str| Preemption {
            process: Row::new(0),
            tid: 1,
            execution: Some(Row::new(7)),
            state: OffCpu::Runnable,
            from_ns,
            to_ns,
            cpu: 0,
            by_tid: Some(9),
            by_comm: Some(by.into()),
            waits_in: None,
            woken: false,
        };
        let blocked = Preemption { state: OffCpu::Blocked, ..row(4_500_000, 5_500_000, "feeder") };
        let rows = [
            row(500_000, 1_500_000, "early"),
            row(2_000_000, 3_000_000, "burner"),
            blocked,
            row(6_000_000, 7_000_000, "late"),
        ];
        let hop = Hop {
            instance: Row::new(0),
            position: 0,
            execution: Some(Row::new(7)),
            published_ns: MaybeNs::NONE,
            arrival_ns: MaybeNs::NONE,
            start_ns: 1_000_000,
            output_ns: 5_000_000,
            queueing_ns: 0,
            alignment_ns: MaybeNs::NONE,
            kept_ns: MaybeNs::NONE,
            off_cpu_ns: MaybeNs::NONE,
            preemption_ns: MaybeNs::NONE,
        };
        let instance = Instance {
            chain: Row::new(0),
            start_ns: 1_000_000,
            end_ns: 5_000_000,
            end_to_end_ns: 4_000_000,
            computation_ns: 2_500_000,
            off_cpu_ns: MaybeNs::NONE,
            preemption_ns: 1_500_000.into(),
            alignment_ns: 0.into(),
            queueing_ns: 0,
            kept_ns: MaybeNs::NONE,
            transport_ns: 0,
        };
        let of = ByExecution::from([(Row::new(7), rows.iter().collect())]);
        let path = ["a".to_string()];
        let page = page_instance(Rank::Worst, &instance, &[&hop], &path, &of);
        let found: Vec<_> = page.hops[0].preemptions.iter().map(|p| (p.from_ms, p.to_ms, p.by)).collect();
        assert_eq!(found, [(0.0, 0.5, Some("early")), (1.0, 2.0, Some("burner"))]);
        assert_eq!(page.hops[0].blocked, [PageBlocked { from_ms: 3.5, to_ms: 4.0, woken_by: Some("feeder") }]);
    }

    #[test]
    fn of_an_unknown_arrival_transport_holds_alignment() {
        let hop = |position, published_ns, arrival_ns, start_ns, output_ns| Hop {
            instance: Row::new(0),
            position,
            execution: None,
            published_ns,
            arrival_ns,
            start_ns,
            output_ns,
            queueing_ns: 0,
            alignment_ns: MaybeNs::NONE,
            kept_ns: MaybeNs::NONE,
            off_cpu_ns: MaybeNs::NONE,
            preemption_ns: MaybeNs::NONE,
        };
        let hops = [
            hop(0, MaybeNs::NONE, MaybeNs::NONE, 0, 1_000_000),
            hop(1, Some(1_000_000).into(), MaybeNs::NONE, 4_000_000, 6_000_000),
        ];
        let hops: Vec<&Hop> = hops.iter().collect();
        let path: Vec<String> = ["a", "/t", "b"].map(String::from).into();
        let means = hop_means(&path, std::iter::once(hops.as_slice()));
        assert_eq!((means[1].parts.computation, means[1].parts.transport, means[1].parts.alignment), (2.0, 3.0, None));
        assert_eq!((means[0].waited_ms, means[1].waited_ms), (None, Some(3.0)));
        assert_eq!(means[0].parts.whole_ms(), 1.0);
    }
}
