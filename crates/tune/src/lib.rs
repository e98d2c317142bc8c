//! Searches over what may be changed, writes plans that a user can apply, and proves that they helped.
//!
//! [`CommonRate`] is study E's search for one spin rate of a chain; [`apply_common_rate`] and [`apply_arrival`] write
//! the tuned workload; [`plan`] finds a plan by a [`search`] over simulated candidates; [`Proving`] makes a campaign of
//! all, in turns, and a [`Proof`] of its figures. [`steps`] are what to change on a system that was recorded.

mod apply;
mod common_rate;
mod measured;
pub mod plan;
mod proof;
mod prove;
pub mod search;
mod spread;
mod steps;

pub use apply::{apply_arrival, apply_common_rate, ApplyError, Change, Tuned};
pub use common_rate::{ChainNode, CommonRate, ObjectiveCurve, ObjectivePoint, OtherNode, SearchError};
pub use measured::{common_rate, computation, computation_of_work, Computation, MeasureError};
pub use proof::{BeforeAfter, Pair, Promised, Proof, RepeatFigures, Side};
pub use prove::{Candidate, ProveError, Proving};
pub use spread::Spread;
pub use steps::{steps, Lever, Step};
