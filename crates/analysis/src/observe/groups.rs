//! Callback groups of rclcpp: of those in a mutually exclusive one, one runs at a time. Our recorder tells of each
//! member what group it is of; CARET tells members, groups and executors apart, in any order.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::BTreeMap;
use tacho_events::{Handle, Payload, Texts};
use tacho_tables::row::Row;
use tacho_tables::{Callback, Process};

/// The groups of all processes.
#[derive(Default)]
pub(crate) struct Groups {
    numbers: HashMap<(Row<Process>, Handle), u32>,
    is_exclusive: Vec<bool>,
    of_callback: HashMap<Row<Callback>, u32>,
    /// Processes that tell their groups.
    told: HashSet<Row<Process>>,
    /// Executor of each group, or what collects its groups.
    owner: HashMap<u32, (Row<Process>, Handle)>,
    executor_of_collector: HashMap<(Row<Process>, Handle), Handle>,
    /// Executors of several threads.
    multi: HashSet<(Row<Process>, Handle)>,
}

impl Groups {
    /// A group was named; its number.
    pub fn number(&mut self, process: Row<Process>, group: Handle, is_exclusive: bool) -> u32 {
        self.told.insert(process);
        let (number, is_new) = self.named(process, group);
        if is_new {
            self.is_exclusive[number as usize] = is_exclusive;
        }
        number
    }

    /// The number of a group, of which nothing else need be known yet, and whether it is new.
    fn named(&mut self, process: Row<Process>, group: Handle) -> (u32, bool) {
        let new = self.is_exclusive.len() as u32;
        let number = *self.numbers.entry((process, group)).or_insert(new);
        if number == new {
            self.is_exclusive.push(false);
        }
        (number, number == new)
    }

    /// A callback is of a group, of which the rest may be reported later.
    fn join(&mut self, process: Row<Process>, group: Handle, callback: Row<Callback>) {
        let (number, _) = self.named(process, group);
        self.of_callback.insert(callback, number);
    }

    /// A group was given to an executor, or to what collects groups for one.
    fn given(&mut self, process: Row<Process>, group: Handle, owner: Handle, is_exclusive: bool) {
        self.told.insert(process);
        let (number, _) = self.named(process, group);
        self.is_exclusive[number as usize] = is_exclusive;
        self.owner.insert(number, (process, owner));
    }

    /// The executor of several threads that runs a callback; absent where it is not reported, or has one.
    pub fn multi_threaded(&self, callback: Row<Callback>) -> Option<(Row<Process>, Handle)> {
        let (process, owner) = *self.owner.get(self.of_callback.get(&callback)?)?;
        let executor = (process, self.executor_of_collector.get(&(process, owner)).copied().unwrap_or(owner));
        self.multi.contains(&executor).then_some(executor)
    }

    /// Whether an executor of several threads was reported.
    pub fn any_multi_threaded(&self) -> bool {
        !self.multi.is_empty()
    }

    /// A callback is of a group.
    pub fn add(&mut self, group: u32, callback: Row<Callback>) {
        self.of_callback.insert(callback, group);
    }

    /// The number of a callback's group, and whether the group is reentrant, if the process tells of groups.
    pub fn of(&self, process: Row<Process>, callback: Row<Callback>) -> Option<(u32, bool)> {
        let group = *self.of_callback.get(&callback).filter(|_| self.told.contains(&process))?;
        Some((group, !self.is_exclusive[group as usize]))
    }

    /// Each callback of a mutually exclusive group, with its group.
    pub fn exclusive(&self) -> impl Iterator<Item = (Row<Callback>, u32)> + '_ {
        self.of_callback
            .iter()
            .map(|(callback, group)| (*callback, *group))
            .filter(|(_, group)| self.is_exclusive[*group as usize])
    }

    pub fn are_told(&self, process: Row<Process>) -> bool {
        self.told.contains(&process)
    }
}

/// What CARET says of groups: members by the handles of rcl, of which the callbacks may be known before or later.
#[derive(Default)]
pub(crate) struct ToldByHandle {
    callbacks: HashMap<Handle, Vec<Row<Callback>>>,
    group: HashMap<Handle, Handle>,
    /// The client of each rmw client: its callback is known with the first response.
    client: HashMap<Handle, Handle>,
}

impl ToldByHandle {
    /// A handle begins a new life.
    pub fn renew(&mut self, handle: Handle) {
        self.callbacks.remove(&handle);
    }

    /// A callback is that of a handle.
    pub fn tie(&mut self, groups: &mut Groups, process: Row<Process>, handle: Handle, callback: Row<Callback>) {
        let known = self.callbacks.entry(handle).or_default();
        if !known.contains(&callback) {
            known.push(callback);
        }
        if let Some(group) = self.group.get(&handle) {
            groups.join(process, *group, callback);
        }
    }

    pub fn client(&mut self, client: Handle, rmw_client: Handle) {
        self.client.insert(rmw_client, client);
    }

    /// A callback handles the responses to a client.
    pub fn tie_client(&self, groups: &mut Groups, process: Row<Process>, rmw_client: Handle, callback: Row<Callback>) {
        if let Some(group) = self.client.get(&rmw_client).and_then(|client| self.group.get(client)) {
            groups.join(process, *group, callback);
        }
    }

    /// Takes an event of CARET about groups; false for any other.
    pub fn take(&mut self, groups: &mut Groups, process: Row<Process>, payload: &Payload, texts: &Texts) -> bool {
        match *payload {
            Payload::CallbackGroupAddTimer { group, timer: handle }
            | Payload::CallbackGroupAddSubscription { group, subscription: handle }
            | Payload::CallbackGroupAddService { group, service: handle }
            | Payload::CallbackGroupAddClient { group, client: handle } => {
                self.group.insert(handle, group);
                for callback in self.callbacks.get(&handle).into_iter().flatten() {
                    groups.join(process, group, *callback);
                }
            }
            Payload::AddCallbackGroup { owner, group, kind } => {
                groups.given(process, group, owner, texts.get(kind) == EXCLUSIVE);
            }
            Payload::ConstructExecutor { executor, collector, kind } => {
                match texts.get(kind) {
                    MULTI_THREADED => groups.multi.insert((process, executor)),
                    _ => groups.multi.remove(&(process, executor)),
                };
                if collector != Handle::NONE {
                    groups.executor_of_collector.insert((process, collector), executor);
                }
            }
            Payload::ExecutorEntityCollectorToExecutor { executor, collector } => {
                groups.executor_of_collector.insert((process, collector), executor);
            }
            _ => return false,
        }
        true
    }
}

/// CARET's words for types of groups and executors.
const EXCLUSIVE: &str = "mutually_exclusive";
const MULTI_THREADED: &str = "multi_threaded_executor";

/// Objects of rclcpp and the callbacks that lie in them.
#[derive(Default)]
pub(crate) struct Members {
    subscriptions: HashMap<Handle, Row<Callback>>,
    /// Timers' and services', by address.
    others: BTreeMap<u64, Row<Callback>>,
    /// Group of the clients that were made last, whose rmw clients are reported just before.
    pub client_groups: HashMap<Handle, u32>,
    pub last_client: Option<Handle>,
}

/// What was added to a group; `what` of `rclcpp_callback_group_add`.
pub(crate) const WAITABLE: u64 = 4;
/// See [`WAITABLE`].
pub(crate) const CLIENT: u64 = 5;
/// A timer or service is no larger.
const LARGEST_OBJECT: u64 = 4096;

impl Members {
    pub fn subscription(&mut self, object: Handle, callback: Row<Callback>) {
        self.subscriptions.insert(object, callback);
    }

    pub fn other(&mut self, callback: Handle, index: Row<Callback>) {
        self.others.insert(callback.0, index);
    }

    /// The callback of an object: a timer's and a service's lies within it, so it is the first at or after its address.
    pub fn callback_in(&self, object: Handle, what: u64) -> Option<Row<Callback>> {
        let within =
            || self.others.range(object.0..object.0.saturating_add(LARGEST_OBJECT)).next().map(|(_, index)| *index);
        let subscription = self.subscriptions.get(&object).copied();
        // A waitable may be anything: of these, subscriptions within the process alone are told by their address.
        subscription.or_else(|| (what < WAITABLE).then(within).flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timers_callback_lies_in_the_timer_and_a_waitable_has_none_of_those() {
        let mut members = Members::default();
        members.other(Handle(1_080), Row::new(1));
        members.other(Handle(2_080), Row::new(2));
        members.subscription(Handle(3_000), Row::new(3));
        assert_eq!(members.callback_in(Handle(1_000), 2), Some(Row::new(1)));
        assert_eq!(members.callback_in(Handle(1_100), 2), Some(Row::new(2)));
        assert_eq!(members.callback_in(Handle(1_000), WAITABLE), None);
        assert_eq!(members.callback_in(Handle(3_000), WAITABLE), Some(Row::new(3)));
        assert_eq!(members.callback_in(Handle(2_081), 2), None, "nothing lies behind it");
    }

    #[test]
    fn callbacks_of_exclusive_groups_are_told_with_their_group() {
        let mut groups = Groups::default();
        let process = Row::new(0);
        let (one, other) = (groups.number(process, Handle(1), true), groups.number(process, Handle(2), false));
        assert_eq!(groups.number(process, Handle(1), true), one);
        groups.add(one, Row::new(10));
        groups.add(other, Row::new(11));
        assert_eq!(groups.exclusive().collect::<Vec<_>>(), [(Row::new(10), one)]);
        assert!(groups.are_told(process) && !groups.are_told(Row::new(1)));
    }
}
