#![no_main]

#[path = "../checks/sqlite.rs"]
mod sqlite;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| sqlite::file(bytes));
