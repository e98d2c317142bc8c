//! The figures as plain text for a terminal: `tacho explain`, and the before/after of a tuning.
//!
//! An en dash is a figure that was not measured. All text of a trace comes in by `line` and by the rows of tables,
//! which make its control characters visible, so that it can neither steer the terminal nor forge a line.

mod actions;
mod bag;
mod before_after;
mod boards;
mod callbacks;
mod causes;
mod findings;
mod layers;
mod lifecycle;
mod point;
mod provenance;
mod quality;
mod services;
mod steps;
mod sweep;
mod table;
mod threads;
mod topics;
mod verdict;

pub use table::{shorten, Column, Table};

use std::fmt::Write;
use tacho_events::run::RunInfo;
use tacho_printing::{once, once_with, visible};
use tacho_tables::summary::{ChainFigures, Distribution, Summary, WindowFigures};
use tacho_tables::{Note, Parts};

/// Not measured.
const ABSENT: &str = "–";
/// Chains that are reported beside the one that is explained.
const OTHER_CHAINS: usize = 20;
/// Callbacks, and topics, that are reported, where there are more.
const ROWS_TOLD: usize = 40;
/// Least width that the tables are laid out for.
const NARROWEST: usize = 60;
/// The parts of an end-to-end time, as they follow each other on the way from a publication to the next, with the
/// mark and the ANSI colour of each.
const PARTS: [(&str, char, u8); 7] = [
    ("computation", '█', 34),
    (OFF_CPU, '▤', 90),
    (PREEMPTION, '▞', 31),
    ("transport", '▓', 36),
    ("alignment", '░', 33),
    ("queueing", '▒', 35),
    (KEPT, '·', 32),
];

/// The part that is known only with CPU time, and left out without.
const OFF_CPU: &str = "off CPU";
/// The part that is known only with scheduler events, and left out without.
const PREEMPTION: &str = "preemption";
/// The part that few systems have, and left out where none has.
const KEPT: &str = "kept";

/// What the text is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Characters a line; fewer than 60 count as 60.
    pub width: usize,
    /// Whether to use ANSI colours.
    pub colour: bool,
    /// Whether to print all tables, all their rows and all cases of every finding; else the verdict, its chain, and the
    /// worst cases.
    pub whole: bool,
}

impl Default for Terminal {
    /// 100 characters a line, no colour: what a log or a pipe gets.
    fn default() -> Self {
        Terminal { width: 100, colour: false, whole: false }
    }
}

/// [`Terminal::explain`] without colour, 100 characters wide.
pub fn render_explain(summary: &Summary, info: &RunInfo) -> String {
    Terminal::default().explain(summary, info)
}

/// [`Terminal::before_after`] without colour, 100 characters wide.
pub fn render_before_after(runs: &[(&str, &Summary)]) -> String {
    Terminal::default().before_after(runs, None)
}

impl Terminal {
    /// That a table does not have all rows, and which it has.
    fn and_more(&self, out: &mut String, more: usize, those: &str) {
        if more > 0 {
            self.line(out, &format!("and {more} more: these {those}, --all shows all"));
        }
    }

    /// Where the time of one run goes: its critical chain, the other chains, its communication, callbacks, topics,
    /// notes. Of a sweep its points; what is more stands in the run directory of each.
    pub fn explain(&self, summary: &Summary, info: &RunInfo) -> String {
        self.explain_chain(summary, info, None)
    }

    /// The same, with the chain of this name in the place of the critical one.
    pub fn explain_chain(&self, summary: &Summary, info: &RunInfo, name: Option<&str>) -> String {
        let mut out = String::new();
        if name.is_none() {
            self.verdict_of(&mut out, summary);
        }
        provenance::provenance(info).iter().for_each(|text| self.line(&mut out, text));
        if summary.points.len() > 1 {
            self.points(&mut out, &summary.points);
            self.notes(&mut out, &summary.notes, info);
            return out;
        }
        let window = summary.window.as_ref().and_then(WindowFigures::sentence);
        window.iter().for_each(|text| self.line(&mut out, text));
        self.in_doubt(&mut out, summary);
        let shown = |chain: &&ChainFigures| name.map_or(chain.critical, |name| chain.name == name);
        let worst = |chain: &&ChainFigures| chain.end_to_end_ms.as_ref().map_or(f64::NEG_INFINITY, |d| d.max);
        let told = summary.chains.iter().filter(shown).max_by(|a, b| worst(a).total_cmp(&worst(b)));
        match told {
            Some(chain) => self.chain(&mut out, chain, name.is_some()),
            None if !summary.bag_topics.is_empty() => {}
            None => {
                let why =
                    if summary.chains.is_empty() { "No chain was seen." } else { "No chain has an end-to-end time." };
                out.push('\n');
                self.line(&mut out, why);
            }
        }
        self.findings(&mut out, summary.findings.as_deref());
        summary.points.iter().for_each(|point| self.point(&mut out, point));
        self.quality(&mut out, summary);
        self.bag_topics(&mut out, &summary.bag_topics);
        let mut rest = String::new();
        self.tables(&mut rest, summary, summary.chains.iter().filter(|chain| !shown(chain)));
        let is_short = !self.whole && told.is_some() && summary.verdict.is_some();
        if !is_short {
            out.push_str(&rest);
        }
        self.notes(&mut out, &summary.notes, info);
        if is_short && !rest.is_empty() {
            out.push('\n');
            self.line(&mut out, &format!("--all shows the rest: {}.", rest_of(summary)));
        }
        out
    }

    /// What is of the whole system, not of one chain.
    fn tables<'s>(&self, out: &mut String, summary: &'s Summary, chains: impl Iterator<Item = &'s ChainFigures>) {
        self.other_chains(out, chains);
        self.callbacks(out, summary);
        self.executors(out, &summary.executors);
        self.preemptors(out, &summary.preemptors);
        self.topics(out, summary);
        self.layers(out, &summary.layers);
        self.services(out, &summary.services);
        self.actions(out, &summary.actions);
        self.lifecycle(out, &summary.lifecycle);
    }

    /// The end of `tacho record`: the verdict, what makes its figures doubtful, and notes; `None` for a run without a
    /// verdict.
    pub fn closing(&self, summary: &Summary, info: &RunInfo) -> Option<String> {
        let mut out = self.verdict(summary.verdict.as_ref()?);
        self.in_doubt(&mut out, summary);
        self.notes(&mut out, &summary.notes, info);
        Some(out)
    }

    /// What is left out below because messages could not be linked, before anything that is reported.
    fn in_doubt(&self, out: &mut String, summary: &Summary) {
        for note in summary.in_doubt() {
            out.push('\n');
            self.line(out, &format!("In doubt: {} {}.", note.count, note.text));
        }
    }

    /// `asked`: with what ties its outputs to its inputs, since somebody asked for this chain.
    fn chain(&self, out: &mut String, chain: &ChainFigures, asked: bool) {
        let which = if chain.critical { "Critical chain" } else { "Chain" };
        let ends = format!(" ({})", ends(chain));
        let named_so = ends.replace('/', "").contains(&chain.name.replace('/', ""));
        self.heading(out, &format!("{which} {}{}", chain.name, if named_so { "" } else { &ends }));
        let nodes: Vec<_> = chain.path.iter().step_by(2).map(String::as_str).collect();
        self.line(out, &nodes.join(" -> "));
        self.line(out, &format!("{} instances, {} inputs without an output.", chain.instances, chain.lost));
        if self.whole && !chain.callbacks.is_empty() {
            self.line(out, &format!("Callbacks: {}.", chain.callbacks.join(" -> ")));
        }
        if !chain.evidence.is_empty() {
            self.line(out, &format!("How outputs were tied to inputs: {}.", chain.evidence));
        }
        if !chain.guessed_at.is_empty() {
            let nodes = chain.guessed_at.join(", ");
            self.line(
                out,
                &format!("It rests on a guess at {nodes}: state the link there in a links file (--suggest, --links)."),
            );
        }
        if let Some(within) = chain.clock_uncertainty_ms {
            self.line(
                out,
                &format!("It runs over several hosts: a time between two of them is right to +- {within:.3} ms."),
            );
        }
        if let Some(repeats) = repeat_range(chain) {
            self.line(out, &format!("{repeats}."));
        }
        let mut table = Table::new([
            Column::text("ms"),
            Column::number("mean"),
            Column::number("min"),
            Column::number("median"),
            Column::number("p99"),
            Column::number("worst"),
            Column::number("share"),
        ]);
        let whole = chain.end_to_end_ms.as_ref();
        let mut row = |name: &str, part: Option<&Distribution>| {
            let mut cells = vec![name.to_owned()];
            cells.extend(figures(part, |d| [d.mean, d.min, d.median, d.p99, d.max], 2));
            let share = part
                .zip(whole)
                .filter(|(_, whole)| whole.mean > 0.0)
                .map(|(part, whole)| 100.0 * part.mean / whole.mean);
            cells.push(share.map_or(ABSENT.into(), |share| format!("{share:.1} %")));
            table.row(cells);
        };
        row("end to end", whole);
        for ((name, ..), part) in PARTS.iter().zip(parts(chain)) {
            if is_shown(name, &[chain]) {
                row(&format!("  {name}"), part);
            }
        }
        for (name, part) in [
            ("reaction time", &chain.reaction_time_ms),
            ("data age", &chain.data_age_ms),
            ("data age, held", &chain.data_age_held_ms),
        ] {
            let mut cells = vec![name.to_owned()];
            cells.extend(figures(part.as_ref(), |d| [d.mean, d.min, d.median, d.p99, d.max], 2));
            cells.push(String::new());
            if part.is_some() {
                table.row(cells);
            }
        }
        out.push('\n');
        out.push_str(&table.render(self.width()));
        if let Some(whole) = whole {
            let bar = self.bar(&part_means(Some(chain)), whole.mean, self.width());
            let _ = writeln!(out, "\n{bar}\n{}", self.legend(&[chain]));
        }
        if asked || self.whole {
            self.links(out, chain);
        }
        self.worst(out, chain);
        self.lost_inputs(out, chain);
    }

    /// A row for all paths between the same two ends, as the worst of them is; the worst rows first.
    fn other_chains<'s>(&self, out: &mut String, chains: impl Iterator<Item = &'s ChainFigures>) {
        let worst = |chain: &ChainFigures| chain.end_to_end_ms.as_ref().map_or(f64::NEG_INFINITY, |d| d.max);
        let mut rows: Vec<(&ChainFigures, usize)> = Vec::new();
        for chain in chains {
            match rows.iter_mut().find(|(known, _)| known.name == chain.name) {
                Some((known, paths)) => {
                    *paths += 1;
                    *known = if worst(chain) > worst(known) { chain } else { known };
                }
                None => rows.push((chain, 1)),
            }
        }
        rows.sort_by(|(a, _), (b, _)| worst(b).total_cmp(&worst(a)));
        let mut table = Table::new([
            Column::text("chain"),
            Column::number("paths"),
            Column::number("instances"),
            Column::number("lost"),
            Column::number("mean ms"),
            Column::number("worst ms"),
            Column::number("reaction ms"),
        ]);
        let told = self.most(OTHER_CHAINS);
        for (chain, paths) in rows.iter().take(told) {
            let whole = chain.end_to_end_ms.as_ref();
            table.row(vec![
                marked(chain),
                paths.to_string(),
                chain.instances.to_string(),
                chain.lost.to_string(),
                number(whole.map(|d| d.mean), 2),
                number(whole.map(|d| d.max), 2),
                number(chain.reaction_time_ms.as_ref().map(|d| d.max), 2),
            ]);
        }
        self.section(
            out,
            "Other chains (of several paths the worst; --chain NAME explains one; reaction: the longest)",
            table,
        );
        if rows.len() > told {
            self.line(out, &format!("and {} more: --all shows them", rows.len() - told));
        }
    }

    fn notes(&self, out: &mut String, notes: &[Note], info: &RunInfo) {
        if notes.is_empty() && info.missing.is_empty() && info.failed_starts.is_empty() && !info.cut_short {
            return;
        }
        self.heading(out, "Notes");
        if info.cut_short {
            self.line(out, "- the run was cut short: figures are of what is there");
        }
        for missing in once(&info.missing) {
            self.line(out, &format!("- missing: {missing}"));
        }
        for death in once(&info.failed_starts) {
            self.line(out, &format!("- started again, as nothing was measured yet: {death}"));
        }
        for (name, count, text) in
            once_with(notes.iter().map(|note| (note.name.clone(), note.count, note.text.clone())))
        {
            self.line(out, &format!("- {name} ({count}): {text}"));
        }
    }

    fn section(&self, out: &mut String, title: &str, table: Table) {
        if !table.is_empty() {
            self.heading(out, title);
            out.push_str(&table.render(self.width()));
        }
    }

    fn heading(&self, out: &mut String, text: &str) {
        out.push('\n');
        let start = out.len();
        self.line(out, text);
        if self.colour {
            out.insert_str(start, "\x1b[1m");
            out.insert_str(out.len() - 1, "\x1b[0m");
        }
    }

    /// Writes words, broken at the width; further lines are indented. Line ends in them are foreign: they do not begin
    /// a line.
    fn line(&self, out: &mut String, text: &str) {
        self.hanging(out, text, 2);
    }

    /// The same with further lines indented by so many characters.
    fn hanging(&self, out: &mut String, text: &str, indent: usize) {
        let start = text.len() - text.trim_start_matches(' ').len();
        let _ = write!(out, "{:start$}", "");
        let mut at = start;
        for word in visible(&text[start..]).split(' ') {
            let length = word.chars().count();
            if at > indent && at + 1 + length > self.width() {
                let _ = write!(out, "\n{:indent$}", "");
                at = indent;
            } else if at > start {
                out.push(' ');
                at += 1;
            }
            out.push_str(word);
            at += length;
        }
        out.push('\n');
    }

    /// The parts one after another, `longest` ms being `width` characters. Rounded at each border, so that errors do
    /// not add up.
    fn bar(&self, parts: &[Option<f64>; 7], longest: f64, width: usize) -> String {
        let (mut bar, mut drawn, mut sum) = (String::new(), 0, 0.0);
        for ((_, mark, ansi), part) in PARTS.iter().zip(parts) {
            sum += part.unwrap_or(0.0);
            let end = if longest > 0.0 { (sum / longest * width as f64).round() as usize } else { 0 }.min(width);
            let piece = mark.to_string().repeat(end.saturating_sub(drawn));
            drawn = drawn.max(end);
            if self.colour && !piece.is_empty() {
                let _ = write!(bar, "\x1b[{ansi}m{piece}\x1b[0m");
            } else {
                bar.push_str(&piece);
            }
        }
        bar
    }

    fn legend(&self, chains: &[&ChainFigures]) -> String {
        let entry = |(name, mark, ansi)| match self.colour {
            true => format!("\x1b[{ansi}m{mark}\x1b[0m {name}"),
            false => format!("{mark} {name}"),
        };
        shown_parts(chains).map(entry).collect::<Vec<_>>().join("   ")
    }

    fn width(&self) -> usize {
        self.width.max(NARROWEST)
    }

    /// Rows that are told of so many: all where all are asked for.
    fn most(&self, usually: usize) -> usize {
        if self.whole {
            usize::MAX
        } else {
            usually
        }
    }

    /// The rows that are shown, and how many are not: of more than [`ROWS_TOLD`] worst first, and the worst unless all
    /// are asked for; else all in their order.
    fn told<'r, T>(&self, rows: &'r [T], badness: impl Fn(&T) -> f64) -> (Vec<&'r T>, usize) {
        let mut told: Vec<&T> = rows.iter().collect();
        if told.len() > ROWS_TOLD {
            told.sort_by(|a, b| badness(b).total_cmp(&badness(a)));
        }
        let most = self.most(ROWS_TOLD);
        let more = told.len().saturating_sub(most);
        told.truncate(most);
        (told, more)
    }
}

/// Whether a part is told of these chains: one that only some runs have where one of them has it.
fn is_shown(name: &str, chains: &[&ChainFigures]) -> bool {
    let mut parts = chains.iter().filter_map(|chain| chain.parts.as_ref());
    match name {
        OFF_CPU => parts.any(|parts| parts.off_cpu.is_some()),
        PREEMPTION => parts.any(|parts| parts.preemption.is_some()),
        KEPT => parts.any(|parts| parts.kept.as_ref().is_some_and(|kept| kept.max > 0.0)),
        _ => true,
    }
}

/// Those of [`PARTS`] that are told of these chains.
fn shown_parts<'c>(chains: &'c [&ChainFigures]) -> impl Iterator<Item = (&'static str, char, u8)> + 'c {
    PARTS.into_iter().filter(move |(name, ..)| is_shown(name, chains))
}

/// In the order of [`PARTS`].
fn parts(chain: &ChainFigures) -> [Option<&Distribution>; 7] {
    chain.parts.as_ref().map_or([None; 7], Parts::each)
}

fn part_means(chain: Option<&ChainFigures>) -> [Option<f64>; 7] {
    chain.map_or([None; 7], |chain| parts(chain).map(|part| part.map(|d| d.mean)))
}

/// Spread of the repeats' means, where there are several.
fn repeat_range(chain: &ChainFigures) -> Option<String> {
    let means = chain.repeat_means_ms.as_ref().filter(|means| means.count > 1)?;
    Some(format!("Means of {} repeats: {:.2} to {:.2} ms", means.count, means.min, means.max))
}

/// Its name, marked where it rests on a guess.
fn marked(chain: &ChainFigures) -> String {
    format!("{}{}", chain.name, if chain.guessed_at.is_empty() { "" } else { " (a guess)" })
}

fn ends(chain: &ChainFigures) -> String {
    tacho_tables::ends::ends(&chain.path).unwrap_or_else(|| ABSENT.into())
}

/// Names of the tables that a short explanation leaves out.
fn rest_of(summary: &Summary) -> String {
    let tables = [
        ("other chains", summary.chains.len() > 1),
        ("callbacks", !summary.callbacks.is_empty()),
        ("threads", !summary.executors.is_empty() || !summary.preemptors.is_empty()),
        ("topics", !summary.topics.is_empty()),
        ("layers", !summary.layers.is_empty()),
        ("services", !summary.services.is_empty()),
        ("actions", !summary.actions.is_empty()),
        ("states of managed nodes", !summary.lifecycle.is_empty()),
        ("which input made which output", true),
    ];
    tables.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect::<Vec<_>>().join(", ")
}

/// A count that may not be known.
fn count(value: Option<u64>) -> String {
    value.map_or(ABSENT.into(), |value| value.to_string())
}

fn figures<const N: usize>(
    of: Option<&Distribution>,
    pick: impl Fn(&Distribution) -> [f64; N],
    decimals: usize,
) -> [String; N] {
    of.map_or_else(|| [(); N].map(|()| ABSENT.to_owned()), |of| pick(of).map(|value| number(Some(value), decimals)))
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or(ABSENT.into(), |value| format!("{value:.decimals$}"))
}
