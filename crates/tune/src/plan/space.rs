//! What may change in a workload: its knobs and their options.

use super::callback_groups::{separable, separate, Callback};
use super::composition::{join, process_to_join};
use crate::apply::{describe, wake_on_arrival, Change};
use serde::{Deserialize, Serialize};
use std::fmt;
use tacho_workload::model::{Executor, Node, Scheduling, Workload};

/// Spin rates that are tried, Hz.
const SPIN_HZ: [f64; 5] = [20.0, 50.0, 100.0, 300.0, 1000.0];
/// How much more often timers are tried.
const PERIODS: [f64; 3] = [2.0, 5.0, 10.0];
/// Depths of queues that are tried.
const DEPTHS: [u32; 2] = [1, 10];
/// Threads that are tried for an executor of several nodes.
const THREADS: [u32; 3] = [2, 4, 8];
/// Most CPUs that a node is tried on, each by itself.
const CPUS: usize = 8;
/// Scheduling that is tried for nodes of the chain, and for others.
const OF_CHAIN: [Scheduling; 2] = [Scheduling::Nice(-10), Scheduling::Fifo(50)];
const OF_OTHERS: [Scheduling; 1] = [Scheduling::Nice(10)];

/// A key of the workload that may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// When a spinning node wakes: another rate, or on arrival.
    Spin,
    /// How often a timer fires; its node then publishes more often.
    Period,
    /// The thread of a node that shares one with others.
    Thread,
    /// The callback group of a callback that others of its node wait for.
    Group,
    /// The process of a node: one that it shares with others.
    Process,
    /// The transport of the middleware.
    Transport,
    /// How many threads run the nodes that share one.
    Threads,
    /// The CPU of a node's thread.
    Cpus,
    /// The scheduling of a node's thread.
    Priority,
    /// How many messages the queues of a topic hold.
    Depth,
}

impl Key {
    /// All keys.
    pub const ALL: [Key; 10] = [
        Key::Spin,
        Key::Process,
        Key::Transport,
        Key::Thread,
        Key::Group,
        Key::Threads,
        Key::Cpus,
        Key::Priority,
        Key::Depth,
        Key::Period,
    ];
    /// The keys that may change unless the user names others. Processes and transports need [`super::alternatives`];
    /// periods change what the system does.
    pub const USUAL: [Key; 7] =
        [Key::Spin, Key::Thread, Key::Group, Key::Threads, Key::Cpus, Key::Priority, Key::Depth];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Key::Spin => "spin",
            Key::Period => "period",
            Key::Thread => "thread",
            Key::Group => "group",
            Key::Process => "process",
            Key::Transport => "transport",
            Key::Threads => "threads",
            Key::Cpus => "cpus",
            Key::Priority => "priority",
            Key::Depth => "depth",
        }
    }
}

/// What the machine permits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Machine {
    /// CPUs that nodes may use.
    pub cpus: Vec<u32>,
    /// Scheduling that is permitted.
    pub scheduling: Vec<Scheduling>,
    /// Other transports of the middleware, whose costs the simulator has.
    pub transports: Vec<String>,
}

impl Machine {
    /// All scheduling that is tried, for whoever finds out which is permitted.
    pub fn asked() -> impl Iterator<Item = Scheduling> {
        OF_CHAIN.into_iter().chain(OF_OTHERS)
    }
}

/// One option of a knob.
#[derive(Debug, Clone, PartialEq)]
enum Setting {
    AsIs,
    Arrival,
    Spin(f64),
    Timer(f64),
    OwnThread,
    OwnGroup(Callback),
    Process(String),
    Transport(String),
    Threads(u32),
    Cpu(u32),
    Scheduling(Scheduling),
    Depth(u32),
}

/// A knob: one key of one node, topic or thread.
#[derive(Debug, Clone, PartialEq)]
struct Knob {
    key: Key,
    of: String,
    /// The first leaves it as it is.
    settings: Vec<Setting>,
}

/// The candidates of a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    workload: Workload,
    /// Its nodes in Python.
    python: Vec<String>,
    knobs: Vec<Knob>,
    /// Number of options of each knob.
    pub options: Vec<usize>,
    /// Knobs with equal options, of the nodes of the chain and of all nodes.
    pub groups: Vec<Vec<usize>>,
}

/// A knob that a candidate turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turned {
    /// The key.
    pub key: Key,
    /// The node, topic or thread.
    pub of: String,
    /// The change, as a user would edit it.
    pub changes: Vec<Change>,
}

impl fmt::Display for Turned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.changes.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("; "))
    }
}

/// What the user keeps as it is: all keys of a node, topic or thread, or one of them (`ndt`, `ndt.priority`,
/// `/points.depth`).
fn is_kept(keep: &[String], of: &str, key: Key) -> bool {
    keep.iter()
        .any(|kept| kept == of || kept.strip_suffix(key.name()).and_then(|rest| rest.strip_suffix('.')) == Some(of))
}

impl Space {
    /// The candidates of a workload, of which some nodes are in Python: `keys` may change, but for what the user keeps.
    /// Err: something that is kept does not exist.
    pub fn of(
        workload: &Workload,
        chain: &[String],
        keys: &[Key],
        keep: &[String],
        python: &[String],
        machine: &Machine,
    ) -> Result<Space, String> {
        let topics: Vec<&str> = topics(workload);
        let threads = shared_threads(workload);
        let known = |text: &str| topics.contains(&text) || threads.contains(&text) || workload.node(text).is_some();
        let stem = |text: &str| {
            Key::ALL.iter().find_map(|key| text.strip_suffix(key.name())?.strip_suffix('.').map(str::to_owned))
        };
        if let Some(unknown) = keep.iter().find(|kept| !known(kept) && !stem(kept).is_some_and(|of| known(&of))) {
            let keys = Key::ALL.map(Key::name).join(", ");
            return Err(format!(
                "--keep {unknown}: expected a node, topic or shared thread of the workload, and after a dot one of \
                 {keys}"
            ));
        }
        let mut knobs = Vec::new();
        for key in Key::ALL.into_iter().filter(|key| keys.contains(key)) {
            let of: Vec<&str> = match key {
                Key::Depth => topics.clone(),
                Key::Threads => threads.clone(),
                Key::Transport => vec![workload.middleware.as_str()],
                _ => workload.nodes.iter().map(|node| node.name.as_str()).collect(),
            };
            for of in of.into_iter().filter(|of| !is_kept(keep, of, key)) {
                let found = match (key, workload.node(of)) {
                    (Key::Depth, _) => depths(workload, of),
                    (Key::Threads, _) if on_thread(workload, of).any(|node| python.contains(&node.name)) => vec![],
                    (Key::Threads, _) => threads_of(workload, of),
                    (Key::Transport, _) => machine.transports.iter().cloned().map(Setting::Transport).collect(),
                    (Key::Process, Some(node)) => {
                        process_to_join(workload, node, python).into_iter().map(Setting::Process).collect()
                    }
                    (_, Some(node)) => of_node(workload, node, key, chain.contains(&node.name), machine),
                    (_, None) => vec![],
                };
                let settings: Vec<Setting> = std::iter::once(Setting::AsIs).chain(found).collect();
                if settings.len() > 1 {
                    knobs.push(Knob { key, of: of.to_owned(), settings });
                }
            }
        }
        let options = knobs.iter().map(|knob| knob.settings.len()).collect();
        let groups = groups(&knobs, chain);
        Ok(Space { workload: workload.clone(), python: python.to_vec(), knobs, options, groups })
    }

    /// Whether a node is in Python.
    pub fn is_python(&self, node: &str) -> bool {
        self.python.iter().any(|of| of == node)
    }

    /// The workload of a candidate.
    pub fn apply(&self, choice: &[usize]) -> Workload {
        let mut workload = self.workload.clone();
        for (knob, option) in self.knobs.iter().zip(choice) {
            set(&mut workload, &knob.of, &knob.settings[*option]);
        }
        workload
    }

    /// What a candidate changes.
    pub fn turned(&self, choice: &[usize]) -> Vec<Turned> {
        let turned = self.knobs.iter().zip(choice).filter(|(_, option)| **option > 0);
        turned.map(|(knob, option)| self.turn(knob, &knob.settings[*option])).collect()
    }

    fn turn(&self, knob: &Knob, setting: &Setting) -> Turned {
        let of = &knob.of;
        let change = |before: String, after: String| vec![Change { node: of.clone(), before, after }];
        let changes = match setting {
            Setting::AsIs => vec![],
            Setting::OwnThread => {
                let thread = self.workload.node(of).and_then(|node| node.thread.as_deref()).unwrap_or_default();
                let beside = on_thread(&self.workload, thread).count();
                change(format!("thread {thread} of {beside} nodes"), "a thread of its own".into())
            }
            Setting::Process(process) => {
                let own = self.workload.node(of).map_or("", |node| &node.process);
                let beside = self.workload.nodes.iter().filter(|node| node.process == own).count();
                let before = if beside > 1 { format!("process {own}") } else { "a process of its own".into() };
                change(before, format!("process {process}"))
            }
            Setting::Transport(transport) => {
                let named = |name: &str| format!("transport {}", if name.is_empty() { "as by default" } else { name });
                change(named(&self.workload.transport), named(transport))
            }
            Setting::OwnGroup(callback) if self.is_python(of) => {
                let words = self.workload.node(of).map(|node| callback.words(node)).unwrap_or_default();
                change(format!("{words} on one thread with others"), "on a thread of its own".into())
            }
            Setting::OwnGroup(callback) => {
                let mut after = self.workload.clone();
                separate(&mut after, of, *callback);
                let described = after.node(of).map(|node| {
                    let before = format!("{} in one callback group with others", callback.words(node));
                    change(before, format!("in a group of its own, on {} threads", after.threads_of(node)))
                });
                described.unwrap_or_default()
            }
            Setting::Threads(threads) => {
                let before = match tacho_workload::model::threads(on_thread(&self.workload, of)) {
                    1 => "one thread".into(),
                    several => format!("{several} threads"),
                };
                change(before, format!("{threads} threads"))
            }
            Setting::Cpu(cpu) => change(cpus(self.workload.run.cpus_of(of)), cpus(&[*cpu])),
            Setting::Scheduling(after) => {
                change(self.workload.run.priority_of(of).map_or("no priority".into(), priority), priority(*after))
            }
            Setting::Depth(after) => {
                let mut depths: Vec<u32> = ends(&self.workload, of).map(|(_, depth)| depth).collect();
                depths.sort_unstable();
                depths.dedup();
                let before: Vec<String> = depths.iter().map(u32::to_string).collect();
                change(format!("depth {}", before.join(", ")), format!("depth {after}"))
            }
            Setting::Arrival | Setting::Spin(_) | Setting::Timer(_) => {
                let mut workload = self.workload.clone();
                set(&mut workload, of, setting);
                let nodes = self.workload.node(of).zip(workload.node(of));
                nodes.map_or(vec![], |(before, after)| describe(before, after))
            }
        };
        Turned { key: knob.key, of: of.clone(), changes }
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

/// Topics that somebody takes, in the order of the workload.
fn topics(workload: &Workload) -> Vec<&str> {
    let mut topics: Vec<&str> = Vec::new();
    for subscription in workload.nodes.iter().flat_map(|node| &node.subscribes) {
        if !topics.contains(&subscription.topic.as_str()) {
            topics.push(&subscription.topic);
        }
    }
    topics
}

/// The nodes that share a thread.
pub(super) fn on_thread<'w>(workload: &'w Workload, thread: &'w str) -> impl Iterator<Item = &'w Node> {
    workload.nodes.iter().filter(move |node| node.thread.as_deref() == Some(thread))
}

/// How many callbacks a thread could run beside each other, if it were several: one of each callback group.
fn at_once(workload: &Workload, thread: &str) -> usize {
    on_thread(workload, thread).map(|node| node.callback_groups().len()).sum()
}

/// Threads that several nodes or callback groups share, in the order of the workload.
fn shared_threads(workload: &Workload) -> Vec<&str> {
    let mut threads: Vec<&str> = Vec::new();
    for thread in workload.nodes.iter().filter_map(|node| node.thread.as_deref()) {
        if !threads.contains(&thread) && at_once(workload, thread) > 1 {
            threads.push(thread);
        }
    }
    threads
}

/// More threads than there are callback groups would be idle.
fn threads_of(workload: &Workload, thread: &str) -> Vec<Setting> {
    let own = tacho_workload::model::threads(on_thread(workload, thread));
    let most = at_once(workload, thread);
    let is_new = |threads: &u32| *threads as usize <= most && *threads as usize != own;
    THREADS.into_iter().filter(is_new).map(Setting::Threads).collect()
}

/// Gives the nodes that share a thread so many; one that is alone and has one callback group has one.
pub(super) fn set_threads(workload: &mut Workload, thread: &str, threads: u32) {
    let is_shared = at_once(workload, thread) > 1;
    for node in workload.nodes.iter_mut().filter(|node| node.thread.as_deref() == Some(thread)) {
        node.threads = (is_shared && threads > 1).then_some(threads);
    }
}

/// Node and depth of each subscription of a topic that keeps the last messages.
fn ends<'w>(workload: &'w Workload, topic: &'w str) -> impl Iterator<Item = (&'w Node, u32)> {
    let of = |node: &'w Node| node.subscribes.iter().map(move |subscription| (node, subscription));
    let ends = workload.nodes.iter().flat_map(of).filter(move |(_, s)| s.topic == topic && !s.qos.keep_all);
    ends.map(|(node, subscription)| (node, subscription.qos.depth))
}

fn depths(workload: &Workload, topic: &str) -> Vec<Setting> {
    let known: Vec<u32> = ends(workload, topic).map(|(_, depth)| depth).collect();
    let is_new = |depth: &u32| !known.is_empty() && known.iter().any(|known| known != depth);
    DEPTHS.into_iter().filter(is_new).map(Setting::Depth).collect()
}

fn of_node(workload: &Workload, node: &Node, key: Key, is_of_chain: bool, machine: &Machine) -> Vec<Setting> {
    match (key, node.executor) {
        (Key::Spin, Executor::Spin { hz }) => {
            // A node that nothing triggers and that publishes at each wake keeps the rate at which it sends.
            let sends = node.publishes.iter().filter_map(|p| p.rate_hz).fold(0.0, f64::max);
            let sends = if node.is_triggered() || node.computes_only_when_due() { sends } else { sends.max(hz) };
            // Without a publication, each wake computes: another rate would change what the node does.
            if !node.is_triggered() && node.publishes.is_empty() {
                return vec![];
            }
            let rates = SPIN_HZ.into_iter().filter(|rate| *rate >= sends && *rate != hz);
            rates.map(Setting::Spin).chain([Setting::Arrival]).collect()
        }
        (Key::Period, Executor::Timer { hz }) => PERIODS.iter().map(|times| Setting::Timer(hz * times)).collect(),
        (Key::Thread, _) => {
            let is_shared = |thread: &&String| on_thread(workload, thread).count() > 1;
            node.thread.iter().filter(is_shared).map(|_| Setting::OwnThread).collect()
        }
        (Key::Group, _) => separable(workload, node).into_iter().map(Setting::OwnGroup).collect(),
        // All nodes of a thread have its CPUs and its priority.
        (Key::Cpus | Key::Priority, _) if node.thread.is_some() => vec![],
        (Key::Cpus, _) if machine.cpus.len() > 1 => {
            let own = workload.run.cpus_of(&node.name);
            machine.cpus.iter().take(CPUS).filter(|cpu| own != [**cpu]).map(|cpu| Setting::Cpu(*cpu)).collect()
        }
        (Key::Priority, _) => {
            let tried: &[Scheduling] = if is_of_chain { &OF_CHAIN } else { &OF_OTHERS };
            let own = workload.run.priority_of(&node.name);
            let may = |tried: &&Scheduling| machine.scheduling.contains(tried) && own != Some(**tried);
            tried.iter().filter(may).map(|tried| Setting::Scheduling(*tried)).collect()
        }
        _ => vec![],
    }
}

fn set(workload: &mut Workload, of: &str, setting: &Setting) {
    match setting {
        Setting::AsIs => {}
        Setting::Cpu(cpu) => put(&mut workload.run.cpus, of, vec![*cpu]),
        Setting::Scheduling(scheduling) => put(&mut workload.run.priority, of, *scheduling),
        Setting::Depth(depth) => {
            let subscriptions = workload.nodes.iter_mut().flat_map(|node| &mut node.subscribes);
            subscriptions.filter(|s| s.topic == of && !s.qos.keep_all).for_each(|s| s.qos.depth = *depth);
        }
        Setting::Threads(threads) => set_threads(workload, of, *threads),
        Setting::OwnGroup(callback) => separate(workload, of, *callback),
        Setting::Process(process) => join(workload, of, process),
        Setting::Transport(transport) => workload.transport.clone_from(transport),
        Setting::OwnThread => {
            let Some(node) = workload.nodes.iter_mut().find(|node| node.name == of) else { return };
            let (Some(thread), threads) = (node.thread.take(), node.threads.take()) else { return };
            let threads = threads.unwrap_or(tacho_workload::model::threads(on_thread(workload, &thread)) as u32);
            set_threads(workload, &thread, threads);
        }
        Setting::Arrival | Setting::Spin(_) | Setting::Timer(_) => {
            let Some(node) = workload.nodes.iter_mut().find(|node| node.name == of) else { return };
            match setting {
                Setting::Spin(hz) => {
                    crate::apply::keep_sending_rate(node);
                    node.executor = Executor::Spin { hz: *hz };
                }
                Setting::Timer(hz) => node.executor = Executor::Timer { hz: *hz },
                _ => wake_on_arrival(node),
            }
        }
    }
}

fn put<T>(entries: &mut Vec<(String, T)>, node: &str, value: T) {
    match entries.iter_mut().find(|(name, _)| name == node) {
        Some((_, old)) => *old = value,
        None => entries.push((node.to_owned(), value)),
    }
}

/// Knobs of one key with the same options: those of the chain's nodes, and those of all.
fn groups(knobs: &[Knob], chain: &[String]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for is_whole in [false, true] {
        for (first, like) in knobs.iter().enumerate() {
            let belongs = |knob: &Knob| {
                let is_of_chain = chain.contains(&knob.of);
                knob.key == like.key
                    && knob.settings == like.settings
                    && (is_whole || is_of_chain == chain.contains(&like.of))
            };
            let group: Vec<usize> = (0..knobs.len()).filter(|at| belongs(&knobs[*at])).collect();
            if group.first() == Some(&first) && group.len() > 1 && !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    groups
}
