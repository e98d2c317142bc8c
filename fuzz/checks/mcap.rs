//! Checks any bytes as an MCAP file.

use tacho_import::mcap::read_bytes;

/// Reads any bytes as a file. Every message belongs to an existing topic, and is counted.
pub fn file(bytes: &[u8]) {
    let (mut messages, mut topics) = (0, 0);
    let bag = read_bytes(bytes, &mut |message| {
        messages += 1;
        topics = topics.max(message.topic as usize + 1);
    });
    assert_eq!(messages, bag.messages);
    assert!(topics <= bag.topics.len(), "a message of topic {topics} of {}", bag.topics.len());
    assert_eq!(bag.span_ns.is_some(), messages > 0);
    assert!(bag.problems.iter().all(|problem| problem.offset <= bytes.len() as u64));
}
