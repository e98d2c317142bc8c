#![no_main]

#[path = "../checks/mcap.rs"]
mod mcap;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcap::file(bytes));
