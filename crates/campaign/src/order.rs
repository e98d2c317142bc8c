//! Which run comes when.

use crate::subject::Subject;

/// One run of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// Index of its subject.
    pub subject: usize,
    /// Which repeat, from 0.
    pub repeat: u32,
}

/// Repeat by repeat, and in each repeat every subject that has it, in the order of the subjects: so what drifts on the
/// machine drifts under all.
pub fn in_turns(subjects: &[Subject<'_>]) -> Vec<Item> {
    let repeats = |subject: &Subject<'_>| subject.workload.run.repeats;
    let most = subjects.iter().map(repeats).max().unwrap_or(0);
    let round = |repeat| {
        let has_it = move |(_, subject): &(usize, &Subject<'_>)| repeats(subject) > repeat;
        subjects.iter().enumerate().filter(has_it).map(move |(subject, _)| Item { subject, repeat })
    };
    (0..most).flat_map(round).collect()
}
