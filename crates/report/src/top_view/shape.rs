//! The shape of the view in the page.

use crate::timeline::columns::Column;
use serde::Serialize;
use tacho_tables::CauseKind;

/// A drive from above.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TopView<'a> {
    /// The car over time.
    pub car: Car,
    /// The commands that it got.
    pub ages: Ages,
    /// Growing: points of the centre line, a closed line; empty if no world reported one.
    pub lane_x_mm: Column,
    /// See `lane_x_mm`.
    pub lane_y_mm: Column,
    /// Between the borders of the lane; absent if no world reported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane_width_m: Option<f64>,
    /// The true obstacles, whenever they changed; absent without a world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacles: Option<Sets>,
    /// Objects that nodes found.
    pub seen: Vec<Sets>,
    /// Points of the trajectories that nodes planned.
    pub plans: Vec<Sets>,
    /// Where the car left its lane; absent if it did not, or it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
    /// Chains that end at the car.
    pub chains: Vec<ViewChain<'a>>,
}

/// Columns of the states of the car, by time.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Car {
    /// The node that drives it.
    pub node: String,
    /// States of the run; those below may be fewer.
    pub states: usize,
    /// Growing: ns since the begin of the timeline.
    pub at: Column,
    /// Growing.
    pub x_mm: Column,
    /// Growing.
    pub y_mm: Column,
    /// Counterclockwise from x; optional.
    pub heading_mrad: Column,
    /// Optional.
    pub speed_mm_s: Column,
    /// To the left; optional.
    pub steering_mrad: Column,
    /// To the left of the centre line; optional.
    pub lateral_error_mm: Column,
}

/// Columns of arrivals of commands.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ages {
    /// Growing: when it arrived, ns since the begin of the timeline.
    pub at: Column,
    /// Since the sensing on which it rests.
    pub age_us: Column,
}

/// Columns of lists, by the instants that they describe.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sets {
    /// The node that reported them.
    pub node: String,
    /// Growing: ns since the begin of the timeline.
    pub at: Column,
    /// Entries of each list.
    pub counts: Column,
    /// Growing: of entries.
    pub x_mm: Column,
    /// Growing: of entries.
    pub y_mm: Column,
    /// Growing: of entries; absent if they have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius_mm: Option<Column>,
}

/// Where the car left its lane.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Left {
    /// Place of the centre of gravity.
    pub x_m: f64,
    /// See `x_m`.
    pub y_m: f64,
    /// When it was nearest to it, ns since the begin of the timeline.
    pub at_ns: i64,
}

/// Columns of the instances of a chain that ends at the car, by their ends.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ViewChain<'a> {
    /// Name.
    pub name: &'a str,
    /// Node, topic, node ... node.
    pub path: &'a [String],
    /// Growing: its end, ns since the begin of the timeline. From then on the car drives as it says.
    pub end: Column,
    /// End-to-end time, ns.
    pub duration: Column,
    /// Index into the parts: computation, off_cpu, preemption, transport, alignment, queueing, kept; its greatest.
    pub part: Column,
    /// How long that part is, ns.
    pub took: Column,
    /// The late ones that are explained, the longest first: longer than the median of the chain by more than a tenth.
    pub worst: Vec<Explained<'a>>,
}

/// What an instance waited for.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explained<'a> {
    /// Its number among those of its chain here.
    pub instance: usize,
    /// The cause by which it is longer than usual most; of several, the greatest.
    pub kind: CauseKind,
    /// By whom.
    pub by: &'a str,
    /// The node where it happened.
    pub node: &'a str,
    /// How long.
    pub took_ns: i64,
    /// How long it usually takes; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual_ns: Option<i64>,
}
