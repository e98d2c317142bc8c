//! Any bytes as metadata. Start from those of a fixture:
//! `cargo +nightly fuzz run metadata CORPUS -- -max_total_time=600`, with a trace's `metadata` in CORPUS.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (_, faults) = tacho_import::metadata::read(bytes);
    assert!(faults.iter().all(|fault| fault.offset <= bytes.len() as u64));
});
