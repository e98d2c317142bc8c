//! Expands one document to one for each point.

use super::axes::{self, Choice};
use super::parameters;
use crate::diagnostic::Report;
use crate::document::Yaml;

/// Most points of one sweep: a week of runs of one minute.
pub const MAX_POINTS: usize = 10_000;

/// The document of one point, without axes and parameters.
pub(crate) struct Expanded {
    pub root: Yaml,
    /// The chosen values, in the order of the axes.
    pub choices: Vec<Choice>,
}

/// Expands a document to all its points. Reports mistakes in the axes, and returns the points found until then.
pub(crate) fn expand(root: &Yaml, report: &mut Report) -> Vec<Expanded> {
    let parameters = parameters::read(root, report);
    let mut points = Vec::new();
    if !report.errors.is_empty() {
        return points;
    }
    let sizes: Vec<usize> = parameters.iter().map(|parameter| parameter.values.len()).collect();
    let combinations = sizes.iter().try_fold(1usize, |product, size| product.checked_mul(*size));
    let Some(combinations) = combinations.filter(|count| *count <= MAX_POINTS) else {
        too_many(root, report);
        return points;
    };
    for combination in 0..combinations {
        // The digits of the combination, in the mixed base of the sizes, the last parameter fastest.
        let mut rest = combination;
        let mut digits = vec![0; sizes.len()];
        for (digit, size) in digits.iter_mut().zip(&sizes).rev() {
            (*digit, rest) = (rest % size, rest / size);
        }
        let chosen =
            parameters.iter().zip(&digits).map(|(parameter, digit)| (parameter.name, &parameter.values[*digit]));
        let values: Vec<(&str, &Yaml)> = chosen.clone().map(|(name, (_, value))| (name, *value)).collect();
        let choices = chosen.map(|(name, (text, _))| Choice { path: name.into(), text: text.clone() }).collect();
        let document = Expanded { root: parameters::substitute(root, &values), choices };
        if !cross(document, &mut points, report) {
            break;
        }
    }
    points
}

/// Expands the first axis, then each resulting document. Returns false if there is no use in continuing.
fn cross(document: Expanded, points: &mut Vec<Expanded>, report: &mut Report) -> bool {
    let Some(axis) = axes::first(&document.root) else {
        if points.len() == MAX_POINTS {
            too_many(&document.root, report);
            return false;
        }
        points.push(document);
        return true;
    };
    let alternatives = axis.alternatives(&document.root);
    let labels: Vec<String> = alternatives
        .iter()
        .map(|(choices, _)| choices.iter().map(|choice| choice.text.as_str()).collect::<Vec<_>>().join(" "))
        .collect();
    let errors_before = report.errors.len();
    parameters::duplicates(labels.iter().map(String::as_str).zip(alternatives.iter().map(|(_, value)| value)), report);
    report.errors.len() == errors_before
        && alternatives.into_iter().all(|(choices, value)| {
            let root = axis.with(&document.root, value);
            let choices = [document.choices.clone(), choices].concat();
            cross(Expanded { root, choices }, points, report)
        })
}

fn too_many(root: &Yaml, report: &mut Report) {
    report.error(
        "too-many-points",
        root.span,
        "a sweep of too many points",
        format!("more than {MAX_POINTS} combinations"),
        format!("at most {MAX_POINTS}: fewer values, or several files"),
    );
}
