//! When a run measures: warm-up, the measured window, and time for what was sent to arrive.

use std::time::Duration;
use tacho_workload::model::{Executor, Node, Workload};

/// From the word to start to the start, so that every process has heard it.
const LEAD_NS: i64 = 200_000_000;
/// Least warm-up before the measured window.
const SETTLING: Duration = Duration::from_millis(300);

/// Instants of CLOCK_MONOTONIC, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Phases count from here.
    pub start_ns: i64,
    /// The measured window begins.
    pub from_ns: i64,
    /// It ends, and nodes without inputs stop sending.
    pub stop_ns: i64,
    /// Nodes with inputs stop.
    pub end_ns: i64,
}

impl Window {
    /// Of nodes that are all matched now, and start together.
    pub fn together(workload: &Workload, now_ns: i64) -> Window {
        let start_ns = now_ns + LEAD_NS;
        Window::measured_from(workload, start_ns, start_ns + settling(workload).as_nanos() as i64)
    }

    /// Of nodes that began by themselves, and of which the last was ready at `ready_ns`: the window begins there.
    pub fn at_once(workload: &Workload, ready_ns: i64) -> Window {
        Window::measured_from(workload, ready_ns, ready_ns)
    }

    fn measured_from(workload: &Workload, start_ns: i64, from_ns: i64) -> Window {
        let stop_ns = from_ns + workload.run.duration.as_nanos() as i64;
        Window { start_ns, from_ns, stop_ns, end_ns: stop_ns + draining(workload).as_nanos() as i64 }
    }
}

/// How long nodes with inputs go on after the last source stopped: time for a message to wait at every spinning or timed node once,
/// to be computed on at every node, and to pass the link of every host; at most two seconds.
fn draining(workload: &Workload) -> Duration {
    let of_node = |node: &Node| match node.executor {
        Executor::Spin { hz } | Executor::Timer { hz } => Duration::from_secs_f64(1.0 / hz) + node.work.longest(),
        Executor::Arrival => node.work.longest(),
    };
    let of_nodes: Duration = workload.nodes.iter().filter(|node| !node.subscribes.is_empty()).map(of_node).sum();
    let of_links: Duration = workload.hosts.iter().filter_map(|host| host.link.delay).sum();
    (of_nodes + 2 * of_links).clamp(Duration::from_millis(200), Duration::from_secs(2))
}

/// Warm-up: a period of the slowest node, so that each has run.
fn settling(workload: &Workload) -> Duration {
    let hz = workload.nodes.iter().flat_map(|node| {
        let own = match node.executor {
            Executor::Spin { hz } | Executor::Timer { hz } => Some(hz),
            Executor::Arrival => None,
        };
        own.into_iter().chain(node.publishes.iter().filter_map(|p| p.rate_hz))
    });
    let slowest = hz.fold(f64::INFINITY, f64::min);
    // A rate far below the run's length would wait for ever: the duration is the most that warming up may take.
    SETTLING.max(Duration::from_secs_f64((1.0 / slowest).min(workload.run.duration.as_secs_f64())))
}
