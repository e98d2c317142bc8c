//! A binary search that begins where the one before ended: most walks ask in order, and memory beside is at hand.

/// As [`slice::partition_point`]. `near`: where the answer before was; any number will do.
pub fn partition_near<T>(all: &[T], near: &mut usize, mut is_before: impl FnMut(&T) -> bool) -> usize {
    let at = (*near).min(all.len());
    let (mut low, mut high, mut step) = (0, all.len(), 1);
    if all.get(at).is_some_and(&mut is_before) {
        low = at + 1;
        while let Some(next) = all.get(low + step) {
            if !is_before(next) {
                high = low + step;
                break;
            }
            low += step + 1;
            step *= 2;
        }
    } else {
        high = at;
        while high > 0 {
            let before = high.saturating_sub(step);
            if is_before(&all[before]) {
                low = before + 1;
                break;
            }
            high = before;
            step *= 2;
        }
    }
    *near = low + all[low..high].partition_point(is_before);
    *near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_what_a_search_of_all_finds_from_wherever_it_begins() {
        for length in 0..40u32 {
            let all: Vec<u32> = (0..length).map(|i| i / 3 * 2).collect();
            for wanted in 0..30 {
                for begins in 0..45 {
                    let mut near = begins;
                    let found = partition_near(&all, &mut near, |value| *value < wanted);
                    assert_eq!(found, all.partition_point(|value| *value < wanted), "{length} {wanted} {begins}");
                    assert_eq!(near, found);
                }
            }
        }
    }

    #[test]
    fn in_order_it_asks_a_few_times_however_long_the_list_is() {
        let all: Vec<u32> = (0..100_000).collect();
        let (mut asked, mut near) = (0, 0);
        for wanted in (0..100_000).step_by(10) {
            partition_near(&all, &mut near, |value| {
                asked += 1;
                *value < wanted
            });
        }
        assert!(asked < 10_000 * 9, "{asked}");
    }
}
