//! The part of a file that is in memory: mapped, and let go of as reading moves on, so that memory stays bounded.

use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Bytes that the windows of all streams take together, unless there are very many streams.
const TOGETHER: usize = 64 << 20;
/// Least and most bytes of one window, unless one event needs more.
const LEAST: usize = 128 << 10;
const MOST: usize = 4 << 20;
/// Most that one event may take.
pub(crate) const EVENT_MAX: usize = 64 << 20;

/// Where the bytes of a stream are.
#[derive(Debug, Clone)]
pub(crate) enum Bytes {
    /// In the file that the stream is named after.
    Filed,
    /// Handed over: nothing is read from a file system.
    Held(Arc<[u8]>),
}

/// A window onto a file.
pub(crate) struct Window {
    source: Source,
    /// Bytes in memory at a time.
    usual: usize,
    length: u64,
    start: u64,
    /// Of `start` and what follows, as many as are in memory.
    shown: usize,
}

enum Source {
    File { file: File, bytes: Option<Mmap> },
    Held(Arc<[u8]>),
}

impl Window {
    /// Opens a file, one of `streams` that are read at once.
    pub fn open(path: &Path, bytes: &Bytes, streams: usize) -> io::Result<Window> {
        let (source, length) = match bytes {
            Bytes::Filed => {
                let file = File::open(path)?;
                let length = file.metadata()?.len();
                (Source::File { file, bytes: None }, length)
            }
            Bytes::Held(bytes) => (Source::Held(bytes.clone()), bytes.len() as u64),
        };
        Ok(Window { source, usual: (TOGETHER / streams.max(1)).clamp(LEAST, MOST), length, start: 0, shown: 0 })
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
        match &self.source {
            Source::File { bytes, .. } => bytes.as_deref().unwrap_or_default(),
            Source::Held(bytes) => bytes.get(self.start as usize..).and_then(|rest| rest.get(..self.shown)).unwrap_or_default(),
        }
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
        if let Source::File { file, bytes } = &mut self.source {
            // Before the next is mapped: two at a time would be twice the memory.
            *bytes = None;
            self.length = self.length.min(file.metadata()?.len());
        }
        let size = self.length.saturating_sub(offset).min(size as u64) as usize;
        (self.start, self.shown) = (offset, size);
        if let (Source::File { file, bytes }, 1..) = (&mut self.source, size) {
            // SAFETY: a tracer only adds to its files, or puts new ones in their place; whoever cuts one short while this part of it
            // is read breaks the reading of it.
            *bytes = Some(unsafe { MmapOptions::new().offset(offset).len(size).populate().map(&*file) }?);
        }
        Ok(())
    }
}
