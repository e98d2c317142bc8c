//! Whether each executor has a CPU for itself.

use crate::callbacks::{thread, System};
use std::collections::BTreeMap;
use tacho_workload::model::{Node, Workload};

/// Refuses a system whose executors share CPUs. Threads that may use any CPU each have one if there are enough.
pub(crate) fn one_each(workload: &Workload, system: &System, cpus: usize) -> Result<(), String> {
    let mut pinned: BTreeMap<u32, String> = BTreeMap::new();
    let mut free: Vec<String> = Vec::new();
    // Of nodes that share a thread the first.
    let of_thread: BTreeMap<String, &Node> = workload.nodes.iter().rev().map(|node| (thread(node), node)).collect();
    for name in system.executors.keys() {
        match of_thread.get(name).map_or(&[][..], |node| workload.run.cpus_of(&node.name)) {
            [] => free.push(name.clone()),
            [cpu] => {
                if let Some(other) = pinned.insert(*cpu, name.clone()) {
                    return Err(format!("{other} and {name} share CPU {cpu}"));
                }
            }
            several => return Err(format!("{name} may use {} CPUs that others use, too", several.len())),
        }
    }
    let needed = free.len() + workload.run.background_cpu as usize;
    let left = cpus.saturating_sub(pinned.len());
    if needed > 0 && !pinned.is_empty() {
        return Err(format!("{needed} threads may use the CPUs that others are pinned to"));
    }
    if needed > left {
        return Err(format!("{needed} threads share {left} CPUs: each executor must have one for itself"));
    }
    Ok(())
}
