//! Reports what is wrong with a sweep: each finding once, with the points that it concerns.

use crate::diagnostic::{Diagnostic, Report, Severity};
use std::collections::BTreeMap;

type Parameters = BTreeMap<String, String>;

/// Findings over all points.
#[derive(Default)]
pub(crate) struct Findings {
    points: Vec<Parameters>,
    /// Each finding with the points that have it.
    found: Vec<(Diagnostic, Vec<usize>)>,
}

impl Findings {
    /// Adds the findings of the next point.
    pub fn add(&mut self, report: Report, parameters: &Parameters) {
        let point = self.points.len();
        self.points.push(parameters.clone());
        for diagnostic in report.errors.into_iter().chain(report.warnings) {
            match self.found.iter_mut().find(|(known, _)| *known == diagnostic) {
                // A finding that occurs twice at one place of one point counts once.
                Some((_, points)) if points.last() == Some(&point) => {}
                Some((_, points)) => points.push(point),
                None => self.found.push((diagnostic, vec![point])),
            }
        }
    }

    /// Reports each finding, with its points unless it concerns all.
    pub fn finish(self, points: usize, report: &mut Report) {
        for (mut diagnostic, of) in self.found {
            if of.len() < points {
                diagnostic.message.push_str(&where_it_is(&of, &self.points));
            }
            match diagnostic.severity {
                Severity::Error => report.errors.push(diagnostic),
                Severity::Warning => report.warnings.push(diagnostic),
            }
        }
    }
}

/// Names the values that these points share and no other point has; otherwise the number of points, and the first one.
fn where_it_is(of: &[usize], points: &[Parameters]) -> String {
    let mut common = points[of[0]].clone();
    for point in of {
        common.retain(|name, value| points[*point].get(name) == Some(value));
    }
    let has_common = |point: &&Parameters| common.iter().all(|(name, value)| point.get(name) == Some(value));
    if !common.is_empty() && points.iter().filter(has_common).count() == of.len() {
        return format!(", where {}", written(&common));
    }
    format!(", at {} of {} points, first where {}", of.len(), points.len(), written(&points[of[0]]))
}

fn written(parameters: &Parameters) -> String {
    parameters.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join(", ")
}
