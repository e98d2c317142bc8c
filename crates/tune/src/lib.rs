//! Search over what may be changed, plans that a user can apply, and the proof that they helped.
//!
//! [`CommonRate`] is study E's search for one spin rate of a chain; [`apply_common_rate`] and [`apply_arrival`] write the
//! tuned workload; [`prove`] runs both in turns.

mod apply;
mod common_rate;
mod measured;
mod prove;
mod spread;

pub use apply::{apply_arrival, apply_common_rate, ApplyError, Change, Tuned};
pub use common_rate::{ChainNode, CommonRate, ObjectiveCurve, ObjectivePoint, OtherNode, SearchError};
pub use measured::{common_rate, computation, computation_of_work, Computation, MeasureError};
pub use prove::{prove, Candidate, Pair, Proof, ProveError, RepeatFigures, Side};
pub use spread::Spread;
