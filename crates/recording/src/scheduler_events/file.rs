//! Writes the event file of the kernel: pid 0, chunks that belong to CPUs (docs/event-file.md).

use super::records::{Comm, Interrupt, Record};
use crate::clock;
use crate::machine;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use tacho_events::layout::{FileHeader, TickSource};
use tacho_events::number;
use tacho_events::writer::EventFile;

/// What the file's name begins with, in place of a process's number.
const OF_KERNEL: &str = "0-";

/// Least distance of two clock readings in the file.
const SYNC_EVERY_NS: i64 = 1_000_000_000;

/// A thread's name is written again after this time, so that a file whose beginning was released still names its
/// threads.
const TELL_AGAIN_NS: i64 = 1_000_000_000;

/// Whether an event file is the kernel's.
pub(crate) fn is_file_of_kernel(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(OF_KERNEL))
}

/// Writes events of CPUs. Flushed events may be read at once.
pub(super) struct KernelFile {
    file: EventFile,
    /// Names as last written, and when.
    told: HashMap<u32, (Comm, i64)>,
    /// What threads waited in, as last written, and when.
    told_waits: HashMap<u32, (String, i64)>,
    synced_ns: i64,
}

impl KernelFile {
    /// Makes `events/0-NS.events`.
    pub fn create(events: &Path) -> io::Result<KernelFile> {
        let header = FileHeader {
            executable: "kernel".into(),
            command: "scheduler events of the kernel".into(),
            ..machine::file_header()
        };
        let synced_ns = header.start.monotonic_ns;
        let file = EventFile::create(&events.join(format!("{OF_KERNEL}{synced_ns}.events")), header)?;
        Ok(KernelFile { file, told: HashMap::new(), told_waits: HashMap::new(), synced_ns })
    }

    /// Appends a record of a CPU, in the order of time; `names` are of threads that records name without one.
    pub fn put(&mut self, time: i64, cpu: u32, record: &Record, names: &HashMap<u32, Comm>) -> io::Result<()> {
        let ticks = time as u64;
        match *record {
            Record::Switch { prev, prev_state, next, prev_comm, next_comm, .. } => {
                let prev_news = self.news(time, prev, prev_comm, names);
                let next_news = self.news(time, next, next_comm, names);
                let words = [prev.into(), prev_state, next.into()];
                self.file.put(cpu, ticks, number::sched_switch, &words, &[&text(&prev_news), &text(&next_news)])
            }
            Record::Wakeup { tid, target_cpu, waker, comm } => {
                let news = self.news(time, tid, Some(comm), names);
                self.file.put(
                    cpu,
                    ticks,
                    number::sched_wakeup,
                    &[tid.into(), target_cpu.into(), waker.into()],
                    &[&text(&news)],
                )
            }
            Record::Interrupt(interrupt) => match interrupt {
                Interrupt::Irq { irq, name } => {
                    self.file.put(cpu, ticks, number::irq_entry, &[irq.into()], &[&text(&name)])
                }
                Interrupt::IrqEnd { irq } => self.file.put(cpu, ticks, number::irq_exit, &[irq.into()], &[]),
                Interrupt::Softirq { vector } => {
                    self.file.put(cpu, ticks, number::softirq_entry, &[vector.into()], &[])
                }
                Interrupt::SoftirqEnd { vector } => {
                    self.file.put(cpu, ticks, number::softirq_exit, &[vector.into()], &[])
                }
            },
            Record::Lost { count } => self.file.put(cpu, ticks, number::kernel_events_lost, &[count], &[]),
            Record::Fork { .. } | Record::Exit { .. } | Record::Name { .. } => Ok(()),
        }
    }

    /// Appends what a thread waits in from its next switch on, if that is news.
    pub fn put_wait(&mut self, time: i64, cpu: u32, tid: u32, call: &str) -> io::Result<()> {
        match self.told_waits.get_mut(&tid) {
            Some((told, at)) if told == call && time < *at + TELL_AGAIN_NS => return Ok(()),
            Some(known) => *known = (call.to_owned(), time),
            None if call.is_empty() => return Ok(()),
            None => drop(self.told_waits.insert(tid, (call.to_owned(), time))),
        }
        self.file.put(cpu, time as u64, number::sched_waits_in, &[tid.into()], &[call])
    }

    /// Returns the name of a thread if it differs from the last one written, or if that was written long ago; otherwise
    /// nothing.
    fn news(&mut self, time: i64, tid: u32, comm: Option<Comm>, names: &HashMap<u32, Comm>) -> Comm {
        let nothing = [0; 16];
        if tid == 0 {
            return nothing; // every CPU's idle thread has a name of its own
        }
        let told = self.told.get(&tid);
        let just_now = |told: &&(Comm, i64)| time < told.1 + TELL_AGAIN_NS;
        let comm = match comm.or_else(|| names.get(&tid).copied()) {
            Some(comm) if told.filter(just_now).is_some_and(|told| told.0 == comm) => return nothing,
            Some(comm) => comm,
            None if told.filter(just_now).is_some() => return nothing,
            None => told.map_or_else(|| name_in_proc(tid), |told| told.0),
        };
        self.told.insert(tid, (comm, time));
        comm
    }

    /// Writes what was appended into the file. All records up to `settled_ns` were appended; this time is written now
    /// and then, so that the file shows how far it reaches even if nothing happens.
    pub fn flush(&mut self, settled_ns: i64, lost: u64) -> io::Result<()> {
        if settled_ns >= self.synced_ns + SYNC_EVERY_NS {
            self.sync(settled_ns)?;
        }
        self.file.header.dropped = lost;
        self.file.flush()
    }

    /// Writes the rest: all records up to `settled_ns` were appended.
    pub fn finish(mut self, settled_ns: i64, lost: u64) -> io::Result<()> {
        self.sync(settled_ns)?;
        self.file.header.dropped = lost;
        self.file.finish()
    }

    fn sync(&mut self, settled_ns: i64) -> io::Result<()> {
        self.synced_ns = settled_ns;
        let now = clock::read(TickSource::Monotonic);
        let realtime = now.realtime_ns - now.monotonic_ns + settled_ns;
        self.file.put(
            0,
            settled_ns as u64,
            number::clock_sync,
            &[settled_ns as u64, realtime as u64, now.bound_ns],
            &[],
        )
    }
}

/// Returns the text before the NUL.
fn text(comm: &[u8]) -> Cow<'_, str> {
    let end = comm.iter().position(|byte| *byte == 0).unwrap_or(comm.len());
    String::from_utf8_lossy(&comm[..end])
}

/// Returns the name of a thread that existed before; empty if it has ended.
fn name_in_proc(tid: u32) -> Comm {
    let mut comm = [0; 16];
    if let Ok(name) = std::fs::read(format!("/proc/{tid}/comm")) {
        comm.iter_mut().zip(name.iter().take_while(|byte| **byte != b'\n').take(15)).for_each(|(to, from)| *to = *from);
    }
    comm
}
