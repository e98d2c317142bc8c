//! Checks any text as a workload.

use tacho_workload::{parse, sweep, write, Overrides};

/// Reads any bytes as a workload file, or refuses them with reasons. What was read is written so that it reads the
/// same.
pub fn file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(refused) = sweep(text, "fuzzed.yaml", &Overrides::default()) {
        assert!(!refused.to_string().is_empty());
    }
    if let Ok((workload, _)) = parse(text, "fuzzed.yaml") {
        let written = write(&workload);
        let (again, _) = parse(&written, "written.yaml").unwrap_or_else(|errors| panic!("{errors}\nof\n{written}"));
        assert_eq!(again, workload, "{written}");
    }
}
