//! Measures the callback check of study E on this machine: the time that a spinning node needs to wake, find its queue
//! empty, and sleep again.

use crate::bench::{Bench, Progress};
use anyhow::{Context, Result};
use std::time::Duration;
use tacho_events::run::RunDirectory;
use tacho_workload::model::{Executor, Node, Publication, Qos, RunOptions, Subscription, Workload};

const TOPIC: &str = "/callback_check";
/// Rate of the node whose checks are measured.
pub const SPIN_HZ: f64 = 500.0;

/// Returns the CPU time of one check, ns: CPU time of the node's thread divided by its wakes, while no message comes.
/// Measures it on the middleware and transport of `workload`, with its QoS defaults, by a run of two seconds in `run`.
pub fn measure(
    bench: &Bench<'_>,
    workload: &Workload,
    run: &RunDirectory,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<f64> {
    let ran = bench.repeat(&silent(workload), 0, run, progress)?;
    let spinner =
        ran.nodes.iter().find(|node| node.wakes > 0).context("callback check: the spinning node reported no wakes")?;
    Ok(spinner.cpu_ns as f64 / spinner.wakes as f64)
}

/// A node that spins on a topic whose only publisher stays silent for the whole run.
fn silent(like: &Workload) -> Workload {
    let node = |name: &str, executor| Node { name: name.into(), process: name.into(), executor, ..Node::default() };
    let publication = Publication { topic: TOPIC.into(), size_bytes: 64, ..Publication::default() };
    let silent = Node {
        subscribes: vec![Subscription {
            topic: "/callback_check/never".into(),
            qos: Qos::default(),
            latest: false,
            ..Default::default()
        }],
        publishes: vec![publication],
        ..node("silent", Executor::Arrival)
    };
    let spinner = Node {
        subscribes: vec![Subscription {
            topic: TOPIC.into(),
            qos: Qos::default(),
            latest: false,
            ..Default::default()
        }],
        ..node("spinner", Executor::Spin { hz: SPIN_HZ })
    };
    Workload {
        middleware: like.middleware.clone(),
        transport: like.transport.clone(),
        nodes: vec![silent, spinner],
        run: RunOptions { duration: Duration::from_secs(2), domain: like.run.domain, ..RunOptions::default() },
        ..Workload::default()
    }
}
