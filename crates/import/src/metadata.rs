//! Reads the metadata stream, packets or plain text, into declarations. CTF 1.8, section 7.1.

use crate::tsdl::{self, Description};

const MAGIC: u32 = 0x75d1_1d57;
/// magic, uuid, checksum, content size, packet size, compression, encryption, checksum scheme, major, minor.
const HEADER_SIZE: usize = 37;

/// Words at which plain metadata may begin.
const BLOCKS: [&str; 10] =
    ["trace", "stream", "event", "clock", "env", "callsite", "typealias", "typedef", "struct", "enum"];

/// A fault of the metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Name of the problem.
    pub name: &'static str,
    /// Byte offset in the file.
    pub offset: u64,
    /// What was found, and what was expected.
    pub text: String,
}

/// Reads a metadata file up to its end or its first fault.
pub fn read(bytes: &[u8]) -> (Description, Vec<Fault>) {
    let mut faults = Vec::new();
    let parts = if is_plain(bytes) { vec![(0, bytes)] } else { packets(bytes, &mut faults) };
    let mut text = Vec::new();
    let mut starts = Vec::new();
    for (offset, part) in parts {
        starts.push((text.len(), offset));
        text.extend_from_slice(part);
    }
    let (text, at_fault) = match std::str::from_utf8(&text) {
        Ok(text) => (text, None),
        Err(error) => {
            (std::str::from_utf8(&text[..error.valid_up_to()]).unwrap_or_default(), Some(error.valid_up_to()))
        }
    };
    let offset_of = |at: usize| {
        let (start, offset) =
            starts[..starts.partition_point(|(start, _)| *start <= at)].last().copied().unwrap_or((0, 0));
        (offset + at - start) as u64
    };
    if let Some(at) = at_fault {
        let text = "bytes that are no text; the rest is not read".to_string();
        faults.push(Fault { name: "metadata-not-text", offset: offset_of(at), text });
    }
    let (description, of_text) = tsdl::parse(text);
    for fault in of_text {
        let line = 1 + text[..fault.at].bytes().filter(|b| *b == b'\n').count();
        faults.push(Fault {
            name: "metadata-not-understood",
            offset: offset_of(fault.at),
            text: format!(
                "line {line} of its text: found {}, expected {}; that declaration is left out",
                fault.found, fault.expected
            ),
        });
    }
    (description, faults)
}

/// Whether it is text instead of packets. The signature at the beginning of a text may be missing.
fn is_plain(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    let ends = |rest: &[u8]| rest.first().is_none_or(|next| !next.is_ascii_alphanumeric());
    let declared = |word: &&str| text.strip_prefix(word.as_bytes()).is_some_and(ends);
    ["/*", "//"].iter().any(|mark| text.starts_with(mark.as_bytes())) || BLOCKS.iter().any(declared)
}

/// The contents of the packets, each with its offset in the file.
fn packets<'a>(bytes: &'a [u8], faults: &mut Vec<Fault>) -> Vec<(usize, &'a [u8])> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let mut fault = |name, text| faults.push(Fault { name, offset: at as u64, text });
        let Some(header) = bytes[at..].first_chunk::<HEADER_SIZE>() else {
            fault("metadata-truncated", format!("{} bytes of a packet header of {HEADER_SIZE}", bytes.len() - at));
            break;
        };
        let word = |i: usize| [header[i], header[i + 1], header[i + 2], header[i + 3]];
        let read: fn([u8; 4]) -> u32 = match word(0) {
            magic if u32::from_le_bytes(magic) == MAGIC => u32::from_le_bytes,
            magic if u32::from_be_bytes(magic) == MAGIC => u32::from_be_bytes,
            magic => {
                let is_json = magic[0] == 0x1e;
                let what =
                    if is_json { "CTF 2 (JSON)".to_string() } else { format!("{:#010x}", u32::from_le_bytes(magic)) };
                fault(
                    "metadata-not-ctf-1",
                    format!("begins with {what}; expected a packet ({MAGIC:#x}) or \"/* CTF 1.8\""),
                );
                break;
            }
        };
        let (content, size) = (read(word(24)) as usize / 8, read(word(28)) as usize / 8);
        let (compression, encryption) = (header[32], header[33]);
        if compression != 0 || encryption != 0 {
            fault(
                "metadata-compressed",
                format!("compression {compression}, encryption {encryption}; expected neither"),
            );
            break;
        }
        if content < HEADER_SIZE || size < content {
            fault("metadata-bad-size", format!("content of {content} bytes in a packet of {size}"));
            break;
        }
        let end = bytes.len().min(at + content);
        if end < at + content {
            fault("metadata-truncated", format!("{} bytes of a packet of {content}", end - at));
        }
        found.push((at + HEADER_SIZE, &bytes[at + HEADER_SIZE..end]));
        at += size;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(text: &str, big: bool) -> Vec<u8> {
        let bytes = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
        let mut packet = bytes(MAGIC).to_vec();
        packet.extend([0; 20]);
        packet.extend(bytes(8 * (HEADER_SIZE + text.len()) as u32));
        packet.extend(bytes(8 * 256));
        packet.extend([0, 0, 0, 1, 8]);
        packet.extend(text.bytes());
        packet.resize(256, 0);
        packet
    }

    #[test]
    fn a_declaration_may_run_over_packets_of_either_byte_order() {
        for big in [false, true] {
            let file = [packet("env { host", big), packet("name = \"h\"; }; x", big), packet("y z;", big)].concat();
            let (found, faults) = read(&file);
            assert_eq!(found.environment["hostname"], "h");
            // "xy" begins in the second packet.
            assert_eq!((faults.len(), faults[0].offset), (1, 256 + 37 + 15));
        }
    }

    #[test]
    fn damage_is_named_with_its_offset() {
        let whole = [packet("env { a = 1; };", false), packet("env { b = 2; };", false)].concat();
        let cases = [(256 + 40, "metadata-truncated"), (256 + 8, "metadata-truncated")];
        for (length, name) in cases {
            let (found, faults) = read(&whole[..length]);
            assert_eq!(found.environment.len(), 1);
            assert!(faults.iter().any(|f| f.name == name && f.offset == 256), "{faults:?}");
        }
        assert_eq!(read(b"\x1e{\"type\": \"preamble\", \"version\": 2, \"uuid\": 1}").1[0].name, "metadata-not-ctf-1");
    }
}
