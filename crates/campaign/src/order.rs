//! Orders the runs of a campaign.

use crate::subject::Subject;

/// One run of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// Index of its subject.
    pub subject: usize,
    /// Number of the repeat, from 0.
    pub repeat: u32,
}

/// Orders runs repeat by repeat, and within each repeat in the order of the subjects that have it, so that drift of the
/// machine affects all subjects alike.
pub fn in_turns(subjects: &[Subject<'_>]) -> Vec<Item> {
    let repeats = |subject: &Subject<'_>| subject.workload.run.repeats;
    let most = subjects.iter().map(repeats).max().unwrap_or(0);
    let round = |repeat| {
        let has_it = move |(_, subject): &(usize, &Subject<'_>)| repeats(subject) > repeat;
        subjects.iter().enumerate().filter(has_it).map(move |(subject, _)| Item { subject, repeat })
    };
    (0..most).flat_map(round).collect()
}
