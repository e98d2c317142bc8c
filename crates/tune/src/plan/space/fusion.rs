//! How a node joins its inputs: a message of one of them makes it compute with the latest of the others, or the newest
//! of each does once all are there (study B, finding 4).

use tacho_workload::model::{Executor, Matching, Node, Own, Policy, Workload};

/// A strategy.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fusion {
    /// A message of this topic makes the node compute, with the latest message of each other input.
    First(String),
    /// Sets of one message of each input.
    Match(Policy),
}

impl Fusion {
    /// That of a node; `None` if it does not join its inputs.
    pub fn of(node: &Node) -> Option<Fusion> {
        if let Some(matching) = &node.matching {
            return Some(Fusion::Match(matching.policy));
        }
        let mut triggers = node.subscribes.iter().filter(|s| !s.latest);
        let first = triggers.next()?;
        let is_first = node.executor == Executor::Arrival && node.subscribes.len() > 1 && triggers.next().is_none();
        is_first.then(|| Fusion::First(first.topic.clone()))
    }

    /// What a workload file says.
    pub fn words(&self) -> String {
        match self {
            Fusion::First(topic) => format!("on first {topic}"),
            Fusion::Match(Policy::Exact) => "on match exact".into(),
            Fusion::Match(Policy::Approximate) => "on match approximate".into(),
            Fusion::Match(Policy::Newest) => "on match newest".into(),
        }
    }
}

/// Other strategies with which a node still makes all that it publishes.
pub(super) fn strategies(workload: &Workload, node: &Node) -> Vec<Fusion> {
    let Some(own) = Fusion::of(node) else { return vec![] };
    let can_run = |fusion: &Fusion| {
        let mut changed = workload.clone();
        changed.nodes.iter_mut().filter(|of| of.name == node.name).for_each(|of| fuse(of, fusion));
        tacho_workload::parse(&tacho_workload::write(&changed), "candidate").is_ok()
    };
    let first = node.subscribes.iter().map(|input| Fusion::First(input.topic.clone()));
    let all = first.chain([Fusion::Match(Policy::Newest)]);
    all.filter(|fusion| *fusion != own).filter(can_run).collect()
}

/// Lets a node join its inputs in this way. What it computed when it joined them, it computes then.
pub(super) fn fuse(node: &mut Node, fusion: &Fusion) {
    if let Some(trigger) = node.subscribes.iter_mut().find(|s| !s.latest && node.matching.is_none()) {
        let Own { work, sleep, .. } = std::mem::take(&mut trigger.own);
        node.work = work.unwrap_or(std::mem::take(&mut node.work));
        node.sleep = sleep.unwrap_or(std::mem::take(&mut node.sleep));
    }
    match fusion {
        Fusion::First(topic) => {
            node.matching = None;
            node.subscribes.iter_mut().for_each(|input| input.latest = input.topic != *topic);
        }
        Fusion::Match(policy) => {
            node.matching = Some(Matching { policy: *policy, ..Matching::default() });
            node.subscribes.iter_mut().for_each(|input| {
                input.latest = false;
                input.own = Own::default();
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tacho_workload::model::Work;

    const FUSION: &str = "
nodes:
  camera: {publishes: {/image: {rate: 30 Hz}}}
  lidar:  {publishes: {/points: {rate: 10 Hz}}}
  fusion: {on: first /image, subscribes: {/image: {work: 5 ms}, /points: }, publishes: [/objects]}
  plain:  {subscribes: [/objects, /points]}
";

    fn workload(text: &str) -> Workload {
        tacho_workload::parse(text, "test.yaml").unwrap_or_else(|e| panic!("{e}")).0
    }

    #[test]
    fn a_node_that_joins_its_inputs_could_join_them_otherwise() {
        let workload = workload(FUSION);
        let of = |name: &str| strategies(&workload, workload.node(name).expect("a node"));
        assert_eq!(of("fusion"), [Fusion::First("/points".into()), Fusion::Match(Policy::Newest)]);
        assert!(of("plain").is_empty() && of("camera").is_empty());
    }

    #[test]
    fn its_work_is_that_of_the_callback_which_joins() {
        for fusion in [Fusion::First("/points".into()), Fusion::Match(Policy::Newest)] {
            let mut workload = workload(FUSION);
            fuse(&mut workload.nodes[2], &fusion);
            let node = &workload.nodes[2];
            assert_eq!((Fusion::of(node), &node.work), (Some(fusion), &Work::Fixed(Duration::from_millis(5))));
            assert!(node.subscribes.iter().all(|input| input.own == Own::default()));
        }
    }

    #[test]
    fn what_one_input_alone_causes_keeps_its_cause() {
        let workload = workload(&FUSION.replace("publishes: [/objects]", "publishes: {/objects: {from: /image}}"));
        assert!(strategies(&workload, &workload.nodes[2]).is_empty());
    }
}
