//! The run of an imported bag: its tables and its figures.

use crate::figures::Repeat;
use tacho_analysis::Error;
use tacho_analysis::Options;
use tacho_events::RunDirectory;
use tacho_tables::store;
use tacho_tables::summary::Summary;
use tacho_tables::Tables;

/// Writes the tables and figures of an imported bag into its run.
pub fn store(run: &RunDirectory, tables: &Tables) -> Result<Summary, Error> {
    let info = run.info().map_err(Error::Info)?;
    let summary =
        crate::summarise::summarise(&[Repeat { tables, options: Options::default(), info: Some(&info) }], None);
    store::write(&run.tables(), tables)?;
    store::write_summary(run, &summary)?;
    Ok(summary)
}
