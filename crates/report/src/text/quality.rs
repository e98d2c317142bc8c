//! What tasks report of their quality.

use super::{number, table, Terminal};
use table::{Column, Table};
use tacho_tables::summary::QualityFigures;

impl Terminal {
    /// One value a figure; of repeats the least and the greatest.
    pub(super) fn quality(&self, out: &mut String, figures: &[QualityFigures]) {
        let repeated = figures.iter().any(|of| of.values.len() > 1);
        let mut columns = vec![Column::text("node"), Column::text("task"), Column::text("figure")];
        columns
            .extend(if repeated { vec!["least", "greatest"] } else { vec!["value"] }.into_iter().map(Column::number));
        let mut table = Table::new(columns);
        for of in figures {
            let least = of.values.iter().copied().reduce(f64::min);
            let greatest = of.values.iter().copied().reduce(f64::max);
            let mut row = vec![of.node.clone(), of.task.clone(), of.name.clone(), number(least, 3)];
            if repeated {
                row.push(number(greatest, 3));
            }
            table.row(row);
        }
        self.section(out, "Quality of tasks, as they report it", table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(name: &str, values: &[f64]) -> QualityFigures {
        let (node, task) = ("car".to_owned(), "vehicle".to_owned());
        QualityFigures { node, task, name: name.into(), values: values.into() }
    }

    fn rows(figures: &[QualityFigures]) -> Vec<Vec<String>> {
        let mut text = String::new();
        Terminal::default().quality(&mut text, figures);
        let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        text.lines().filter(|line| line.starts_with("car")).map(cells).collect()
    }

    #[test]
    fn one_run_has_a_value_and_repeats_have_the_least_and_the_greatest() {
        assert_eq!(rows(&[figure("error_max_m", &[0.25])]), [["car", "vehicle", "error_max_m", "0.250"]]);
        let repeated = rows(&[figure("error_max_m", &[0.5, 0.25, 1.0]), figure("lane_kept", &[1.0, 0.0, 1.0])]);
        assert_eq!(repeated[0][3..], ["0.250", "1.000"]);
        assert_eq!(repeated[1][3..], ["0.000", "1.000"]);
    }
}
