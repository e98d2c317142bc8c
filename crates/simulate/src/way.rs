//! What the links between two hosts do to a message.

use tacho_workload::model::{Link, Workload};

/// The way from one host to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Way {
    /// Delay of both links, ns.
    pub delay_ns: i64,
    /// How long a message occupies the slower link, ns.
    pub occupies_ns: i64,
    /// Part of the messages that arrives.
    pub kept: f64,
}

impl Way {
    /// The way of a message of this size between two hosts of a workload; nothing lies between a host and itself.
    pub fn between(workload: &Workload, from: &str, to: &str, size_bytes: u64) -> Way {
        if from == to {
            return Way { delay_ns: 0, occupies_ns: 0, kept: 1.0 };
        }
        let host = |name: &str| workload.hosts.iter().find(|host| host.name == name).map(|host| host.link);
        let links: Vec<Link> = [host(from), host(to)].into_iter().flatten().collect();
        let rate = links.iter().filter_map(|link| link.rate_bit_per_s).min();
        Way {
            delay_ns: links.iter().filter_map(|link| link.delay).map(|delay| delay.as_nanos() as i64).sum(),
            occupies_ns: rate.map_or(0, |rate| (size_bytes as f64 * 8e9 / rate as f64) as i64),
            kept: links.iter().map(|link| 1.0 - link.loss_percent.unwrap_or(0.0) / 100.0).product(),
        }
    }
}
