//! Finds nodes by the names that they have in ROS.

use super::{Node, Workload};
use std::collections::HashMap;

/// The nodes of a workload by name.
pub struct ByName<'w>(HashMap<&'w str, &'w Node>);

impl<'w> ByName<'w> {
    /// Of this workload.
    pub fn of(workload: &'w Workload) -> ByName<'w> {
        ByName(workload.nodes.iter().map(|node| (node.name.as_str(), node)).collect())
    }

    /// The node that [is called](is_called) so.
    pub fn called(&self, full_name: &str) -> Option<&'w Node> {
        let short = || full_name.strip_prefix('/').and_then(|name| self.0.get(name));
        self.0.get(full_name).or_else(short).copied()
    }
}

/// Whether a workload's name means this node: its full name, or the name without the root namespace.
pub fn is_called(full_name: &str, name: &str) -> bool {
    full_name == name || full_name.strip_prefix('/') == Some(name)
}
