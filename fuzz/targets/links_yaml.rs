#![no_main]

#[path = "../checks/links.rs"]
mod links;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| links::file(bytes));
