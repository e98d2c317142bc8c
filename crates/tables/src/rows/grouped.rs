//! Values by group, of any length in bounded memory: one flat list of values and where each group ends in it.

use crate::row::Row;
use crate::rows::Rows;
use std::marker::PhantomData;

/// Values of a group that are placed at once, where there are no more groups than this; fewer where those that wait for
/// it would take more memory.
const TOGETHER: usize = 256;
const MOST_TOGETHER: usize = 1 << 14;
const MOST_WAITING_BYTES: usize = 16 << 20;

/// Values of each row of the table of `K`, in the order in which they were given.
pub struct Grouped<K, T> {
    /// Where each group ends; the next one begins there.
    ends: Rows<u32>,
    values: Rows<T>,
    groups: PhantomData<fn() -> K>,
}

impl<K, T: Copy + Default> Grouped<K, T> {
    /// `of` gives (group, value) and is gone through twice: to count, and to place.
    pub fn new<I: Iterator<Item = (Row<K>, T)>>(groups: usize, of: impl Fn() -> I) -> Grouped<K, T> {
        let mut ends: Rows<u32> = std::iter::repeat_n(0, groups).collect();
        let counts = &mut ends[..];
        of().for_each(|(group, _)| counts[group.index()] += 1);
        let mut begins = 0;
        for end in ends.iter_mut() {
            // For now where it begins.
            begins += std::mem::replace(end, begins);
        }
        let mut values: Rows<T> = std::iter::repeat_n(T::default(), begins as usize).collect();
        let in_file = values.in_file();
        let (places, all) = (&mut ends[..], &mut values[..]);
        let mut put = |group: usize, values: &[T]| {
            let place = places[group] as usize;
            all[place..place + values.len()].copy_from_slice(values);
            places[group] += values.len() as u32;
        };
        // Single values here and there would make many pages of a file resident for little.
        let together = match groups {
            1..=MOST_TOGETHER if in_file => (MOST_WAITING_BYTES / (groups * size_of::<T>())).clamp(1, TOGETHER),
            _ => 1,
        };
        let mut waiting: Vec<Vec<T>> = vec![Vec::new(); if together > 1 { groups } else { 0 }];
        for (group, value) in of() {
            match waiting.get_mut(group.index()) {
                None => put(group.index(), &[value]),
                Some(values) => {
                    values.push(value);
                    if values.len() == together {
                        put(group.index(), values);
                        values.clear();
                    }
                }
            }
        }
        waiting.iter().enumerate().for_each(|(group, values)| put(group, values));
        Grouped { ends, values, groups: PhantomData }
    }

    /// The values of a group.
    pub fn of(&self, group: Row<K>) -> &[T] {
        &self.values[self.place(group.index())]
    }

    /// The same, to be sorted.
    pub fn of_mut(&mut self, group: Row<K>) -> &mut [T] {
        let place = self.place(group.index());
        &mut self.values[place]
    }

    fn place(&self, group: usize) -> std::ops::Range<usize> {
        let begins = group.checked_sub(1).map_or(0, |before| self.ends[before]);
        begins as usize..self.ends[group] as usize
    }
}

impl<K, T: Copy + Default> Default for Grouped<K, T> {
    fn default() -> Grouped<K, T> {
        Grouped::new(0, std::iter::empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_has_its_own_values_in_the_order_in_which_they_came() {
        let values = [(2, 'a'), (0, 'b'), (2, 'c'), (3, 'd'), (2, 'e')];
        let mut grouped: Grouped<(), char> =
            Grouped::new(4, || values.into_iter().map(|(group, value)| (Row::new(group), value)));
        assert_eq!(
            (0..4).map(|g| grouped.of(Row::new(g)).iter().collect::<String>()).collect::<Vec<_>>(),
            ["b", "", "ace", "d"]
        );
        grouped.of_mut(Row::new(2)).reverse();
        assert_eq!(grouped.of(Row::new(2)), ['e', 'c', 'a']);
    }
}
