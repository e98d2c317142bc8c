#![no_main]

#[allow(dead_code)]
#[path = "../checks/event_file.rs"]
mod event_file;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| event_file::file(bytes));
