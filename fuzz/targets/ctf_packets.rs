#![no_main]

#[allow(dead_code)]
#[path = "../checks/ctf.rs"]
mod ctf;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ctf::packets(bytes));
