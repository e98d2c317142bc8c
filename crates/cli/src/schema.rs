//! `tacho schema`

use crate::exit::Outcome;
use crate::runs::print_json;

pub fn run() -> Outcome {
    print_json(&tacho_workload::schema())
}
