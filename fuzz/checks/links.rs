//! Checks any text as a links file.

use tacho_workload::links::{parse, write};

/// Reads any bytes as a links file, or refuses them with reasons. Links that were read are written so that they read
/// the same.
pub fn file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match parse(text, "fuzzed.yaml") {
        Err(refused) => assert!(!refused.to_string().is_empty()),
        Ok(mut links) => {
            // The file groups them by node.
            links.links.sort_by(|a, b| a.node.cmp(&b.node));
            let remarked: Vec<_> = links.links.iter().map(|link| (link.clone(), link.node.clone())).collect();
            let written = write(&remarked);
            let again = parse(&written, "written.yaml").unwrap_or_else(|errors| panic!("{errors}\nof\n{written}"));
            assert_eq!(again.links, links.links, "{written}");
        }
    }
}
