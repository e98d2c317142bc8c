//! Indexing of rows by a range, and by a row.

use crate::row::Row;
use crate::rows::Rows;
use std::ops::{Index, IndexMut};
use std::slice::SliceIndex;

impl<T, I: SliceIndex<[T]>> Index<I> for Rows<T> {
    type Output = I::Output;

    fn index(&self, place: I) -> &I::Output {
        &(**self)[place]
    }
}

impl<T, I: SliceIndex<[T]>> IndexMut<I> for Rows<T> {
    fn index_mut(&mut self, place: I) -> &mut I::Output {
        &mut (**self)[place]
    }
}

impl<T> Index<Row<T>> for Rows<T> {
    type Output = T;

    fn index(&self, row: Row<T>) -> &T {
        &(**self)[row]
    }
}

impl<T> IndexMut<Row<T>> for Rows<T> {
    fn index_mut(&mut self, row: Row<T>) -> &mut T {
        &mut (**self)[row]
    }
}
