//! The part of a file that is in memory: mapped, and let go of as reading moves on, so that memory stays bounded.

use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::io;
use std::path::Path;

/// Bytes that the windows of all streams take together, unless there are very many streams.
const TOGETHER: usize = 64 << 20;
/// Least and most bytes of one window, unless one event needs more.
const LEAST: usize = 128 << 10;
const MOST: usize = 4 << 20;
/// Most that one event may take.
pub(crate) const EVENT_MAX: usize = 64 << 20;

/// A window onto a file.
pub(crate) struct Window {
    file: File,
    /// Bytes in memory at a time.
    usual: usize,
    length: u64,
    start: u64,
    bytes: Option<Mmap>,
}

impl Window {
    /// Opens a file, one of `streams` that are read at once.
    pub fn open(path: &Path, streams: usize) -> io::Result<Window> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Window { file, usual: (TOGETHER / streams.max(1)).clamp(LEAST, MOST), length, start: 0, bytes: None })
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Offset of the first byte in memory.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Offset behind the last byte in memory.
    pub fn end(&self) -> u64 {
        self.start + self.bytes().len() as u64
    }

    /// What is in memory.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or_default()
    }

    /// Has the bytes from `offset` in memory, `wanted` of them as far as the file goes.
    pub fn show(&mut self, offset: u64, wanted: usize) -> io::Result<()> {
        let last = self.length.min(offset.saturating_add(wanted as u64));
        if offset >= self.start && last <= self.end() {
            return Ok(());
        }
        self.map(offset, wanted.max(self.usual))
    }

    /// Moves the window to `offset`, and makes it larger if it stands there already. False: it cannot become larger.
    pub fn advance(&mut self, offset: u64) -> io::Result<bool> {
        let size = if offset == self.start { 2 * self.bytes().len() } else { 0 };
        if size > EVENT_MAX {
            return Ok(false);
        }
        self.map(offset, size.max(self.usual))?;
        Ok(true)
    }

    fn map(&mut self, offset: u64, size: usize) -> io::Result<()> {
        // Before the next is mapped: two at a time would be twice the memory.
        self.bytes = None;
        self.length = self.length.min(self.file.metadata()?.len());
        let size = self.length.saturating_sub(offset).min(size as u64) as usize;
        self.start = offset;
        if size > 0 {
            // SAFETY: a tracer only adds to its files, or puts new ones in their place; whoever cuts one short while this part of it
            // is read breaks the reading of it.
            self.bytes = Some(unsafe { MmapOptions::new().offset(offset).len(size).populate().map(&self.file) }?);
        }
        Ok(())
    }
}
