//! Decodes the fixed parts of the event file: its header page and the chunk headers. It does no I/O.

use crate::format::Format;
use std::ops::Range;

/// Bytes of the header page.
pub const HEADER_SIZE: usize = 4096;
/// Bytes of a chunk.
pub const CHUNK_SIZE: usize = 32768;
/// Bytes of a chunk's header.
pub const CHUNK_HEADER_SIZE: usize = 64;
/// Chunks that a writer maps at once.
pub const SEGMENT_CHUNKS: u64 = 512;
/// No file has more chunks: the end of a file on ext4.
pub const CHUNKS_LIMIT: u64 = 1 << 29;
/// Numbers of segments that the writer may unmap, at once.
pub const UNMAP_SLOTS: usize = 128;
/// First bytes of a chunk, "CHNK".
pub const CHUNK_MAGIC: u32 = 0x4b4e_4843;

/// What ticks count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TickSource {
    /// x86-64 `rdtsc`.
    Tsc,
    /// aarch64 `cntvct_el0`.
    Cntvct,
    /// ns of CLOCK_MONOTONIC.
    #[default]
    Monotonic,
    /// ns of a microcontroller's own clock, each file's its own; `board_to_host` and `host_to_board` relate it.
    Board,
}

/// One reading of all clocks: `ticks` lie within `bound_ns` of `monotonic_ns`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sync {
    /// Ticks of the events' clock.
    pub ticks: u64,
    /// CLOCK_MONOTONIC.
    pub monotonic_ns: i64,
    /// CLOCK_REALTIME.
    pub realtime_ns: i64,
    /// Greatest distance between the readings.
    pub bound_ns: u64,
}

impl Sync {
    /// Bytes of one record of `events/clock.sync`.
    pub const SIZE: usize = 32;

    /// One record of `events/clock.sync`.
    pub fn read(bytes: &[u8; Sync::SIZE]) -> Sync {
        Sync {
            ticks: u64_at(bytes, 0),
            monotonic_ns: u64_at(bytes, 8) as i64,
            realtime_ns: u64_at(bytes, 16) as i64,
            bound_ns: u64_at(bytes, 24),
        }
    }
}

/// Page 0: the process that wrote the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileHeader {
    /// Format of its records.
    pub format: Format,
    /// What its ticks count.
    pub ticks: TickSource,
    /// Process id.
    pub pid: u32,
    /// Parent's process id.
    pub ppid: u32,
    /// Release of libtracetools found, major, minor, patch; `None`: there was none.
    pub tracetools: Option<(u16, u8, u8)>,
    /// Clocks at start.
    pub start: Sync,
    /// Events not written, all threads.
    pub dropped: u64,
    /// The dropped events that signal handlers fired inside the writing of another.
    pub dropped_nested: u64,
    /// Bits of [`remark`]: what the recorder could not do as usual.
    pub remarks: u64,
    /// Whether the process ended in order; absent if the source of the events does not say so (an imported trace).
    pub closed: Option<bool>,
    /// errno that stopped the file from growing; 0: none.
    pub storage_error: u64,
    /// From when on all events are kept, ns of CLOCK_MONOTONIC; absent if none was released.
    pub kept_from_ns: Option<i64>,
    /// Identity of the boot of its host.
    pub boot_id: String,
    /// Host name.
    pub host: String,
    /// `ROS_DISTRO`.
    pub ros_distro: String,
    /// `RMW_IMPLEMENTATION`.
    pub rmw_implementation: String,
    /// Executable.
    pub executable: String,
    /// Arguments joined by spaces.
    pub command: String,
}

/// Bits of [`FileHeader::remarks`], `enum tacho_remark` of `events.h`.
pub mod remark {
    /// No descriptor of the file is kept: the program had hardly any left.
    pub const FEW_DESCRIPTORS: u64 = 1;
    /// PR_SET_TSC forbids the TSC: the clock is read by a system call, or events of a thread are dropped.
    pub const NO_TSC: u64 = 2;
    /// Events of a thread in seccomp's strict mode are dropped.
    pub const STRICT_SECCOMP: u64 = 4;
    /// Another task wrote with a thread's memory: its events stand among that thread's.
    pub const SHARED_THREAD: u64 = 8;
}

/// Why a header could not be read: name of the problem, offset, what was found and expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadHeader {
    /// Name of the problem.
    pub name: &'static str,
    /// Offset in the file.
    pub offset: u64,
    /// Found and expected.
    pub text: String,
}

// Offsets in the header page; `the_header_stands_where_c_puts_it` holds them to `events.h`.
/// `chunks_max`.
pub const CHUNKS_MAX: usize = 64;
/// `chunks_reserved`.
pub const CHUNKS_RESERVED: usize = 72;
/// `chunks_allocated`.
pub const CHUNKS_ALLOCATED: usize = 80;
/// `kept_from_ns`.
pub const KEPT_FROM: usize = 112;
/// `unmap`, of [`UNMAP_SLOTS`] words.
pub const UNMAP: usize = 2896;
const START: usize = 32;
const DROPPED: usize = 88;
const CLOSED: usize = 96;
/// `closed` if it is unknown.
const NOT_TOLD: u64 = 2;
const STORAGE_ERROR: usize = 104;
const DROPPED_NESTED: usize = 120;
const REMARKS: usize = 128;
const BOOT_ID: Range<usize> = 136..176;
const HOST: Range<usize> = 176..240;
const ROS_DISTRO: Range<usize> = 240..272;
const RMW: Range<usize> = 272..336;
const EXECUTABLE: Range<usize> = 336..848;
const COMMAND: Range<usize> = 848..2896;
const SIZES: usize = 3920;

impl FileHeader {
    /// Reads page 0.
    pub fn read(bytes: &[u8]) -> Result<FileHeader, BadHeader> {
        let bad = |name, offset, text| Err(BadHeader { name, offset, text });
        let Some(page) = bytes.get(..HEADER_SIZE) else {
            return bad("no-header", 0, format!("{} bytes; a header page has {HEADER_SIZE}", bytes.len()));
        };
        let format = page[SIZES..].first_chunk().and_then(|sizes| Format::read(&page[..8], sizes));
        let Some(format) = format else {
            if page.iter().all(|b| *b == 0) {
                return bad("no-header", 0, "an empty header page: its process ended before it could record".into());
            }
            let found = String::from_utf8_lossy(&page[..8]).into_owned();
            return bad(
                "not-an-event-file",
                0,
                format!(
                    "begins with {found:?}; an event file begins with \"TACHOEV3\", an older one with \"TACHOEV1\" or \
                     \"TACHOEV2\""
                ),
            );
        };
        let (header_size, chunk_size) = (u32_at(page, 8) as usize, u32_at(page, 12) as usize);
        if (header_size, chunk_size) != (HEADER_SIZE, CHUNK_SIZE) {
            return bad(
                "unknown-layout",
                8,
                format!(
                    "header of {header_size} and chunks of {chunk_size} bytes; expected {HEADER_SIZE} and {CHUNK_SIZE}"
                ),
            );
        }
        let ticks = match u32_at(page, 16) {
            1 => TickSource::Tsc,
            2 => TickSource::Cntvct,
            3 => TickSource::Monotonic,
            4 => TickSource::Board,
            other => return bad("unknown-clock", 16, format!("clock {other}; expected 1 to 4")),
        };
        let release = u32_at(page, 28);
        Ok(FileHeader {
            format,
            ticks,
            pid: u32_at(page, 20),
            ppid: u32_at(page, 24),
            tracetools: (release != 0).then_some(((release >> 16) as u16, (release >> 8) as u8, release as u8)),
            start: Sync {
                ticks: u64_at(page, START),
                monotonic_ns: u64_at(page, START + 8) as i64,
                realtime_ns: u64_at(page, START + 16) as i64,
                bound_ns: u64_at(page, START + 24),
            },
            dropped: u64_at(page, DROPPED),
            dropped_nested: u64_at(page, DROPPED_NESTED),
            remarks: u64_at(page, REMARKS),
            closed: match u64_at(page, CLOSED) {
                NOT_TOLD => None,
                closed => Some(closed != 0),
            },
            storage_error: u64_at(page, STORAGE_ERROR),
            kept_from_ns: Some(u64_at(page, KEPT_FROM) as i64).filter(|from| *from != 0),
            boot_id: text_at(page, BOOT_ID),
            host: text_at(page, HOST),
            ros_distro: text_at(page, ROS_DISTRO),
            rmw_implementation: text_at(page, RMW),
            executable: text_at(page, EXECUTABLE),
            command: text_at(page, COMMAND),
        })
    }

    /// Returns the page as a writer that has used this many chunks leaves it.
    pub fn write(&self, chunks: u64) -> Vec<u8> {
        let mut page = vec![0; HEADER_SIZE];
        let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, self.format.magic());
        put(SIZES, &self.format.sizes());
        put(8, &(HEADER_SIZE as u32).to_le_bytes());
        put(12, &(CHUNK_SIZE as u32).to_le_bytes());
        let clock: u32 = match self.ticks {
            TickSource::Tsc => 1,
            TickSource::Cntvct => 2,
            TickSource::Monotonic => 3,
            TickSource::Board => 4,
        };
        put(16, &clock.to_le_bytes());
        put(20, &self.pid.to_le_bytes());
        put(24, &self.ppid.to_le_bytes());
        let release = self.tracetools.map_or(0, |(a, b, c)| (a as u32) << 16 | (b as u32) << 8 | c as u32);
        put(28, &release.to_le_bytes());
        let start = self.start;
        for (i, word) in
            [start.ticks, start.monotonic_ns as u64, start.realtime_ns as u64, start.bound_ns].iter().enumerate()
        {
            put(START + 8 * i, &word.to_le_bytes());
        }
        for (i, word) in
            [chunks, chunks, chunks, self.dropped, self.closed.map_or(NOT_TOLD, u64::from), self.storage_error]
                .iter()
                .enumerate()
        {
            put(START + 32 + 8 * i, &word.to_le_bytes());
        }
        put(KEPT_FROM, &(self.kept_from_ns.unwrap_or(0) as u64).to_le_bytes());
        put(DROPPED_NESTED, &self.dropped_nested.to_le_bytes());
        put(REMARKS, &self.remarks.to_le_bytes());
        for (range, text) in [
            (BOOT_ID, &self.boot_id),
            (HOST, &self.host),
            (ROS_DISTRO, &self.ros_distro),
            (RMW, &self.rmw_implementation),
            (EXECUTABLE, &self.executable),
            (COMMAND, &self.command),
        ] {
            let end = (0..=text.len().min(range.len() - 1)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            put(range.start, &text.as_bytes()[..end]);
        }
        page
    }
}

/// Head of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkHeader {
    /// Thread that owns it.
    pub tid: u32,
    /// Number among this thread's chunks of this file.
    pub sequence: u64,
    /// Ticks from which its heads count.
    pub base_ticks: u64,
    /// Events this thread dropped since its previous chunk.
    pub dropped_before: u64,
}

impl ChunkHeader {
    /// `Ok(None)`: not in use; `Err(magic)`: another value was found there.
    pub fn read(bytes: &[u8]) -> Result<Option<ChunkHeader>, u32> {
        let Some(head) = bytes.get(..CHUNK_HEADER_SIZE) else { return Ok(None) };
        match u32_at(head, 0) {
            0 => Ok(None),
            CHUNK_MAGIC => Ok(Some(ChunkHeader {
                tid: u32_at(head, 4),
                sequence: u64_at(head, 8),
                base_ticks: u64_at(head, 16),
                dropped_before: u64_at(head, 24),
            })),
            other => Err(other),
        }
    }

    /// Returns the header without the name of the thread.
    pub fn write(&self) -> [u8; CHUNK_HEADER_SIZE] {
        let mut head = [0; CHUNK_HEADER_SIZE];
        head[0..4].copy_from_slice(&CHUNK_MAGIC.to_le_bytes());
        head[4..8].copy_from_slice(&self.tid.to_le_bytes());
        head[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        head[16..24].copy_from_slice(&self.base_ticks.to_le_bytes());
        head[24..32].copy_from_slice(&self.dropped_before.to_le_bytes());
        head
    }
}

#[inline(always)]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|b| b.first_chunk::<8>()) {
        Some(word) => u64::from_le_bytes(*word),
        None => 0,
    }
}

#[inline(always)]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..).and_then(|b| b.first_chunk::<4>()) {
        Some(word) => u32::from_le_bytes(*word),
        None => 0,
    }
}

fn text_at(bytes: &[u8], range: Range<usize>) -> String {
    let field = &bytes[range];
    let end = field.iter().position(|b| *b == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that a C declaration of `events.h` takes: `uint64_t reserved[3];` takes 24.
    fn fields_of(structure: &str) -> Vec<(String, usize, usize)> {
        let header = include_str!("../../../native/include/tacho/events.h");
        let body = header.split(&format!("struct {structure} {{")).nth(1).expect(structure);
        let mut at = 0;
        let mut fields = Vec::new();
        for line in body.split("\n};").next().expect("end").lines() {
            let Some((declaration, _)) = line.trim().split_once(';') else { continue };
            let Some((kind, name)) = declaration.split_once(' ') else { continue };
            let one = match kind {
                "char" => 1,
                "uint8_t" => 1,
                "uint32_t" => 4,
                "uint64_t" => 8,
                _ => continue,
            };
            let (name, many) = match name.split_once('[') {
                Some((name, many)) => (name, many.trim_end_matches(']').parse().expect("length")),
                None => (name, 1),
            };
            fields.push((name.to_string(), at, one * many));
            at += one * many;
        }
        fields
    }

    #[test]
    fn the_header_stands_where_c_puts_it() {
        let fields = fields_of("tacho_file_header");
        let at = |name: &str| fields.iter().find(|f| f.0 == name).map(|f| f.1..f.1 + f.2).expect(name);
        assert_eq!(at("clock"), 16..20);
        assert_eq!(at("tracetools"), 28..32);
        assert_eq!(at("start_ticks").start, START);
        assert_eq!(at("dropped").start, DROPPED);
        assert_eq!(at("closed").start, CLOSED);
        assert_eq!(at("storage_error").start, STORAGE_ERROR);
        assert_eq!(at("chunks_max").start, CHUNKS_MAX);
        assert_eq!(at("chunks_reserved").start, CHUNKS_RESERVED);
        assert_eq!(at("chunks_allocated").start, CHUNKS_ALLOCATED);
        assert_eq!(at("kept_from_ns").start, KEPT_FROM);
        assert_eq!(at("dropped_nested").start, DROPPED_NESTED);
        assert_eq!(at("remarks").start, REMARKS);
        assert_eq!(at("unmap"), UNMAP..UNMAP + 8 * UNMAP_SLOTS);
        assert_eq!(at("sizes"), SIZES..SIZES + 128);
        assert_eq!(at("boot_id"), BOOT_ID);
        assert_eq!(at("host"), HOST);
        assert_eq!(at("ros_distro"), ROS_DISTRO);
        assert_eq!(at("rmw_implementation"), RMW);
        assert_eq!(at("executable"), EXECUTABLE);
        assert_eq!(at("command"), COMMAND);
        let chunk = fields_of("tacho_chunk_header");
        assert_eq!(chunk.last().map(|f| f.1 + f.2), Some(CHUNK_HEADER_SIZE));
        assert_eq!(chunk.iter().find(|f| f.0 == "dropped_before").map(|f| f.1), Some(24));
    }
}
