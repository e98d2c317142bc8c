//! Systems told by callbacks: who took what when, and what it published. One process a node; a message is known by its
//! topic and the time of its publish call.
#![allow(dead_code)] // each test file uses its part

use std::collections::HashMap;
use tacho_events::testing::FileBuilder;
use tacho_tables::{Chain, Link, Tables};

const NODE: u64 = 0x10;
const MESSAGE: u64 = 0x50;
/// Of an endpoint: its rcl handle; those beside it follow.
const STEP: u64 = 0x10;

/// A publish call: topic and when.
pub type Sent<'a> = (&'a str, i64);

/// What happens, in order.
pub struct System {
    builder: FileBuilder,
    nodes: Vec<String>,
    handles: HashMap<(usize, String), u64>,
    /// Where the messages that are taken lie.
    address: u64,
}

impl System {
    pub fn new() -> System {
        System { builder: FileBuilder::new(), nodes: Vec::new(), handles: HashMap::new(), address: MESSAGE }
    }

    fn events(mut self, events: impl FnOnce(FileBuilder) -> FileBuilder) -> System {
        self.builder = events(std::mem::take(&mut self.builder));
        self
    }

    /// A node; what it publishes and takes follows.
    pub fn node(mut self, name: &str) -> System {
        self.nodes.push(name.into());
        let pid = self.nodes.len() as u32;
        self.events(|b| b.process(pid).at(0).rcl_init(1).rcl_node_init(NODE, NODE + 1, name, "/"))
    }

    fn handle(&mut self, what: String) -> u64 {
        let handle = 0x100 + STEP * self.handles.len() as u64;
        self.handles.insert((self.nodes.len() - 1, what), handle);
        handle
    }

    fn known(&self, node: &str, what: &str) -> (u32, u64) {
        let place = self.nodes.iter().position(|n| n == node).unwrap_or_else(|| panic!("no node {node}"));
        let handle = self.handles.get(&(place, what.to_string()));
        (place as u32 + 1, *handle.unwrap_or_else(|| panic!("{node} has no {what}")))
    }

    pub fn publishes(mut self, topic: &str) -> System {
        let h = self.handle(format!("publisher {topic}"));
        self.events(|b| b.rmw_publisher_init(h + 1, [h, 1]).rcl_publisher_init(h, NODE, h + 1, 10, topic))
    }

    pub fn takes(self, topic: &str) -> System {
        self.takes_in(topic, "Node::take()")
    }

    /// The same, in a callback of this function.
    pub fn takes_in(mut self, topic: &str, function: &str) -> System {
        let h = self.handle(format!("subscription {topic}"));
        self.events(|b| {
            b.rmw_subscription_init(h + 1, [h, 2])
                .rcl_subscription_init(h, NODE, h + 1, 10, topic)
                .rclcpp_subscription_init(h, h + 2)
                .rclcpp_subscription_callback_added(h + 2, h + 3)
                .rclcpp_callback_register(h + 3, function)
        })
    }

    /// A timer, named by its period.
    pub fn timer(mut self, period_ns: i64) -> System {
        let h = self.handle(format!("timer {period_ns}"));
        self.events(|b| {
            b.rcl_timer_init(h, period_ns)
                .rclcpp_timer_callback_added(h, h + 1)
                .rclcpp_callback_register(h + 1, &format!("Node::on_{period_ns}()"))
                .rclcpp_timer_link_node(h, NODE)
        })
    }

    fn send(self, node: &str, sent: &[Sent<'_>]) -> System {
        sent.iter().fold(self, |system, (topic, at)| {
            let (pid, h) = system.known(node, &format!("publisher {topic}"));
            system.events(|b| {
                let b = b.process(pid).at(*at).rclcpp_publish(0, MESSAGE).rcl_publish(h, MESSAGE);
                b.rmw_publish(h + 1, MESSAGE, *at)
            })
        })
    }

    /// A timer's callback from one time to another.
    pub fn fires(self, node: &str, period_ns: i64, (from, to): (i64, i64), sent: &[Sent<'_>]) -> System {
        let (pid, h) = self.known(node, &format!("timer {period_ns}"));
        let system = self.events(|b| b.process(pid).at(from).rclcpp_executor_execute(h).callback_start(h + 1, false));
        system.send(node, sent).events(|b| b.process(pid).at(to).callback_end(h + 1))
    }

    /// The callback of a message.
    pub fn took(self, node: &str, (topic, stamp): Sent<'_>, (from, to): (i64, i64), sent: &[Sent<'_>]) -> System {
        let (pid, h) = self.known(node, &format!("subscription {topic}"));
        let address = self.address;
        let system = self.events(|b| {
            let b = b.process(pid).at(from).rclcpp_executor_execute(h).rmw_take(h + 1, address, stamp, true);
            b.rcl_take(address).rclcpp_take(address).callback_start(h + 3, false)
        });
        system.send(node, sent).events(|b| b.process(pid).at(to).callback_end(h + 3))
    }

    /// Messages that are taken from here on lie there.
    pub fn lying_at(mut self, address: u64) -> System {
        self.address = address;
        self
    }

    pub fn address(&self) -> u64 {
        self.address
    }

    /// Publish calls outside of callbacks.
    pub fn sends(self, node: &str, sent: &[Sent<'_>]) -> System {
        self.send(node, sent)
    }

    /// Repeats what happens; the number of the turn is reported.
    pub fn times(self, turns: i64, happens: impl Fn(System, i64) -> System) -> System {
        (0..turns).fold(self, happens)
    }

    pub fn tables(&self) -> Tables {
        self.tables_with("")
    }

    /// With what a links file states.
    pub fn tables_with(&self, stated: &str) -> Tables {
        let stated = tacho_workload::links::parse(stated, "links.yaml").unwrap_or_else(|e| panic!("{e}"));
        let folder = tempfile::tempdir().expect("folder");
        let run = self.builder.write(folder.path()).expect("write");
        tacho_analysis::analyse_with(&run, None, &stated, &mut |_| {}).expect("analyse").tables
    }
}

/// The tie of an input of a node to what it publishes on a topic.
pub fn link<'a>(tables: &'a Tables, node: &str, input: &str, output: &str) -> Option<&'a Link> {
    let is = |l: &&Link| tables.nodes[l.node].name == node && l.input == input && l.output.as_deref() == Some(output);
    tables.links.iter().find(is)
}

/// Paths of all chains, in words, in order.
pub fn paths(tables: &Tables) -> Vec<String> {
    let mut paths: Vec<String> = tables.chains.iter().map(|chain| chain.path.join(" ")).collect();
    paths.sort();
    paths
}

pub fn chain<'a>(tables: &'a Tables, path: &str) -> &'a Chain {
    let found = tables.chains.iter().find(|chain| chain.path.join(" ") == path);
    found.unwrap_or_else(|| panic!("no chain {path} in {:?}", paths(tables)))
}

/// (start, end) of the instances of the chain of a path.
pub fn instances(tables: &Tables, path: &str) -> Vec<(i64, i64)> {
    let row = tables.chains.iter().position(|chain| chain.path.join(" ") == path);
    let row = row.unwrap_or_else(|| panic!("no chain {path} in {:?}", paths(tables))) as u32;
    tables.instances.iter().filter(|i| i.chain.number() == row).map(|i| (i.start_ns, i.end_ns)).collect()
}
