//! Checks any bytes as a CTF trace.

use tacho_import::{metadata, Reader};

/// The first byte of `packets` chooses one of these descriptions. If it is larger, the bytes bring their own.
const DESCRIPTIONS: [&[u8]; 3] =
    [include_bytes!("ctf/jazzy.tsdl"), include_bytes!("ctf/walked.tsdl"), include_bytes!("ctf/kernel.tsdl")];

/// Reads any bytes as metadata.
pub fn description(bytes: &[u8]) {
    let (_, faults) = metadata::read(bytes);
    assert!(faults.iter().all(|fault| fault.offset <= bytes.len() as u64), "{faults:?}");
    drop(Reader::of_bytes(bytes, &[]));
}

/// Reads any bytes as the packets of a stream. The bytes are the number of a description and then two streams of equal
/// length; or the length of a description (two bytes), the description, and one stream. Times must not decrease, and
/// there must be no more events than bytes.
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
    // An event has at least one bit.
    assert!(events <= 8 * bytes.len(), "{events} events in {} bytes", bytes.len());
}
