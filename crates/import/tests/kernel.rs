//! Events of the scheduler and of interrupts, in the layout of lttng-modules 2.13: compact header, one stream a CPU.

#[allow(dead_code)]
mod written;

use std::path::Path;
use tacho_events::Payload;
use tacho_import::Reader;
use written::{write, Bits};

const METADATA: &str = include_str!("../../../fuzz/checks/ctf/kernel.tsdl");
/// Beside sched_waking, which contains the waking thread.
const WAKEUP: &str = "event { name = \"sched_wakeup\"; id = 7; stream_id = 0; fields := struct { \
    integer { size = 8; align = 8; signed = 1; } _comm[16]; integer { size = 32; align = 8; signed = 1; } _tid; \
    integer { size = 32; align = 8; signed = 1; } _prio;
    integer { size = 32; align = 8; signed = 1; } _target_cpu; }; };\n";

/// Bytes of a packet's header and context.
const HEADER: usize = 16 + 6 * 8 + 4;

/// A packet of a CPU's stream.
struct Packet {
    cpu: i128,
    begin: i128,
    end: i128,
    sequence: i128,
    discarded: i128,
    events: Bits,
}

impl Packet {
    fn new(cpu: i128, begin: i128) -> Packet {
        Packet { cpu, begin, end: begin, sequence: 0, discarded: 0, events: Bits::new(false) }
    }

    /// An event with the low 27 bits of its time.
    fn event(mut self, id: i128, time: i128, fields: impl FnOnce(Bits) -> Bits) -> Packet {
        self.end = time;
        self.events = fields(self.events.align(8).put(id, 5).put(time, 27)).align(8);
        self
    }

    fn switch(
        self,
        time: i128,
        (prev_comm, prev_tid, state): (&str, i128, i128),
        (next_comm, next_tid): (&str, i128),
    ) -> Packet {
        self.event(0, time, |bits| {
            let bits = comm(bits, prev_comm).put(prev_tid, 32).put(20, 32).put(state, 64);
            comm(bits, next_comm).put(next_tid, 32).put(20, 32)
        })
    }

    fn wake(self, id: i128, time: i128, name: &str, tid: i128, cpu: i128) -> Packet {
        self.event(id, time, |bits| comm(bits, name).put(tid, 32).put(20, 32).put(cpu, 32))
    }

    fn bytes(self) -> Vec<u8> {
        let events = self.events.bytes();
        let size = 8 * (HEADER + events.len()) as i128;
        let head =
            Bits::new(false).put(0xc1fc_1fc1, 32).put(0, 32).put(self.cpu, 64).put(self.begin, 64).put(self.end, 64);
        let head =
            head.put(size, 64).put(size, 64).put(self.sequence, 64).put(self.discarded, 64).put(self.cpu, 32).bytes();
        [head, events].concat()
    }
}

fn comm(bits: Bits, name: &str) -> Bits {
    (0..16).fold(bits, |bits, i| bits.put(name.as_bytes().get(i).copied().unwrap_or(0).into(), 8))
}

/// Events as (ns, CPU, words), and the reader at its end.
fn read(folder: &Path) -> (Vec<(i64, u32, String)>, Reader) {
    let mut reader = Reader::open(&[folder.to_path_buf()]).expect("trace");
    let mut found = Vec::new();
    while let Some(event) = reader.next_event() {
        let text = |text| reader.texts().get(text).to_string();
        let said = match event.payload {
            Payload::SchedSwitch { prev_tid, prev_state, next_tid, prev_comm, next_comm } => {
                format!("switch {} {prev_tid} {prev_state} to {} {next_tid}", text(prev_comm), text(next_comm))
            }
            Payload::SchedWakeup { tid, target_cpu, waker_tid, comm } => {
                format!("{waker_tid} wakes {} {tid} on {target_cpu}", text(comm))
            }
            Payload::IrqEntry { irq, name } => format!("irq {irq} {}", text(name)),
            Payload::IrqExit { irq } => format!("irq {irq} ends"),
            Payload::SoftirqEntry { vector } => format!("softirq {vector}"),
            Payload::SoftirqExit { vector } => format!("softirq {vector} ends"),
            Payload::KernelEventsLost { count } => format!("lost {count}"),
            other => panic!("{other:?}"),
        };
        assert_eq!(reader.processes()[event.process.0 as usize].header.pid, 0);
        found.push((event.time.as_ns(), event.thread.0, said));
    }
    (found, reader)
}

#[test]
fn threads_on_cpus_who_took_them_off_and_who_woke_them() {
    let folder = tempfile::tempdir().expect("folder");
    let first = Packet::new(0, 1_000)
        .wake(1, 1_000, "ndt", 101, 1)
        .switch(2_000, ("lidar", 100, 0x100), ("kworker/0:1", 7))
        .wake(1, 3_000, "lidar", 100, 0)
        .event(2, 4_000, |bits| bits.put(24, 32).text("eth0"))
        .event(3, 5_000, |bits| bits.put(24, 32).put(1, 32))
        .switch(6_000, ("kworker/0:1", 7, 0x402), ("lidar", 100));
    let second = Packet::new(1, 1_500)
        .wake(7, 1_500, "ndt", 101, 1)
        .switch(2_500, ("swapper/1", 0, 0), ("ndt", 101))
        .event(4, 3_500, |bits| bits.put(9, 32))
        .event(5, 4_500, |bits| bits.put(9, 32));
    let of_kernel = METADATA.split("event { name = \"ros2:").next().expect("its events stand first");
    let metadata = of_kernel.to_string() + WAKEUP;
    let (found, reader) = read(&write(folder.path(), &metadata, &[first.bytes(), second.bytes()]));
    let expected = [
        (1_000, 0, "0 wakes ndt 101 on 1"),
        (2_000, 0, "switch lidar 100 0 to kworker/0:1 7"),
        (2_500, 1, "switch swapper/1 0 0 to ndt 101"),
        (3_000, 0, "7 wakes lidar 100 on 0"),
        (3_500, 1, "softirq 9"),
        (4_000, 0, "irq 24 eth0"),
        (4_500, 1, "softirq 9 ends"),
        (5_000, 0, "irq 24 ends"),
        (6_000, 0, "switch kworker/0:1 7 1026 to lidar 100"),
    ];
    assert_eq!(found, expected.map(|(ns, cpu, said)| (ns, cpu, said.to_string())));
    assert_eq!(reader.skipped(), [("sched_wakeup", 1)].into(), "sched_waking says more");
    assert!(reader.problems().is_empty(), "{:?}", reader.problems());
    assert_eq!((reader.processes().len(), reader.processes()[0].header.executable.as_str()), (1, "kernel"));
}

#[test]
fn a_trace_without_sched_waking_has_its_wake_ups_from_sched_wakeup() {
    let folder = tempfile::tempdir().expect("folder");
    let metadata = METADATA.replace("sched_waking", "sched_wakeup_new") + WAKEUP;
    let packet = Packet::new(0, 1_000).wake(7, 1_000, "ndt", 101, 1).wake(1, 2_000, "new", 102, 0);
    let (found, _) = read(&write(folder.path(), &metadata, &[packet.bytes()]));
    assert_eq!(found, [(1_000, 0, "0 wakes ndt 101 on 1".to_string()), (2_000, 0, "0 wakes new 102 on 0".to_string())]);
}

/// LTTng counts lost events in the packet whose last events no longer fitted.
#[test]
fn events_that_were_lost_lie_before_and_behind_the_last_ones_of_the_packet_that_counts_them() {
    let folder = tempfile::tempdir().expect("folder");
    let fill = |packet: Packet| (0..200).fold(packet, |packet, i| packet.event(4, 2_000 + i, |bits| bits.put(1, 32)));
    let mut lossy = fill(Packet::new(0, 1_000).switch(1_000, ("a", 1, 1), ("b", 2))).wake(1, 9_000, "c", 3, 0);
    (lossy.end, lossy.discarded) = (20_000, 5);
    let mut next = Packet::new(0, 20_000)
        .wake(1, 30_000, "c", 3, 0)
        .switch(40_000, ("x", 9, 1), ("b", 2))
        .wake(1, 50_000, "c", 3, 0);
    (next.sequence, next.discarded) = (1, 5);
    let (found, reader) = read(&write(folder.path(), METADATA, &[[lossy.bytes(), next.bytes()].concat()]));
    let lost: Vec<_> =
        found.iter().filter(|(.., said)| said.starts_with("lost")).map(|(ns, _, said)| (*ns, said.as_str())).collect();
    assert_eq!(lost[0].1, "lost 5");
    assert!(lost[1..].iter().all(|(_, said)| *said == "lost 0"), "counted once");
    assert_eq!(lost.last().map(|l| l.0), Some(20_000), "up to the end of the packet");
    let wakers: Vec<_> = found
        .iter()
        .filter(|(.., said)| said.contains("wakes"))
        .map(|(.., said)| said.split(' ').next().unwrap_or(""))
        .collect();
    assert_eq!(wakers, ["0", "0", "2"], "who runs is not known until the next switch");
    assert_eq!(reader.gaps().iter().filter_map(|gap| gap.events).sum::<u64>(), 5);
}

#[test]
fn link_annotations_are_a_record_a_pair() {
    let own = METADATA
        .replace(
            "uint32_t cpu_id; };",
            "uint32_t cpu_id; };\n event.context := struct { uint32_t _vpid; uint32_t _vtid; };",
        )
        .replace("_subs", "_subscription_handles")
        .replace("_pubs", "_publisher_handles");
    for metadata in [own.clone(), own.replace("subscription_handles", "subs").replace("publisher_handles", "pubs")] {
        let folder = tempfile::tempdir().expect("folder");
        let array = |bits: Bits, handles: &[i128]| {
            handles.iter().fold(bits.put(handles.len() as i128, 64), |bits, h| bits.put(*h, 64))
        };
        let packet = Packet::new(0, 1_000)
            .event(6, 1_000, |bits| array(array(bits.put(7, 32).put(8, 32), &[0x51, 0x52]), &[0xa1, 0xa2, 0xa3]))
            .event(6, 2_000, |bits| array(array(bits.put(7, 32).put(8, 32), &[]), &[0xa1]))
            .event(6, 3_000, |bits| array(array(bits.put(7, 32).put(8, 32), &[0x53]), &[0xa1]));
        let mut reader = Reader::open(&[write(folder.path(), &metadata, &[packet.bytes()])]).expect("trace");
        let mut found = Vec::new();
        while let Some(event) = reader.next_event() {
            let Payload::MessageLinkPartialSync { subscription, publisher } = event.payload else {
                panic!("{event:?}")
            };
            found.push((event.time.as_ns(), event.thread.0, subscription.0, publisher.0));
        }
        let pairs = [(0x51, 0xa1), (0x51, 0xa2), (0x51, 0xa3), (0x52, 0xa1), (0x52, 0xa2), (0x52, 0xa3)];
        let expected: Vec<_> =
            pairs.map(|(s, p)| (1_000, 8, s, p)).into_iter().chain([(3_000, 8, 0x53, 0xa1)]).collect();
        assert_eq!(found, expected);
    }
}
