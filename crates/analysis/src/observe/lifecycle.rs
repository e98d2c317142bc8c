//! Managed nodes (REP-2010's state machine of rcl_lifecycle): the state of each by time.

use crate::observe::Seen;
use std::collections::BTreeMap;
use tacho_events::Handle;
use tacho_tables::row::Row;
use tacho_tables::{Node, NodeState, Process};

/// The state in which a managed node does its work.
/// The one that rcl_lifecycle gives a new state machine.
const FIRST: &str = "unconfigured";

/// States of all managed nodes so far.
#[derive(Default)]
pub(crate) struct Lifecycle {
    /// Node of each state machine, by process and handle.
    machines: BTreeMap<(Row<Process>, Handle), Row<Node>>,
    pub states: Vec<NodeState>,
}

impl Lifecycle {
    /// rcl_lifecycle_state_machine_init.
    pub fn made(&mut self, process: Row<Process>, machine: Handle, node: Row<Node>, now: i64) {
        self.machines.insert((process, machine), node);
        self.states.push(NodeState { node, from_ns: now, state: FIRST.into() });
    }

    /// rcl_lifecycle_transition. A machine whose creation was not recorded belongs to nobody.
    pub fn changed(&mut self, process: Row<Process>, machine: Handle, start: &str, goal: &str, now: i64) {
        let Some(node) = self.machines.get(&(process, machine)) else { return };
        // Transitions before may not have been kept, or recorded.
        if let Some(before) =
            self.states.iter_mut().rfind(|row| row.node == *node).filter(|before| before.state != start)
        {
            before.state = start.into();
        }
        self.states.push(NodeState { node: *node, from_ns: now, state: goal.into() });
    }
}

/// The state of a node at an instant; `None` for a node that is not managed, or not yet made.
pub(crate) fn state_at(states: &[NodeState], node: Row<Node>, instant: i64) -> Option<&str> {
    states.iter().rfind(|row| row.node == node && row.from_ns <= instant).map(|row| row.state.as_str())
}

/// Puts a process's times onto another clock.
pub(crate) fn move_times(seen: &mut Seen, process: Row<Process>, on: impl Fn(i64) -> i64) {
    let nodes = &seen.nodes;
    let of_it = |row: &&mut NodeState| nodes[row.node].process == process;
    seen.lifecycle.states.iter_mut().filter(of_it).for_each(|row| row.from_ns = on(row.from_ns));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_in_the_state_of_its_last_transition() {
        let mut lifecycle = Lifecycle::default();
        lifecycle.made(Row::new(0), Handle(7), Row::new(3), 10);
        lifecycle.changed(Row::new(0), Handle(7), "unconfigured", "configuring", 20);
        lifecycle.changed(Row::new(0), Handle(7), "configuring", "inactive", 30);
        lifecycle.changed(Row::new(1), Handle(7), "inactive", "activating", 40); // of another process
        let at = |instant| state_at(&lifecycle.states, Row::new(3), instant);
        assert_eq!(
            [at(9), at(10), at(29), at(30), at(99)],
            [None, Some("unconfigured"), Some("configuring"), Some("inactive"), Some("inactive")]
        );
        assert_eq!(state_at(&lifecycle.states, Row::new(4), 99), None);
    }

    #[test]
    fn transitions_that_were_not_kept_leave_the_state_that_the_next_one_began_in() {
        let mut lifecycle = Lifecycle::default();
        lifecycle.made(Row::new(0), Handle(7), Row::new(3), 10);
        lifecycle.changed(Row::new(0), Handle(7), "inactive", "activating", 40);
        assert_eq!(state_at(&lifecycle.states, Row::new(3), 20), Some("inactive"));
    }
}
