//! Rows of a table of any length in bounded memory.
//!
//! Long tables have a share of the machine's memory together. One that finds no room in it lies in a file without a
//! name, mapped into memory. A thread returns touched pages to the kernel, so resident pages stay near half of that
//! share. Analysis goes through all tables in the order of time, which makes those few that it needs at once.

pub mod grouped;
mod index;
mod share;

pub use share::keep_in_memory;

use crate::row::Row;
use memmap2::{MmapMut, MmapOptions};
use share::{share_bytes, HELD, KEPT, SHARES};
use std::cmp;
use std::fmt;
use std::fs::File;
use std::io;
use std::mem::size_of;
use std::ops::{Deref, DerefMut};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// A table grows by as much as it has, at least and at most by this much.
const LEAST_GROWTH_BYTES: usize = 64 << 10;
const MOST_GROWTH_BYTES: usize = 64 << 20;
/// A long table is sorted in windows of this length.
const WINDOW_BYTES: usize = 4 << 20;

/// Rows of a window.
const fn window_rows<T>() -> usize {
    WINDOW_BYTES / size_of::<T>()
}

/// Where files without a name are made: TMPDIR, else /var/tmp, which is a disk where /tmp may be memory.
pub fn folder() -> PathBuf {
    std::env::var_os("TMPDIR").map_or_else(|| "/var/tmp".into(), PathBuf::from)
}

/// Rows of a table. A slice otherwise; see the module.
pub struct Rows<T> {
    stored: Stored<T>,
}

enum Stored<T> {
    Memory(Vec<T>, Held),
    File(Mapped<T>),
}

/// Bytes that a table in memory has of the share.
#[derive(Default)]
struct Held(usize);

impl Held {
    /// Room for more of a long table, where the share has it; false where it has not.
    fn grow<T>(&mut self, rows: &mut Vec<T>) -> bool {
        let has = size_of_val(rows.as_slice());
        let wanted = longer(has);
        let taken = |held: usize| {
            Some(held + wanted - self.0).filter(|held| *held <= share_bytes() && SHARES.load(Ordering::Relaxed))
        };
        if HELD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_err() {
            return false;
        }
        self.0 = wanted;
        rows.reserve_exact(((wanted - has) / size_of::<T>()).max(1));
        true
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// Rows in a file without a name.
struct Mapped<T> {
    file: File,
    bytes: MmapMut,
    /// Rows written; all of them are values of `T`.
    rows: usize,
    row: std::marker::PhantomData<T>,
}

impl<T: Copy> Mapped<T> {
    /// Rows that are in memory, moved to a file with room for more.
    fn of(rows: &[T]) -> io::Result<Mapped<T>> {
        let file = tempfile::tempfile_in(folder())?;
        let bytes = map(&file, longer(size_of_val(rows)))?;
        let mut mapped = Mapped { file, bytes, rows: 0, row: std::marker::PhantomData };
        rows.iter().for_each(|row| mapped.write(*row));
        Ok(mapped)
    }

    fn has_room(&self) -> bool {
        (self.rows + 1) * size_of::<T>() <= self.bytes.len()
    }

    fn grow(&mut self) -> io::Result<()> {
        let longer = map(&self.file, longer(self.bytes.len()))?;
        share::forget(&std::mem::replace(&mut self.bytes, longer));
        Ok(())
    }

    /// The next row, for which there is room.
    fn write(&mut self, row: T) {
        assert!(self.has_room());
        // SAFETY: inside the mapping, as asserted, and aligned, since a mapping begins at a page.
        unsafe { self.bytes.as_mut_ptr().cast::<T>().add(self.rows).write(row) };
        self.rows += 1;
    }
}

impl<T> Drop for Mapped<T> {
    fn drop(&mut self) {
        share::forget(&self.bytes);
    }
}

/// A file made this long and mapped. Its blocks are reserved: a disk that is full is an error here, not a fault at some
/// later store.
fn map(file: &File, length: usize) -> io::Result<MmapMut> {
    // SAFETY: a call with a descriptor that is open.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length as libc::off_t) } {
        0 => {}
        code => return Err(io::Error::from_raw_os_error(code)),
    }
    // SAFETY: the file has no name, so nobody else writes or truncates it.
    let bytes = unsafe { MmapOptions::new().len(length).map_mut(file) }?;
    share::watch(&bytes);
    Ok(bytes)
}

/// How long a table of this length is made when it is full.
fn longer(bytes: usize) -> usize {
    bytes + bytes.clamp(LEAST_GROWTH_BYTES, MOST_GROWTH_BYTES)
}

impl<T: Copy> Rows<T> {
    /// None yet.
    pub const fn new() -> Rows<T> {
        Rows { stored: Stored::Memory(Vec::new(), Held(0)) }
    }

    /// The next row. Where no file can be made or it cannot grow, the rows stay, or come back, in memory.
    pub fn push(&mut self, row: T) {
        match &mut self.stored {
            Stored::Memory(rows, held) => {
                let full =
                    rows.len() == rows.capacity() && size_of_val(rows.as_slice()) >= KEPT.load(Ordering::Relaxed);
                if let Some(mapped) = (full && !held.grow(rows)).then(|| Mapped::of(rows).ok()).flatten() {
                    self.stored = Stored::File(mapped);
                    return self.push(row);
                }
                rows.push(row);
            }
            Stored::File(mapped) => {
                if !mapped.has_room() && mapped.grow().is_err() {
                    self.stored = Stored::Memory(self.to_vec(), Held::default());
                    return self.push(row);
                }
                mapped.write(row);
            }
        }
    }

    /// The next row, as [`Rows::push`]; says which it is.
    pub fn add(&mut self, row: T) -> Row<T> {
        self.push(row);
        Row::behind(self.len() - 1)
    }

    /// Each with which row it is.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (Row<T>, &T)> + ExactSizeIterator + Clone {
        self.iter().enumerate().map(|(place, row)| (Row::behind(place), row))
    }

    /// Whether they are in a file, so that their number is a matter of the disk.
    pub fn in_file(&self) -> bool {
        matches!(self.stored, Stored::File(_))
    }

    /// The same rows in order; equal ones stay as they are among each other. A long table is sorted window by window,
    /// and the windows merged.
    pub fn sorted_by(mut self, order: impl Fn(&T, &T) -> cmp::Ordering) -> Rows<T> {
        let window = match &mut self.stored {
            Stored::Memory(rows, _) => {
                rows.sort_by(order);
                return self;
            }
            Stored::File(_) => window_rows::<T>(),
        };
        self.chunks_mut(window).for_each(|rows| rows.sort_by(&order));
        let mut windows: Vec<&[T]> = self.chunks(window).collect();
        // Of each window its first row that is left; the least of all is last.
        let rank = |a: &(usize, T), b: &(usize, T)| order(&b.1, &a.1).then(b.0.cmp(&a.0));
        let take = |windows: &mut [&[T]], window: usize| {
            let (first, rest) = windows[window].split_first()?;
            windows[window] = rest;
            Some((window, *first))
        };
        let mut firsts: Vec<(usize, T)> = (0..windows.len()).filter_map(|window| take(&mut windows, window)).collect();
        firsts.sort_by(rank);
        let mut sorted = Rows::new();
        while let Some((window, row)) = firsts.pop() {
            sorted.push(row);
            if let Some(next) = take(&mut windows, window) {
                let place = firsts.partition_point(|first| rank(first, &next).is_lt());
                firsts.insert(place, next);
            }
        }
        sorted
    }

    /// Only the rows that are wanted, in their order.
    pub fn retain(&mut self, wanted: impl Fn(&T) -> bool) {
        *self = self.iter().filter(|row| wanted(row)).copied().collect();
    }
}

impl<T> Deref for Rows<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.stored {
            Stored::Memory(rows, _) => rows,
            // SAFETY: so many rows were written, and nobody else has the file.
            Stored::File(mapped) => unsafe { std::slice::from_raw_parts(mapped.bytes.as_ptr().cast(), mapped.rows) },
        }
    }
}

impl<T> DerefMut for Rows<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.stored {
            Stored::Memory(rows, _) => rows,
            // SAFETY: as in `deref`; the mapping is borrowed mutably.
            Stored::File(mapped) => unsafe {
                std::slice::from_raw_parts_mut(mapped.bytes.as_mut_ptr().cast(), mapped.rows)
            },
        }
    }
}

impl<'a, T: Copy> IntoIterator for &'a Rows<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> std::slice::Iter<'a, T> {
        self.iter()
    }
}

impl<T: Copy> IntoIterator for Rows<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { rows: self, next: 0 }
    }
}

/// Rows by value.
pub struct IntoIter<T> {
    rows: Rows<T>,
    next: usize,
}

impl<T: Copy> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let row = self.rows.get(self.next).copied()?;
        self.next += 1;
        Some(row)
    }
}

impl<T: Copy> Extend<T> for Rows<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, rows: I) {
        rows.into_iter().for_each(|row| self.push(row));
    }
}

impl<T: Copy> FromIterator<T> for Rows<T> {
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Rows<T> {
        let mut made = Rows::new();
        made.extend(rows);
        made
    }
}

impl<T: Copy> From<Vec<T>> for Rows<T> {
    fn from(rows: Vec<T>) -> Rows<T> {
        Rows { stored: Stored::Memory(rows, Held::default()) }
    }
}

impl<T: Copy> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows::new()
    }
}

impl<T: Copy> Clone for Rows<T> {
    fn clone(&self) -> Rows<T> {
        self.iter().copied().collect()
    }
}

impl<T: Copy + PartialEq> PartialEq for Rows<T> {
    fn eq(&self, other: &Rows<T>) -> bool {
        self[..] == other[..]
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Rows<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use share::{release, resident_share_bytes, KEPT_BYTES};

    /// A row of 64 bytes: few of them make a long table.
    type Row = [u64; 8];
    const MANY: u64 = ((KEPT_BYTES + 2 * MOST_GROWTH_BYTES) / size_of::<Row>()) as u64 + 17;

    /// In a file, as no table here has a part of the share.
    fn many() -> Rows<Row> {
        keep_in_memory(KEPT_BYTES);
        (0..MANY).map(|row| [row; 8]).collect()
    }

    #[test]
    fn a_long_table_moves_to_a_file_that_grows_and_keeps_every_row() {
        let rows = many();
        assert!(matches!(rows.stored, Stored::File(_)));
        assert_eq!(rows.len() as u64, MANY);
        assert!(rows.iter().zip(0..).all(|(row, number)| *row == [number; 8]));
        assert!(rows.into_iter().zip(0..).all(|(row, number)| row == [number; 8]));
    }

    #[test]
    fn what_was_written_to_a_row_stays_after_its_pages_were_given_back() {
        let mut rows = many();
        rows[5] = [1; 8];
        release();
        assert_eq!((rows[4][0], rows[5][7], rows[6][3]), (4, 1, 6));
    }

    #[test]
    fn few_pages_are_resident_however_long_the_table() {
        let rows = many();
        release();
        assert_eq!(resident_bytes(&rows), 0);
        assert_eq!(rows.iter().map(|row| row[7]).sum::<u64>(), MANY * (MANY - 1) / 2);
        // They were more: the whole table was read.
        while resident_bytes(&rows) > resident_share_bytes() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        // What was just read is; but pages of all tables are given back at any moment.
        assert!((0..1_000).any(|_| std::hint::black_box(rows[0]) == [0; 8] && resident_bytes(&rows) > 0));
    }

    #[test]
    fn a_long_table_is_sorted_as_a_short_one_and_equal_rows_keep_their_order() {
        let mixed = |row: u64| [row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56, row, 0, 0, 0, 0, 0, 0];
        keep_in_memory(KEPT_BYTES);
        let sorted = (0..MANY).map(mixed).collect::<Rows<Row>>().sorted_by(|a, b| a[0].cmp(&b[0]));
        assert!(sorted.in_file());
        assert_eq!(sorted.len() as u64, MANY);
        assert!(sorted.windows(2).all(|pair| pair[0][..2] < pair[1][..2]));
        assert!(sorted.iter().all(|row| *row == mixed(row[1])));
    }

    #[test]
    fn a_short_table_stays_in_memory_and_is_a_slice() {
        let mut rows: Rows<u32> = (0..10).collect();
        rows.retain(|row| row % 3 == 0);
        assert!(matches!(rows.stored, Stored::Memory(..)));
        assert_eq!(rows, Rows::from(vec![0, 3, 6, 9]));
        assert_eq!(rows.iter().rev().copied().collect::<Vec<_>>(), [9, 6, 3, 0]);
        assert_eq!(rows.partition_point(|row| *row < 6), 2);
    }

    /// Rss of the mapping, as /proc/self/smaps tells.
    fn resident_bytes(rows: &Rows<Row>) -> usize {
        let begin = format!("{:x}-", rows.as_ptr() as usize);
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("smaps");
        let of_it = maps.lines().skip_while(|line| !line.starts_with(&begin));
        let line = of_it.clone().find(|line| line.starts_with("Rss:")).expect("Rss");
        line.split_whitespace().nth(1).expect("kB").parse::<usize>().expect("a number") << 10
    }
}
