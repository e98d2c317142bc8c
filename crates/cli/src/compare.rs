//! `tacho compare`

use crate::exit::{Failure, Outcome};
use crate::options::Compare;
use crate::{analysis, explain, runs};
use anyhow::Context;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tacho_compare::{history, junit, markdown, Compared, Comparison, Figure, Options, Side, Subject, Verdict};
use tacho_events::run::RunDirectory;
use tacho_printing::Lines;
use tacho_report::{Column, Table};
use tacho_workload::expect;

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a Comparison>,
    expectations: &'a [tacho_compare::Outcome],
}

pub fn run(options: Compare) -> Outcome {
    let (before, after) = sides(&options)?;
    let expectations = match &options.expect {
        Some(path) => expect::parse(&runs::read_text(path)?, &path.display().to_string())?,
        None => Vec::new(),
    };
    let judged = before.map(read).transpose()?;
    let held = read(after)?;
    let comparison = judged.as_ref().map(|before| {
        let wanted = |subject: &Subject, name: &str| is_wanted(&options.only, subject, name);
        let how = Options { matters: options.matters, alpha: options.false_alarms };
        tacho_compare::compare(&figures_of(before), &figures_of(&held), how, &wanted)
    });
    let outcomes = tacho_compare::expected(&expectations, &figures_of(&held)).map_err(Failure::Usage)?;

    if let Some(comparison) = &comparison {
        if comparison.figures.is_empty() {
            return Err(Failure::Usage(nothing_in_common(comparison, &options.only)));
        }
    }
    if let Some(path) = &options.junit {
        write(path, &junit::junit(comparison.as_ref(), &outcomes))?;
    }
    if let Some(path) = &options.markdown {
        write(path, &markdown::markdown(comparison.as_ref(), &outcomes))?;
    }
    if let Some(path) = &options.history {
        let added = history::add(path, &entries(held, &options.version_of)).map_err(|error| match error {
            history::Error::NotAHistory { .. } => Failure::Usage(error.to_string()),
            error => Failure::Fault(error.into()),
        })?;
        eprintln!("tacho: {}: {added} runs added", path.display());
    }
    if options.json {
        runs::print_json(&Printed { comparison: comparison.as_ref(), expectations: &outcomes })?;
    } else {
        let mut text = comparison.as_ref().map(|found| described(found, options.all)).unwrap_or_default();
        outcomes.iter().for_each(|outcome| text += &format!("{}\n", tacho_printing::visible(&outcome.text)));
        runs::print(&Lines::composed(&text))?;
    }
    let worse = comparison.is_some_and(|found| found.count(Verdict::Worse) > 0);
    match worse || outcomes.iter().any(|outcome| !outcome.kept) {
        true => Err(Failure::Code(1)),
        false => Ok(()),
    }
}

/// The paths before, absent for one side alone, and those after.
fn sides(options: &Compare) -> Result<(Option<&[PathBuf]>, &[PathBuf]), Failure> {
    match (options.runs.as_slice(), options.after.as_slice()) {
        ([_], []) if options.expect.is_some() || options.history.is_some() => Ok((None, &options.runs)),
        ([_], []) => Err(Failure::Usage(
            "one run has nothing to be compared with; expected a second run, --expect FILE or --history FILE".into(),
        )),
        ([before, after], []) => Ok((Some(std::slice::from_ref(before)), std::slice::from_ref(after))),
        (several, []) => Err(Failure::Usage(format!(
            "{} runs, and nothing says which are before and which after; expected -- between them",
            several.len()
        ))),
        (before, after) => Ok((Some(before), after)),
    }
}

/// One run: where it is, and its figures.
struct Read {
    run: RunDirectory,
    figures: Vec<Figure>,
}

/// The runs of a side: of a sweep those of each point, of a run with repeats the repeats.
fn read(paths: &[PathBuf]) -> Result<Vec<Read>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        let run = runs::open(path)?;
        let points = run.points().with_context(|| path.display().to_string())?;
        for whole in if points.is_empty() { vec![run] } else { points } {
            if !whole.path().join("run.json").is_file() {
                eprintln!("tacho: {}: was not run, and is left out", whole.path().display());
                continue;
            }
            let repeats = whole.repeats().with_context(|| whole.path().display().to_string())?;
            for one in if repeats.is_empty() { vec![whole] } else { repeats } {
                let summary = analysis::shown(|progress| tacho_figures::read_figures(&one, None, None, progress))?;
                found.push(Read { figures: tacho_compare::figures(&summary), run: one });
            }
        }
    }
    Ok(found)
}

fn figures_of(read: &[Read]) -> Side {
    read.iter().map(|one| one.figures.clone()).collect()
}

fn is_wanted(only: &[String], subject: &Subject, name: &str) -> bool {
    only.is_empty() || only.iter().any(|text| format!("{subject} {name}").contains(text))
}

fn nothing_in_common(comparison: &Comparison, only: &[String]) -> String {
    let list = |of: &[String]| match of {
        [] => "none".to_owned(),
        some => some.iter().take(5).cloned().collect::<Vec<_>>().join(", "),
    };
    let chosen = if only.is_empty() { "" } else { ", of those that --only chooses" };
    format!(
        "both sides have no figure in common{chosen}; only before: {}; only after: {}",
        list(&comparison.only_before),
        list(&comparison.only_after)
    )
}

/// What a history has of each run.
fn entries(read: Vec<Read>, version: &str) -> Vec<history::Entry> {
    let entry = |Read { run, figures }: Read| history::Entry {
        time: run.info().map(|info| info.started_at).unwrap_or_default(),
        run: run.path().display().to_string(),
        version: version.to_owned(),
        figures,
    };
    read.into_iter().map(entry).collect()
}

/// The headline, a table of what changed, or of all figures, and what cannot be compared.
fn described(comparison: &Comparison, all: bool) -> String {
    let mut text = markdown::headline(comparison) + "\n";
    let is_shown = |of: &&Compared| all || matches!(of.verdict, Verdict::Worse | Verdict::Better);
    let headings = ["before", "after", "change", "p over all", "runs to decide"];
    let mut table = Table::new(
        [Column::text("verdict"), Column::words("figure")]
            .into_iter()
            .chain(headings.iter().map(|of| Column::number(of))),
    );
    for of in comparison.figures.iter().filter(is_shown) {
        table.row(vec![
            of.verdict.word().into(),
            format!("{} {}", of.subject, of.figure),
            markdown::value(of, of.median_before),
            markdown::value(of, of.median_after),
            markdown::percent(of),
            of.p_holm.map_or_else(String::new, |p| format!("{p:.4}")),
            of.runs_needed.map_or_else(String::new, |runs| runs.to_string()),
        ]);
    }
    if !table.is_empty() {
        text += &format!("\n{}", table.render(explain::terminal().width));
    }
    let undecided = comparison.figures.iter().filter(|of| of.verdict == Verdict::Undecided);
    let needed = undecided.clone().filter_map(|of| of.runs_needed).max();
    if let Some(runs) = needed {
        let many = undecided.filter(|of| of.runs_needed.is_none()).count();
        let rest = if many > 0 { format!(", all but {many}, which need more than 1000") } else { String::new() };
        text += &format!("\nAbout {runs} runs a side would decide what is undecided{rest}; --only needs fewer.\n");
    }
    for (side, names) in [("before", &comparison.only_before), ("after", &comparison.only_after)] {
        if !names.is_empty() {
            text += &format!("Only {side}: {}\n", tacho_printing::visible(&names.join(", ")));
        }
    }
    if !comparison.ambiguous.is_empty() {
        let names = comparison.ambiguous.join(", ");
        text +=
            &format!("Several things have the name, so they are not compared: {}\n", tacho_printing::visible(&names));
    }
    text
}

fn write(path: &Path, text: &str) -> Outcome {
    Ok(std::fs::write(path, text).with_context(|| path.display().to_string())?)
}
