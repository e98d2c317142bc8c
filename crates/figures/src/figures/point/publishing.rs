//! What was due, sent, sent late, refused and skipped, publisher by publisher (study A: a publisher that falls behind
//! flatters loss and latency).

use super::{ends, Ends, NS_PER_US};
use crate::figures::Repeat;
use tacho_analysis::promise::Promises;
use tacho_tables::row::Column;
use tacho_tables::summary::{Distribution, PublisherFigures};
use tacho_tables::{Endpoint, EndpointKind};
use tacho_workload::model::Workload;

/// All publishers of a point.
pub(super) struct Publishing(Vec<(super::End, Publisher)>);

#[derive(Default)]
struct Publisher {
    sent: u64,
    skipped: u64,
    refused: u64,
    /// Whether they were not counted in any repeat: on boards, in programs that are not ours, by an older tacho.
    refused_unknown: bool,
    /// Whether it is not known in any repeat what was due: nobody said, or events were dropped.
    due_unknown: bool,
    /// Absent where nothing is due by the clock.
    period_ns: Option<i64>,
    sent_late: u64,
    lateness_us: Vec<f64>,
}

pub(super) fn publishing(repeats: &[Repeat<'_>], workload: &Workload) -> Publishing {
    let mut all: Ends<Publisher> = Ends::new();
    let promises = Promises::of(workload);
    for Repeat { tables, .. } in repeats {
        let mut of_row: Column<Endpoint, Option<usize>> = Column::of(vec![None; tables.endpoints.len()]);
        for (row, end) in ends(tables, EndpointKind::Publisher) {
            let period_ns = promises.by(&end.node, &end.topic).and_then(|p| p.period_ns());
            let index = all.index(end);
            of_row[row] = Some(index);
            let publisher = &mut all.order[index].1;
            publisher.period_ns = period_ns;
            let endpoint = &tables.endpoints[row];
            let process = &tables.processes[tables.nodes[endpoint.node].process];
            publisher.due_unknown |= endpoint.skipped.is_none() || process.dropped_events > 0;
            publisher.skipped += endpoint.skipped.unwrap_or(0);
            publisher.refused_unknown |= endpoint.refused.is_none();
            publisher.refused += endpoint.refused.unwrap_or(0);
        }
        for publication in &tables.publications {
            let Some(index) = of_row[publication.publisher] else { continue };
            let publisher = &mut all.order[index].1;
            publisher.sent += 1;
            // By an emulator's clock nothing is late or in time.
            let node = &tables.nodes[tables.endpoints[publication.publisher].node];
            let emulated = tables.processes[node.process].is_emulated();
            if let Some(due_ns) = publication.due_ns.get().filter(|_| !emulated) {
                let lateness_ns = publication.publish_ns - due_ns;
                publisher.lateness_us.push(lateness_ns as f64 / NS_PER_US);
                publisher.sent_late += u64::from(publisher.period_ns.is_some_and(|period| lateness_ns >= period));
            }
        }
    }
    Publishing(all.order)
}

impl Publisher {
    fn refused(&self) -> Option<u64> {
        (!self.refused_unknown).then_some(self.refused)
    }

    fn skipped(&self) -> Option<u64> {
        (self.period_ns.is_some() && !self.due_unknown).then_some(self.skipped)
    }

    /// Known only where it is known of every message when it was due.
    fn sent_late(&self) -> Option<u64> {
        (self.period_ns.is_some() && self.lateness_us.len() as u64 == self.sent).then_some(self.sent_late)
    }
}

impl Publishing {
    /// Publish calls of all.
    pub fn sent(&self) -> u64 {
        self.0.iter().map(|(_, p)| p.sent).sum()
    }

    /// Publish calls of all that failed; absent where nobody counts them.
    pub fn refused(&self) -> Option<u64> {
        self.0.iter().filter_map(|(_, p)| p.refused()).reduce(|a, b| a + b)
    }

    /// Of all that have a clock.
    pub fn skipped(&self) -> Option<u64> {
        self.of_all_with_a_clock(Publisher::skipped)
    }

    /// Of all that have a clock.
    pub fn sent_late(&self) -> Option<u64> {
        self.of_all_with_a_clock(Publisher::sent_late)
    }

    /// Absent where none has a clock, or where it is not known of one of them.
    fn of_all_with_a_clock(&self, count: impl Fn(&Publisher) -> Option<u64>) -> Option<u64> {
        let mut counts = self.0.iter().filter(|(_, p)| p.period_ns.is_some()).map(|(_, p)| count(p)).peekable();
        counts.peek()?;
        counts.sum()
    }

    /// Over every message of which it is known when it was due.
    pub fn send_lateness_us(&self) -> Option<Distribution> {
        Distribution::of(self.0.iter().flat_map(|(_, p)| p.lateness_us.iter().copied()).collect())
    }

    /// Each publisher.
    pub fn figures(self) -> Vec<PublisherFigures> {
        let figures = |(end, publisher): (super::End, Publisher)| PublisherFigures {
            sent: publisher.sent,
            due: publisher.skipped().map(|skipped| skipped + publisher.sent + publisher.refused),
            refused: publisher.refused(),
            skipped: publisher.skipped(),
            sent_late: publisher.sent_late(),
            send_lateness_us: Distribution::of(publisher.lateness_us),
            node: end.node,
            topic: end.topic,
        };
        self.0.into_iter().map(figures).collect()
    }
}
