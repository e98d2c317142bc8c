//! Reads LTTng's index of a stream file (`index/NAME.idx` beside it, format 1.0 or 1.1): position and time of its
//! packets. Reading a trace does not need it. If a file ends too early, it shows which packets are lost, because no
//! later packet's counter can.
//!
//! Packets are contiguous and in order of time. If an index contradicts this, it is damaged and used only up to there.

use crate::mcap::read_up_to;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use tacho_events::regular;

const MAGIC: u32 = 0xC1F1_DCC1;
/// Magic, major, minor, and the bytes of an entry; the whole file is big-endian on any machine.
const HEADER: usize = 16;
/// Fields of 8 bytes of every entry: offset, size in bits, content, begin, end, discarded, stream.
const ENTRY_LEAST: usize = 56;
/// Size with the further fields of 1.1: the stream's instance, and the packet's number.
const ENTRY_NUMBERED: usize = 72;
/// No format has larger entries.
const ENTRY_MOST: usize = 4096;

/// A packet as an index describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Indexed {
    /// Offset of the packet's first byte in the stream file.
    pub offset: u64,
    /// Offset after its last byte.
    pub next: u64,
    /// First and last tick of it.
    pub begin: u64,
    pub end: u64,
    /// Id of its stream, and the number that the tracer gave to that stream.
    pub stream_id: u64,
    pub instance: Option<u64>,
    /// Number among the packets of its stream.
    pub sequence: Option<u64>,
}

/// Why the rest of an index is not used, and the offset of the fault in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub offset: u64,
    pub text: String,
}

/// An index that is being read: the packets in the order of the file, up to its end or its first fault.
pub(crate) struct Index<R> {
    from: R,
    minor: u32,
    entry: Vec<u8>,
    /// Offset in the index after the last entry that was read.
    at: u64,
    before: Option<Indexed>,
    pub fault: Option<Fault>,
}

/// Path of the index of a stream file.
pub(crate) fn path_of(stream: &Path) -> Option<PathBuf> {
    let mut name = stream.file_name()?.to_os_string();
    name.push(".idx");
    Some(stream.parent()?.join("index").join(name))
}

/// Lists the stream files that a folder's indices describe.
pub(crate) fn streams(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder.join("index")) {
        Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => {
            return Ok(Vec::new())
        }
        entries => entries?,
    };
    let names = entries.map(|entry| Ok(PathBuf::from(entry?.file_name()))).collect::<io::Result<Vec<PathBuf>>>()?;
    let is_index = |name: &&PathBuf| name.extension().is_some_and(|extension| extension == "idx");
    Ok(names.iter().filter(is_index).filter_map(|name| Some(folder.join(name.file_stem()?))).collect())
}

/// Opens the index of a stream file; `None` if it has none.
pub(crate) fn open(stream: &Path) -> io::Result<Option<Index<BufReader<File>>>> {
    let Some(path) = path_of(stream) else { return Ok(None) };
    match regular::open(&path) {
        Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => Ok(None),
        file => Index::new(BufReader::new(file?)).map(Some),
    }
}

/// Reads the first packet in the index of a stream file.
pub(crate) fn first(stream: &Path) -> io::Result<Option<Indexed>> {
    open(stream)?.map_or(Ok(None), |mut index| index.next_packet())
}

impl<R: Read> Index<R> {
    /// Reads an index from these bytes.
    pub fn new(mut from: R) -> io::Result<Index<R>> {
        let mut header = [0; HEADER];
        let length = read_up_to(&mut from, &mut header)?;
        let word = |field: usize| {
            u32::from_be_bytes([header[4 * field], header[4 * field + 1], header[4 * field + 2], header[4 * field + 3]])
        };
        let (magic, major, minor, size) = (word(0), word(1), word(2), word(3) as usize);
        let least = if minor == 0 { ENTRY_LEAST } else { ENTRY_NUMBERED };
        let text = match () {
            () if length < HEADER => Some(format!("{length} bytes; an index begins with {HEADER}")),
            () if (magic, major) != (MAGIC, 1) => {
                Some(format!("begins with {magic:#010x}, version {major}; expected {MAGIC:#010x}, version 1"))
            }
            () if !(least..=ENTRY_MOST).contains(&size) => {
                Some(format!("entries of {size} bytes; version 1.{minor} has at least {least}"))
            }
            () => None,
        };
        let (fault, size) = (text.map(|text| Fault { offset: 0, text }), size.clamp(ENTRY_LEAST, ENTRY_MOST));
        Ok(Index { from, minor, entry: vec![0; size], at: HEADER as u64, before: None, fault })
    }

    /// Reads the next packet.
    pub fn next_packet(&mut self) -> io::Result<Option<Indexed>> {
        if self.fault.is_some() {
            return Ok(None);
        }
        let (size, start) = (self.entry.len(), self.at);
        let length = read_up_to(&mut self.from, &mut self.entry)?;
        self.at += length as u64;
        if length == 0 {
            return Ok(None);
        }
        let found =
            if length < size { Err(format!("ends {length} bytes into an entry of {size}")) } else { self.packet() };
        match found {
            Ok(packet) => {
                self.before = Some(packet);
                Ok(Some(packet))
            }
            Err(text) => {
                self.fault = Some(Fault { offset: start, text });
                Ok(None)
            }
        }
    }

    /// Parses the entry that was read, if it is valid.
    fn packet(&self) -> Result<Indexed, String> {
        let field =
            |number: usize| self.entry[8 * number..].first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        // Older tracers write -1 if they cannot provide a value (lttng-tools, consumerd).
        let numbered = |number: usize| (self.minor >= 1).then(|| field(number)).filter(|of| *of != u64::MAX);
        let (offset, bits) = (field(0), field(1));
        let next = offset.checked_add(bits / 8).filter(|_| bits > 0 && bits % 8 == 0);
        let packet = Indexed {
            offset,
            next: next.ok_or_else(|| format!("a packet of {bits} bits at byte {offset}"))?,
            begin: field(3),
            end: field(4),
            stream_id: field(6),
            instance: numbered(7),
            sequence: numbered(8),
        };
        if packet.begin > packet.end {
            return Err(format!("a packet that begins at {} and ends at {}", packet.begin, packet.end));
        }
        let Some(before) = self.before else { return Ok(packet) };
        if packet.offset != before.next {
            return Err(format!("a packet at byte {offset}, behind one that ends at byte {}", before.next));
        }
        if packet.begin < before.begin {
            return Err(format!(
                "a packet that begins at {}, behind one that begins at {}",
                packet.begin, before.begin
            ));
        }
        // Numbers may jump: a file lacks the packets that a tracer in overwrite mode has overwritten.
        if let Some((number, before)) = packet.sequence.zip(before.sequence).filter(|(number, before)| number <= before)
        {
            return Err(format!("packet {number} behind packet {before}"));
        }
        Ok(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offset, bits, content, begin, end, discarded, stream, instance, number.
    const ENTRIES: [[u64; 9]; 3] = [
        [0, 4096 * 8, 800, 10, 20, 0, 5, 3, 7],
        [4096, 4096 * 8, 800, 20, 31, 0, 5, 3, 8],
        [8192, 8 * 8, 60, 31, 31, 0, 5, 3, 10],
    ];

    fn index(minor: u32, entries: &[[u64; 9]]) -> Vec<u8> {
        let fields = if minor == 0 { 7 } else { 9 };
        let header = [MAGIC, 1, minor, 8 * fields as u32].into_iter().flat_map(u32::to_be_bytes);
        header
            .chain(entries.iter().flat_map(|entry| entry[..fields].iter().flat_map(|field| field.to_be_bytes())))
            .collect()
    }

    fn read(bytes: &[u8]) -> (Vec<Indexed>, Option<Fault>) {
        let mut index = Index::new(bytes).expect("bytes");
        let packets = std::iter::from_fn(|| index.next_packet().expect("bytes")).collect();
        (packets, index.fault)
    }

    #[test]
    fn packets_with_and_without_numbers() {
        let first =
            Indexed { offset: 0, next: 4096, begin: 10, end: 20, stream_id: 5, instance: Some(3), sequence: Some(7) };
        let second = Indexed { offset: 4096, next: 8192, begin: 20, end: 31, sequence: Some(8), ..first };
        // The tracer overwrote one packet before it was written to the file.
        let third = Indexed { offset: 8192, next: 8200, begin: 31, end: 31, sequence: Some(10), ..first };
        assert_eq!(read(&index(1, &ENTRIES)), (vec![first, second, third], None));
        let plain = [first, second, third].map(|of| Indexed { instance: None, sequence: None, ..of });
        assert_eq!(read(&index(0, &ENTRIES)), (plain.to_vec(), None));
        let unknown = ENTRIES.map(|[offset, bits, content, begin, end, lost, stream, ..]| {
            [offset, bits, content, begin, end, lost, stream, u64::MAX, u64::MAX]
        });
        assert_eq!(read(&index(1, &unknown)), (plain.to_vec(), None));
        assert_eq!(read(&index(1, &[])), (vec![], None));
    }

    #[test]
    fn what_is_cut_tells_of_what_is_there_and_says_so() {
        let whole = index(1, &ENTRIES);
        for length in 0..whole.len() {
            let (packets, fault) = read(&whole[..length]);
            assert_eq!(packets, read(&whole).0[..length.saturating_sub(HEADER) / 72]);
            let whole_entries = length >= HEADER && (length - HEADER).is_multiple_of(72);
            assert_eq!(fault.is_none(), whole_entries, "{length}: {fault:?}");
        }
    }

    #[test]
    fn an_entry_that_cannot_be_ends_it() {
        for (entry, field, value) in [
            (1, 0, 4095),
            (1, 0, 4104),
            (0, 1, 4096 * 8 + 1),
            (2, 1, 0),
            (2, 0, u64::MAX),
            (1, 3, 9),
            (1, 4, 19),
            (2, 8, 8),
        ] {
            let mut entries = ENTRIES;
            entries[entry][field] = value;
            let (packets, fault) = read(&index(1, &entries));
            let at = if (entry, field) == (0, 1) { 0 } else { entry };
            assert_eq!(
                (packets.len(), fault.map(|fault| fault.offset)),
                (at, Some((HEADER + 72 * at) as u64)),
                "field {field} of {entry}: {value}"
            );
        }
    }

    #[test]
    fn what_is_no_index_is_named() {
        let changed = |at: usize, value: u32| {
            let mut bytes = index(1, &ENTRIES);
            bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
            let (packets, fault) = read(&bytes);
            assert!(packets.is_empty());
            fault.expect("a fault").text
        };
        assert!(changed(0, 7).contains("expected 0xc1f1dcc1"));
        assert!(changed(4, 2).contains("version 2"));
        assert!(changed(12, 56).contains("at least 72") && changed(12, u32::MAX).contains("at least 72"));
    }
}
