//! When a recorded system had started. docs/figures.md, "What counts", has the rule.

use crate::observe::{Seen, INTERNAL};
use rustc_hash::FxHashMap as HashMap;
use tacho_tables::row::Row;
use tacho_tables::Endpoint;

/// A start-up lasts no longer than this part of a run: what is made or met later joins a system that runs.
const PART: i64 = 10;
/// Nor longer than this.
const LONGEST_NS: i64 = 30_000_000_000;

/// A first message that was on its way for so long, and for so many times as long as the next ones, waited until
/// publisher and subscription had found each other.
const LONG_NS: i64 = 10_000_000;
const TIMES: i64 = 10;
/// Messages that say how long they usually are.
const LEAST: usize = 5;
const MOST: usize = 64;

/// When the last publisher or subscription was made, the last thread of an executor waited for work for the first time,
/// and the last subscription met a publisher: the latest of all that lie early in the run. `None`: none does.
pub(crate) fn end_ns(seen: &Seen, begin_ns: i64) -> Option<i64> {
    let longest = (seen.end_ns().saturating_sub(begin_ns) / PART).min(LONGEST_NS);
    let made = seen.endpoints.iter().map(|endpoint| endpoint.created_ns);
    let waited = seen.streams.iter().filter_map(|stream| stream.waits.first().map(|wait| wait.0));
    let ends = made.chain(waited).chain(met(seen));
    ends.filter(|ns| *ns > begin_ns && ns - begin_ns <= longest).max()
}

/// What a subscription took of a publisher.
struct Taken {
    /// When the first message was sent, and when it was taken.
    first: (i64, i64),
    /// How long some were on their way, ns.
    ways_ns: Vec<i64>,
}

impl Taken {
    fn add(&mut self, sent: i64, taken: i64) {
        self.first = self.first.min((sent, taken));
        if self.ways_ns.len() < MOST {
            self.ways_ns.push(taken - sent);
        }
    }

    /// When the first message was taken, if it waited until the two had met.
    fn waited(self) -> Option<i64> {
        let Taken { first: (sent, taken), mut ways_ns } = self;
        ways_ns.sort_unstable();
        let usual = ways_ns.get(ways_ns.len() / 2).filter(|_| ways_ns.len() >= LEAST)?;
        (taken - sent >= LONG_NS.max(TIMES * usual)).then_some(taken)
    }
}

/// When each subscription that missed the first messages of a publisher was first sent one that it took, or took the
/// first one, if that waited until the two had met.
fn met(seen: &Seen) -> Vec<i64> {
    let mut first_sent: HashMap<Row<Endpoint>, i64> = HashMap::default();
    // In the order of the table, which is that of memory.
    for row in &seen.publications {
        if let Some(publisher) = row.endpoint.filter(|publisher| *publisher != INTERNAL) {
            let first = first_sent.entry(publisher).or_insert(row.time);
            *first = row.time.min(*first);
        }
    }
    let mut taken: HashMap<(Row<Endpoint>, Row<Endpoint>), Taken> = HashMap::default();
    for take in &seen.takes {
        let Some(sent) = take.publication.map(|publication| &seen.publications[publication]) else { continue };
        if let Some(publisher) = sent.endpoint {
            let first = (sent.time, take.time);
            let of_pair = || Taken { first, ways_ns: Vec::new() };
            taken.entry((publisher, take.endpoint)).or_insert_with(of_pair).add(sent.time, take.time);
        }
    }
    let met = |((publisher, _), taken): ((Row<Endpoint>, Row<Endpoint>), Taken)| {
        let missed = first_sent.get(&publisher).is_some_and(|first| *first < taken.first.0);
        missed.then_some(taken.first.0).max(taken.waited())
    };
    taken.into_iter().filter_map(met).collect()
}
