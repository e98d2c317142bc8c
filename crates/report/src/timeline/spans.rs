//! Which parts of a long run stand in the page: as much as fits, around what a reader looks for first.

/// From, to: ns.
pub type Span = (i64, i64);

/// Spans with about `rows` of the sorted `times` in all, an equal share around the middle of each of `around`, of which
/// each is inside as a whole. They are in order and do not overlap.
pub fn around(times: &[i64], around: &[Span], rows: usize) -> Vec<Span> {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else { return vec![] };
    let begin = [(first, first)];
    let around = if around.is_empty() { &begin } else { around };
    let share = (rows / around.len()).clamp(1, times.len());
    let spans = around
        .iter()
        .map(|&(from, to)| {
            let middle = times.partition_point(|&time| time < from + (to - from) / 2);
            let low = middle.saturating_sub(share / 2).min(times.len() - share);
            (times[low].min(from), times[low + share - 1].min(last).max(to))
        })
        .collect();
    joined(spans)
}

/// Spans in order, those that meet as one.
pub fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut joined: Vec<Span> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(before) if span.0 <= before.1 => before.1 = before.1.max(span.1),
            _ => joined.push(span),
        }
    }
    joined
}

/// Whether something from `from` to `to` is in one of the spans, at least in part.
pub fn overlaps(spans: &[Span], from: i64, to: i64) -> bool {
    spans.iter().any(|span| from <= span.1 && to >= span.0)
}

/// Whether one of the spans holds all from `from` to `to`.
pub fn holds(spans: &[Span], from: i64, to: i64) -> bool {
    spans.iter().any(|span| from >= span.0 && to <= span.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_an_equal_share_of_the_rows() {
        let times: Vec<i64> = (0..1000).collect();
        assert_eq!(around(&times, &[(700, 700), (100, 100)], 40), [(90, 109), (690, 709)]);
    }

    #[test]
    fn a_share_that_ends_early_goes_on_at_the_other_side() {
        let times: Vec<i64> = (0..1000).collect();
        assert_eq!(around(&times, &[(0, 0)], 10), [(0, 9)]);
        assert_eq!(around(&times, &[(999, 999)], 10), [(990, 999)]);
        assert_eq!(around(&times, &[], 10), [(0, 9)], "without a place it begins with the run");
        assert_eq!(around(&[], &[(1, 2)], 10), []);
    }

    #[test]
    fn spans_that_meet_are_one_and_what_they_are_around_is_whole() {
        let times: Vec<i64> = (0..1000).collect();
        assert_eq!(around(&times, &[(100, 100), (105, 105)], 40), [(90, 114)]);
        assert_eq!(around(&times, &[(100, 500)], 10), [(100, 500)]);
        assert!(overlaps(&[(5, 9)], 9, 12) && !overlaps(&[(5, 9)], 10, 12));
        assert!(holds(&[(5, 9)], 5, 9) && !holds(&[(5, 9)], 9, 10));
    }
}
