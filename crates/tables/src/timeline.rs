//! A run over time: the threads, publish calls and words that every drawing of it has, Perfetto's and the report's.

use crate::row::Row;
use crate::{Endpoint, Execution, Message, OffCpu, Preemption, Process, Tables};
use std::collections::BTreeMap;

/// Nodes that the name of a thread or a process lists.
const NODES_OF_A_NAME: usize = 3;

/// A thread: thread ids of two hosts may be the same.
pub type Thread = (Row<Process>, u32);

/// The thread that an execution ran on.
pub fn thread_of(tables: &Tables, execution: &Execution) -> Thread {
    (tables.callbacks[execution.callback].process, execution.tid)
}

/// Threads that executed callbacks, each with the names of the nodes of these.
pub fn threads(tables: &Tables) -> BTreeMap<Thread, String> {
    let mut nodes: BTreeMap<Thread, Vec<&str>> = BTreeMap::new();
    for execution in tables.executions.iter() {
        let names = nodes.entry(thread_of(tables, execution)).or_default();
        let node = tables.callbacks[execution.callback].node;
        if let Some(name) = node.map(|node| tables.nodes[node].name.as_str()) {
            if names.len() < NODES_OF_A_NAME && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    nodes.into_iter().map(|(thread, names)| (thread, names.join(" "))).collect()
}

/// Nodes of a process, or its executable if it has none.
pub fn process_name(tables: &Tables, process: Row<Process>) -> String {
    let nodes = tables.nodes.iter().filter(|node| node.process == process).map(|node| node.name.as_str());
    let named = nodes.take(NODES_OF_A_NAME).collect::<Vec<_>>().join(" ");
    if named.is_empty() {
        tables.processes[process].executable.clone()
    } else {
        named
    }
}

/// Whether both ends of a message are known: where it was published, and the callback that took it.
pub fn is_flow(message: &Message) -> bool {
    publish_call(message).is_some() && message.execution.is_some()
}

/// The publish call of a message: its publisher, and when.
pub fn publish_call(message: &Message) -> Option<(Row<Endpoint>, i64)> {
    message.publisher.zip(message.publish_ns.get())
}

/// Rows of the messages that have a key, in the order of the keys.
pub fn sorted_by<K: Ord>(tables: &Tables, key: impl Fn(&Message) -> Option<K>) -> Vec<Row<Message>> {
    let of = |row: &Row<Message>| key(&tables.messages[row.index()]);
    let mut rows: Vec<Row<Message>> = crate::row::rows_of(&tables.messages).filter(|row| of(row).is_some()).collect();
    rows.sort_by_key(of);
    rows
}

/// Why a thread did not go on, in words: `ready, no CPU: feeder`.
pub fn off_cpu_words(one: &Preemption) -> String {
    let by = one.by_comm.as_ref().map(|by| by.as_str());
    match one.state {
        OffCpu::Interrupted => format!("interrupted: {}", by.unwrap_or("not known by what")),
        OffCpu::Runnable => format!("ready, no CPU: {}", by.unwrap_or("nobody known had it")),
        OffCpu::Blocked => format!("blocked in {}", one.waits_in.as_ref().map_or("?", |of| of.as_str())),
    }
}
