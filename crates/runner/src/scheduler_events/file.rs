//! The event file of the kernel: pid 0, chunks that belong to CPUs (docs/event-file.md).

use super::records::{Comm, Record};
use crate::clock;
use crate::machine;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use tacho_events::layout::{ChunkHeader, FileHeader, Sync, TickSource, CHUNK_SIZE, HEADER_SIZE};

const KIND_TEXT: u64 = 1;
const KERNEL_EVENTS_LOST: u64 = 143;
const SCHED_SWITCH: u64 = 144;
const SCHED_WAKEUP: u64 = 145;

/// Writes events of CPUs; what was flushed may be read at once.
pub(super) struct KernelFile {
    file: File,
    header: FileHeader,
    chunks: u64,
    cpus: HashMap<u32, Cpu>,
    /// Names as last written.
    told: HashMap<u32, Comm>,
}

/// A CPU's chunk that is being filled.
struct Cpu {
    chunk: u64,
    sequence: u64,
    base: i64,
    last: i64,
    bytes: Vec<u8>,
    /// Bytes that are in the file.
    flushed: usize,
}

impl KernelFile {
    /// Makes `events/0-NS.events`.
    pub fn create(events: &Path) -> io::Result<KernelFile> {
        let now = clock::read(TickSource::Monotonic);
        let file = File::options().write(true).create_new(true).open(events.join(format!("0-{}.events", now.monotonic_ns)))?;
        let header = FileHeader {
            ticks: TickSource::Monotonic,
            pid: 0,
            ppid: 0,
            tracetools: None,
            start: Sync { ticks: now.monotonic_ns as u64, ..now },
            dropped: 0,
            closed: false,
            storage_error: 0,
            boot_id: std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned(),
            host: machine::host(),
            ros_distro: String::new(),
            rmw_implementation: String::new(),
            executable: "kernel".into(),
            command: "scheduler events of the kernel".into(),
        };
        file.write_all_at(&header.write(0), 0)?;
        Ok(KernelFile { file, header, chunks: 0, cpus: HashMap::new(), told: HashMap::new() })
    }

    /// Appends a record of a CPU, in the order of time; `names` are of threads that records name without one.
    pub fn put(&mut self, time: i64, cpu: u32, record: &Record, names: &HashMap<u32, Comm>) -> io::Result<()> {
        let mut news = |tid: u32, comm: Option<Comm>| -> Vec<u8> {
            if tid == 0 {
                return vec![0]; // every CPU's idle thread has a name of its own
            }
            let comm = match comm.or_else(|| names.get(&tid).copied()) {
                Some(comm) if self.told.get(&tid) != Some(&comm) => comm,
                None if !self.told.contains_key(&tid) => name_in_proc(tid),
                _ => return vec![0],
            };
            self.told.insert(tid, comm);
            let end = comm.iter().position(|byte| *byte == 0).unwrap_or(comm.len());
            [&comm[..end], &[0]].concat()
        };
        match *record {
            Record::Switch { prev, prev_state, next, prev_comm, next_comm } => {
                let texts = [news(prev, prev_comm), news(next, next_comm)].concat();
                self.append(time, cpu, SCHED_SWITCH, &[prev.into(), prev_state, next.into()], &texts)
            }
            Record::Wakeup { tid, target_cpu, waker, comm } => {
                let texts = news(tid, Some(comm));
                self.append(time, cpu, SCHED_WAKEUP, &[tid.into(), target_cpu.into(), waker.into()], &texts)
            }
            Record::Lost { count } => self.append(time, cpu, KERNEL_EVENTS_LOST, &[count], &[]),
            Record::Fork { .. } | Record::Exit { .. } | Record::Name { .. } => Ok(()),
        }
    }

    fn append(&mut self, time: i64, cpu: u32, kind: u64, words: &[u64], texts: &[u8]) -> io::Result<()> {
        let text_words = texts.len().div_ceil(8);
        let size = 8 + 8 * words.len() + if texts.is_empty() { 0 } else { 8 + 8 * text_words };
        let known = self.cpus.get(&cpu);
        // The kernel's clock may step back by some ns between two readings on one CPU; a stream is in order.
        let time = known.map_or(time, |cpu| time.max(cpu.last));
        let full = known.is_none_or(|cpu| cpu.bytes.len() + size > CHUNK_SIZE || (time - cpu.base) >> 48 != 0);
        if full {
            let sequence = known.map_or(0, |cpu| cpu.sequence + 1);
            if let Some(full) = self.cpus.get_mut(&cpu) {
                full.flush(&self.file)?;
            }
            let head = ChunkHeader { tid: cpu, sequence, base_ticks: time as u64, dropped_before: 0 };
            let fresh = Cpu { chunk: self.chunks, sequence, base: time, last: time, bytes: head.write().to_vec(), flushed: 0 };
            self.chunks += 1;
            self.cpus.insert(cpu, fresh);
        }
        let Some(cpu) = self.cpus.get_mut(&cpu) else { return Ok(()) };
        cpu.last = time;
        let delta = (time - cpu.base) as u64;
        let mut record = |kind: u64, payload: &[u8]| {
            cpu.bytes.extend((delta << 16 | kind << 6 | payload.len().div_ceil(8) as u64).to_le_bytes());
            cpu.bytes.extend(payload);
            cpu.bytes.resize(cpu.bytes.len().next_multiple_of(8), 0);
        };
        if !texts.is_empty() {
            record(KIND_TEXT, texts);
        }
        record(kind, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
        Ok(())
    }

    /// Brings what was appended into the file.
    pub fn flush(&mut self, lost: u64) -> io::Result<()> {
        let needed = HEADER_SIZE as u64 + self.chunks * CHUNK_SIZE as u64;
        if self.file.metadata()?.len() < needed {
            self.file.set_len(needed)?;
        }
        for cpu in self.cpus.values_mut() {
            cpu.flush(&self.file)?;
        }
        self.header.dropped = lost;
        self.file.write_all_at(&self.header.write(self.chunks)[8..], 8) // the magic stands already
    }

    /// The last of it.
    pub fn finish(&mut self, lost: u64) -> io::Result<()> {
        self.header.closed = true;
        self.flush(lost)
    }
}

impl Cpu {
    /// The first word last: it is a chunk's magic or a record's head, and nothing behind it counts before it is there.
    fn flush(&mut self, file: &File) -> io::Result<()> {
        let fresh = &self.bytes[self.flushed..];
        if fresh.is_empty() {
            return Ok(());
        }
        let at = HEADER_SIZE as u64 + self.chunk * CHUNK_SIZE as u64 + self.flushed as u64;
        file.write_all_at(&fresh[8..], at + 8)?;
        file.write_all_at(&fresh[..8], at)?;
        self.flushed = self.bytes.len();
        Ok(())
    }
}

/// Name of a thread that was there before; nothing where it has ended. The idle thread has none there.
fn name_in_proc(tid: u32) -> Comm {
    let mut comm = [0; 16];
    if let Ok(name) = std::fs::read(format!("/proc/{tid}/comm")) {
        comm.iter_mut().zip(name.iter().take_while(|byte| **byte != b'\n').take(15)).for_each(|(to, from)| *to = *from);
    }
    comm
}
