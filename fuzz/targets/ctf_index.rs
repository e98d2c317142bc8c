#![no_main]

#[path = "../checks/ctf_index.rs"]
mod ctf_index;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ctf_index::index(bytes));
