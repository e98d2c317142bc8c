//! Checks any bytes as the index beside a stream.

use tacho_import::{Gap, Reader};

const DESCRIPTION: &[u8] = include_bytes!("ctf/kernel.tsdl");
const PACKETS: u64 = 4;

/// Reads some bytes as a stream (two bytes give their number), and the others as its index. No index adds or removes an
/// event, and no gap ends before it begins. If something is missing, a problem says so in words, too.
pub fn index(bytes: &[u8]) {
    let Some((kept, index)) = bytes.split_first_chunk::<2>() else { return };
    let stream: Vec<u8> = (0..PACKETS).flat_map(packet).collect();
    let stream = &stream[..usize::from(u16::from_le_bytes(*kept)).min(stream.len())];
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder in memory");
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("room in memory");
    std::fs::create_dir(folder.path().join("index")).expect("a folder in memory");
    put("metadata", DESCRIPTION);
    put("channel_0", stream);
    put("index/channel_0.idx", index);
    let (beside, gaps, said) = read(Reader::open(&[folder.path().to_path_buf()]).expect("a trace"));
    let (alone, ..) = read(Reader::of_bytes(DESCRIPTION, &[stream]).expect("a trace"));
    assert_eq!(beside, alone);
    assert!(gaps.is_empty() || said > 0, "{gaps:?}");
    assert!(gaps.iter().all(|gap| gap.from <= gap.to), "{gaps:?}");
}

/// Returns events, gaps, and the number of reported problems.
fn read(mut reader: Reader) -> (Vec<i64>, Vec<Gap>, usize) {
    let events = std::iter::from_fn(|| reader.next_event()).map(|event| event.time.as_ns()).collect();
    (events, reader.gaps().to_vec(), reader.problems().iter().count())
}

/// Makes a packet of 80 bytes with one event, the end of a softirq.
fn packet(number: u64) -> Vec<u8> {
    let begin = 1000 * number;
    let mut bytes = [0xc1fc_1fc1u32, 0].map(u32::to_le_bytes).concat();
    // The fields are stream, begin, end, content, size, number, lost.
    bytes.extend([7, begin, begin + 900, 8 * 76, 8 * 80, number, 0].into_iter().flat_map(u64::to_le_bytes));
    // The fields are CPU, id of five bits and time, vector, padding.
    bytes.extend([0, 5 | (begin as u32 + 100) << 5, 1, 0].into_iter().flat_map(u32::to_le_bytes));
    bytes
}
