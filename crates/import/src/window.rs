//! The part of a stream that is in memory. It is read piece by piece, so that memory stays bounded and the CPU's cache
//! still holds the bytes when they are decoded.

use crate::layout::SEEN;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tacho_events::regular;

/// Bytes of the windows of all streams together, unless there are very many streams.
const TOGETHER: usize = 64 << 20;
/// Least and most bytes of one window, unless one event needs more.
const LEAST: usize = 64 << 10;
const MOST: usize = 256 << 10;
/// Most bytes of one event.
pub(crate) const EVENT_MAX: usize = 64 << 20;
/// Bytes after the window that may be read, whatever their content.
const PADDING: usize = SEEN;

/// Source of a stream's bytes.
#[derive(Debug, Clone)]
pub(crate) enum Bytes {
    /// The file that the stream is named after.
    Filed,
    /// In memory; no file system is used.
    Held(Arc<[u8]>),
    /// The file does not exist, only its index.
    Lacking,
}

/// A window onto a file.
pub(crate) struct Window {
    source: Source,
    /// Usual number of bytes in memory.
    usual: usize,
    length: u64,
    start: u64,
    /// Number of bytes in memory from `start` on.
    shown: usize,
    buffer: Vec<u8>,
}

enum Source {
    File(File),
    Held(Arc<[u8]>),
}

impl Window {
    /// Opens a file, one of `streams` that are read simultaneously.
    pub fn open(path: &Path, bytes: &Bytes, streams: usize) -> io::Result<Window> {
        let (source, length) = match bytes {
            Bytes::Filed => {
                let file = File::open(path)?;
                let length = file.metadata()?.len();
                (Source::File(file), length)
            }
            Bytes::Held(bytes) => (Source::Held(bytes.clone()), bytes.len() as u64),
            Bytes::Lacking => (Source::Held(Arc::from([])), 0),
        };
        let usual = (TOGETHER / streams.max(1)).clamp(LEAST, MOST);
        Ok(Window { source, usual, length, start: 0, shown: 0, buffer: Vec::new() })
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Offset of the first byte in memory.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Offset after the last byte in memory.
    pub fn end(&self) -> u64 {
        self.start + self.shown as u64
    }

    /// The bytes in memory.
    pub fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.shown).unwrap_or_default()
    }

    /// The same with padding after them, enough to read an event of the usual form at once.
    pub fn padded(&self) -> &[u8] {
        &self.buffer
    }

    /// Loads the bytes from `offset` on, `wanted` of them or as many as the file has.
    pub fn show(&mut self, offset: u64, wanted: usize) -> io::Result<()> {
        let last = self.length.min(offset.saturating_add(wanted as u64));
        if offset >= self.start && last <= self.end() {
            return Ok(());
        }
        self.fill(offset, wanted.max(self.usual))
    }

    /// Moves the window to `offset`, or enlarges it if it is already there. False: it cannot be enlarged.
    pub fn advance(&mut self, offset: u64) -> io::Result<bool> {
        let size = if offset == self.start { 2 * self.shown } else { 0 };
        if size > EVENT_MAX {
            return Ok(false);
        }
        self.fill(offset, size.max(self.usual))?;
        Ok(true)
    }

    fn fill(&mut self, offset: u64, size: usize) -> io::Result<()> {
        let size = self.length.saturating_sub(offset).min(size as u64) as usize;
        (self.start, self.shown) = (offset, 0);
        let room = size.max(self.usual.min(self.length as usize)) + PADDING;
        if self.buffer.len() != room {
            // Free the old buffer first: both at once would need twice the memory.
            self.buffer = Vec::new();
            self.buffer = vec![0; room];
        }
        let into = &mut self.buffer[..size];
        self.shown = match &self.source {
            Source::File(file) => regular::read_at(file, into, offset)?,
            Source::Held(bytes) => {
                let bytes = bytes.get(offset as usize..).and_then(|rest| rest.get(..size)).unwrap_or_default();
                into[..bytes.len()].copy_from_slice(bytes);
                bytes.len()
            }
        };
        if self.shown < size {
            // The file was cut after it was opened.
            self.length = offset + self.shown as u64;
        }
        Ok(())
    }
}
