//! Quality of service, and what a subscription may ask for that a publisher does not offer.

use serde::{Deserialize, Serialize};

/// DDS quality of service, the four policies that the studies vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Qos {
    /// Reliable; otherwise best effort.
    pub reliable: bool,
    /// Transient local; otherwise volatile.
    pub transient_local: bool,
    /// Keep all; otherwise keep the last `depth`.
    pub keep_all: bool,
    /// Depth for keep last.
    pub depth: u32,
}

/// A policy of which a subscription asks for more than a publisher offers: the two never match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unmet {
    /// Its key in a workload.
    pub policy: &'static str,
    /// What the subscription asks for.
    pub asked: &'static str,
    /// What the publisher offers.
    pub offered: &'static str,
}

impl Qos {
    /// What a publisher that offers this does not give a subscription that asks for the other (DDS 1.4, section 2.2.3).
    pub fn unmet(&self, asked: &Qos) -> impl Iterator<Item = Unmet> {
        let reliability = Unmet { policy: "reliability", asked: "reliable", offered: "best_effort" };
        let durability = Unmet { policy: "durability", asked: "transient_local", offered: "volatile" };
        let reliability = (asked.reliable && !self.reliable).then_some(reliability);
        let durability = (asked.transient_local && !self.transient_local).then_some(durability);
        reliability.into_iter().chain(durability)
    }
}

impl Default for Qos {
    /// ROS 2's default profile: reliable, volatile, keep last 10.
    fn default() -> Self {
        Qos { reliable: true, transient_local: false, keep_all: false, depth: 10 }
    }
}
