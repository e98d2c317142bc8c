//! When a recorded system had started. docs/figures.md, "What counts", has the rule.

use crate::observe::{Seen, INTERNAL};
use rustc_hash::FxHashMap as HashMap;
use tacho_tables::row::Row;
use tacho_tables::Endpoint;

/// A start-up lasts no longer than this part of a run: what is made or met later joins a system that runs.
const PART: i64 = 10;
/// Nor longer than this.
const LONGEST_NS: i64 = 30_000_000_000;

/// When the last publisher or subscription was made, the last thread of an executor waited for work for the first time,
/// and the last subscription that missed a publisher's first messages took one of it: the latest of all that lie early
/// in the run. `None`: none does.
pub(crate) fn end_ns(seen: &Seen, begin_ns: i64) -> Option<i64> {
    let longest = (seen.end_ns().saturating_sub(begin_ns) / PART).min(LONGEST_NS);
    let made = seen.endpoints.iter().map(|endpoint| endpoint.created_ns);
    let waited = seen.streams.iter().filter_map(|stream| stream.waits.first().map(|wait| wait.0));
    let ends = made.chain(waited).chain(met(seen));
    ends.filter(|ns| *ns > begin_ns && ns - begin_ns <= longest).max()
}

/// When each subscription that missed the first messages of a publisher was first sent one that it took.
fn met(seen: &Seen) -> Vec<i64> {
    let mut first_sent: HashMap<Row<Endpoint>, i64> = HashMap::default();
    // In the order of the table, which is that of memory.
    for row in &seen.publications {
        if let Some(publisher) = row.endpoint.filter(|publisher| *publisher != INTERNAL) {
            let first = first_sent.entry(publisher).or_insert(row.time);
            *first = row.time.min(*first);
        }
    }
    let mut first_taken: HashMap<(Row<Endpoint>, Row<Endpoint>), i64> = HashMap::default();
    for take in &seen.takes {
        let Some(sent) = take.publication.map(|publication| &seen.publications[publication]) else { continue };
        if let Some(publisher) = sent.endpoint {
            let first = first_taken.entry((publisher, take.endpoint)).or_insert(sent.time);
            *first = sent.time.min(*first);
        }
    }
    let missed = |((publisher, _), ns): &((Row<Endpoint>, Row<Endpoint>), i64)| {
        first_sent.get(publisher).is_some_and(|first| first < ns)
    };
    first_taken.into_iter().filter(missed).map(|(_, ns)| ns).collect()
}
