//! What a workload promises of a publisher's messages: how often, and by when.

use rustc_hash::FxHashMap as HashMap;
use std::time::Duration;
use tacho_workload::model::is_called;
use tacho_workload::model::{Executor, Node, Publication, Workload};

/// A publication with the node that makes it.
#[derive(Clone, Copy)]
pub struct Promise<'a> {
    node: &'a Node,
    publication: &'a Publication,
}

/// What a workload promises, by topic.
pub struct Promises<'a>(HashMap<&'a str, Vec<Promise<'a>>>);

impl<'a> Promises<'a> {
    /// Of this workload.
    pub fn of(workload: &'a Workload) -> Promises<'a> {
        let mut by_topic: HashMap<&str, Vec<Promise<'a>>> = HashMap::default();
        all(workload).for_each(|promise| by_topic.entry(&promise.publication.topic).or_default().push(promise));
        Promises(by_topic)
    }

    /// What is promised of a topic by a node of this full name; by any node, where none of the workload is called so.
    pub fn by(&self, node: &str, topic: &str) -> Option<Promise<'a>> {
        let all = self.0.get(topic)?;
        all.iter().find(|p| is_called(node, &p.node.name)).or(all.first()).copied()
    }
}

/// Every publication of a workload.
pub fn all(workload: &Workload) -> impl Iterator<Item = Promise<'_>> {
    workload.nodes.iter().flat_map(|node| node.publishes.iter().map(move |publication| Promise { node, publication }))
}

impl Promise<'_> {
    /// Sends a second that are due by the clock; absent where it answers an input.
    pub fn rate_hz(&self) -> Option<f64> {
        self.node.clocked_hz(self.publication).or(match self.node.executor {
            Executor::Timer { hz } => Some(hz),
            Executor::Spin { hz } if !self.node.is_triggered() => Some(hz),
            _ => None,
        })
    }

    /// From one due send to the next.
    pub fn period_ns(&self) -> Option<i64> {
        Some((1e9 / self.rate_hz()?).round() as i64)
    }

    /// A message that takes longer is late: as the workload says, else the period (study A).
    pub fn deadline_ns(&self) -> Option<i64> {
        let deadline = self.publication.deadline.map(|d: Duration| i64::try_from(d.as_nanos()).unwrap_or(i64::MAX));
        deadline.or_else(|| self.period_ns())
    }

    /// Bytes of data of a message.
    pub fn size_bytes(&self) -> u64 {
        self.publication.size_bytes
    }
}
