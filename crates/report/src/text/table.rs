//! Aligned columns that fit a width.

use tacho_printing::visible;

/// Least width that a shortened column keeps.
const LEAST: usize = 8;
const GAP: &str = "  ";

/// A column: its header, and on which side its cells stand.
pub struct Column {
    header: String,
    number: bool,
}

impl Column {
    /// Left; shortened where the table is too wide.
    pub fn text(header: &str) -> Self {
        Column { header: header.into(), number: false }
    }

    /// Right; never shortened, since half a number is another number.
    pub fn number(header: &str) -> Self {
        Column { header: header.into(), number: true }
    }
}

/// Rows under columns.
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Without rows.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Table { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a row of as many cells as there are columns.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push(cells.iter().map(|cell| visible(cell).into_owned()).collect());
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
        for row in std::iter::once(&headers).chain(&self.rows) {
            let cells = row.iter().zip(&self.columns).zip(&widths).map(|((cell, column), &width)| {
                if column.number {
                    format!("{cell:>width$}")
                } else {
                    format!("{:<width$}", shorten(cell, width))
                }
            });
            out.push_str(cells.collect::<Vec<_>>().join(GAP).trim_end());
            out.push('\n');
        }
        out
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
        loop {
            let total = widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1);
            let widest = widths
                .iter()
                .enumerate()
                .filter(|&(i, &width)| !self.columns[i].number && width > LEAST)
                .max_by_key(|&(_, width)| *width)
                .map(|(i, _)| i);
            match widest {
                Some(i) if total > line => widths[i] -= 1,
                _ => return widths,
            }
        }
    }
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
        assert_eq!(table.render(24), "topic               sent\n/a/ve…indeed  1234567890\n/b                     1\n");
    }

    #[test]
    fn text_cannot_steer_the_terminal() {
        let mut table = Table::new([Column::text("topic")]);
        table.row(vec!["\u{1b}[2J/a\n\u{202e}b".into()]);
        assert_eq!(table.render(60), "topic\n\\x1b[2J/a\\n\\u{202e}b\n");
    }

    #[test]
    fn shortened_text_keeps_both_ends() {
        assert_eq!(shorten("/points_filtered", 9), "/poi…ered");
        assert_eq!(shorten("/points", 9), "/points");
        assert_eq!(shorten("/points", 0), "…");
    }
}
