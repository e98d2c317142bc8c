//! Names the thread that had the CPU while an executor's thread was ready to run.

use crate::observe::StreamSeen;
use crate::stages::Ways;
use std::collections::HashMap;
use tacho_tables::row::Row;
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::{OffCpu, Preemption, Process};

pub(super) struct Programs<'a> {
    seen: &'a Ways,
    preemptions: &'a [Preemption],
    /// Processes that are recorded, by thread; absent for a number that several of them had.
    recorded: HashMap<u32, Option<Row<Process>>>,
    /// The first row that names a thread, or an interrupt.
    first: HashMap<(Option<&'a str>, Option<Row<Process>>), u32>,
    /// Rows outside of callbacks, whose thread is known, in order.
    outside: Grouped<StreamSeen, u32>,
}

impl<'a> Programs<'a> {
    pub fn new(seen: &'a Ways) -> Programs<'a> {
        let preemptions = &seen.scheduled.preemptions;
        let mut recorded: HashMap<u32, Option<Row<Process>>> = HashMap::new();
        let mut streams: HashMap<(Row<Process>, u32), u32> = HashMap::new();
        for (index, stream) in (0u32..).zip(&seen.streams) {
            let process = recorded.entry(stream.tid).or_insert(Some(stream.process));
            *process = process.filter(|process| *process == stream.process);
            streams.insert((stream.process, stream.tid), index);
        }
        let outside = Grouped::new(seen.streams.len(), || {
            let rows = (0u32..).zip(preemptions.iter());
            let rows = rows.filter(|(_, row)| row.state == OffCpu::Runnable && row.execution.is_none());
            let known = rows.filter(|(_, row)| row.by_comm.is_some());
            known.filter_map(|(index, row)| Some((Row::new(*streams.get(&(row.process, row.tid))?), index)))
        });
        let mut programs = Programs { seen, preemptions, recorded, first: HashMap::new(), outside };
        for (index, row) in (0u32..).zip(preemptions.iter()).filter(|(_, row)| row.state != OffCpu::Blocked) {
            let key = programs.key(row);
            programs.first.entry(key).or_insert(index);
        }
        programs
    }

    fn key(&self, row: &'a Preemption) -> (Option<&'a str>, Option<Row<Process>>) {
        let process = row.by_tid.and_then(|tid| self.recorded.get(&tid).copied().flatten());
        (row.by_comm.as_deref(), process)
    }

    /// The row that stands for what a row of the preemptions names.
    pub fn first_of(&self, row: u32) -> u32 {
        self.first.get(&self.key(&self.preemptions[row as usize])).copied().unwrap_or(row)
    }

    /// Stretches between two instants in which a thread, outside of callbacks, was ready to run and a known one had its
    /// CPU: the row that stands for that one, and from when to when.
    pub fn had_cpu(&self, stream: u32, from: i64, to: i64) -> Vec<(u32, i64, i64)> {
        let rows = self.outside.of(Row::new(stream));
        let row_of = |index: &u32| &self.preemptions[*index as usize];
        let first = rows.partition_point(|index| row_of(index).to_ns <= from);
        let within = rows[first..].iter().take_while(|index| row_of(index).from_ns < to);
        within
            .map(|index| (self.first_of(*index), row_of(index).from_ns.max(from), row_of(index).to_ns.min(to)))
            .collect()
    }

    /// `burner`; of a recorded process with its nodes, `python3 (/archiver)`.
    pub fn words(&self, row: u32) -> String {
        let (Some(comm), process) = self.key(&self.preemptions[row as usize]) else {
            return "what is not known".into();
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
