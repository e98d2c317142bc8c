//! Several runs of one system beside each other.

use super::{ends, figures, number, is_shown, part_means, repeat_range, shown_parts, table, Terminal, ABSENT, PARTS};
use std::fmt::Write;
use table::{Column, Table};
use tacho_analysis::summary::{ChainFigures, Summary};
use tacho_printing::visible;

impl Terminal {
    /// The same chain in several runs, the first being the one to compare with.
    pub fn before_after(&self, runs: &[(&str, &Summary)]) -> String {
        let mut out = String::new();
        let Some(chain) = runs.first().and_then(|(_, first)| compared_chain(first)) else {
            self.line(&mut out, "Nothing to compare: the first run has no chain with an end-to-end time.");
            return out;
        };
        let same: Vec<_> = runs.iter().map(|(label, summary)| (*label, counterpart(chain, summary))).collect();
        self.heading(&mut out, &format!("End to end, {} ({}), ms", chain.name, ends(chain)));
        let compared: Vec<&ChainFigures> = same.iter().filter_map(|(_, chain)| *chain).collect();
        let mut table = Table::new(
            ["run", "instances", "mean", "p99", "worst"]
                .iter()
                .enumerate()
                .map(|(i, name)| if i == 0 { Column::text(name) } else { Column::number(name) })
                .chain(shown_parts(&compared).map(|(name, ..)| Column::number(name)))
                .chain([Column::number("gain")]),
        );
        let before = chain.end_to_end_ms.as_ref().map(|d| d.mean);
        for (label, chain) in &same {
            let whole = chain.and_then(|c| c.end_to_end_ms.as_ref());
            let mut cells = vec![label.to_string(), chain.map_or(ABSENT.into(), |c| c.instances.to_string())];
            cells.extend(figures(whole, |d| [d.mean, d.p99, d.max], 2));
            let parts = PARTS.iter().zip(part_means(*chain)).filter(|((name, ..), _)| is_shown(name, &compared));
            cells.extend(parts.map(|(_, mean)| number(mean, 2)));
            cells.push(match (before, whole) {
                (Some(before), Some(after)) if after.mean > 0.0 => format!("{:.2}x", before / after.mean),
                _ => ABSENT.into(),
            });
            table.row(cells);
        }
        out.push_str(&table.render(self.width()));
        out.push('\n');
        let longest =
            same.iter().filter_map(|(_, c)| Some(c.as_ref()?.end_to_end_ms.as_ref()?.mean)).fold(0.0, f64::max);
        let labels = same.iter().map(|(label, _)| visible(label).chars().count()).max().unwrap_or(0).min(30);
        for (label, chain) in &same {
            let bar = self.bar(&part_means(*chain), longest, self.width() - labels - 2);
            let _ = writeln!(out, "{:labels$}  {bar}", table::shorten(&visible(label), labels));
        }
        let _ = writeln!(out, "{:labels$}  {}", "", self.legend(&compared));
        for (label, chain) in &same {
            if let Some(repeats) = chain.and_then(repeat_range) {
                self.line(&mut out, &format!("{label}: {repeats}"));
            }
        }
        for ((label, summary), (_, found)) in runs.iter().zip(&same) {
            if found.is_none() {
                self.line(&mut out, &format!("{label}: has no chain with the path of {}", chain.name));
            } else if let Some(other) = summary.chains.iter().find(|c| c.critical && c.path != chain.path) {
                self.line(
                    &mut out,
                    &format!("{label}: its critical chain is another one, {} ({})", other.name, ends(other)),
                );
            }
        }
        for (label, summary) in runs {
            for note in &summary.notes {
                self.line(&mut out, &format!("{label}: {} ({}): {}", note.name, note.count, note.text));
            }
        }
        out
    }
}

/// The chain that runs are compared by: the critical one of the first run.
fn compared_chain(first: &Summary) -> Option<&ChainFigures> {
    first.chains.iter().find(|chain| chain.critical).filter(|chain| chain.end_to_end_ms.is_some())
}

/// The same chain in another run: the same path.
fn counterpart<'a>(chain: &ChainFigures, summary: &'a Summary) -> Option<&'a ChainFigures> {
    summary.chains.iter().find(|other| other.path == chain.path)
}
