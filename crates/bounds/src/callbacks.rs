//! The callbacks of a workload: what wakes each, how long it takes, and what it publishes.

use std::collections::BTreeMap;
use std::time::Duration;
use tacho_runner::node::timers::timers;
use tacho_runner::planning;
use tacho_simulate::reach::reach;
use tacho_simulate::spread::Spread;
use tacho_simulate::transfer::Receiving;
use tacho_simulate::Costs;
use tacho_workload::model::{Chain, Executor, Node, Work, Workload};

/// What wakes a callback.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Trigger {
    /// A timer, with its period, ns.
    Timer(u64),
    /// Messages of a topic.
    Messages(String),
}

/// A callback.
#[derive(Debug)]
pub(crate) struct Callback {
    pub node: String,
    pub executor: usize,
    pub trigger: Trigger,
    /// Longest execution with what surrounds it on its thread, ns.
    pub longest_ns: u64,
    /// Longest way of a message to it, or lateness of its timer, with the wake-up of its thread, ns.
    pub delay_ns: u64,
    /// Topics that it publishes.
    pub publishes: Vec<String>,
    /// From its arrival to its end at most, ns; known once the system is settled.
    pub response_ns: u64,
}

/// All callbacks, in the order in which executors look at them.
pub(crate) struct System {
    pub callbacks: Vec<Callback>,
    /// Number of each executor by the name of its thread or node.
    pub executors: BTreeMap<String, usize>,
}

fn ns(time: Duration) -> u64 {
    time.as_nanos().try_into().unwrap_or(u64::MAX)
}

fn longest(spread: &Spread) -> u64 {
    spread.quantile(1.0).max(0) as u64
}

/// The thread that runs a node, by name.
pub(crate) fn thread(node: &Node) -> String {
    node.thread.as_ref().map_or_else(|| format!("node {}", node.name), |thread| format!("thread {thread}"))
}

/// Refuses nodes that the analysis does not know.
fn check(workload: &Workload, node: &Node) -> Result<(), String> {
    let name = &node.name;
    if matches!(node.work, Work::Task { .. }) {
        return Err(format!("node {name} has a task, whose longest time is not known"));
    }
    if matches!(node.executor, Executor::Spin { .. }) {
        return Err(format!("node {name} spins: it does not wait for messages as an executor does"));
    }
    if node.matching.is_some() {
        return Err(format!("node {name} waits for sets of messages"));
    }
    if workload.threads_of(node) > 1 {
        return Err(format!("node {name} is on an executor of several threads"));
    }
    let is_beside = |of: &&Node| of.process == node.process && thread(of) != thread(node) && workload.is_in_python(of);
    if let (true, Some(other)) = (workload.is_in_python(node), workload.nodes.iter().find(is_beside)) {
        return Err(format!("nodes {name} and {} compute in turn, because they share an interpreter", other.name));
    }
    if node.publishes.iter().flat_map(|p| &p.from).any(|cause| cause.times > 1) {
        return Err(format!("node {name} publishes several messages in one callback"));
    }
    if workload.is_on_events(node) {
        return Err(format!("the executor of node {name} runs what came first, and does not look in rounds"));
    }
    if node.is_on_board() {
        return Err(format!("node {name} runs on a board"));
    }
    Ok(())
}

impl System {
    /// The callbacks of a workload, none settled.
    pub fn of(workload: &Workload, costs: &Costs) -> Result<System, String> {
        let mut system = System { callbacks: Vec::new(), executors: BTreeMap::new() };
        for node in &workload.nodes {
            check(workload, node)?;
            let number = system.executors.len();
            system.executors.entry(thread(node)).or_insert(number);
        }
        // An executor looks at the timers of all its nodes first.
        for node in &workload.nodes {
            for timer in timers(node) {
                let publishes = timer.serves.iter().map(|of| of.answer.publication);
                let trigger = Trigger::Timer((1e9 / timer.hz).round() as u64);
                let delay_ns = longest(&costs.timer);
                system.add(workload, costs, node, trigger, ns(timer.load.longest()), delay_ns, publishes.collect());
            }
        }
        for node in &workload.nodes {
            for input in &node.subscribes {
                let publishes = node.answers_to_input(input).iter().map(|of| of.publication).collect();
                let size_bytes = planning::input(workload, &input.topic).size_bytes;
                let to: Vec<Receiving> = workload
                    .nodes
                    .iter()
                    .filter(|from| from.publishes.iter().any(|p| p.topic == input.topic))
                    .flat_map(|from| {
                        let reach = reach(workload, from, &input.topic);
                        costs.of_topic(&input.topic, size_bytes, &reach).to
                    })
                    .collect();
                let transit_ns = to.iter().map(|to| longest(&to.transit)).max().unwrap_or(0);
                let own_ns = ns(node.load_of_input(input).longest())
                    + costs.take_ns.max(0) as u64
                    + to.iter().map(|to| to.cpu_ns.max(0) as u64).max().unwrap_or(0);
                let trigger = Trigger::Messages(input.topic.clone());
                let wake_up_ns =
                    to.iter().map(|to| longest(&to.wake_up)).max().unwrap_or(0).max(longest(&costs.wake_up));
                let delay_ns = transit_ns + wake_up_ns;
                system.add(workload, costs, node, trigger, own_ns, delay_ns, publishes);
            }
        }
        Ok(system)
    }

    fn add(
        &mut self,
        workload: &Workload,
        costs: &Costs,
        node: &Node,
        trigger: Trigger,
        own_ns: u64,
        delay_ns: u64,
        publishes: Vec<usize>,
    ) {
        let call_ns = |publication: &usize| {
            let of = &node.publishes[*publication];
            let found = costs.of_topic(&of.topic, of.size_bytes, &reach(workload, node, &of.topic));
            longest(&found.send) + found.send_cpu_ns.max(0) as u64
        };
        self.callbacks.push(Callback {
            node: node.name.clone(),
            executor: self.executors[&thread(node)],
            trigger,
            longest_ns: own_ns + publishes.iter().map(call_ns).sum::<u64>(),
            delay_ns,
            publishes: publishes.iter().map(|of| node.publishes[*of].topic.clone()).collect(),
            response_ns: 0,
        });
    }

    /// The longest end-to-end time of a chain, ns.
    pub fn end_to_end_ns(&self, chain: &Chain) -> Result<u64, String> {
        let mut total_ns = 0;
        // Topics over which the chain may have come to the node.
        let mut came: Option<Vec<&str>> = None;
        for (place, node) in chain.nodes.iter().enumerate() {
            let next = chain.nodes.get(place + 1);
            let goes_on =
                |topic: &&String| next.is_some_and(|next| chain.goes_over(place, topic) && self.takes(next, topic));
            let leads_on = |of: &&Callback| next.is_none() || of.publishes.iter().any(|topic| goes_on(&topic));
            let is_here = |of: &&Callback| match (&came, &of.trigger) {
                (None, Trigger::Timer(_)) => true,
                (Some(topics), Trigger::Messages(topic)) => topics.contains(&topic.as_str()),
                _ => false,
            };
            let here = || self.callbacks.iter().filter(|of| of.node == *node);
            let on: Vec<&Callback> = here().filter(is_here).filter(leads_on).collect();
            let Some(worst) = on.iter().map(|of| of.delay_ns + of.response_ns).max() else {
                return Err(format!("node {node} passes the chain on by another callback than the one that takes it"));
            };
            total_ns += worst;
            came = Some(on.iter().flat_map(|of| &of.publishes).filter(goes_on).map(String::as_str).collect());
        }
        Ok(total_ns)
    }

    fn takes(&self, node: &str, topic: &str) -> bool {
        self.callbacks.iter().any(|of| of.node == node && of.trigger == Trigger::Messages(topic.into()))
    }
}
