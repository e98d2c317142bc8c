//! Latency by layers (study A): what each costs, in the order in which a message passes them.

use super::{figures, table, Terminal};
use table::{Column, Table};
use tacho_tables::summary::{LayerFigures, LayerPart};

/// Topics that are reported, where there are more.
const TOPICS_TOLD: usize = 6;

impl Terminal {
    pub(super) fn layers(&self, out: &mut String, layers: &[LayerFigures]) {
        let mut table =
            Table::new(["layer", "messages", "mean us", "median us", "p99 us", "max us", "share"].map(|name| {
                if name == "layer" {
                    Column::text(name)
                } else {
                    Column::number(name)
                }
            }));
        let mut shown: Vec<&LayerFigures> = layers.iter().collect();
        if shown.len() > TOPICS_TOLD {
            shown.sort_by(|a, b| b.latency_us.mean.total_cmp(&a.latency_us.mean));
            shown.truncate(self.most(TOPICS_TOLD));
        }
        for of_topic in &shown {
            let whole = &of_topic.latency_us;
            let mut row = |name: String, messages: String, of: &_, share: String| {
                let mut cells = vec![name, messages];
                cells.extend(figures(Some(of), |d| [d.mean, d.median, d.p99, d.max], 1));
                cells.push(share);
                table.row(cells);
            };
            row(of_topic.topic.clone().unwrap_or_default(), of_topic.messages.to_string(), whole, String::new());
            for part in &of_topic.layers {
                let share = if whole.mean > 0.0 {
                    format!("{:.1} %", 100.0 * part.duration_us.mean / whole.mean)
                } else {
                    String::new()
                };
                row(format!("  {}", name(part)), String::new(), &part.duration_us, share);
            }
        }
        self.section(out, "Layers: where the latency of a message goes; the parts add up to it", table);
        self.and_more(out, layers.len() - shown.len(), "have the greatest mean");
    }
}

/// `publish_dds` as one reads it.
fn words(layer: &str) -> String {
    layer.replace('_', " ")
}

/// A layer; where those before it were not recorded apart, from the first of them on.
fn name(part: &LayerPart) -> String {
    match part.includes.first() {
        Some(first) => format!("{} to {}", words(first), words(&part.layer)),
        None => words(&part.layer),
    }
}
