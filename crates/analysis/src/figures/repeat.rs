//! What figures are made of.

use crate::Options;
use crate::tables::Tables;
use tacho_events::run::RunInfo;

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
