//! Checks any bytes as an event file.

use std::io::Write;
use tacho_events::Reader;

/// Reads any bytes as an event file. Times must not decrease, and there must be no more events than heads of 4 bytes.
pub fn file(bytes: &[u8]) {
    let mut file = tempfile::Builder::new().tempfile_in("/dev/shm").expect("a file in memory");
    file.write_all(bytes).expect("room in memory");
    let mut reader = Reader::open_files(vec![file.path().to_path_buf()], None).expect("a file that can be read");
    let (mut events, mut before) = (0, None);
    while let Some(event) = reader.next_event() {
        assert!(before <= Some(event.time), "time turns back after {events} events");
        before = Some(event.time);
        events += 1;
    }
    assert!(events <= bytes.len() / 4, "{events} events in {} bytes", bytes.len());
}
