//! Names the thread that had the CPU while one that a message needed was ready to run.

use crate::observe::StreamSeen;
use crate::stages::Ways;
use rustc_hash::FxHashMap as HashMap;
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::{Cause, OffCpu, Preemption, Process};

/// A program, or an interrupt, is stood for by the first row that names it: rows of the preemptions, then those of the
/// threads that bring messages.
pub(super) struct Programs<'a> {
    seen: &'a Ways,
    /// Processes that are recorded, by thread; absent for a number that several of them had.
    recorded: HashMap<u32, Option<Row<Process>>>,
    first: HashMap<(Option<&'a str>, Option<Row<Process>>), u32>,
    /// Rows outside of callbacks, whose thread is known, in order.
    outside: Grouped<StreamSeen, Had>,
    /// The same stretches of the threads that bring messages to a process, in order; if several were ready at once, of
    /// the one that was first.
    receiving: Grouped<Process, Had>,
}

/// A row that stands for a program, and from when to when that had a CPU.
pub(super) type Had = (u32, i64, i64);

impl<'a> Programs<'a> {
    pub fn new(seen: &'a Ways) -> Programs<'a> {
        let preemptions = &seen.scheduled.preemptions;
        let mut recorded: HashMap<u32, Option<Row<Process>>> = HashMap::default();
        let mut streams: HashMap<(Row<Process>, u32), u32> = HashMap::default();
        for (index, stream) in (0u32..).zip(&seen.streams) {
            let process = recorded.entry(stream.tid).or_insert(Some(stream.process));
            *process = process.filter(|process| *process == stream.process);
            streams.insert((stream.process, stream.tid), index);
        }
        let outside = Grouped::new(seen.streams.len(), || {
            let rows = (0u32..).zip(preemptions.iter());
            let rows = rows.filter(|(_, row)| row.state == OffCpu::Runnable && row.execution.is_none());
            let known = rows.filter(|(_, row)| row.by_comm.is_some());
            known.filter_map(|(index, row)| {
                let stream = streams.get(&(row.process, row.tid))?;
                Some((Row::new(*stream), (index, row.from_ns, row.to_ns)))
            })
        });
        let receiving = Grouped::new(seen.processes.len(), || {
            let mut until: Column<Process, i64> = Column::of(seen.processes.iter().map(|_| i64::MIN));
            let rows = (preemptions.len() as u32..).zip(seen.scheduled.receiving.iter());
            rows.filter_map(move |(index, row)| {
                let from = row.from_ns.max(until[row.process]);
                until[row.process] = row.to_ns.max(from);
                (from < row.to_ns).then_some((row.process, (index, from, row.to_ns)))
            })
        });
        let mut programs = Programs { seen, recorded, first: HashMap::default(), outside, receiving };
        let all = (0u32..).zip(preemptions.iter().chain(seen.scheduled.receiving.iter()));
        for (index, row) in all.filter(|(_, row)| row.state != OffCpu::Blocked) {
            let key = programs.key(row);
            programs.first.entry(key).or_insert(index);
        }
        programs
    }

    fn row(&self, index: u32) -> &'a Preemption {
        let preemptions = &self.seen.scheduled.preemptions;
        match preemptions.get(index as usize) {
            Some(row) => row,
            None => &self.seen.scheduled.receiving[index as usize - preemptions.len()],
        }
    }

    fn key(&self, row: &'a Preemption) -> (Option<&'a str>, Option<Row<Process>>) {
        let process = row.by_tid.and_then(|tid| self.recorded.get(&tid).copied().flatten());
        (row.by_comm.as_deref(), process)
    }

    /// The row that stands for what a row names.
    pub fn first_of(&self, row: u32) -> u32 {
        self.first.get(&self.key(self.row(row))).copied().unwrap_or(row)
    }

    /// Stretches between two instants in which a thread, outside of callbacks, was ready to run and a known one had its
    /// CPU.
    pub fn had_cpu(&self, stream: u32, from: i64, to: i64) -> Vec<Had> {
        self.within(self.outside.of(Row::new(stream)), from, to)
    }

    /// The same of the threads that bring messages to a process.
    pub fn had_cpu_of_receiving(&self, process: Row<Process>, from: i64, to: i64) -> Vec<Had> {
        self.within(self.receiving.of(process), from, to)
    }

    /// Their parts between two instants.
    fn within(&self, all: &[Had], from: i64, to: i64) -> Vec<Had> {
        let first = all.partition_point(|had| had.2 <= from);
        let within = all[first..].iter().take_while(|had| had.1 < to);
        within.map(|had| (self.first_of(had.0), had.1.max(from), had.2.min(to))).collect()
    }

    /// `burner`; of a recorded process with its nodes, `python3 (/archiver)`.
    pub fn words(&self, row: u32) -> String {
        let (Some(comm), process) = self.key(self.row(row)) else {
            return Cause::BY_UNKNOWN.into();
        };
        let nodes = self.seen.nodes.iter().filter(|node| Some(node.process) == process);
        let names: Vec<&str> = nodes.map(|node| node.name.as_str()).collect();
        if names.is_empty() {
            comm.to_owned()
        } else {
            format!("{comm} ({})", names.join(", "))
        }
    }
}
