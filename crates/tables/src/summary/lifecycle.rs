//! Figures of managed nodes.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A managed node: its states, in the measured window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct LifecycleFigures {
    /// Node.
    pub node: String,
    /// The state that it was in last.
    pub state: String,
    /// Changes of state, those through transition states (configuring ...) among them.
    pub transitions: u64,
    /// How long it was in each, s, over all repeats.
    pub in_state_s: BTreeMap<String, f64>,
}
