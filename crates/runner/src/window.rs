//! Plans when a run measures: warm-up, the measured window, and time for sent messages to arrive.

use std::collections::HashMap;
use std::time::Duration;
use tacho_workload::callbacks::Load;
use tacho_workload::model::{Executor, Node, Publication, Workload};

/// From sending the start to the start itself, so that every process has received it.
const LEAD_NS: i64 = 200_000_000;
/// Assumed least throughput of sockets on one machine, bytes a second: every middleware here reached some 200 MB/s or
/// more.
const MOVED_PER_S: f64 = 200e6;
/// Shortest warm-up before the measured window.
const SETTLING: Duration = Duration::from_millis(300);

/// A node waits this long after the last message that was sent while sources ran, so that messages still in transit are
/// not lost.
pub const LINGERING_NS: i64 = 200_000_000;
/// A node waits at most this long after its end, even if messages keep arriving.
pub const LONGEST_LINGERING_NS: i64 = 2_000_000_000;

/// Instants of CLOCK_MONOTONIC, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Phases count from here.
    pub start_ns: i64,
    /// The measured window begins.
    pub from_ns: i64,
    /// The window ends, and nodes without inputs stop sending.
    pub stop_ns: i64,
    /// Nodes with inputs stop.
    pub end_ns: i64,
}

impl Window {
    /// The window of nodes that have matched and start together.
    pub fn together(workload: &Workload, now_ns: i64) -> Window {
        let start_ns = now_ns + LEAD_NS;
        Window::measured_from(workload, start_ns, start_ns + settling(workload).as_nanos() as i64)
    }

    /// The window of nodes that began by themselves; it begins when the last was ready, at `ready_ns`.
    pub fn at_once(workload: &Workload, ready_ns: i64) -> Window {
        Window::measured_from(workload, ready_ns, ready_ns)
    }

    fn measured_from(workload: &Workload, start_ns: i64, from_ns: i64) -> Window {
        let stop_ns = from_ns + workload.run.duration.as_nanos() as i64;
        Window { start_ns, from_ns, stop_ns, end_ns: stop_ns + draining(workload).as_nanos() as i64 }
    }
}

/// How long nodes with inputs continue after the last source stopped: enough for a message to wait once at every
/// spinning or timed node, to be computed on at every node, to pass the link of every host, and for publishers' queues
/// to be transferred; at most two seconds.
fn draining(workload: &Workload) -> Duration {
    let of_node = |node: &Node| {
        let longest = node.loads().iter().map(Load::longest).max().unwrap_or_default();
        match node.executor {
            Executor::Spin { hz } | Executor::Timer { hz } => Duration::from_secs_f64(1.0 / hz) + longest,
            Executor::Arrival => longest,
        }
    };
    let of_nodes: Duration = workload.nodes.iter().filter(|node| !node.subscribes.is_empty()).map(of_node).sum();
    let of_links: Duration = workload.hosts.iter().filter_map(|host| host.link.delay).sum();
    let of_queues = Duration::from_secs_f64(queued_bytes(workload) as f64 / MOVED_PER_S);
    (of_nodes + 2 * of_links + of_queues).clamp(Duration::from_millis(200), Duration::from_secs(2))
}

/// Bytes of data in full queues: the last messages of each publisher, at most what it sends within the run, for each
/// subscription.
fn queued_bytes(workload: &Workload) -> u64 {
    let duration_s = workload.run.duration.as_secs_f64();
    let held = |p: &Publication| {
        let depth = if p.qos.keep_all { u64::MAX } else { p.qos.depth.into() };
        let sent = p.rate_hz.map_or(1, |hz| (hz * duration_s).ceil() as u64);
        depth.min(sent).saturating_mul(p.size_bytes)
    };
    let mut subscriptions: HashMap<&str, u64> = HashMap::new();
    for subscription in workload.nodes.iter().flat_map(|node| &node.subscribes) {
        *subscriptions.entry(&subscription.topic).or_default() += 1;
    }
    let publications = workload.nodes.iter().flat_map(|node| &node.publishes);
    publications.fold(0, |bytes: u64, p| {
        let to = subscriptions.get(p.topic.as_str()).copied().unwrap_or(0);
        bytes.saturating_add(held(p).saturating_mul(to))
    })
}

/// Warm-up: a period of the slowest node, so that each has run.
fn settling(workload: &Workload) -> Duration {
    // A very low rate would make the warm-up too long: it is at most as long as the run.
    SETTLING.max(Duration::from_secs_f64((1.0 / workload.slowest_hz()).min(workload.run.duration.as_secs_f64())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_workload::model::Subscription;

    fn fan_out(size_bytes: u64, subscribers: usize) -> Workload {
        let publishes =
            vec![Publication { topic: "/data".into(), size_bytes, rate_hz: Some(10.0), ..Publication::default() }];
        let subscribes =
            vec![Subscription { topic: "/data".into(), qos: Default::default(), latest: false, ..Default::default() }];
        let subscriber = Node { subscribes, ..Node::default() };
        let mut workload = Workload { nodes: vec![subscriber; subscribers], ..Workload::default() };
        workload.nodes.push(Node { publishes, ..Node::default() });
        workload.run.duration = Duration::from_secs(1);
        workload
    }

    #[test]
    fn full_queues_of_large_messages_are_given_time_to_arrive() {
        assert_eq!(draining(&fan_out(64, 31)), Duration::from_millis(200));
        // Ten messages of 2 MB for each of four.
        assert_eq!(draining(&fan_out(2_000_000, 4)), Duration::from_millis(400));
        assert_eq!(draining(&fan_out(2_000_000, 31)), Duration::from_secs(2));
    }
}
