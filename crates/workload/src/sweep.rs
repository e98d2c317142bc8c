//! Sweeps: one file, many workloads.
//!
//! Any key may hold a list if its value is not a list, and `sweep:` names parameters that `$name` refers to. Every such
//! list is an axis, and all axes cross: parameters first, then lists in the order of the file, the last fastest.

mod axes;
mod expand;
mod findings;
mod parameters;

pub use expand::MAX_POINTS;
pub(crate) use parameters::entry;

use crate::diagnostic::{Errors, Report, Span, Warning};
use crate::document::{self, Yaml};
use crate::grammar::Form;
use crate::model::Workload;
use crate::random::Draws;
use crate::short::{self, Overrides};
use crate::{check, read};
use axes::Choice;
use expand::Expanded;
use findings::Findings;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The expanded content of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// The file as it runs: its own text, or the result of the overrides.
    pub text: String,
    /// Whether the file has a short form, used or not.
    pub has_short: bool,
    /// The points, the last axis fastest; exactly one for a file without lists.
    pub points: Vec<SweepPoint>,
}

/// One workload of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepPoint {
    /// Number and values, unique in the sweep and usable as a folder name: `007-cyclonedds-64KiB-10Hz`.
    pub name: String,
    /// The varied values as written, by the last key of their path, or by the whole path if that is ambiguous.
    pub parameters: BTreeMap<String, String>,
    /// The workload of this point.
    pub workload: Workload,
}

/// Reads a workload file that may be a sweep. `file` is only how messages name it.
///
/// ```
/// let text = "
/// topology: {kind: one-to-many, nodes: [1, 31], size: [16 B, 64 KiB], rate: 10 Hz}
/// ";
/// let (sweep, _) = tacho_workload::sweep(text, "example.yaml", &Default::default())?;
/// assert_eq!(sweep.points.len(), 4);
/// assert_eq!(sweep.points[1].parameters["size"], "64 KiB");
/// assert_eq!(sweep.points[3].workload.nodes.len(), 32);
/// # Ok::<(), tacho_workload::Errors>(())
/// ```
pub fn sweep(text: &str, file: &str, overrides: &Overrides) -> Result<(Sweep, Vec<Warning>), Errors> {
    let mut report = Report::new(file, text);
    let read = match document::parse(text) {
        Err(error) => {
            report.error("not-yaml", error.span, error.message, error.found, error.expected);
            None
        }
        Ok(None) => {
            let start = Span { line: 1, column: 1, width: 1 };
            report.error("no-nodes", start, "an empty workload", "nothing", Form::Nodes.expected());
            None
        }
        Ok(Some(root)) => points(root, text, file, overrides, &mut report),
    };
    let (errors, warnings) = report.finish();
    match read {
        Some(sweep) if errors.is_empty() => Ok((sweep, warnings)),
        _ => Err(Errors { errors, warnings }),
    }
}

/// Returns the only workload of a file. If there are several, the error points at the first axis.
pub(crate) fn single(text: &str, file: &str, overrides: &Overrides) -> Result<(Workload, Vec<Warning>), Errors> {
    let (mut sweep, warnings) = sweep(text, file, overrides)?;
    if sweep.points.len() == 1 {
        return Ok((sweep.points.remove(0).workload, warnings));
    }
    let mut report = Report::new(file, text);
    let span = document::parse(text).ok().flatten().and_then(|root| first_axis(&root)).unwrap_or_default();
    report.error(
        "is-a-sweep",
        span,
        "a sweep where one workload is needed",
        format!("{} points", sweep.points.len()),
        "one value for each key; `tacho bench` runs sweeps",
    );
    let (errors, _) = report.finish();
    Err(Errors { errors, warnings })
}

fn first_axis(root: &Yaml) -> Option<Span> {
    let named = entry(root, "sweep").map(|yaml| yaml.span);
    let listed = axes::first(root).and_then(|axis| axis.at(root)).map(|yaml| yaml.span);
    [named, listed].into_iter().flatten().min_by_key(|span| (span.line, span.column))
}

fn points(mut root: Yaml, text: &str, file: &str, overrides: &Overrides, report: &mut Report) -> Option<Sweep> {
    let has_short = entry(&root, "short").is_some();
    let changed = short::apply(&mut root, overrides, report);
    let expanded = expand::expand(&root, report);
    if !report.errors.is_empty() {
        return None;
    }
    let names = short_names(&expanded);
    let width = expanded.len().saturating_sub(1).to_string().len().max(3);
    let mut findings = Findings::default();
    let mut points = Vec::new();
    for (index, Expanded { root, choices }) in expanded.into_iter().enumerate() {
        let parameters: BTreeMap<String, String> =
            choices.iter().map(|choice| (names[&choice.path].clone(), choice.text.clone())).collect();
        let mut of_point = Report::new(file, text);
        let reading = read::read(&root, &mut of_point);
        check::check(&reading, overrides.tasks.as_deref(), &mut of_point);
        findings.add(of_point, &parameters);
        let name = format!("{index:0width$}{}", folder_name(&choices));
        points.push(SweepPoint { name, parameters, workload: reading.workload });
    }
    findings.finish(points.len(), report);
    let text = if changed { document::write(&root) } else { text.to_string() };
    Some(Sweep { text, has_short, points })
}

/// Maps the path of every axis to the name of its parameter.
fn short_names(expanded: &[Expanded]) -> BTreeMap<String, String> {
    let paths: BTreeSet<&String> =
        expanded.iter().flat_map(|point| &point.choices).map(|choice| &choice.path).collect();
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_string();
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    paths.iter().for_each(|path| *ends.entry(last(path)).or_default() += 1);
    let name = |path: &String| if ends[&last(path)] == 1 { last(path) } else { path.clone() };
    paths.iter().map(|path| (path.to_string(), name(path))).collect()
}

/// Joins the values of a point by hyphens, without characters that file systems or shells treat specially.
fn folder_name(choices: &[Choice]) -> String {
    const LONGEST: usize = 80;
    let mut name = String::new();
    for choice in choices {
        let clean = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        // A quantity is one word, `64KiB`; other words stay separate, `ros2_udp`.
        let quantity = choice.text.starts_with(|c: char| c.is_ascii_digit());
        let value: String = choice.text.chars().filter(|c| !quantity || !c.is_whitespace()).map(clean).collect();
        let value = value.trim_matches('_');
        if !value.is_empty() && name.len() + value.len() < LONGEST {
            name.push('-');
            name.push_str(value);
        }
    }
    name
}

impl Sweep {
    /// The order of the runs: one round for each repeat, with all points that have this repeat, shuffled by the seed of
    /// the first point. Changes of the machine meanwhile (heat, other load) therefore affect all points alike and
    /// favour none.
    pub fn order(&self) -> Vec<(u32, usize)> {
        let most = self.points.iter().map(|point| point.workload.run.repeats).max().unwrap_or(0);
        let mut draws = Draws::new(self.points.first().map_or(0, |point| point.workload.run.seed));
        let mut order = Vec::new();
        for repeat in 0..most {
            let mut round: Vec<usize> =
                (0..self.points.len()).filter(|index| self.points[*index].workload.run.repeats > repeat).collect();
            // Fisher and Yates.
            for last in (1..round.len()).rev() {
                round.swap(last, (draws.bits() % (last as u64 + 1)) as usize);
            }
            order.extend(round.into_iter().map(|point| (repeat, point)));
        }
        order
    }

    /// Time that all runs measure, without starting, matching and warming up.
    pub fn measured(&self) -> Duration {
        self.points.iter().map(|point| point.workload.run.duration * point.workload.run.repeats).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Sweep {
        sweep(text, "w.yaml", &Overrides::default()).unwrap_or_else(|errors| panic!("{errors}")).0
    }

    #[test]
    fn every_round_holds_every_point_once_in_an_order_of_its_own() {
        let sweep = of("topology: {kind: pairs, nodes: [1, 2, 3, 4, 5, 6, 7, 8], rate: 10 Hz}\nrun: {repeats: 3}\n");
        let order = sweep.order();
        let rounds: Vec<Vec<usize>> =
            (0..3).map(|round| order.iter().filter(|(r, _)| *r == round).map(|(_, p)| *p).collect()).collect();
        for round in &rounds {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..8).collect::<Vec<_>>());
        }
        assert_ne!(rounds[0], rounds[1]);
        assert_eq!(order, sweep.order());
        assert!(order.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn no_point_is_favoured_with_an_early_turn() {
        // Over many seeds, each of five points comes first about as often.
        let mut first = [0; 5];
        for seed in 0..2000 {
            let text =
                format!("topology: {{kind: pairs, nodes: [1, 2, 3, 4, 5], rate: 10 Hz}}\nrun: {{seed: {seed}}}\n");
            first[of(&text).order()[0].1] += 1;
        }
        // 400 each; six standard deviations of a binomial are 107.
        assert!(first.iter().all(|count| (293..=507).contains(count)), "{first:?}");
    }

    #[test]
    fn points_with_fewer_repeats_leave_the_later_rounds() {
        let sweep = of("topology: {kind: pairs, nodes: 1, rate: 10 Hz}\nrun: {repeats: [1, 3], duration: 2 s}\n");
        assert_eq!(sweep.order()[2..], [(1, 1), (2, 1)]);
        assert_eq!(sweep.measured(), Duration::from_secs(8));
    }
}
