//! Better, worse, undecided or unchanged: verdicts over runs ([`compare`]), and expectations of them ([`expected`]).
//!
//! The run is the unit, because messages within a run are not independent: a repeat counts as one run, however many
//! messages it had. This crate reads figures alone ([`figures`]); docs/compare.md describes the method.

mod compared;
mod expected;
mod figure;
pub mod history;
pub mod junit;
pub mod markdown;
pub mod statistics;

pub use compared::{compare, Compared, Comparison, Options, Verdict};
pub use expected::{expected, Outcome};
pub use figure::{figures, Better, Figure, Kind, Subject, Unit};

use std::collections::BTreeMap;

/// The runs of one side: figures of each.
pub type Side = Vec<Vec<Figure>>;

/// The values of each figure over the runs of a side, and the names that stand for several things in one run, so that
/// nobody knows which is which.
fn samples(side: &Side) -> (BTreeMap<(&Subject, &str), Vec<&Figure>>, Vec<(&Subject, &str)>) {
    let mut found: BTreeMap<(&Subject, &str), Vec<&Figure>> = BTreeMap::new();
    let mut ambiguous = Vec::new();
    for run in side {
        let mut in_run = BTreeMap::new();
        for figure in run {
            let key = (&figure.subject, figure.name.as_str());
            if in_run.insert(key, figure).is_some() && !ambiguous.contains(&key) {
                ambiguous.push(key);
            }
        }
        in_run.into_iter().for_each(|(key, figure)| found.entry(key).or_default().push(figure));
    }
    ambiguous.iter().for_each(|key| drop(found.remove(key)));
    (found, ambiguous)
}
