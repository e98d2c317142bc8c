//! Callbacks that could have a callback group of their own, so that the others of their node no longer wait for them.

use super::on_thread;
use super::setting::set_threads;
use super::unused;
use tacho_workload::groups::REENTRANT;
use tacho_workload::model::{threads, Node, Own, Workload};

/// Threads of an executor that had one: the callback and the others of its node run beside each other.
const THREADS: u32 = 2;

/// A callback of a node, by its index there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::plan) enum Callback {
    /// Of a subscription.
    Subscription(usize),
    /// Of one of [`Node::timers`].
    Timer(usize),
    /// Of the timer of a publication with a rate.
    Publication(usize),
}

impl Callback {
    fn all(node: &Node) -> impl Iterator<Item = Callback> + '_ {
        let rated = (0..node.publishes.len()).filter(|at| node.publishes[*at].rate_hz.is_some());
        let subscriptions = (0..node.subscribes.len()).map(Callback::Subscription);
        subscriptions.chain((0..node.timers.len()).map(Callback::Timer)).chain(rated.map(Callback::Publication))
    }

    fn of(self, node: &Node) -> &Own {
        match self {
            Callback::Subscription(at) => &node.subscribes[at].own,
            Callback::Timer(at) => &node.timers[at].own,
            Callback::Publication(at) => &node.publishes[at].own,
        }
    }

    fn of_mut(self, node: &mut Node) -> &mut Own {
        match self {
            Callback::Subscription(at) => &mut node.subscribes[at].own,
            Callback::Timer(at) => &mut node.timers[at].own,
            Callback::Publication(at) => &mut node.publishes[at].own,
        }
    }

    /// What a user calls it: `the subscription to /points`, `timer reload_map`.
    pub fn words(self, node: &Node) -> String {
        match self {
            Callback::Subscription(at) => format!("the subscription to {}", node.subscribes[at].topic),
            Callback::Timer(at) => format!("timer {}", node.timers[at].name),
            Callback::Publication(at) => format!("the timer of {}", node.publishes[at].topic),
        }
    }
}

/// Callbacks of a node that have another callback group than before.
pub(in crate::plan) fn regrouped<'n>(before: &'n Node, after: &'n Node) -> impl Iterator<Item = Callback> + 'n {
    Callback::all(before).filter(|callback| callback.of(before).group != callback.of(after).group)
}

/// Callbacks of a node that others wait for because they are in one group, and that a group of their own leaves a
/// workload that can be run: what a node publishes is made by callbacks of one group.
pub(super) fn separable(workload: &Workload, node: &Node) -> Vec<Callback> {
    let has_beside = |callback: &Callback| {
        let group = callback.of(node).group.as_deref();
        let of_group = Callback::all(node).filter(|other| other.of(node).group.as_deref() == group);
        group != Some(REENTRANT) && of_group.count() > 1
    };
    let can_run = |callback: &Callback| {
        let mut separated = workload.clone();
        separate(&mut separated, &node.name, *callback);
        tacho_workload::parse(&tacho_workload::write(&separated), "candidate").is_ok()
    };
    Callback::all(node).filter(has_beside).filter(can_run).collect()
}

/// Gives a callback a group of its own, and its executor a second thread if it has one.
pub(super) fn separate(workload: &mut Workload, node: &str, callback: Callback) {
    let threads_taken: Vec<String> = workload.nodes.iter().filter_map(|of| of.thread.clone()).collect();
    let Some(of) = workload.nodes.iter_mut().find(|of| of.name == node) else { return };
    let group = unused("alone", |name| Callback::all(of).any(|other| other.of(of).group.as_deref() == Some(name)));
    callback.of_mut(of).group = Some(group);
    let own = || unused(node, |name| threads_taken.iter().any(|taken| taken == name));
    let thread = of.thread.get_or_insert_with(own).clone();
    if threads(on_thread(workload, &thread)) == 1 {
        set_threads(workload, &thread, THREADS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(text: &str) -> Workload {
        tacho_workload::parse(text, "test.yaml").unwrap_or_else(|e| panic!("{e}")).0
    }

    fn words(workload: &Workload, node: &str) -> Vec<String> {
        let node = workload.node(node).expect("the node");
        separable(workload, node).iter().map(|callback| callback.words(node)).collect()
    }

    const MAP: &str = "
nodes:
  lidar:     {publishes: {/points: {rate: 10 Hz}}}
  localiser: {subscribes: {/points: {work: 9 ms}}, timers: {reload: {rate: 2 Hz}}, publishes: {/pose: {from: /points}}}
  planner:   {subscribes: [/pose]}
";

    #[test]
    fn callbacks_that_others_wait_for_can_have_a_group_of_their_own_and_a_second_thread_serves_it() {
        let mut workload = workload(MAP);
        assert_eq!(words(&workload, "localiser"), ["the subscription to /points", "timer reload"]);
        assert!(words(&workload, "planner").is_empty() && words(&workload, "lidar").is_empty());
        separate(&mut workload, "localiser", Callback::Timer(0));
        let node = workload.node("localiser").expect("the node");
        assert_eq!((node.thread.as_deref(), node.threads), (Some("localiser"), Some(2)));
        assert_eq!(node.timers[0].own.group.as_deref(), Some("alone"));
        // What is alone has nobody to wait for.
        assert!(words(&workload, "localiser").is_empty());
    }

    #[test]
    fn callbacks_that_publish_one_topic_stay_together() {
        let text = MAP.replace("{from: /points}", "{from: [/points, reload]}");
        assert!(words(&workload(&text), "localiser").is_empty());
    }

    #[test]
    fn an_executor_of_several_threads_keeps_their_number_and_names_that_are_taken_stay() {
        let text = MAP.replace("lidar:     {", "lidar:     {process: p, thread: localiser, ");
        let mut named = workload(&text);
        separate(&mut named, "localiser", Callback::Timer(0));
        assert_eq!(named.node("localiser").and_then(|node| node.thread.as_deref()), Some("localiser_2"));
        let text = text.replace("localiser: {", "localiser: {process: p, thread: localiser, threads: 3, ");
        let mut several = workload(&text);
        separate(&mut several, "localiser", Callback::Timer(0));
        assert_eq!(several.nodes.iter().map(|node| node.threads).collect::<Vec<_>>(), [None, Some(3), None]);
    }
}
