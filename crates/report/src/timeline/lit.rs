//! Instances of the chain that the page is about: when each was where, and what its time went to.

use super::columns::Column;
use super::names::Names;
use super::spans::{holds, Span};
use super::NONE;
use serde::Serialize;
use std::collections::HashMap;
use tacho_tables::row::{numbered, Row};
use tacho_tables::summary::Summary;
use tacho_tables::{Cause, CauseKind, Chain, Hop, Instance, Tables};

/// A chain and those of its instances that lie inside the spans of the page.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimelineChain<'a> {
    /// Name.
    pub name: &'a str,
    /// Node, topic, node ... node.
    pub path: &'a [String],
    /// Instances of the run, of which those below are on the page.
    pub all: usize,
    /// Which of them has the greatest end-to-end time of all; absent if it is not on the page.
    pub worst: Option<usize>,
    /// Which of them has the median end-to-end time, of an even count the lower of the two in the middle; absent if it
    /// is not on the page.
    pub median: Option<usize>,
    /// Growing: its `row_id` in table `instances`.
    pub row: Column,
    /// Growing: start, ns since the begin.
    pub start: Column,
    /// End-to-end time, ns.
    pub duration: Column,
    /// How many of the hops are its.
    pub hops: Column,
    /// How many of the causes are its; 0 if it is not explained.
    pub causes: Column,
    /// Of hops: position on the path.
    pub position: Column,
    /// Number of its execution on this page; optional.
    pub execution: Column,
    /// Publication of its input, ns since the start of its instance; optional.
    pub published: Column,
    /// Start of its callback, ns since the start of its instance.
    pub begun: Column,
    /// Its output, ns since the start of its instance.
    pub output: Column,
    /// Parts, ns, optional: computation, off_cpu, preemption, transport, alignment, queueing, kept.
    pub parts: [Column; 7],
    /// Of causes: position of the node where it happened.
    pub at: Column,
    /// Index into `kinds`.
    pub kind: Column,
    /// Index into the names.
    pub by: Column,
    /// Where it, or its first interval, began, ns since the start of its instance; optional.
    pub from: Column,
    /// How long, ns.
    pub took: Column,
    /// Kinds of these causes.
    pub kinds: Vec<CauseKind>,
}

/// The chain of the verdict, else the critical one, with its instances by end-to-end time.
pub struct Chosen {
    row: Row<Chain>,
    by_time: Vec<Row<Instance>>,
}

impl Chosen {
    /// Absent if no chain has an instance that counts.
    pub fn of(tables: &Tables, summary: &Summary) -> Option<Chosen> {
        let critical = summary.chains.iter().find(|chain| chain.critical);
        let verdict = summary.verdict.as_ref().and_then(|of| Some((of.chain.as_deref()?, &of.path[..])));
        let row = verdict
            .into_iter()
            .chain(critical.map(|chain| (&*chain.name, &chain.path[..])))
            .find_map(|(name, path)| tables.chain(name, path))?;
        let mut by_time: Vec<Row<Instance>> =
            numbered(&tables.instances).filter(|(_, one)| one.chain == row).map(|(row, _)| row).collect();
        by_time.sort_by_key(|row| tables.instances[row.index()].end_to_end_ns);
        (!by_time.is_empty()).then_some(Chosen { row, by_time })
    }

    /// The instance with the greatest time.
    pub fn worst(&self) -> Row<Instance> {
        self.by_time[self.by_time.len() - 1]
    }

    /// Worst and median instance, from start to end.
    pub fn looked_for(&self, tables: &Tables) -> [Span; 2] {
        [self.worst(), self.median()].map(|row| {
            let instance = &tables.instances[row.index()];
            (instance.start_ns, instance.end_ns)
        })
    }

    fn median(&self) -> Row<Instance> {
        self.by_time[(self.by_time.len() - 1) / 2]
    }

    /// Its instances inside the spans; `numbers` are those of the executions on the page.
    pub fn lit<'a>(
        &self,
        tables: &'a Tables,
        spans: &[Span],
        begin: i64,
        numbers: &[u32],
        names: &mut Names,
    ) -> TimelineChain<'a> {
        let chain = &tables.chains[self.row.index()];
        let inside = |row: &Row<Instance>| {
            let one = &tables.instances[row.index()];
            holds(spans, one.start_ns, one.end_ns)
        };
        let mut rows: Vec<Row<Instance>> = self.by_time.iter().copied().filter(inside).collect();
        rows.sort_by_key(|row| (tables.instances[row.index()].start_ns, *row));
        let number: HashMap<Row<Instance>, usize> = rows.iter().enumerate().map(|(i, row)| (*row, i)).collect();
        let mut hops: Vec<(usize, &Hop)> =
            tables.hops.iter().filter_map(|hop| Some((*number.get(&hop.instance)?, hop))).collect();
        hops.sort_by_key(|(number, hop)| (*number, hop.position));
        let mut causes: Vec<(usize, &Cause)> =
            tables.causes.iter().filter_map(|cause| Some((*number.get(&cause.instance?)?, cause))).collect();
        causes.sort_by_key(|(number, cause)| (*number, cause.position));
        let instance = |number: usize| &tables.instances[rows[number].index()];
        let mut kinds: Vec<CauseKind> = causes.iter().map(|(_, cause)| cause.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let kind = |of: CauseKind| kinds.partition_point(|kind| *kind < of) as i64;
        let part = |index: usize| Column::optional(hops.iter().map(|(_, hop)| hop.parts().each()[index].copied()));
        let of_hops = |of: fn(&Hop) -> i64| hops.iter().map(move |(_, hop)| of(hop));
        let since =
            |of: fn(&Hop) -> i64| Column::of(hops.iter().map(|(number, hop)| of(hop) - instance(*number).start_ns));
        TimelineChain {
            name: &chain.name,
            path: &chain.path,
            all: self.by_time.len(),
            worst: number.get(&self.worst()).copied(),
            median: number.get(&self.median()).copied(),
            row: Column::growing(rows.iter().map(|row| i64::from(row.number()))),
            start: Column::growing((0..rows.len()).map(|number| instance(number).start_ns - begin)),
            duration: Column::of((0..rows.len()).map(|number| instance(number).end_to_end_ns)),
            hops: counts(rows.len(), hops.iter().map(|(number, _)| *number)),
            causes: counts(rows.len(), causes.iter().map(|(number, _)| *number)),
            position: Column::of(of_hops(|hop| i64::from(hop.position))),
            execution: Column::optional(hops.iter().map(|(_, hop)| {
                let number = numbers[hop.execution?.index()];
                (number != NONE).then_some(i64::from(number))
            })),
            published: Column::optional(
                hops.iter().map(|(number, hop)| Some(hop.published_ns.get()? - instance(*number).start_ns)),
            ),
            begun: since(|hop| hop.start_ns),
            output: since(|hop| hop.output_ns),
            parts: [0, 1, 2, 3, 4, 5, 6].map(part),
            at: Column::of(causes.iter().map(|(_, cause)| i64::from(cause.position))),
            kind: Column::of(causes.iter().map(|(_, cause)| kind(cause.kind))),
            by: Column::of(causes.iter().map(|(_, cause)| names.number(&cause.by))),
            from: Column::optional(
                causes.iter().map(|(number, cause)| Some(cause.from_ns.get()? - instance(*number).start_ns)),
            ),
            took: Column::of(causes.iter().map(|(_, cause)| cause.duration_ns.get().unwrap_or(0))),
            kinds,
        }
    }
}

fn counts(groups: usize, of: impl Iterator<Item = usize>) -> Column {
    let mut counts = vec![0; groups];
    of.for_each(|group| counts[group] += 1);
    Column::of(counts)
}

impl TimelineChain<'_> {
    /// Bytes of its columns.
    pub fn bytes(&self) -> usize {
        let TimelineChain { row, start, duration, hops, causes, position, execution, published, begun, output, .. } =
            self;
        let columns = [row, start, duration, hops, causes, position, execution, published, begun, output];
        let others = [&self.at, &self.kind, &self.by, &self.from, &self.took];
        columns.into_iter().chain(others).chain(&self.parts).map(Column::bytes).sum()
    }
}
