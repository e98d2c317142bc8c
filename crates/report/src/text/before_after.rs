//! Several runs of one system beside each other.

use super::{ends, figures, is_shown, number, part_means, repeat_range, shown_parts, table, Terminal, ABSENT, PARTS};
use crate::comparison::compare;
use std::fmt::Write;
use table::{Column, Table};
use tacho_printing::visible;
use tacho_tables::summary::{ChainFigures, Summary};

impl Terminal {
    /// The same chain in several runs, the first being the one to compare with: that of this name, else the critical
    /// one.
    pub fn before_after(&self, runs: &[(&str, &Summary)], tuned: Option<&str>) -> String {
        let mut out = String::new();
        let summaries: Vec<&Summary> = runs.iter().map(|(_, summary)| *summary).collect();
        let compared = compare(&summaries, tuned);
        let figures_of = |run: usize, chain: Option<usize>| chain.map(|chain| &summaries[run].chains[chain]);
        let first = compared.first().and_then(|first| figures_of(0, first.chain));
        let Some(chain) = first.filter(|chain| chain.end_to_end_ms.is_some()) else {
            self.line(&mut out, "Nothing to compare: the first run has no chain with an end-to-end time.");
            return out;
        };
        let same: Vec<_> =
            (0..).zip(runs).map(|(run, (label, _))| (*label, figures_of(run, compared[run].chain))).collect();
        self.heading(&mut out, &format!("End to end, {} ({}), ms", chain.name, ends(chain)));
        let found: Vec<&ChainFigures> = same.iter().filter_map(|(_, chain)| *chain).collect();
        let mut table = Table::new(
            ["run", "instances", "mean", "p99", "worst"]
                .iter()
                .enumerate()
                .map(|(i, name)| if i == 0 { Column::text(name) } else { Column::number(name) })
                .chain(shown_parts(&found).map(|(name, ..)| Column::number(name)))
                .chain([Column::number("gain")]),
        );
        for ((label, chain), compared) in same.iter().zip(&compared) {
            let whole = chain.and_then(|c| c.end_to_end_ms.as_ref());
            let mut cells = vec![label.to_string(), chain.map_or(ABSENT.into(), |c| c.instances.to_string())];
            cells.extend(figures(whole, |d| [d.mean, d.p99, d.max], 2));
            let parts = PARTS.iter().zip(part_means(*chain)).filter(|((name, ..), _)| is_shown(name, &found));
            cells.extend(parts.map(|(_, mean)| number(mean, 2)));
            cells.push(compared.gain.map_or(ABSENT.into(), |gain| format!("{gain:.2}x")));
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
        let _ = writeln!(out, "{:labels$}  {}", "", self.legend(&found));
        for (label, chain) in &same {
            if let Some(repeats) = chain.and_then(repeat_range) {
                self.line(&mut out, &format!("{label}: {repeats}"));
            }
        }
        for (run, compared) in compared.iter().enumerate() {
            let label = runs[run].0;
            if compared.chain.is_none() {
                self.line(&mut out, &format!("{label}: has no chain with the path of {}", chain.name));
            } else if let Some(other) = figures_of(run, compared.other_critical).filter(|_| chain.critical) {
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
