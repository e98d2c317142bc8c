//! How a car reacted to an obstacle that came into its way.

use serde::{Deserialize, Serialize};

/// A reaction. Times are ms since the obstacle came into the way, ways are m along the lane.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct ReactionFigures {
    /// The node that drives the car.
    pub node: String,
    /// When the obstacle came into the way: ns of the tables.
    pub at_ns: i64,
    /// Speed of the car then.
    pub speed_m_per_s: f64,
    /// Free way before its front then.
    pub free_way_m: f64,
    /// What happened, in the order of time, as far as it did: sensed, found, planned, commanded, braking, standing.
    pub stages: Vec<ReactionStage>,
    /// Until the car braked; absent if it did not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reaction_ms: Option<f64>,
    /// Way that it drove until it braked.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reaction_way_m: Option<f64>,
    /// Way that it drove until it stood; absent if it did not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stop_way_m: Option<f64>,
    /// Free way before its front when it stood; negative inside the obstacle, absent if nothing was in its way any
    /// more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub margin_m: Option<f64>,
}

/// A stage of a reaction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct ReactionStage {
    /// What happened.
    pub stage: String,
    /// The node that did it.
    pub node: String,
    /// When.
    pub after_ms: f64,
}
