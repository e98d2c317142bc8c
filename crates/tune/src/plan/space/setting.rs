//! One option of a knob: what it does to a workload, and how that is said.

use super::callback_groups::{separate, Callback};
use super::composition::join;
use super::fusion::{fuse, Fusion};
use super::on_thread;
use super::phases::{shift, Shift};
use crate::apply::{describe, wake_on_arrival, Change};
use tacho_workload::model::{threads, Executor, Node, Order, Scheduling, Workload};
use tacho_workload::units::format_percent;

/// One option of a knob.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Setting {
    AsIs,
    Arrival,
    Spin(f64),
    Timer(f64),
    Phase(Shift),
    Fusion(Fusion),
    OwnThread,
    OwnGroup(Callback),
    Process(String),
    Transport(String),
    Threads(u32),
    Events,
    Cpu(u32),
    Scheduling(Scheduling),
    Depth(u32),
}

impl Setting {
    /// Sets it for a node, topic or thread.
    pub fn set(&self, workload: &mut Workload, of: &str) {
        match self {
            Setting::AsIs => {}
            Setting::Cpu(cpu) => put(&mut workload.run.cpus, of, vec![*cpu]),
            Setting::Scheduling(scheduling) => put(&mut workload.run.priority, of, *scheduling),
            Setting::Depth(depth) => {
                let subscriptions = workload.nodes.iter_mut().flat_map(|node| &mut node.subscribes);
                subscriptions.filter(|s| s.topic == of && !s.qos.keep_all).for_each(|s| s.qos.depth = *depth);
            }
            Setting::Threads(threads) => set_threads(workload, of, *threads),
            Setting::Events => run_what_came_first(workload, of),
            Setting::OwnGroup(callback) => separate(workload, of, *callback),
            Setting::Phase(by) => shift(workload, of, by),
            Setting::Process(process) => join(workload, of, process),
            Setting::Transport(transport) => workload.transport.clone_from(transport),
            Setting::OwnThread => leave_thread(workload, of),
            Setting::Fusion(_) | Setting::Arrival | Setting::Spin(_) | Setting::Timer(_) => {
                let Some(node) = workload.nodes.iter_mut().find(|node| node.name == of) else { return };
                match self {
                    Setting::Spin(hz) => {
                        crate::apply::keep_sending_rate(node);
                        node.executor = Executor::Spin { hz: *hz };
                    }
                    Setting::Timer(hz) => node.executor = Executor::Timer { hz: *hz },
                    Setting::Fusion(fusion) => fuse(node, fusion),
                    _ => wake_on_arrival(node),
                }
            }
        }
    }

    /// What it changes of a workload as it is, as a user would edit it.
    pub fn changes(&self, workload: &Workload, of: &str, is_python: bool) -> Vec<Change> {
        let Some((before, after)) = self.words(workload, of, is_python) else {
            let mut changed = workload.clone();
            self.set(&mut changed, of);
            let nodes = workload.node(of).zip(changed.node(of));
            return nodes.map_or(vec![], |(before, after)| describe(before, after));
        };
        vec![Change { node: of.to_owned(), before, after }]
    }

    /// Before and after; `None` if the executor of the node says it.
    fn words(&self, workload: &Workload, of: &str, is_python: bool) -> Option<(String, String)> {
        let node = workload.node(of);
        let words = match self {
            Setting::AsIs | Setting::Arrival | Setting::Spin(_) | Setting::Timer(_) => return None,
            Setting::OwnThread => {
                let thread = node?.thread.as_deref()?;
                let beside = on_thread(workload, thread).count();
                (format!("thread {thread} of {beside} nodes"), "a thread of its own".into())
            }
            Setting::Phase(shift) => {
                let own = node?.phase_percent;
                (
                    own.map_or("any phase".into(), |percent| format!("phase {}", format_percent(percent))),
                    shift.words(node?),
                )
            }
            Setting::Fusion(fusion) => (Fusion::of(node?)?.words(), fusion.words()),
            Setting::Process(process) => {
                let own = &node?.process;
                let beside = workload.nodes.iter().filter(|node| node.process == *own).count();
                let before = if beside > 1 { format!("process {own}") } else { "a process of its own".into() };
                (before, format!("process {process}"))
            }
            Setting::Transport(transport) => {
                let named = |name: &str| format!("transport {}", if name.is_empty() { "as by default" } else { name });
                (named(&workload.transport), named(transport))
            }
            Setting::OwnGroup(callback) if is_python => {
                let before = format!("{} on one thread with others", callback.words(node?));
                (before, "on a thread of its own".into())
            }
            Setting::OwnGroup(callback) => {
                let mut changed = workload.clone();
                separate(&mut changed, of, *callback);
                let threads = changed.threads_of(changed.node(of)?);
                let before = format!("{} in one callback group with others", callback.words(node?));
                (before, format!("in a group of its own, on {threads} threads"))
            }
            Setting::Threads(after) => {
                let before = match threads(on_thread(workload, of)) {
                    1 => "one thread".into(),
                    several => format!("{several} threads"),
                };
                (before, format!("{after} threads"))
            }
            Setting::Events => ("an executor with a wait set".into(), "an events executor".into()),
            Setting::Cpu(cpu) => (cpus(workload.run.cpus_of(of)), cpus(&[*cpu])),
            Setting::Scheduling(after) => {
                (workload.run.priority_of(of).map_or("no priority".into(), priority), priority(*after))
            }
            Setting::Depth(after) => {
                let mut depths: Vec<u32> = ends(workload, of).map(|(_, depth)| depth).collect();
                depths.sort_unstable();
                depths.dedup();
                let before: Vec<String> = depths.iter().map(u32::to_string).collect();
                (format!("depth {}", before.join(", ")), format!("depth {after}"))
            }
        };
        Some(words)
    }
}

fn cpus(cpus: &[u32]) -> String {
    match cpus {
        [] => "any CPU".into(),
        [cpu] => format!("CPU {cpu}"),
        several => format!("CPUs {}", several.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    }
}

fn priority(scheduling: Scheduling) -> String {
    match scheduling {
        Scheduling::Nice(nice) => format!("nice {nice}"),
        Scheduling::Fifo(priority) => format!("fifo {priority}"),
        Scheduling::RoundRobin(priority) => format!("round_robin {priority}"),
    }
}

/// Node and depth of each subscription of a topic that keeps the last messages.
pub(super) fn ends<'w>(workload: &'w Workload, topic: &'w str) -> impl Iterator<Item = (&'w Node, u32)> {
    let of = |node: &'w Node| node.subscribes.iter().map(move |subscription| (node, subscription));
    let ends = workload.nodes.iter().flat_map(of).filter(move |(_, s)| s.topic == topic && !s.qos.keep_all);
    ends.map(|(node, subscription)| (node, subscription.qos.depth))
}

/// Gives a node a thread of its own; the others keep theirs.
fn leave_thread(workload: &mut Workload, node: &str) {
    let Some(node) = workload.nodes.iter_mut().find(|of| of.name == node) else { return };
    let (Some(thread), threads) = (node.thread.take(), node.threads.take()) else { return };
    let threads = threads.unwrap_or(tacho_workload::model::threads(on_thread(workload, &thread)) as u32);
    set_threads(workload, &thread, threads);
}

/// How many callbacks a thread could run beside each other, if it were several.
pub(super) fn at_once(workload: &Workload, thread: &str) -> usize {
    on_thread(workload, thread).map(Node::at_once).sum()
}

/// Gives the nodes that share a thread so many; one that is alone and has one callback group has one.
pub(super) fn set_threads(workload: &mut Workload, thread: &str, threads: u32) {
    let is_shared = at_once(workload, thread) > 1;
    for node in workload.nodes.iter_mut().filter(|node| node.thread.as_deref() == Some(thread)) {
        node.threads = (is_shared && threads > 1).then_some(threads);
    }
}

/// Lets the executor of a node or of a shared thread run what came first, unless it has several threads by now.
fn run_what_came_first(workload: &mut Workload, of: &str) {
    let is_its = |node: &Node| node.thread.as_deref().unwrap_or(&node.name) == of;
    let one = workload.nodes.iter().filter(|node| is_its(node)).all(|node| workload.threads_of(node) == 1);
    for node in workload.nodes.iter_mut().filter(|node| one && is_its(node)) {
        node.order = Some(Order::Events);
    }
}

fn put<T>(entries: &mut Vec<(String, T)>, node: &str, value: T) {
    match entries.iter_mut().find(|(name, _)| name == node) {
        Some((_, old)) => *old = value,
        None => entries.push((node.to_owned(), value)),
    }
}
