//! Which row of which table: a number that indexes the lists of one table alone.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

/// A row of the table of `T`, from 0. It is stored and printed as its number.
pub struct Row<T> {
    /// One more than its number, so that an absent row takes no memory of its own.
    behind: NonZeroU32,
    table: PhantomData<fn() -> T>,
}

impl<T> Row<T> {
    /// The last row that any table can have.
    pub const LAST: Row<T> = Row::new(u32::MAX - 1);

    /// The row of this number, which is less than [`u32::MAX`].
    pub const fn new(number: u32) -> Row<T> {
        match NonZeroU32::new(number.wrapping_add(1)) {
            Some(behind) => Row { behind, table: PhantomData },
            None => panic!("a table has no row of this number"),
        }
    }

    /// Its number.
    pub const fn number(self) -> u32 {
        self.behind.get() - 1
    }

    /// The row that follows the last of this many.
    pub const fn behind(rows: usize) -> Row<T> {
        Row::new(rows as u32)
    }

    /// The same row where this many rows came before the first.
    pub const fn moved(self, rows: u32) -> Row<T> {
        Row::new(self.number() + rows)
    }

    /// Its place in a list.
    pub const fn index(self) -> usize {
        self.number() as usize
    }
}

/// All rows of a list, in order, each with what stands there.
pub fn numbered<T>(list: &[T]) -> impl DoubleEndedIterator<Item = (Row<T>, &T)> + ExactSizeIterator + Clone {
    list.iter().enumerate().map(|(index, value)| (Row::behind(index), value))
}

/// All rows of a list, in order.
pub fn rows_of<T>(list: &[T]) -> impl DoubleEndedIterator<Item = Row<T>> + ExactSizeIterator + Clone + use<T> {
    (0..list.len()).map(Row::behind)
}

/// Adds a row, and says which it is.
pub fn add<T>(list: &mut Vec<T>, value: T) -> Row<T> {
    list.push(value);
    Row::behind(list.len() - 1)
}

impl<T> Clone for Row<T> {
    fn clone(&self) -> Row<T> {
        *self
    }
}

impl<T> Copy for Row<T> {}

impl<T> Default for Row<T> {
    fn default() -> Row<T> {
        Row::new(0)
    }
}

impl<T> PartialEq for Row<T> {
    fn eq(&self, other: &Row<T>) -> bool {
        self.behind == other.behind
    }
}

impl<T> Eq for Row<T> {}

impl<T> PartialOrd for Row<T> {
    fn partial_cmp(&self, other: &Row<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Row<T> {
    fn cmp(&self, other: &Row<T>) -> Ordering {
        self.behind.cmp(&other.behind)
    }
}

impl<T> Hash for Row<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.behind.hash(state);
    }
}

impl<T> fmt::Debug for Row<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}

impl<T> Serialize for Row<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.number().serialize(serializer)
    }
}

impl<'a, T> Deserialize<'a> for Row<T> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Row<T>, D::Error> {
        match u32::deserialize(deserializer)? {
            u32::MAX => Err(D::Error::custom(format!("found row {}, expected a row of less", u32::MAX))),
            number => Ok(Row::new(number)),
        }
    }
}

impl<T> Index<Row<T>> for [T] {
    type Output = T;

    fn index(&self, row: Row<T>) -> &T {
        &self[row.index()]
    }
}

impl<T> IndexMut<Row<T>> for [T] {
    fn index_mut(&mut self, row: Row<T>) -> &mut T {
        &mut self[row.index()]
    }
}

impl<T> Index<Row<T>> for Vec<T> {
    type Output = T;

    fn index(&self, row: Row<T>) -> &T {
        &self.as_slice()[row.index()]
    }
}

impl<T> IndexMut<Row<T>> for Vec<T> {
    fn index_mut(&mut self, row: Row<T>) -> &mut T {
        &mut self.as_mut_slice()[row.index()]
    }
}

/// One value for each row of the table of `T`.
pub struct Column<T, V> {
    values: Vec<V>,
    table: PhantomData<fn() -> T>,
}

impl<T, V> Column<T, V> {
    /// The values of the rows in order.
    pub fn of(values: impl IntoIterator<Item = V>) -> Column<T, V> {
        Column { values: values.into_iter().collect(), table: PhantomData }
    }

    /// The value of the next row; says which row that is.
    pub fn push(&mut self, value: V) -> Row<T> {
        self.values.push(value);
        Row::behind(self.values.len() - 1)
    }

    /// The value of a row; `None` behind the last.
    pub fn get(&self, row: Row<T>) -> Option<&V> {
        self.values.get(row.index())
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, row: Row<T>) -> Option<&mut V> {
        self.values.get_mut(row.index())
    }

    /// Rows that have a value.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether no row has a value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Rows that have a value, in order.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = Row<T>> + ExactSizeIterator + Clone + use<T, V> {
        (0..self.values.len()).map(Row::behind)
    }

    /// The values in the order of rows.
    pub fn iter(&self) -> std::slice::Iter<'_, V> {
        self.values.iter()
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, V> {
        self.values.iter_mut()
    }

    /// The values, each with its row.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (Row<T>, &V)> + ExactSizeIterator + Clone {
        self.values.iter().enumerate().map(|(index, value)| (Row::behind(index), value))
    }
}

impl<'a, T, V> IntoIterator for &'a Column<T, V> {
    type Item = &'a V;
    type IntoIter = std::slice::Iter<'a, V>;

    fn into_iter(self) -> std::slice::Iter<'a, V> {
        self.iter()
    }
}

impl<T, V> Default for Column<T, V> {
    fn default() -> Column<T, V> {
        Column::of([])
    }
}

impl<T, V> Index<Row<T>> for Column<T, V> {
    type Output = V;

    fn index(&self, row: Row<T>) -> &V {
        &self.values[row.index()]
    }
}

impl<T, V> IndexMut<Row<T>> for Column<T, V> {
    fn index_mut(&mut self, row: Row<T>) -> &mut V {
        &mut self.values[row.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_stored_as_its_number() {
        let row: Row<String> = Row::new(7);
        assert_eq!(serde_json::to_string(&row).expect("a number"), "7");
        assert_eq!(serde_json::from_str::<Row<String>>("7").expect("a row"), row);
    }

    #[test]
    fn what_is_added_is_found_by_its_row() {
        let (mut names, mut lengths) = (vec!["a".to_string()], Column::default());
        let row = add(&mut names, "bcd".to_string());
        numbered(&names).for_each(|(at, name)| assert_eq!(lengths.push(name.len()), at));
        assert_eq!((names[row].as_str(), lengths[row], row.number()), ("bcd", 3, 1));
    }
}
