//! What tasks report of their quality.

use serde::{Deserialize, Serialize};

/// A figure of a node's task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct QualityFigures {
    /// The node.
    pub node: String,
    /// Its task.
    pub task: String,
    /// Name, with its unit: `lateral_error_max_m`.
    pub name: String,
    /// Its value in each repeat that has it, in their order.
    pub values: Vec<f64>,
}
