//! How far messages go: within a process, to another one, to another host.

use serde::{Deserialize, Serialize};
use tacho_workload::model::{Node, Workload};

/// How far a message goes. What it takes there has little to do with what it takes elsewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// To the process that sends it.
    Process,
    /// To another process of its host.
    #[default]
    Host,
    /// To another host.
    Network,
}

impl Reach {
    /// Each of them.
    pub(crate) const ALL: [Reach; 3] = [Reach::Process, Reach::Host, Reach::Network];

    /// This one, then those whose costs serve instead if no message of this one was measured, nearest first.
    pub(crate) fn nearest(self) -> [Reach; 3] {
        match self {
            Reach::Process => [Reach::Process, Reach::Host, Reach::Network],
            Reach::Host => [Reach::Host, Reach::Network, Reach::Process],
            Reach::Network => [Reach::Network, Reach::Host, Reach::Process],
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Reach::Process => "within a process",
            Reach::Host => "between processes",
            Reach::Network => "between hosts",
        }
    }
}

/// The nodes that subscribe to a topic, in the order of the workload.
pub(crate) fn takers<'w>(workload: &'w Workload, topic: &'w str) -> impl Iterator<Item = &'w Node> {
    workload.nodes.iter().filter(move |node| node.subscribes.iter().any(|s| s.topic == topic))
}

/// How far messages go from a node to each subscription of a topic, in the order of the workload.
pub fn reach(workload: &Workload, from: &Node, topic: &str) -> Vec<Reach> {
    let of = |to: &Node| {
        if to.host != from.host {
            Reach::Network
        } else if to.process == from.process {
            Reach::Process
        } else {
            Reach::Host
        }
    };
    takers(workload, topic).map(of).collect()
}
