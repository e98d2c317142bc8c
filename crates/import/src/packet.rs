//! Packet headers and contexts. CTF 1.8, section 5.

use crate::decode::{walk, Captured, Fault as DecodeFault, Input};
use crate::layout::{span, word, TraceLayout};

/// First bytes of a packet.
pub(crate) const MAGIC: u32 = 0xc1fc_1fc1;

/// The header and context of a packet. Sizes are in bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Index into [`TraceLayout::streams`], and the id there.
    pub stream: usize,
    pub stream_id: u64,
    pub instance: Option<u64>,
    pub begin: Option<u64>,
    pub end: Option<u64>,
    /// Positions where its events begin and end, counted from its start.
    pub events: u64,
    pub content: u64,
    pub size: u64,
    pub sequence: Option<u64>,
    /// Events lost in its stream up to its end, and the width of that counter in bits.
    pub discarded: Option<(u64, u32)>,
    pub cpu: Option<u64>,
    /// Its uuid, if it differs from the trace's.
    pub other_uuid: Option<[u8; 16]>,
}

/// Why a packet could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub name: &'static str,
    pub text: String,
    /// Start of the next packet, if known: bytes from this one's start.
    pub next: Option<u64>,
}

/// Reads the header of the packet at the beginning of `bytes`; the file has `rest` bytes from there on.
pub(crate) fn read(layout: &TraceLayout, bytes: &[u8], rest: u64, captured: &mut Captured) -> Result<Packet, Fault> {
    let input = Input { bytes, origin: 0, limit: 8 * bytes.len() as u64 };
    let fault = |name, text: String| Fault { name, text, next: None };
    let walked = |error| match error {
        DecodeFault::Beyond => {
            fault("packet-header-truncated", format!("{rest} bytes are left, too few for a packet's header"))
        }
        DecodeFault::NoOption(tag) => {
            fault("bad-packet-header", format!("the tag {tag}, which chooses no option of a variant"))
        }
    };
    captured.seen = 0;
    captured.spans[span::UUID as usize] = (0, 0);
    let mut at = 0;
    if let Some(header) = &layout.packet_header {
        at = walk(header, input, at, captured).map_err(walked)?;
    }
    if let Some(magic) = captured.get(word::MAGIC).filter(|magic| *magic != u64::from(MAGIC)) {
        return Err(fault("not-a-packet", format!("begins with {magic:#010x}; a packet begins with {MAGIC:#010x}")));
    }
    let (start, end) = captured.spans[span::UUID as usize];
    let uuid = bytes.get(start..end).and_then(|uuid| <[u8; 16]>::try_from(uuid).ok());
    // A different uuid is accepted: tools that cut and merge traces write a new uuid only into the metadata.
    let other_uuid = uuid.filter(|uuid| layout.uuid.is_some_and(|expected| *uuid != expected));
    let id = captured.get(word::STREAM_ID);
    let instance = captured.get(word::INSTANCE);
    let found = layout.streams.iter().enumerate().find(|(_, of)| id.is_none_or(|id| of.id == id));
    let Some((stream, of)) = found else {
        let id = id.unwrap_or(0);
        return Err(fault("unknown-stream", format!("a packet of stream {id}, which the metadata does not describe")));
    };
    if let Some(context) = &of.packet_context {
        at = walk(context, input, at, captured).map_err(walked)?;
    }
    let (size, content) = (captured.get(word::PACKET_BITS), captured.get(word::CONTENT_BITS));
    // A packet with one of these sizes has that length; a packet with neither extends to the end of the file.
    let of_content = |content: u64| content.checked_next_multiple_of(8).unwrap_or(!7);
    let size = size.or(content.map(of_content)).unwrap_or(8 * rest);
    let content = content.unwrap_or(size);
    if size % 8 != 0 || size < at || content > size {
        return Err(fault(
            "bad-packet-size",
            format!("content of {content} bits in a packet of {size} bits with a header of {at} bits"),
        ));
    }
    if content < at {
        let text = format!(
            "content of {content} bits, and a header of {at}: the tracer had not closed it; its events are not read"
        );
        return Err(Fault { name: "packet-not-closed", text, next: Some(size / 8) });
    }
    let bits = captured.words[word::DISCARDED_BITS as usize] as u32;
    Ok(Packet {
        stream,
        stream_id: of.id,
        instance,
        begin: captured.get(word::BEGIN),
        end: captured.get(word::END),
        events: at,
        content,
        size,
        sequence: captured.get(word::SEQUENCE),
        discarded: captured.get(word::DISCARDED).map(|count| (count, bits)),
        cpu: captured.get(word::CPU),
        other_uuid,
    })
}
