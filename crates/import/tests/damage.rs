//! Traces that are cut, torn or made of noise. The reader reads them as far as possible, names every damage, and never
//! panics.

mod fixture;

use fixture::Fixture;
use std::path::{Path, PathBuf};
use tacho_events::Time;
use tacho_import::{Cause, Error, Reader};

/// Packet context of LTTng: begin, end, content, size, sequence, discarded, cpu; 8 bytes each but the last.
const CONTEXT: usize = 32;
const CONTENT_BITS: usize = CONTEXT + 16;
const PACKET_BITS: usize = CONTEXT + 24;
const SEQUENCE: usize = CONTEXT + 32;
const DISCARDED: usize = CONTEXT + 40;

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

/// Starts of the packets of a stream file.
fn packets(bytes: &[u8]) -> Vec<usize> {
    let next = |at: &usize| Some(at + u64_at(bytes, at + PACKET_BITS) as usize / 8).filter(|next| *next < bytes.len());
    std::iter::successors(Some(0), next).collect()
}

struct Read {
    events: u64,
    sorted: bool,
    first: Option<Time>,
    reader: Reader,
}

fn read(folder: &Path) -> Result<Read, Error> {
    let mut reader = Reader::open(&[folder.to_path_buf()])?;
    let (mut events, mut sorted, mut first, mut before) = (0, true, None, None);
    while let Some(event) = reader.next_event() {
        events += 1;
        sorted &= before <= Some(event.time);
        first = first.or(Some(event.time));
        before = Some(event.time);
    }
    Ok(Read { events, sorted, first, reader })
}

/// A trace whose first stream file `change` has changed; returns what was read before and after.
fn damaged(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> (Fixture, u64, Read) {
    let fixture = Fixture::unpack(name);
    let whole = read(&fixture.files()).expect("whole").events;
    let file = fixture.files().join("ros2_0");
    let mut bytes = std::fs::read(&file).expect("stream");
    change(&mut bytes);
    std::fs::write(&file, bytes).expect("write");
    let read = read(&fixture.files()).expect("still a trace");
    (fixture, whole, read)
}

#[test]
fn a_file_cut_inside_a_packet_is_read_up_to_its_last_whole_event() {
    let mut last = 0;
    // Cut at any byte: the rest must be less, and never wrong.
    for back in [1, 100, 1_000, 5_000, 20_000] {
        let (mut start, mut end, mut behind) = (0, 0, false);
        let (_, whole, read) = damaged("autoware_single_5s", |bytes| {
            start = packets(bytes)[3];
            behind = packets(bytes).len() > 4;
            end = start + u64_at(bytes, start + CONTENT_BITS) as usize / 8 - back;
            bytes.truncate(end);
        });
        let found: Vec<_> = read.reader.problems().iter().map(|p| (p.name, p.offset)).collect();
        // The index knows the packets after it.
        let behind = if behind { vec![("packets-missing", end as u64)] } else { Vec::new() };
        assert_eq!(found, [vec![("packet-truncated", start as u64)], behind].concat());
        assert!(
            read.sorted && read.events < whole && (last == 0 || read.events < last),
            "{back}: {} of {whole}",
            read.events
        );
        assert!(read.reader.gaps().iter().any(|g| g.cause == Cause::Damaged && g.events.is_none()));
        last = read.events;
    }
}

#[test]
fn packets_that_a_file_ends_before_are_known_from_its_index() {
    // Nothing of it; two whole packets; the last packet's header overwritten, which no later packet reports.
    for kept in [0, 2, usize::MAX] {
        let (mut lacking, mut length) = (Vec::new(), 0);
        let (_, whole, read) = damaged("autoware_single_5s", |bytes| {
            let all = packets(bytes);
            let first = kept.min(all.len() - 1);
            lacking = all[first..]
                .iter()
                .map(|at| [CONTEXT, CONTEXT + 8].map(|field| u64_at(bytes, at + field) as i64))
                .collect();
            match kept {
                usize::MAX => bytes[all[first]..all[first] + 80].fill(0xee),
                _ => bytes.truncate(all[first]),
            }
            length = bytes.len();
        });
        let found = read.reader.problems().iter().find(|p| p.name == "packets-missing").expect("said");
        assert_eq!((found.offset, found.text.contains(&lacking.len().to_string())), (length as u64, lacking.len() > 1));
        let gap: Vec<_> =
            read.reader.gaps().iter().map(|g| (g.cause, g.events, g.from.as_ns(), g.to.as_ns())).collect();
        assert_eq!(gap, [(Cause::PacketsMissing, None, lacking[0][0], lacking[lacking.len() - 1][1])]);
        assert!(read.sorted && read.events < whole);
    }
}

#[test]
fn a_copy_of_a_trace_counts_no_event_twice() {
    let (fixture, copy) = (Fixture::unpack("service_5s"), Fixture::unpack("service_5s"));
    let count = |paths: &[PathBuf]| {
        let mut reader = Reader::open(paths).expect("traces");
        let events = std::iter::from_fn(|| reader.next_event()).count();
        (events, reader.problems().iter().map(|p| p.name).collect::<Vec<_>>(), reader.gaps().len())
    };
    let whole = count(&[fixture.trace()]);
    assert_eq!((&whole.1[..], whole.2), (&[][..], 0));
    let both = count(&[fixture.trace(), copy.trace()]);
    assert_eq!((both.0, both.2), (whole.0, 0));
    assert!(!both.1.is_empty() && both.1.iter().all(|name| *name == "packet-again"), "{:?}", both.1);
    // A copy that was cut, or made while the trace was still written, adds nothing and takes nothing away: with an
    // index, which lists the packets that it lacks, or without; with no packet, a part of a packet's header, of its
    // events, or some packets.
    let stream = copy.files().join("ros2_0");
    let bytes = std::fs::read(&stream).expect("stream");
    let second = packets(&bytes)[1];
    for index in [true, false] {
        if !index {
            std::fs::remove_dir_all(copy.files().join("index")).expect("index");
        }
        for kept in [second, 0, 10, second / 2, second + 10] {
            std::fs::write(&stream, &bytes[..kept]).expect("write");
            for order in [[fixture.trace(), copy.trace()], [copy.trace(), fixture.trace()]] {
                let both = count(&order);
                assert_eq!(both.0, whole.0, "{kept} {index}");
                // Without an index, bytes without a packet's header make a stream of their own, of which nothing is
                // known.
                assert_eq!(both.2, usize::from(!index && kept == 10), "{kept} {index} {:?}", both.1);
            }
        }
    }
}

#[test]
fn a_stream_of_which_there_is_the_index_only_is_lacking_from_its_first_packet_to_its_last() {
    let fixture = Fixture::unpack("autoware_single_5s");
    let whole = read(&fixture.files()).expect("whole").events;
    let file = fixture.files().join("ros2_0");
    let bytes = std::fs::read(&file).expect("stream");
    let all = packets(&bytes);
    let ticks = |packet: usize, field: usize| u64_at(&bytes, packet + CONTEXT + field) as i64;
    std::fs::remove_file(&file).expect("stream");
    // The reader does not open a folder or a pipe of that name either.
    for put in [|_: &Path| {}, |file: &Path| std::fs::create_dir(file).expect("folder")] {
        put(&file);
        let read = read(&fixture.files()).expect("a trace");
        assert!(read.events > 0 && read.events < whole);
        let gap: Vec<_> =
            read.reader.gaps().iter().map(|g| (g.cause, g.events, g.from.as_ns(), g.to.as_ns())).collect();
        assert_eq!(gap, [(Cause::PacketsMissing, None, ticks(0, 0), ticks(all[all.len() - 1], 8))]);
        let said: Vec<_> = read.reader.problems().iter().map(|p| p.to_string()).collect();
        assert!(said.len() == 1 && said[0].contains("ros2_0") && said[0].contains(&all.len().to_string()), "{said:?}");
    }
}

/// Files that nobody can read, not even root: reading the first fails, as on a bad disk, and opening the second, as
/// without permission. Containers may lack one of them.
fn unreadable() -> Vec<PathBuf> {
    let known = ["/sys/class/net/lo/speed", "/proc/sys/net/ipv4/route/flush"].map(PathBuf::from);
    let found: Vec<PathBuf> = known.into_iter().filter(|path| path.is_file() && std::fs::read(path).is_err()).collect();
    assert!(!found.is_empty(), "neither file of the system is as expected");
    found
}

#[test]
fn a_stream_file_that_cannot_be_read_is_a_gap_and_the_others_are_read() {
    let fixture = Fixture::unpack("autoware_single_5s");
    let (file, index) = (fixture.files().join("ros2_0"), fixture.files().join("index"));
    let bytes = std::fs::read(&file).expect("stream");
    let all = packets(&bytes);
    std::fs::remove_file(&file).expect("stream");
    let lacking = read(&fixture.files()).expect("a trace");
    let ticks = |packet: usize, field: usize| u64_at(&bytes, packet + CONTEXT + field) as i64;
    for is_indexed in [true, false] {
        if !is_indexed {
            std::fs::remove_dir_all(&index).expect("index");
        }
        let expected = match is_indexed {
            true => (Cause::PacketsMissing, ticks(all[0], 0), ticks(all[all.len() - 1], 8)),
            // The period is unknown.
            false => (Cause::Unreadable, i64::MIN, i64::MAX),
        };
        for unreadable in unreadable() {
            std::os::unix::fs::symlink(&unreadable, &file).expect("link");
            let read = read(&fixture.files()).expect("a trace");
            assert_eq!(read.events, lacking.events, "{is_indexed} {unreadable:?}");
            let gaps: Vec<_> = read.reader.gaps().iter().map(|g| (g.cause, g.from.as_ns(), g.to.as_ns())).collect();
            assert_eq!(gaps, [expected], "{is_indexed} {unreadable:?}");
            let said: Vec<_> = read.reader.problems().iter().map(ToString::to_string).collect();
            assert!(said.iter().any(|said| said.starts_with("unreadable: ") && said.contains("ros2_0")), "{said:?}");
            assert_eq!(said.len(), 1 + usize::from(is_indexed), "{said:?}");
            std::fs::remove_file(&file).expect("link");
        }
        // Noise, and less than a header.
        let noise = bytes.iter().map(|byte| byte.wrapping_mul(37) ^ 0x5a).take(5000).collect();
        for content in [bytes[..20].to_vec(), noise] {
            std::fs::write(&file, content).expect("stream");
            let read = read(&fixture.files()).expect("a trace");
            let gaps: Vec<_> = read.reader.gaps().iter().map(|g| (g.from.as_ns(), g.to.as_ns())).collect();
            assert_eq!((read.events, gaps), (lacking.events, vec![(expected.1, expected.2)]), "{is_indexed}");
            std::fs::remove_file(&file).expect("stream");
        }
    }
}

#[test]
fn an_index_that_cannot_be_read_is_named_and_takes_nothing_away() {
    let fixture = Fixture::unpack("service_5s");
    let whole = read(&fixture.files()).expect("whole").events;
    let index = fixture.files().join("index/ros2_0.idx");
    let bytes = std::fs::read(&index).expect("index");
    let (mut torn, mut turned) = (bytes[..bytes.len() - 10].to_vec(), bytes.clone());
    torn[16..24].fill(0);
    let last = bytes.len() - 72;
    turned[last + 24..last + 32].fill(0xff);
    for (content, name) in [
        (Some(torn), "index-damaged"),
        (Some(turned), "index-damaged"),
        (Some(vec![7; 100]), "index-damaged"),
        (None, "unreadable"),
    ] {
        match content {
            Some(content) => std::fs::write(&index, content).expect("index"),
            None => std::fs::remove_file(&index).and_then(|()| std::fs::create_dir(&index)).expect("folder"),
        }
        let read = read(&fixture.files()).expect("a trace");
        assert_eq!((read.events, read.reader.gaps()), (whole, &[][..]), "{name}");
        let said: Vec<_> =
            read.reader.problems().iter().map(|p| (p.name, p.to_string().contains("index/ros2_0.idx"))).collect();
        assert_eq!(said, [(name, true)]);
    }
}

#[test]
fn bytes_that_are_no_packet_at_the_ends_of_a_stream_are_a_gap_there() {
    let ends = (i64::MIN, i64::MAX);
    for index in [true, false] {
        // Its first packet, its last, and the magic number of a packet after all of them.
        for which in 0..3 {
            let fixture = Fixture::unpack("autoware_single_5s");
            let file = fixture.files().join("ros2_0");
            let mut bytes = std::fs::read(&file).expect("stream");
            let all = packets(&bytes);
            let ticks = |packet: usize, field: usize| u64_at(&bytes, packet + CONTEXT + field) as i64;
            let (begins, last) = (ticks(0, 0), all[all.len() - 1]);
            let expected = match (which, index) {
                // As far as is known.
                (0, _) => (Cause::Damaged, ends.0, ticks(all[1], 0)),
                (1, true) => (Cause::PacketsMissing, ticks(last, 0), ticks(last, 8)),
                (1, false) => (Cause::Damaged, ticks(all[all.len() - 2], 8), ends.1),
                _ => (Cause::Damaged, ticks(last, 8), ends.1),
            };
            match which {
                0 => bytes[..80].fill(0xee),
                1 => bytes[last..last + 80].fill(0xee),
                _ => bytes.extend_from_within(..40),
            }
            assert!(begins > 0);
            std::fs::write(&file, bytes).expect("write");
            if !index {
                std::fs::remove_dir_all(fixture.files().join("index")).expect("index");
            }
            let read = read(&fixture.files()).expect("a trace");
            let found: Vec<_> = read.reader.gaps().iter().map(|g| (g.cause, g.from.as_ns(), g.to.as_ns())).collect();
            assert_eq!(found, [expected], "{which} {index}: {:?}", read.reader.problems());
        }
    }
}

/// A ring of files, overwritten buffers and snapshots hold the last packets of each CPU; those of an idle CPU reach
/// back further.
#[test]
fn what_a_cpu_lost_before_its_first_packet_reaches_back_to_that_of_the_others() {
    for (is_last, sequence_is_kept) in [(false, true), (true, true), (true, false)] {
        let fixture = Fixture::unpack("autoware_single_5s");
        let own = std::fs::read(fixture.files().join("ros2_0")).expect("stream");
        let all = packets(&own);
        let from = if is_last { all[all.len() - 1] } else { 0 };
        let mut kept = own[from..].to_vec();
        if !sequence_is_kept {
            // The first packet of a tracer that began later than the others.
            kept[SEQUENCE..SEQUENCE + 8].fill(0);
        }
        std::fs::write(fixture.files().join("ros2_0"), &kept).expect("write");
        std::fs::remove_dir_all(fixture.files().join("index")).expect("index");
        let read = read(&fixture.files()).expect("still a trace");
        let begins = u64_at(&kept, CONTEXT) as i64;
        let gaps = read.reader.gaps().iter().map(|g| (g.cause, g.events, g.from.as_ns(), g.to.as_ns()));
        let found: Vec<_> = gaps.filter(|gap| gap.2 < begins).collect();
        let first = read.first.expect("events").as_ns();
        assert!(!is_last || first < begins, "the other CPU's buffer reaches back further");
        let expected = (Cause::PacketsMissing, None, first, begins);
        assert_eq!(
            found,
            Vec::from_iter(Some(expected).filter(|_| is_last && sequence_is_kept)),
            "{is_last} {sequence_is_kept}"
        );
    }
}

#[test]
fn a_torn_packet_is_stepped_over_and_the_next_one_found() {
    let mut offset = 0;
    let (_, whole, read) = damaged("autoware_single_5s", |bytes| {
        offset = packets(bytes)[2];
        bytes[offset..offset + 4].fill(0xee);
    });
    let found: Vec<_> = read.reader.problems().iter().map(|p| (p.name, p.offset)).collect();
    assert_eq!(found[0], ("not-a-packet", offset as u64));
    assert_eq!(found[1].0, "packets-missing");
    assert!(read.sorted && read.events > whole * 9 / 10 && read.events < whole);
    assert!(read.reader.gaps().iter().any(|g| g.cause == Cause::PacketsMissing && g.from < g.to));
}

#[test]
fn sizes_that_cannot_be_are_named() {
    for (at, value, name) in [
        (PACKET_BITS, 12_345, "bad-packet-size"),
        (CONTENT_BITS, u64::MAX, "bad-packet-size"),
        // The reader accepts its size until the bytes after it are no packet, and then looks for the next packet.
        (PACKET_BITS, !7, "unknown-event"),
        (CONTENT_BITS, 0, "packet-not-closed"),
    ] {
        let (_, whole, read) = damaged("autoware_single_5s", |bytes| {
            let packet = packets(bytes)[1];
            bytes[packet + at..packet + at + 8].copy_from_slice(&value.to_le_bytes());
            if name == "unknown-event" {
                bytes[packet + CONTENT_BITS..packet + CONTENT_BITS + 8].copy_from_slice(&value.to_le_bytes());
            }
        });
        assert!(read.reader.problems().iter().any(|p| p.name == name), "{name}: {:?}", read.reader.problems());
        assert!(read.sorted && (whole * 9 / 10..whole).contains(&read.events), "{name}: {} of {whole}", read.events);
    }
}

#[test]
fn discards_are_the_difference_of_the_counters_also_when_a_counter_turns_back() {
    let (_, whole, read) = damaged("talker_listener_5s", |bytes| {
        for (packet, count) in packets(bytes).into_iter().zip([3u64, 3, 10, 10, 4]) {
            bytes[packet + DISCARDED..packet + DISCARDED + 8].copy_from_slice(&count.to_le_bytes());
        }
    });
    assert_eq!(read.events, whole);
    let counts: Vec<_> = read.reader.gaps().iter().map(|g| (g.cause, g.events)).collect();
    assert_eq!(counts[..2], [(Cause::Discarded, Some(3)), (Cause::Discarded, Some(7))], "{counts:?}");
}

#[test]
fn metadata_that_is_cut_leaves_the_events_that_it_describes() {
    let fixture = Fixture::unpack("talker_listener_5s");
    let whole = read(&fixture.files()).expect("whole").events;
    let path = fixture.files().join("metadata");
    let metadata = std::fs::read(&path).expect("metadata");
    // Half of its packets hold the trace block and the first events.
    std::fs::write(&path, &metadata[..metadata.len() / 2 + 100]).expect("write");
    let found = read(&fixture.files()).expect("half a description");
    assert!(found.events < whole);
    let names: Vec<_> = found.reader.problems().iter().map(|p| p.name).collect();
    assert!(names.contains(&"metadata-truncated") && names.contains(&"unknown-event"), "{names:?}");
    std::fs::write(&path, "").expect("write");
    let error = read(&fixture.files()).err().expect("a session that is not stopped").to_string();
    assert!(error.contains("lttng stop"), "{error}");
    std::fs::write(&path, "nothing of the kind\n".repeat(10)).expect("write");
    let error = read(&fixture.files()).err().expect("no description").to_string();
    assert!(error.contains("metadata-not-ctf-1") && error.contains("metadata"), "{error}");
}

/// xorshift64.
struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

#[test]
fn mutated_bytes_never_panic_and_never_read_more_than_there_is() {
    let fixture = Fixture::unpack("lifecycle_5s");
    let files = ["metadata", "ros2_0", "ros2_1"].map(|name| fixture.files().join(name));
    let whole = files.clone().map(|path| std::fs::read(path).expect("file"));
    // The shortest event is its header and contexts: 6 + 17 + 4 + 4 bytes; a mutated description may make it shorter.
    let most = whole.iter().map(Vec::len).sum::<usize>() as u64;
    let (mut noise, mut unreadable) = (Noise(0x9e37_79b9_7f4a_7c15), 0);
    for round in 0..300 {
        for (path, bytes) in files.iter().zip(&whole) {
            let mut bytes = bytes.clone();
            for _ in 0..noise.below(6) {
                let at = match noise.below(3) {
                    0 => noise.below(200.min(bytes.len())),
                    _ => noise.below(bytes.len()),
                };
                bytes[at] =
                    if noise.below(2) == 0 { noise.below(256) as u8 } else { bytes[at] ^ (1 << noise.below(8)) };
            }
            if noise.below(8) == 0 {
                bytes.truncate(noise.below(bytes.len()));
            }
            std::fs::write(path, bytes).expect("write");
        }
        match read(&fixture.files()) {
            Ok(read) => assert!(read.sorted && read.events <= most, "round {round}: {} events", read.events),
            Err(_) => unreadable += 1,
        }
    }
    assert!(unreadable < 150, "{unreadable} of 300 had no description left: the others test too little");
}
