//! Tables into figures and findings: `summary.json` of a run, of its repeats, of a sweep, and of the last seconds of a
//! run that goes on. `docs/figures.md` defines every figure, `docs/lints.md` every finding.

pub mod drive;
mod executor_cpu;
mod figures;
pub mod limits;
pub mod lints;
pub mod live;
mod runs;
mod summarise;
mod verdict;

pub use figures::Repeat;
pub use runs::{analyse_and_store, figures_of, figures_of_tables, figures_with, merge_points, store_bag};
pub use runs::{read_figures, whole, workload, ReadError, Whole};
pub use summarise::summarise;
