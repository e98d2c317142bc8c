#![no_main]

#[allow(dead_code)]
#[path = "../checks/workload.rs"]
mod workload;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| workload::file(bytes));
