//! Messages that are handed over inside their process and wanted outside of it as well come back through the middleware to the subscriptions
//! that got them through their buffers. rclcpp takes that copy and throws it away (`matches_any_intra_process_publishers`,
//! subscription.hpp): it is not received twice.

use crate::observe::{Observed, TakeSeen};
use crate::rows::Rows;
use std::collections::HashSet;

/// Drops such takes; whether there were any.
pub(super) fn drop(seen: &mut Observed) -> bool {
    if !seen.endpoints.iter().any(|endpoint| endpoint.is_buffered) {
        return false;
    }
    let is_copy = |take: &TakeSeen| {
        let publication = take.publication.map(|p| &seen.publications[p as usize]);
        let within = publication.is_some_and(|p| p.is_within && p.process == seen.process_of(take.endpoint));
        within && !take.intra_process && take.execution.is_none() && seen.endpoints[take.endpoint as usize].is_buffered
    };
    let copies: HashSet<u32> = seen.takes.iter().zip(0..).filter(|(take, _)| is_copy(take)).map(|(_, row)| row).collect();
    if copies.is_empty() {
        return false;
    }
    let kept = || (0..seen.takes.len() as u32).filter(|row| !copies.contains(row));
    let written = kept().zip(0..).filter_map(|(before, now)| Some((now, seen.ros1.written_ns(before)?)));
    seen.ros1.written = if seen.ros1.written.is_empty() { Rows::new() } else { written.collect() };
    seen.ros1.latched = kept().zip(0..).filter(|(before, _)| seen.ros1.latched.contains(before)).map(|(_, now)| now).collect();
    let takes: Rows<TakeSeen> = kept().map(|row| seen.takes[row as usize]).collect();
    seen.takes = takes;
    true
}
