//! What must hold of any bytes that are read as a CTF trace.

use tacho_import::{metadata, Reader};

/// Descriptions that the first byte of `packets` chooses from; beyond them, the bytes bring their own.
const DESCRIPTIONS: [&[u8]; 3] =
    [include_bytes!("ctf/jazzy.tsdl"), include_bytes!("ctf/walked.tsdl"), include_bytes!("ctf/kernel.tsdl")];

/// Any bytes as metadata.
pub fn description(bytes: &[u8]) {
    let (_, faults) = metadata::read(bytes);
    assert!(faults.iter().all(|fault| fault.offset <= bytes.len() as u64), "{faults:?}");
    drop(Reader::of_bytes(bytes, &[]));
}

/// Any bytes as the packets of a stream: a byte that says which description, then two streams of equal length; or the length of the
/// description (two bytes), that, and one stream. Times must not turn back, and there are no more events than bytes.
pub fn packets(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else { return };
    let opened = match DESCRIPTIONS.get(usize::from(*which)) {
        Some(description) if which % 2 == 0 => Reader::of_bytes(description, &[rest]),
        Some(description) => {
            let (first, second) = rest.split_at(rest.len() / 2);
            Reader::of_bytes(description, &[first, second])
        }
        None => {
            let Some((length, rest)) = rest.split_first_chunk::<2>() else { return };
            let (description, stream) = rest.split_at(rest.len().min(usize::from(u16::from_le_bytes(*length))));
            Reader::of_bytes(description, &[stream])
        }
    };
    let Ok(mut reader) = opened else { return };
    let (mut events, mut before) = (0, None);
    while let Some(event) = reader.next_event() {
        assert!(before <= Some(event.time), "time turns back after {events} events");
        before = Some(event.time);
        events += 1;
    }
    // An event has a bit at least.
    assert!(events <= 8 * bytes.len(), "{events} events in {} bytes", bytes.len());
}
