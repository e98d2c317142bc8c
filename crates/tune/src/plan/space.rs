//! What may change in a workload: its knobs and their options.

pub(super) mod callback_groups;
mod composition;
mod fusion;
mod phases;
mod setting;

pub(super) use composition::together;

use crate::apply::Change;
use callback_groups::separable;
use composition::process_to_join;
use fusion::strategies;
pub(super) use phases::held;
use phases::shifts;
use serde::{Deserialize, Serialize};
use setting::{at_once, ends, Setting};
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
    /// When in its period the clock wakes a node.
    Phase,
    /// How a node joins its inputs.
    Fusion,
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
    /// What the executor of a node or of a shared thread runs next.
    Executor,
    /// The CPU of a node's thread.
    Cpus,
    /// The scheduling of a node's thread.
    Priority,
    /// How many messages the queues of a topic hold.
    Depth,
}

impl Key {
    /// All keys.
    pub const ALL: [Key; 13] = [
        Key::Spin,
        Key::Phase,
        Key::Process,
        Key::Transport,
        Key::Thread,
        Key::Group,
        Key::Threads,
        Key::Executor,
        Key::Cpus,
        Key::Priority,
        Key::Depth,
        Key::Fusion,
        Key::Period,
    ];
    /// The keys that may change unless the user names others. Processes and transports need [`super::alternatives`],
    /// phases need timers that are started together, fusion and periods change what the system does, and what an events
    /// executor costs is not known from runs of another one.
    pub const USUAL: [Key; 7] =
        [Key::Spin, Key::Thread, Key::Group, Key::Threads, Key::Cpus, Key::Priority, Key::Depth];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Key::Spin => "spin",
            Key::Phase => "phase",
            Key::Fusion => "fusion",
            Key::Period => "period",
            Key::Thread => "thread",
            Key::Group => "group",
            Key::Process => "process",
            Key::Transport => "transport",
            Key::Threads => "threads",
            Key::Executor => "executor",
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
                Key::Executor => executors(workload),
                Key::Transport => vec![workload.middleware.as_str()],
                _ => workload.nodes.iter().map(|node| node.name.as_str()).collect(),
            };
            for of in of.into_iter().filter(|of| !is_kept(keep, of, key)) {
                let found = match (key, workload.node(of)) {
                    (Key::Depth, _) => depths(workload, of),
                    (Key::Threads, _) if on_thread(workload, of).any(|node| python.contains(&node.name)) => vec![],
                    (Key::Threads, _) => threads_of(workload, of),
                    (Key::Executor, _) => vec![Setting::Events],
                    (Key::Transport, _) => machine.transports.iter().cloned().map(Setting::Transport).collect(),
                    (Key::Phase, Some(node)) => shifts(workload, chain, node).into_iter().map(Setting::Phase).collect(),
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
            knob.settings[*option].set(&mut workload, &knob.of);
        }
        workload
    }

    /// What a candidate changes.
    pub fn turned(&self, choice: &[usize]) -> Vec<Turned> {
        let turned = self.knobs.iter().zip(choice).filter(|(_, option)| **option > 0);
        turned.map(|(knob, option)| self.turn(knob, &knob.settings[*option])).collect()
    }

    fn turn(&self, knob: &Knob, setting: &Setting) -> Turned {
        let changes = setting.changes(&self.workload, &knob.of, self.is_python(&knob.of));
        Turned { key: knob.key, of: knob.of.clone(), changes }
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
fn on_thread<'w>(workload: &'w Workload, thread: &'w str) -> impl Iterator<Item = &'w Node> {
    workload.nodes.iter().filter(move |node| node.thread.as_deref() == Some(thread))
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

/// Shared threads and nodes with a thread of their own whose callbacks wait for each other on one executor that looks
/// at wait sets.
fn executors(workload: &Workload) -> Vec<&str> {
    let callbacks = |node: &Node| node.subscribes.len() + node.clock_rates().count();
    let waits = |nodes: &[&Node]| {
        let is_one = nodes.iter().all(|node| workload.threads_of(node) == 1 && !workload.is_on_events(node));
        let on_arrival = nodes.iter().all(|node| !matches!(node.executor, Executor::Spin { .. }));
        is_one && on_arrival && nodes.iter().map(|node| callbacks(node)).sum::<usize>() > 1
    };
    let threads = shared_threads(workload).into_iter();
    let of_threads = threads.filter(|thread| waits(&on_thread(workload, thread).collect::<Vec<_>>()));
    let alone = workload.nodes.iter().filter(|node| node.thread.is_none() && waits(&[node]));
    of_threads.chain(alone.map(|node| node.name.as_str())).collect()
}

/// More threads than there are callback groups would be idle.
fn threads_of(workload: &Workload, thread: &str) -> Vec<Setting> {
    let own = tacho_workload::model::threads(on_thread(workload, thread));
    let most = at_once(workload, thread);
    let is_new = |threads: &u32| *threads as usize <= most && *threads as usize != own;
    THREADS.into_iter().filter(is_new).map(Setting::Threads).collect()
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
        (Key::Fusion, _) => strategies(workload, node).into_iter().map(Setting::Fusion).collect(),
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

/// This name, or the first with a number that nobody has.
fn unused(name: &str, is_used: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.to_owned()).chain(numbered).find(|name| !is_used(name)).expect("one of so many")
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
