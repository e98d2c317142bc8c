//! The part of a file that is in memory.
//!
//! Files are read, not mapped: memory stays bounded whatever the kernel keeps, and a trace that is cut while it is read ends early
//! instead of ending the program.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes read at a time, unless one event needs more.
const USUAL: usize = 64 << 10;
/// Most that one event may take.
pub(crate) const EVENT_MAX: usize = 64 << 20;

/// A window onto a file.
pub(crate) struct Window {
    file: File,
    length: u64,
    start: u64,
    buffer: Vec<u8>,
}

impl Window {
    /// Opens a file as long as it is now.
    pub fn open(path: &Path) -> io::Result<Window> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Window { file, length, start: 0, buffer: Vec::new() })
    }

    /// Bytes of the file.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Offset of the first byte in memory.
    #[inline(always)]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Offset behind the last byte in memory.
    #[inline(always)]
    pub fn end(&self) -> u64 {
        self.start + self.buffer.len() as u64
    }

    /// What is in memory.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    /// Has the bytes from `offset` in memory, `wanted` of them as far as the file goes.
    pub fn show(&mut self, offset: u64, wanted: usize) -> io::Result<()> {
        let last = self.length.min(offset.saturating_add(wanted as u64));
        if offset >= self.start && last <= self.end() {
            return Ok(());
        }
        self.load(offset, wanted.max(USUAL))
    }

    /// Moves the window to `offset`, and makes it larger if it stands there already. False: it cannot become larger.
    pub fn advance(&mut self, offset: u64) -> io::Result<bool> {
        let size = if offset == self.start { 2 * self.buffer.len() } else { USUAL };
        if size > EVENT_MAX {
            return Ok(false);
        }
        self.load(offset, size.max(USUAL))?;
        Ok(true)
    }

    fn load(&mut self, offset: u64, size: usize) -> io::Result<()> {
        let size = self.length.saturating_sub(offset).min(size as u64) as usize;
        self.buffer.resize(size, 0);
        self.start = offset;
        let mut filled = 0;
        while filled < size {
            match self.file.read_at(&mut self.buffer[filled..], offset + filled as u64) {
                Ok(0) => {
                    // It was cut since it was opened.
                    self.length = offset + filled as u64;
                    break;
                }
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.buffer.clear();
                    return Err(error);
                }
            }
        }
        self.buffer.truncate(filled);
        Ok(())
    }
}
