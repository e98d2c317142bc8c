//! Checks any bytes as a bag in an SQLite file.

use std::io::Write;
use std::sync::atomic::AtomicBool;
use tacho_import::bag;

/// Reads any bytes as a file. Every message belongs to an existing topic, and is counted; no other file is created
/// beside it.
pub fn file(bytes: &[u8]) {
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    let path = folder.path().join("bag_0.db3");
    std::fs::File::create(&path).and_then(|mut file| file.write_all(bytes)).expect("room in memory");
    let (mut messages, mut topics) = (0, 0);
    let mut on_message = |message: tacho_events::bag::BagMessage| {
        messages += 1;
        topics = topics.max(message.topic as usize + 1);
    };
    static GO_ON: AtomicBool = AtomicBool::new(false);
    let bag = bag::read(&[path], &GO_ON, &mut on_message, &mut |_| true).expect("a file that can be read");
    assert_eq!(messages, bag.messages);
    assert!(topics <= bag.topics.len(), "a message of topic {topics} of {}", bag.topics.len());
    assert_eq!(bag.span_ns.is_some(), messages > 0);
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 1);
}
