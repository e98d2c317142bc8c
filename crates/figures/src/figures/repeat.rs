//! What figures are made of.

use tacho_analysis::Options;
use tacho_events::run::RunInfo;
use tacho_tables::Tables;

/// One run of a workload, analysed.
#[derive(Debug, Clone, Copy)]
pub struct Repeat<'a> {
    /// Its tables.
    pub tables: &'a Tables,
    /// The options they were made with.
    pub options: Options,
    /// Its `run.json`, where there is one.
    pub info: Option<&'a RunInfo>,
}
