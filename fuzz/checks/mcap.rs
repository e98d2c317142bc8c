//! Checks any bytes as an MCAP file.

use tacho_import::mcap::read_bytes;

/// Reads any bytes as a file. Every message belongs to an existing topic, and is counted. The data of a topic are as
/// long as its messages say, and those of others do not come.
pub fn file(bytes: &[u8]) {
    let (mut messages, mut topics) = (Vec::new(), 0);
    let bag = read_bytes(bytes, None, &mut |message, data| {
        assert!(data.is_empty());
        topics = topics.max(message.topic as usize + 1);
        messages.push(message);
    });
    assert_eq!(messages.len() as u64, bag.messages);
    assert!(topics <= bag.topics.len(), "a message of topic {topics} of {}", bag.topics.len());
    assert_eq!(bag.span_ns.is_some(), !messages.is_empty());
    assert!(bag.problems.iter().all(|problem| problem.offset <= bytes.len() as u64));
    let Some(wanted) = bag.topics.first().map(|topic| topic.name.clone()) else { return };
    let mut again = Vec::new();
    let same = read_bytes(bytes, Some(&wanted), &mut |message, data| {
        // Topics of one name may have several types.
        let is_wanted = bag.topics.get(message.topic as usize).is_some_and(|topic| topic.name == wanted);
        assert_eq!(data.len() as u64, if is_wanted { message.size_bytes } else { 0 });
        again.push(message);
    });
    assert_eq!((again, same.messages), (messages, bag.messages));
}
