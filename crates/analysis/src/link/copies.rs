//! Messages that are handed over inside their process and wanted outside of it as well come back through the middleware
//! to the subscriptions that got them through their buffers. rclcpp takes that copy and throws it away
//! (`matches_any_intra_process_publishers`, subscription.hpp): it is not received twice.

use super::ros1::Found;
use crate::observe::{Seen, TakeSeen};
use rustc_hash::FxHashSet as HashSet;
use tacho_tables::row::{rows_of, Row};
use tacho_tables::rows::Rows;

/// Drops such takes; whether there were any.
pub(super) fn drop(seen: &mut Seen, ros1: &mut Found) -> bool {
    if !seen.endpoints.iter().any(|endpoint| endpoint.is_buffered) {
        return false;
    }
    let is_copy = |take: &TakeSeen| {
        let publication = take.publication.map(|p| &seen.publications[p]);
        let within = publication.is_some_and(|p| p.is_within && p.process == seen.process_of(take.endpoint));
        within && !take.intra_process && take.execution.is_none() && seen.endpoints[take.endpoint].is_buffered
    };
    let copies: HashSet<Row<TakeSeen>> =
        seen.takes.numbered().filter(|(_, take)| is_copy(take)).map(|(row, _)| row).collect();
    if copies.is_empty() {
        return false;
    }
    let kept = || rows_of(&seen.takes).filter(|row| !copies.contains(row));
    let written = kept().zip(rows_of(&seen.takes)).filter_map(|(before, now)| Some((now, ros1.written_ns(before)?)));
    ros1.written = if ros1.written.is_empty() { Rows::new() } else { written.collect() };
    ros1.latched = kept()
        .zip(rows_of(&seen.takes))
        .filter(|(before, _)| ros1.latched.contains(before))
        .map(|(_, now)| now)
        .collect();
    let takes: Rows<TakeSeen> = kept().map(|row| seen.takes[row]).collect();
    seen.takes = takes;
    true
}
