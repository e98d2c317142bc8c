//! Small systems by chance: their events, and what truly happened in them.
//!
//! Sources publish on timers, relays in the callback of their first input or on a timer, sinks only take. Each node is a process with one
//! executor's thread and a CPU of its own, which others have now and then. Messages take time, get lost on the way, are overwritten in queues.
#![allow(dead_code)] // each test file uses its part

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use tacho_analysis::tables::Tables;
use tacho_analysis::{summarise, Options, Repeat};
use tacho_events::testing::FileBuilder;
use tacho_events::RunDirectory;

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From `low` to `high`, both among them.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.next() % n == 0
    }
}

/// A message and what it descends from: of each path (nodes) that leads to it, the start of the first callback.
#[derive(Clone, Debug)]
pub struct Sent {
    pub publisher: usize,
    pub sequence: u64,
    pub publish_ns: i64,
    pub origins: BTreeMap<Vec<usize>, i64>,
}

/// What a subscription took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Taken {
    pub node: usize,
    pub publisher: usize,
    pub sequence: u64,
    pub take_ns: i64,
}

/// A callback that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ran {
    pub node: usize,
    pub start_ns: i64,
    pub end_ns: i64,
    pub cpu_ns: i64,
}

/// What truly happened.
#[derive(Default)]
pub struct Truth {
    pub sent: Vec<Sent>,
    pub taken: Vec<Taken>,
    pub ran: Vec<Ran>,
    /// Ends of chains: path, start of the first callback, output.
    pub outputs: Vec<(Vec<usize>, i64, i64)>,
    /// Outputs of each last node, whatever they descend from, by the node's input.
    pub last_outputs: BTreeMap<(usize, usize), Vec<i64>>,
    /// When each node was killed.
    pub killed: BTreeMap<usize, i64>,
    /// Publishers that each node subscribes to.
    pub inputs: Vec<Vec<usize>>,
    pub publishes: Vec<bool>,
    pub end_ns: i64,
    /// Last event of the others: their recorders' closing reading of the clock.
    pub closed_ns: i64,
    /// When the executor of each node ended that shut down before the others, and left its process doing other things.
    pub left: BTreeMap<usize, i64>,
    /// When each node that was killed had its last event.
    pub last_events: BTreeMap<usize, i64>,
    /// Publish calls that failed, by node.
    pub refused: BTreeMap<usize, u64>,
    /// Nodes of tacho's own, all matched from the first message on.
    pub ours: bool,
    /// Whether there are scheduler events.
    pub scheduled: bool,
}

impl Truth {
    /// Until when a node was there to take messages, as its events tell.
    pub fn alive_until(&self, node: usize) -> i64 {
        let closed = self.last_events.get(&node).copied().unwrap_or(self.closed_ns);
        self.left.get(&node).copied().unwrap_or(closed).min(closed)
    }
}

/// Name of a node.
pub fn name(node: usize) -> String {
    format!("/n{node}")
}

/// Topic that a node publishes.
pub fn topic(node: usize) -> String {
    format!("/t{node}")
}

const DEPTH: usize = 2;
const KERNEL: u32 = 0;
const OTHER: u64 = 9_999;
const NODE: u64 = 0x10;
const PUBLISHER: u64 = 0x20;
const RMW_PUBLISHER: u64 = 0x21;
const TIMER: u64 = 0x40;
const TIMER_CALLBACK: u64 = 0x41;
const MESSAGE: u64 = 0x50;

/// Handles of the n-th subscription of a node: rcl, rmw, object, callback.
fn handles(input: usize) -> [u64; 4] {
    [0, 1, 2, 3].map(|part| 0x1000 + 0x100 * input as u64 + part)
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    Timer(usize),
    Arrive { node: usize, input: usize, message: usize },
    Free(usize),
    /// It shuts down, once its callback is over.
    Leave(usize),
}

struct Node {
    tid: u32,
    period_ns: Option<i64>,
    publishes: bool,
    due: u64,
    queues: Vec<VecDeque<usize>>,
    /// Newest message taken on each input.
    latest: Vec<Option<usize>>,
    ready: VecDeque<usize>,
    busy: bool,
    /// Whether it shuts down, and whether its executor has ended.
    leaves: bool,
    gone: bool,
    /// Last event of its executor.
    served_ns: i64,
    sequence: u64,
}

pub struct Simulation {
    chance: Chance,
    builder: FileBuilder,
    nodes: Vec<Node>,
    acts: BinaryHeap<Reverse<(i64, u64, Act)>>,
    number: u64,
    below_rmw: bool,
    truth: Truth,
}

impl Simulation {
    /// A system and its run; process ids are given in the order that `pids` says.
    pub fn run(seed: u64, pids: impl Fn(usize) -> u32) -> (FileBuilder, Truth) {
        let mut chance = Chance(seed);
        let (sources, relays, sinks) = (chance.within(1, 3) as usize, chance.within(1, 4) as usize, chance.within(1, 2) as usize);
        let mut nodes = Vec::new();
        let mut truth = Truth { ours: chance.one_in(2), scheduled: chance.one_in(2), end_ns: chance.within(100, 500) * 10_000, ..Truth::default() };
        for index in 0..sources + relays + sinks {
            let inputs = if index < sources { 0 } else { chance.within(1, 2) as usize };
            let publishers = (sources + relays).min(index) as i64;
            let mut from: Vec<usize> = (0..inputs).map(|_| chance.within(0, publishers - 1) as usize).collect();
            from.sort_unstable();
            from.dedup();
            let publishes = index < sources + relays;
            let timer = publishes && (index < sources || chance.one_in(3));
            nodes.push(Node {
                tid: pids(index),
                period_ns: timer.then(|| chance.within(20, 200) * 1_000),
                publishes,
                due: 0,
                queues: vec![VecDeque::new(); from.len()],
                latest: vec![None; from.len()],
                ready: VecDeque::new(),
                busy: true,
                leaves: false,
                gone: false,
                served_ns: 0,
                sequence: 0,
            });
            truth.inputs.push(from);
            truth.publishes.push(publishes);
        }
        if chance.one_in(3) {
            let victim = chance.within(0, nodes.len() as i64 - 1) as usize;
            truth.killed.insert(victim, chance.within(truth.end_ns / 3, truth.end_ns));
        }
        let below_rmw = chance.one_in(2);
        let leaving = chance.one_in(2).then(|| chance.within(0, nodes.len() as i64 - 1) as usize);
        let leaves_ns = chance.within(truth.end_ns / 3, truth.end_ns - 1);
        let mut simulation =
            Simulation { chance, builder: FileBuilder::new(), nodes, acts: BinaryHeap::new(), number: 0, below_rmw, truth };
        simulation.begin();
        if let Some(node) = leaving {
            simulation.plan(leaves_ns, Act::Leave(node));
        }
        while let Some(Reverse((now, _, act))) = simulation.acts.pop() {
            simulation.act(now, act);
        }
        simulation.end();
        (simulation.builder, simulation.truth)
    }

    fn emit(&mut self, node: usize, at: i64, event: impl FnOnce(FileBuilder) -> FileBuilder) {
        let tid = self.nodes[node].tid;
        self.truth.closed_ns = at.max(self.truth.closed_ns);
        if self.truth.killed.contains_key(&node) {
            let last = self.truth.last_events.entry(node).or_insert(at);
            *last = at.max(*last);
        }
        let builder = std::mem::take(&mut self.builder);
        self.builder = event(builder.process(tid).at(at));
    }

    /// An event of the node's CPU, told by the kernel.
    fn kernel(&mut self, node: usize, at: i64, event: impl FnOnce(FileBuilder) -> FileBuilder) {
        if self.truth.scheduled {
            let builder = std::mem::take(&mut self.builder);
            self.builder = event(builder.process(KERNEL).thread(node as u32).at(at));
        }
    }

    fn plan(&mut self, at: i64, act: Act) {
        self.number += 1;
        if at < self.truth.end_ns {
            self.acts.push(Reverse((at, self.number, act)));
        }
    }

    fn is_dead(&self, node: usize, at: i64) -> bool {
        self.nodes[node].gone || self.truth.killed.get(&node).is_some_and(|killed| *killed <= at)
    }

    fn begin(&mut self) {
        for node in 0..self.nodes.len() {
            let (inputs, publishes, period) = (self.truth.inputs[node].clone(), self.nodes[node].publishes, self.nodes[node].period_ns);
            let gid = node as u64 + 1;
            self.emit(node, 5, |mut b| {
                b = b.rcl_node_init(NODE, NODE + 1, &name(node)[1..], "/");
                if publishes {
                    b = b.rmw_publisher_init(RMW_PUBLISHER, [gid, 1]).rcl_publisher_init(PUBLISHER, NODE, RMW_PUBLISHER, DEPTH as u64, &topic(node));
                }
                for (input, from) in inputs.iter().enumerate() {
                    let [rcl, rmw, object, callback] = handles(input);
                    b = b.rmw_subscription_init(rmw, [gid, 2 + input as u64]).rcl_subscription_init(rcl, NODE, rmw, DEPTH as u64, &topic(*from))
                        .rclcpp_subscription_init(rcl, object).rclcpp_subscription_callback_added(object, callback);
                }
                if let Some(period) = period {
                    b = b.rcl_timer_init(TIMER, period).rclcpp_timer_callback_added(TIMER, TIMER_CALLBACK).rclcpp_timer_link_node(TIMER, NODE);
                }
                b
            });
            let tid = u64::from(self.nodes[node].tid);
            self.kernel(node, 1, |b| b.sched_switch(OTHER, 1, tid, "other", "node"));
            if let Some(period) = period {
                let first = self.chance.within(1_000, period);
                self.plan(first, Act::Timer(node));
            }
            self.plan(10, Act::Free(node));
        }
    }

    fn end(&mut self) {
        self.truth.closed_ns += 1;
        let end = self.truth.closed_ns;
        for node in 0..self.nodes.len() {
            match self.truth.killed.contains_key(&node) {
                true => self.builder = std::mem::take(&mut self.builder).process(self.nodes[node].tid).killed(),
                false => {
                    let thread = self.nodes[node].tid + 2_000;
                    self.emit(node, end, |b| b.thread(thread).clock_sync(end, end, 10));
                }
            }
        }
        if self.truth.scheduled {
            self.builder = std::mem::take(&mut self.builder).process(KERNEL).thread(0).at(end + 1).clock_sync(end + 1, end + 1, 10);
        }
    }

    fn act(&mut self, now: i64, act: Act) {
        match act {
            Act::Timer(node) if !self.is_dead(node, now) => {
                self.nodes[node].due += 1;
                let period = self.nodes[node].period_ns.expect("a timer");
                self.plan(now + period, Act::Timer(node));
                self.wake(node, now);
            }
            Act::Arrive { node, input, message } if !self.is_dead(node, now) => {
                let queue = &mut self.nodes[node].queues[input];
                if queue.len() == DEPTH {
                    queue.pop_front();
                } else {
                    self.nodes[node].ready.push_back(input);
                }
                self.nodes[node].queues[input].push_back(message);
                self.arrival(node, input, message, now);
                self.wake(node, now);
            }
            Act::Free(node) if !self.is_dead(node, now) => {
                self.nodes[node].busy = false;
                match self.nodes[node].leaves {
                    true => self.leave(node, now),
                    false => self.go_on(node, now),
                }
            }
            Act::Leave(node) if !self.is_dead(node, now) => {
                self.nodes[node].leaves = true;
                self.wake(node, now);
            }
            _ => {}
        }
    }

    /// What others than the executor's thread tell of an arrival.
    fn arrival(&mut self, node: usize, input: usize, message: usize, now: i64) {
        let (ours, below_rmw) = (self.truth.ours, self.below_rmw);
        let (from, sequence) = (self.truth.sent[message].publisher as u64 + 1, self.truth.sent[message].sequence as i64 + 1);
        let thread = self.nodes[node].tid + 1_000;
        self.emit(node, now, |mut b| {
            b = b.thread(thread);
            if below_rmw {
                b = b.dds_receive([from, 1], sequence, 0, 1, 1, 1, 0).dds_data_available([node as u64 + 1, 2 + input as u64], [from, 1], sequence, sequence);
            }
            if ours {
                b = b.node_data_available(handles(input)[0]);
            }
            b
        });
    }

    fn wake(&mut self, node: usize, now: i64) {
        if self.nodes[node].busy {
            return;
        }
        let tid = u64::from(self.nodes[node].tid);
        let until = now + self.chance.within(1, 500);
        self.kernel(node, now, |b| b.sched_wakeup(tid, node as u64, 0, "node"));
        self.kernel(node, until, |b| b.sched_switch(OTHER, 1, tid, "other", "node"));
        self.nodes[node].busy = true;
        self.emit(node, until, |b| b.rclcpp_executor_get_next_ready());
        self.nodes[node].served_ns = until;
        let delay = self.chance_of_delay();
        self.plan(until + delay, Act::Free(node));
    }

    /// Its executor ends, and the node is removed, of which the middleware tells others; the process lives on.
    fn leave(&mut self, node: usize, now: i64) {
        let tid = u64::from(self.nodes[node].tid);
        self.emit(node, now, |b| b.rmw_publish(0x900, 0x901, 0));
        self.kernel(node, now, |b| b.sched_switch(tid, 1, OTHER, "node", "other"));
        self.nodes[node].gone = true;
        // One that never served anything shows its end by what it does next.
        let idle = self.nodes[node].served_ns > 0 && !self.truth.killed.contains_key(&node);
        self.truth.left.insert(node, if idle { self.nodes[node].served_ns } else { now });
    }

    fn chance_of_delay(&mut self) -> i64 {
        self.chance.within(1, 200)
    }

    /// The executor's thread is awake and looks for what to do.
    fn go_on(&mut self, node: usize, now: i64) {
        if self.nodes[node].due > 0 {
            self.nodes[node].due -= 1;
            return self.execute(node, None, now);
        }
        if let Some(input) = self.nodes[node].ready.pop_front() {
            return self.execute(node, Some(input), now);
        }
        let tid = u64::from(self.nodes[node].tid);
        self.emit(node, now, |b| b.rclcpp_executor_wait_for_work(-1));
        self.kernel(node, now, |b| b.sched_switch(tid, 1, OTHER, "node", "other"));
        self.nodes[node].busy = false;
    }

    fn execute(&mut self, node: usize, input: Option<usize>, now: i64) {
        self.nodes[node].busy = true;
        let mut at = now;
        let mut step = |chance: &mut Chance| {
            at += chance.within(1, 100);
            at
        };
        let (ours, tid) = (self.truth.ours, u64::from(self.nodes[node].tid));
        let [executed, called, taken, started] = [(); 4].map(|()| step(&mut self.chance));
        let dies = self.truth.killed.get(&node).copied().unwrap_or(i64::MAX);
        let alive = |at: i64| at < dies;
        let message = input.and_then(|input| self.nodes[node].queues[input].pop_front());
        let (handle, callback) = input.map_or((TIMER, TIMER_CALLBACK), |input| (handles(input)[0], handles(input)[3]));
        if alive(executed) {
            self.emit(node, executed, |b| b.rclcpp_executor_execute(handle));
        }
        if let (Some(input), Some(message)) = (input, message) {
            let (rmw, stamp) = (handles(input)[1], self.truth.sent[message].publish_ns + 1);
            if alive(called) {
                self.emit(node, called, |b| b.rmw_take_called(rmw));
            }
            if alive(taken) {
                self.emit(node, taken, |b| b.rmw_take(rmw, MESSAGE, stamp, true));
                let Sent { publisher, sequence, .. } = self.truth.sent[message];
                self.truth.taken.push(Taken { node, publisher, sequence, take_ns: taken });
                self.nodes[node].latest[input] = Some(message);
            }
        }
        if !alive(started) {
            return;
        }
        self.emit(node, started, |b| b.callback_start(callback, false));
        at = started;
        if let (true, Some(input), Some(message)) = (ours, input, message) {
            let Sent { publisher, sequence, publish_ns, .. } = self.truth.sent[message];
            self.emit(node, at, |b| b.node_take(handles(input)[0], publisher as u64, sequence, publish_ns));
        }
        // Works, publishes, works; others have its CPU now and then.
        let mut off = 0;
        let publishes = self.nodes[node].publishes && (input.is_none() || (self.nodes[node].period_ns.is_none() && input == Some(0)));
        let mut published = None;
        for part in 0..2 {
            at += self.chance.within(10, 20_000);
            if self.chance.one_in(3) && alive(at) {
                let back = at + self.chance.within(1, 10_000);
                self.kernel(node, at, |b| b.sched_switch(tid, 0, OTHER, "node", "other"));
                if alive(back) {
                    self.kernel(node, back, |b| b.sched_switch(OTHER, 0, tid, "other", "node"));
                }
                off += back - at;
                at = back + 1;
            }
            if part == 0 && publishes && alive(at + 10) && !self.chance.one_in(10) {
                published = self.publish(node, started, at);
                at += 10;
            }
        }
        if !alive(at) {
            return self.output(node, input, published, None, message);
        }
        self.emit(node, at, |b| b.callback_end(callback));
        self.nodes[node].served_ns = at;
        self.truth.ran.push(Ran { node, start_ns: started, end_ns: at, cpu_ns: at - started - off });
        self.output(node, input, published, Some(at), message);
        let free = at + self.chance_of_delay();
        self.plan(free, Act::Free(node));
    }

    /// Publishes from `at` to `at` + 4; gives the message, if it was not refused.
    fn publish(&mut self, node: usize, started: i64, at: i64) -> Option<usize> {
        let sequence = self.nodes[node].sequence;
        self.nodes[node].sequence += 1;
        let (ours, below_rmw) = (self.truth.ours, self.below_rmw);
        if ours {
            self.emit(node, at, |b| b.node_publish(PUBLISHER, node as u64, sequence, 64));
        } else {
            self.emit(node, at, |b| b.rclcpp_publish(PUBLISHER, MESSAGE));
        }
        self.emit(node, at + 1, |b| b.rcl_publish(PUBLISHER, MESSAGE));
        self.emit(node, at + 2, |b| b.rmw_publish_called(RMW_PUBLISHER, MESSAGE));
        if ours && self.chance.one_in(12) {
            self.emit(node, at + 4, |b| b.node_refused(PUBLISHER, sequence, 1, "full"));
            *self.truth.refused.entry(node).or_default() += 1;
            return None;
        }
        if below_rmw {
            self.emit(node, at + 3, |b| b.dds_send([node as u64 + 1, 1], sequence as i64 + 1, at + 1, 1, 1, 1, 0));
        }
        self.emit(node, at + 4, |b| b.rmw_publish(RMW_PUBLISHER, MESSAGE, at + 1));
        let mut origins = BTreeMap::new();
        if self.truth.inputs[node].is_empty() {
            origins.insert(vec![node], started);
        }
        for latest in self.nodes[node].latest.iter().flatten() {
            for (path, start) in &self.truth.sent[*latest].origins {
                origins.insert(path.iter().copied().chain([node]).collect(), *start);
            }
        }
        let message = self.truth.sent.len();
        self.truth.sent.push(Sent { publisher: node, sequence, publish_ns: at, origins });
        for to in 0..self.nodes.len() {
            if let Some(input) = self.truth.inputs[to].iter().position(|from| *from == node) {
                let arrives = at + 5 + self.chance.within(0, 30_000);
                if !self.chance.one_in(12) {
                    self.plan(arrives, Act::Arrive { node: to, input, message });
                }
            }
        }
        Some(message)
    }

    /// What a callback of a last node is the end of.
    fn output(&mut self, node: usize, input: Option<usize>, published: Option<usize>, ended: Option<i64>, message: Option<usize>) {
        let is_last = !self.truth.inputs.iter().any(|inputs| inputs.contains(&node));
        if !is_last || self.truth.inputs[node].is_empty() {
            return;
        }
        let (origins, time) = match (self.nodes[node].publishes, published, ended, message) {
            (true, Some(published), ..) => (self.truth.sent[published].origins.clone(), self.truth.sent[published].publish_ns),
            (false, _, Some(ended), Some(message)) => {
                let extended = |(path, start): (&Vec<usize>, &i64)| (path.iter().copied().chain([node]).collect(), *start);
                (self.truth.sent[message].origins.iter().map(extended).collect(), ended)
            }
            _ => return,
        };
        for from in match (self.nodes[node].publishes, input) {
            (false, Some(input)) => vec![self.truth.inputs[node][input]],
            _ => self.truth.inputs[node].clone(),
        } {
            self.truth.last_outputs.entry((node, from)).or_default().push(time);
        }
        self.truth.outputs.extend(origins.into_iter().map(|(path, start): (Vec<usize>, i64)| (path, start, time)));
    }
}

pub fn analysed(run: &RunDirectory) -> Tables {
    tacho_analysis::analyse(run, None, &mut |_| {}).expect("analyse")
}

/// Everything that figures are made of, in an order that does not depend on that of processes.
pub fn figures(tables: &Tables) -> String {
    let summary = summarise(&[Repeat { tables, options: Options::default(), info: None }], None);
    let mut value = serde_json::to_value(&summary).expect("JSON");
    for of in value.as_object_mut().expect("an object").values_mut().filter_map(|v| v.as_array_mut()) {
        of.sort_by_key(|entry| entry.to_string());
    }
    serde_json::to_string_pretty(&value).expect("JSON")
}
