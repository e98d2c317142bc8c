//! Sends that were due and did not happen, each at the instant when it was due.

use crate::observe::Seen;
use crate::Options;
use tacho_tables::row::Column;
use tacho_tables::Endpoint;

/// What a publisher did with the sends that were due, in order.
#[derive(Debug, Clone, Copy)]
enum Due {
    /// It sent one that was due then, or was refused.
    Tried(i64),
    /// It skipped so many, and noticed then.
    Skipped { count: u64, noticed_ns: i64 },
}

/// Of each endpoint, the sends due in the measured window that did not happen; absent where nothing was said to be due:
/// for subscriptions, for what answers an input, for programs that are not ours.
pub(crate) fn skipped(seen: &Seen, options: &Options) -> Column<Endpoint, Option<u64>> {
    let mut of: Column<Endpoint, Vec<Due>> = Column::of(vec![Vec::new(); seen.endpoints.len()]);
    let mut skips = seen.skips.iter().peekable();
    for index in 0..=seen.publications.len() {
        while let Some(skip) = skips.next_if(|s| s.publications_before as usize <= index) {
            if let Some(of) = of.get_mut(skip.endpoint) {
                of.push(Due::Skipped { count: skip.count, noticed_ns: skip.noticed_ns });
            }
        }
        let Some(publication) = seen.publications.get(index) else { break };
        let publisher = publication.refused_to.or(publication.endpoint);
        if let (Some(due), Some(of)) = (publication.due_ns.get(), publisher.and_then(|e| of.get_mut(e))) {
            of.push(Due::Tried(due));
        }
    }
    Column::of(of.iter().map(|of| (!of.is_empty()).then(|| skipped_of_one(of, options))))
}

/// What is due lies on a grid, so the first and the last try tell when every other was due. A publisher that tried less
/// than twice tells no grid: its skips count when it noticed them.
fn skipped_of_one(dues: &[Due], options: &Options) -> u64 {
    let slots = |due: &Due| if let Due::Skipped { count, .. } = due { *count as i128 } else { 1 };
    let mut slot = 0i128;
    let mut ends: Option<((i128, i64), (i128, i64))> = None;
    for due in dues {
        if let Due::Tried(at) = due {
            let first = ends.map_or((slot, *at), |(first, _)| first);
            ends = Some((first, (slot, *at)));
        }
        slot += slots(due);
    }
    let grid = ends.filter(|(first, last)| last.0 > first.0);
    let due_ns = |slot: i128, ((s0, t0), (s1, t1)): ((i128, i64), (i128, i64))| {
        t0 + ((t1 - t0) as i128 * (slot - s0)).div_euclid(s1 - s0) as i64
    };
    let (mut slot, mut skipped) = (0, 0);
    for due in dues {
        if let Due::Skipped { count, noticed_ns } = *due {
            skipped += match grid {
                Some(grid) => {
                    (0..count).filter(|i| options.measures(due_ns(slot + i128::from(*i), grid))).count() as u64
                }
                None if options.measures(noticed_ns) => count,
                None => 0,
            };
        }
        slot += slots(due);
    }
    skipped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(from: i64, to: i64) -> Options {
        Options { measured_from_ns: Some(from), measured_to_ns: Some(to), ..Options::default() }
    }

    fn skipped(count: u64, noticed_ns: i64) -> Due {
        Due::Skipped { count, noticed_ns }
    }

    #[test]
    fn a_skip_counts_when_it_was_due_and_not_when_it_was_noticed() {
        // A grid of 10 from 5: 5 and 15 skipped, 25 sent, 35 45 55 skipped, 65 sent, 75 to 105 skipped and noticed at
        // the end.
        let dues = [skipped(2, 25), Due::Tried(25), skipped(3, 64), Due::Tried(65), skipped(4, 1000)];
        assert_eq!(skipped_of_one(&dues, &Options::default()), 9);
        assert_eq!(skipped_of_one(&dues, &window(0, 106)), 9);
        assert_eq!(skipped_of_one(&dues, &window(6, 105)), 7);
        assert_eq!(skipped_of_one(&dues, &window(15, 56)), 4);
        assert_eq!(skipped_of_one(&dues, &window(25, 35)), 0);
    }

    #[test]
    fn without_a_grid_a_skip_counts_when_it_was_noticed() {
        assert_eq!(skipped_of_one(&[skipped(2, 25), Due::Tried(25)], &window(20, 30)), 2);
        assert_eq!(skipped_of_one(&[skipped(2, 35)], &window(20, 30)), 0);
        assert_eq!(skipped_of_one(&[], &window(20, 30)), 0);
    }
}
