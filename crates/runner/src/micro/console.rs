//! Parses what a board prints on its console (micro/programs/node.c).

/// A line of the console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Its middleware runs.
    Up,
    /// A row lacks peers; how many it has.
    Unmatched { row: usize, found: usize },
    /// Every row has its peers.
    Matched,
    /// Messages sent or taken by a row.
    Messages { row: usize, count: u64 },
    /// Sends of a row that were due but did not happen.
    Skipped { row: usize, count: u64 },
    /// A counter of its middleware, by its index in `struct micro_counters`.
    Counter { index: usize, value: u32 },
    /// Bytes that its messages use.
    Arena { bytes: u64 },
    /// The board has reported everything.
    Done,
    /// The board cannot follow its plan, or its image is broken.
    Failed(String),
    /// An unknown line.
    Other,
}

/// Reads a line.
pub fn read(line: &str) -> Line {
    let line = line.trim();
    let mut words = line.split(' ');
    let what = words.next().unwrap_or_default();
    let numbers: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
    match (what, numbers.as_deref()) {
        ("up", Some([])) => Line::Up,
        ("matched", Some([])) => Line::Matched,
        ("done", Some([])) => Line::Done,
        ("unmatched", Some([row, found])) => Line::Unmatched { row: *row as usize, found: *found as usize },
        ("messages", Some([row, count])) => Line::Messages { row: *row as usize, count: *count },
        ("skipped", Some([row, count])) => Line::Skipped { row: *row as usize, count: *count },
        ("counter", Some([index, value])) => Line::Counter { index: *index as usize, value: *value as u32 },
        ("arena", Some([bytes, _])) => Line::Arena { bytes: *bytes },
        ("failed:", _) => Line::Failed(line["failed:".len()..].trim().into()),
        ("fault", _) => {
            Line::Failed("a fault of the processor: the image is broken, or its plan is not one that it can run".into())
        }
        _ => Line::Other,
    }
}

/// Names of `struct micro_counters`, in its order.
pub const COUNTERS: [&str; 9] = [
    "malformed",
    "unsupported",
    "oversized",
    "lost",
    "peers_refused",
    "matches_refused",
    "incompatible",
    "events_dropped",
    "send_refused",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_image_are_read() {
        assert_eq!(read("up\r"), Line::Up);
        assert_eq!(read("unmatched 3 1"), Line::Unmatched { row: 3, found: 1 });
        assert_eq!(read("messages 0 4000000000"), Line::Messages { row: 0, count: 4_000_000_000 });
        assert_eq!(read("failed: plan of size 8 2160"), Line::Failed("plan of size 8 2160".into()));
        assert_eq!(read("fault"), read("fault at 5"));
        assert_eq!(read("done 5"), Line::Other);
        // Every line that the image can say is known here.
        let program = include_str!("../../../../micro/programs/node.c");
        for (said, known) in [
            ("say(\"messages\"", "messages 1 2"),
            ("say(\"skipped\"", "skipped 1 2"),
            ("say(\"counter\"", "counter 1 2"),
            ("say(\"arena\"", "arena 1 0"),
            ("say(\"unmatched\"", "unmatched 1 2"),
        ] {
            assert!(program.contains(said) && read(known) != Line::Other, "{said}");
        }
    }

    #[test]
    fn counters_are_those_of_the_header_in_its_order() {
        let header = include_str!("../../../../micro/include/tacho_micro.h");
        let body = header.split("struct micro_counters {").nth(1).unwrap().split("};").next().unwrap();
        let names: Vec<&str> = body
            .lines()
            .filter_map(|line| line.trim().strip_prefix("uint32_t ")?.split_once(';'))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, COUNTERS);
    }
}
