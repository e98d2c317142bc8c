//! Any bytes as a trace: four bytes that say how long the metadata is, the metadata, one stream. The times must not turn back.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else { return };
    let (metadata, stream) = rest.split_at(rest.len().min(u32::from_le_bytes(*length) as usize));
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("metadata"), metadata).expect("metadata");
    std::fs::write(folder.path().join("stream"), stream).expect("stream");
    let Ok(mut reader) = tacho_import::Reader::open(&[folder.path().to_path_buf()]) else { return };
    let (mut events, mut before) = (0u64, None);
    while let Some(event) = reader.next_event() {
        assert!(before <= Some(event.time));
        before = Some(event.time);
        events += 1;
    }
    assert!(events <= 8 * stream.len() as u64);
});
