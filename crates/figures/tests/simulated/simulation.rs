//! The run of such a system: acts in the order of their times, and the events that they leave.

mod callbacks;

use super::{name, topic, Chance, Truth};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use tacho_events::testing::FileBuilder;

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
    Arrive {
        node: usize,
        input: usize,
        message: usize,
    },
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
        let (sources, relays, sinks) =
            (chance.within(1, 3) as usize, chance.within(1, 4) as usize, chance.within(1, 2) as usize);
        let mut nodes = Vec::new();
        let mut truth = Truth {
            ours: chance.one_in(2),
            scheduled: chance.one_in(2),
            end_ns: chance.within(100, 500) * 10_000,
            ..Truth::default()
        };
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
        let mut simulation = Simulation {
            chance,
            builder: FileBuilder::new(),
            nodes,
            acts: BinaryHeap::new(),
            number: 0,
            below_rmw,
            truth,
        };
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
            let (inputs, publishes, period) =
                (self.truth.inputs[node].clone(), self.nodes[node].publishes, self.nodes[node].period_ns);
            let gid = node as u64 + 1;
            self.emit(node, 5, |mut b| {
                b = b.rcl_node_init(NODE, NODE + 1, &name(node)[1..], "/");
                if publishes {
                    b = b.rmw_publisher_init(RMW_PUBLISHER, [gid, 1]).rcl_publisher_init(
                        PUBLISHER,
                        NODE,
                        RMW_PUBLISHER,
                        DEPTH as u64,
                        &topic(node),
                    );
                }
                for (input, from) in inputs.iter().enumerate() {
                    let [rcl, rmw, object, callback] = handles(input);
                    b = b
                        .rmw_subscription_init(rmw, [gid, 2 + input as u64])
                        .rcl_subscription_init(rcl, NODE, rmw, DEPTH as u64, &topic(*from))
                        .rclcpp_subscription_init(rcl, object)
                        .rclcpp_subscription_callback_added(object, callback);
                }
                if let Some(period) = period {
                    b = b
                        .rcl_timer_init(TIMER, period)
                        .rclcpp_timer_callback_added(TIMER, TIMER_CALLBACK)
                        .rclcpp_timer_link_node(TIMER, NODE);
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
            self.builder = std::mem::take(&mut self.builder).process(KERNEL).thread(0).at(end + 1).clock_sync(
                end + 1,
                end + 1,
                10,
            );
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
        let (from, sequence) =
            (self.truth.sent[message].publisher as u64 + 1, self.truth.sent[message].sequence as i64 + 1);
        let thread = self.nodes[node].tid + 1_000;
        self.emit(node, now, |mut b| {
            b = b.thread(thread);
            if below_rmw {
                b = b.dds_receive([from, 1], sequence, 0, 1, 1, 1, 0).dds_data_available(
                    [node as u64 + 1, 2 + input as u64],
                    [from, 1],
                    sequence,
                    sequence,
                );
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
}
