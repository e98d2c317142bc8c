//! Aligned columns that fit a width.

use tacho_printing::visible;
use tacho_tables::cut_left;

/// Least width that a shortened column keeps.
const LEAST: usize = 8;
/// Least width of a column of sentences, if a word of it is as long.
const LEAST_FOR_WORDS: usize = 40;
const GAP: &str = "  ";

/// A column: its header, and on which side its cells stand.
pub struct Column {
    header: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Words,
    Number,
}

impl Column {
    /// Left; shortened where the table is too wide.
    pub fn text(header: &str) -> Self {
        Column { header: header.into(), kind: Kind::Text }
    }

    /// Left; goes on in further lines where the table is too wide, so that no name in it is lost.
    pub fn words(header: &str) -> Self {
        Column { header: header.into(), kind: Kind::Words }
    }

    /// Right; never shortened, since half a number is another number.
    pub fn number(header: &str) -> Self {
        Column { header: header.into(), kind: Kind::Number }
    }
}

/// Rows under columns.
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    /// Of rows, by their number: a line below.
    notes: Vec<(usize, String)>,
}

impl Table {
    /// Without rows.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Table { columns: columns.into_iter().collect(), rows: Vec::new(), notes: Vec::new() }
    }

    /// Adds a row of as many cells as there are columns.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push(cells.iter().map(|cell| visible(cell).into_owned()).collect());
    }

    /// Adds a line below the last row; where it is too long, its beginning is left out.
    pub fn note(&mut self, text: &str) {
        self.notes.push((self.rows.len(), visible(text).into_owned()));
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table, no line longer than `width` as long as its numbers leave text columns of eight characters.
    pub fn render(&self, width: usize) -> String {
        let widths = self.widths(width);
        let mut out = String::new();
        let headers: Vec<String> = self.columns.iter().map(|column| column.header.clone()).collect();
        for (number, row) in std::iter::once(&headers).chain(&self.rows).enumerate() {
            let cells = row.iter().zip(&self.columns).zip(&widths);
            let cells: Vec<Vec<String>> = cells
                .map(|((cell, column), &width)| match column.kind {
                    Kind::Number => vec![format!("{cell:>width$}")],
                    Kind::Text => vec![shorten(cell, width)],
                    Kind::Words => broken(cell, width),
                })
                .collect();
            for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let of_line = cells.iter().zip(&widths).map(|(cell, &width)| {
                    let text = cell.get(line).map_or("", String::as_str);
                    format!("{text:<width$}")
                });
                out.push_str(of_line.collect::<Vec<_>>().join(GAP).trim_end());
                out.push('\n');
            }
            for (_, note) in self.notes.iter().filter(|(of, _)| number > 0 && *of == number) {
                out.push_str(&format!("{GAP}{}\n", cut_left(note, width.saturating_sub(GAP.len()))));
            }
        }
        out
    }

    /// The width that a column keeps.
    fn least(&self, column: usize) -> usize {
        if self.columns[column].kind != Kind::Words {
            return LEAST;
        }
        let words = self.rows.iter().flat_map(|row| row[column].split(' '));
        words.map(|word| word.chars().count()).max().unwrap_or(0).clamp(LEAST, LEAST_FOR_WORDS)
    }

    /// Natural widths, the widest text column shortened until the line fits.
    fn widths(&self, line: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self
            .columns
            .iter()
            .enumerate()
            .map(|(i, column)| {
                let cells = self.rows.iter().map(|row| row[i].chars().count());
                cells.chain([column.header.chars().count()]).max().unwrap_or(0)
            })
            .collect();
        let least: Vec<usize> = (0..self.columns.len()).map(|i| self.least(i)).collect();
        loop {
            let total = widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1);
            let widest = widths
                .iter()
                .enumerate()
                .filter(|&(i, &width)| self.columns[i].kind != Kind::Number && width > least[i])
                .max_by_key(|&(_, width)| *width)
                .map(|(i, _)| i);
            match widest {
                Some(i) if total > line => widths[i] -= 1,
                _ => return widths,
            }
        }
    }
}

/// Words in lines of at most `width` characters. A longer word loses its beginning.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let word = cut_left(word, width);
        let line = lines.last_mut().expect("one");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word);
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(&word);
        }
    }
    lines
}

/// `text` in at most `width` characters: its middle left out, since ROS names differ at both ends.
pub fn shorten(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let (head, tail) = (width.saturating_sub(1) / 2, width.saturating_sub(1).div_ceil(2));
    text.chars().take(head).chain(['…']).chain(text.chars().skip(length - tail)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_table_loses_text_and_keeps_numbers() {
        let mut table = Table::new([Column::text("topic"), Column::number("sent")]);
        table.row(vec!["/a/very/long/topic/name/indeed".into(), "1234567890".into()]);
        table.row(vec!["/b".into(), "1".into()]);
        let expected = "topic               sent\n/a/ve…indeed  1234567890\n/b                     1\n";
        assert_eq!(table.render(24), expected);
    }

    #[test]
    fn text_cannot_steer_the_terminal() {
        let mut table = Table::new([Column::text("topic")]);
        table.row(vec!["\u{1b}[2J/a\n\u{202e}b".into()]);
        assert_eq!(table.render(60), "topic\n\\x1b[2J/a\\n\\u{202e}b\n");
    }

    #[test]
    fn sentences_go_on_in_further_lines_and_a_note_stands_below_its_row() {
        let mut table = Table::new([Column::number("ms"), Column::words("cause"), Column::text("at")]);
        table.row(vec![
            "1".into(),
            "busy with /planner timer 100 ms Planner.reload_map (planner.py:42)".into(),
            "/a".into(),
        ]);
        table.note("nav::planning::Planner::reload_map (planner.cpp:7)");
        table.row(vec!["2".into(), "transport".into(), "/b".into()]);
        let expected = "ms  cause                         at
 1  busy with /planner timer 100  /a
    ms Planner.reload_map
    (planner.py:42)
  …anner::reload_map (planner.cpp:7)
 2  transport                     /b
";
        assert_eq!(table.render(36), expected, "{}", table.render(36));
        assert!(table.render(10).contains("Planner.reload_map"), "{}", table.render(10));
    }

    #[test]
    fn shortened_text_keeps_both_ends() {
        assert_eq!(shorten("/points_filtered", 9), "/poi…ered");
        assert_eq!(shorten("/points", 9), "/points");
        assert_eq!(shorten("/points", 0), "…");
    }
}
