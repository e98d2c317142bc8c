//! Callback groups of rclcpp: of those in a mutually exclusive one, one runs at a time.

use std::collections::{BTreeMap, HashMap, HashSet};
use tacho_events::Handle;

/// The groups of all processes.
#[derive(Default)]
pub(crate) struct Groups {
    numbers: HashMap<(u32, Handle), u32>,
    is_exclusive: Vec<bool>,
    of_callback: HashMap<u32, u32>,
    /// Processes that tell their groups.
    told: HashSet<u32>,
}

impl Groups {
    /// A group was named; its number.
    pub fn number(&mut self, process: u32, group: Handle, is_exclusive: bool) -> u32 {
        self.told.insert(process);
        let new = self.is_exclusive.len() as u32;
        let number = *self.numbers.entry((process, group)).or_insert(new);
        if number == new {
            self.is_exclusive.push(is_exclusive);
        }
        number
    }

    /// A callback is of a group.
    pub fn add(&mut self, group: u32, callback: u32) {
        self.of_callback.insert(callback, group);
    }

    /// Each callback of a mutually exclusive group, with its group.
    pub fn exclusive(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.of_callback.iter().map(|(callback, group)| (*callback, *group)).filter(|(_, group)| self.is_exclusive[*group as usize])
    }

    pub fn are_told(&self, process: u32) -> bool {
        self.told.contains(&process)
    }
}

/// Objects of rclcpp and the callbacks that lie in them.
#[derive(Default)]
pub(crate) struct Members {
    subscriptions: HashMap<Handle, u32>,
    /// Timers' and services', by address.
    others: BTreeMap<u64, u32>,
    /// Group of the clients that were made last, whose rmw clients are told just before.
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
    pub fn subscription(&mut self, object: Handle, callback: u32) {
        self.subscriptions.insert(object, callback);
    }

    pub fn other(&mut self, callback: Handle, index: u32) {
        self.others.insert(callback.0, index);
    }

    /// The callback of an object: a timer's and a service's lies within it, so it is the first at or after its address.
    pub fn callback_in(&self, object: Handle, what: u64) -> Option<u32> {
        let within = || self.others.range(object.0..object.0.saturating_add(LARGEST_OBJECT)).next().map(|(_, index)| *index);
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
        members.other(Handle(1_080), 1);
        members.other(Handle(2_080), 2);
        members.subscription(Handle(3_000), 3);
        assert_eq!(members.callback_in(Handle(1_000), 2), Some(1));
        assert_eq!(members.callback_in(Handle(1_100), 2), Some(2));
        assert_eq!(members.callback_in(Handle(1_000), WAITABLE), None);
        assert_eq!(members.callback_in(Handle(3_000), WAITABLE), Some(3));
        assert_eq!(members.callback_in(Handle(2_081), 2), None, "nothing lies behind it");
    }

    #[test]
    fn callbacks_of_exclusive_groups_are_told_with_their_group() {
        let mut groups = Groups::default();
        let (one, other) = (groups.number(0, Handle(1), true), groups.number(0, Handle(2), false));
        assert_eq!(groups.number(0, Handle(1), true), one);
        groups.add(one, 10);
        groups.add(other, 11);
        assert_eq!(groups.exclusive().collect::<Vec<_>>(), [(10, one)]);
        assert!(groups.are_told(0) && !groups.are_told(1));
    }
}
