//! Latency by layers (study A): what each costs, in the order in which a message passes them.

use super::{figures, table, Terminal};
use table::{Column, Table};
use tacho_analysis::summary::{LayerFigures, LayerPart};

impl Terminal {
    pub(super) fn layers(&self, out: &mut String, layers: &[LayerFigures]) {
        let mut table = Table::new(
            ["layer", "messages", "mean us", "median us", "p99 us", "max us", "share"]
                .map(|name| if name == "layer" { Column::text(name) } else { Column::number(name) }),
        );
        let mut merged = Vec::new();
        for of_topic in layers {
            let whole = &of_topic.latency_us;
            let mut row = |name: String, messages: String, of: &_, share: String| {
                let mut cells = vec![name, messages];
                cells.extend(figures(Some(of), |d| [d.mean, d.median, d.p99, d.max], 1));
                cells.push(share);
                table.row(cells);
            };
            row(of_topic.topic.clone().unwrap_or_default(), of_topic.messages.to_string(), whole, String::new());
            for part in &of_topic.layers {
                let share = if whole.mean > 0.0 { format!("{:.1} %", 100.0 * part.duration_us.mean / whole.mean) } else { String::new() };
                row(format!("  {}", words(&part.layer)), String::new(), &part.duration_us, share);
            }
            merged.extend(of_topic.layers.iter().filter(|part| !part.includes.is_empty()).map(included));
        }
        merged.sort();
        merged.dedup();
        self.section(out, "Layers: where the latency of a message goes; the parts add up to it", table);
        if !merged.is_empty() {
            self.line(out, &format!("Where not recorded apart: {}.", merged.join("; ")));
        }
    }
}

/// `publish_dds` as one reads it.
fn words(layer: &str) -> String {
    layer.replace('_', " ")
}

/// Which layers one could not be told from.
fn included(part: &LayerPart) -> String {
    let names: Vec<_> = part.includes.iter().map(|layer| words(layer)).collect();
    format!("{} includes {}", words(&part.layer), names.join(", "))
}
