//! What tasks report of their quality.

use super::{number, table, Terminal};
use table::{Column, Table};
use tacho_tables::summary::{QualityFigures, ReactionFigures, ReactionStage, Summary};

impl Terminal {
    /// Figures of quality, and reactions to obstacles.
    pub(super) fn quality(&self, out: &mut String, summary: &Summary) {
        self.figures_of_quality(out, &summary.quality);
        self.reactions(out, &summary.reactions);
    }

    /// A sentence or two a reaction.
    fn reactions(&self, out: &mut String, reactions: &[ReactionFigures]) {
        if !reactions.is_empty() {
            self.heading(out, "Reactions to obstacles that came into the way");
        }
        for of in reactions {
            let ms = |stage: &ReactionStage| format!("{} {:.0} ms", stage.stage, stage.after_ms);
            let stages = of.stages.iter().map(ms).collect::<Vec<_>>().join(", ");
            let stages = if stages.is_empty() { "nothing followed".into() } else { stages };
            let way = |way: Option<f64>, to: &str| way.map(|m| format!("{m:.2} m {to}"));
            let ways = [
                way(of.reaction_way_m, "until it braked"),
                way(of.stop_way_m, "until it stood"),
                way(of.margin_m, "left"),
            ];
            let ways = ways.into_iter().flatten().collect::<Vec<_>>().join(", ");
            let ways = if ways.is_empty() { ways } else { format!(" {ways}.") };
            let text =
                format!("At {:.2} m/s with {:.2} m of free way: {stages}.{ways}", of.speed_m_per_s, of.free_way_m);
            self.line(out, &text);
        }
    }

    /// One value a figure; of repeats the least and the greatest.
    fn figures_of_quality(&self, out: &mut String, figures: &[QualityFigures]) {
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
        Terminal::default().figures_of_quality(&mut text, figures);
        let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        text.lines().filter(|line| line.starts_with("car")).map(cells).collect()
    }

    #[test]
    fn a_reaction_is_told_as_far_as_it_went() {
        let stage = |stage: &str, after_ms| ReactionStage { stage: stage.into(), node: "/n".into(), after_ms };
        let whole = ReactionFigures {
            speed_m_per_s: 10.0,
            free_way_m: 12.0,
            stages: vec![stage("sensed", 60.2), stage("braking", 120.0)],
            reaction_way_m: Some(1.2),
            stop_way_m: Some(7.45),
            margin_m: Some(4.55),
            ..ReactionFigures::default()
        };
        let none = ReactionFigures { speed_m_per_s: 3.0, free_way_m: 5.0, ..ReactionFigures::default() };
        let mut text = String::new();
        Terminal { width: 200, ..Terminal::default() }.reactions(&mut text, &[whole, none]);
        let found: Vec<&str> = text.lines().filter(|line| line.starts_with("At")).collect();
        assert_eq!(
            found,
            [
                "At 10.00 m/s with 12.00 m of free way: sensed 60 ms, braking 120 ms. 1.20 m until it braked, 7.45 m \
                 until it stood, 4.55 m left.",
                "At 3.00 m/s with 5.00 m of free way: nothing followed.",
            ]
        );
        text.clear();
        Terminal::default().reactions(&mut text, &[]);
        assert_eq!(text, "");
    }

    #[test]
    fn one_run_has_a_value_and_repeats_have_the_least_and_the_greatest() {
        assert_eq!(rows(&[figure("error_max_m", &[0.25])]), [["car", "vehicle", "error_max_m", "0.250"]]);
        let repeated = rows(&[figure("error_max_m", &[0.5, 0.25, 1.0]), figure("lane_kept", &[1.0, 0.0, 1.0])]);
        assert_eq!(repeated[0][3..], ["0.250", "1.000"]);
        assert_eq!(repeated[1][3..], ["0.000", "1.000"]);
    }
}
