//! Figures of layers: of each topic, messages of which the same layers are known.

use crate::figures::Repeat;
use std::collections::BTreeMap;
use tacho_tables::row::Row;
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::rows::Rows;
use tacho_tables::summary::{Distribution, LayerFigures, LayerPart};
use tacho_tables::{Layers, Tables, LAYERS};

/// Figures by topic and by what is known, most messages first.
pub(crate) fn figures(repeats: &[Repeat<'_>]) -> Vec<LayerFigures> {
    grouped(repeats, |tables, row| Some(topic(tables, row)))
}

/// Figures by what is known, most messages first.
pub(crate) fn figures_of_all(repeats: &[Repeat<'_>]) -> Vec<LayerFigures> {
    grouped(repeats, |_, _| None)
}

fn grouped<'a>(repeats: &[Repeat<'a>], topic: impl Fn(&'a Tables, &Layers) -> Option<&'a str>) -> Vec<LayerFigures> {
    // Messages of one topic of which the same layers are known.
    let mut groups: BTreeMap<(Option<&str>, [bool; 10]), u32> = BTreeMap::new();
    let mut of_row: Rows<u32> = Rows::new();
    for Repeat { tables, .. } in repeats {
        for row in tables.layers.iter() {
            let next = groups.len() as u32;
            of_row.push(*groups.entry((topic(tables, row), row.parts_ns().map(|p| p.is_some()))).or_insert(next));
        }
    }
    // Of each group its layers one after the other, and then all of them together, us.
    let parts = Grouped::new(groups.len() * SERIES, || {
        let rows = repeats.iter().flat_map(|repeat| &repeat.tables.layers).zip(&of_row);
        rows.flat_map(|(row, group)| {
            let parts = row.parts_ns();
            let whole = Some(parts.iter().flatten().sum());
            let series = (group * SERIES as u32..).zip(parts.into_iter().chain([whole]));
            series.filter_map(|(series, ns)| Some((Row::<Series>::new(series), ns? as f64 / 1e3)))
        })
    });
    let of = |((topic, known), group): ((Option<&str>, [bool; 10]), u32)| {
        figures_of_group(topic, known, |series| {
            Distribution::of(parts.of(Row::behind(group as usize * SERIES + series)).to_vec())
        })
    };
    let mut figures: Vec<LayerFigures> = groups.into_iter().filter_map(of).collect();
    figures.sort_by(|a, b| (&a.topic, b.messages).cmp(&(&b.topic, a.messages)));
    figures
}

/// A layer of a group, or the sum of all: what its rows are rows of.
struct Series;

/// Layers of a message, and their sum.
const SERIES: usize = LAYERS.len() + 1;

fn topic<'a>(tables: &'a Tables, row: &Layers) -> &'a str {
    &tables.endpoints[tables.messages[row.message].subscription].topic
}

/// Figures of messages of which the same layers are known; `duration_us` by layer, and of all of them after the last.
fn figures_of_group(
    topic: Option<&str>,
    known: [bool; 10],
    duration_us: impl Fn(usize) -> Option<Distribution>,
) -> Option<LayerFigures> {
    let (mut layers, mut includes) = (Vec::new(), Vec::new());
    for (layer, name) in LAYERS.iter().enumerate() {
        if !known[layer] {
            includes.extend(passed(name, &known).then(|| (*name).to_string()));
            continue;
        }
        layers.push(LayerPart {
            layer: (*name).into(),
            duration_us: duration_us(layer)?,
            includes: std::mem::take(&mut includes),
        });
    }
    let latency_us = duration_us(LAYERS.len())?;
    Some(LayerFigures { topic: topic.map(str::to_owned), messages: latency_us.count, latency_us, layers })
}

/// Whether messages with these layers went through one that is not known of them: what begins at rcl had no client
/// library above that was seen, a plain DDS program has neither rcl nor rmw, and ROS 1, which has no end of `take_rmw`,
/// no DDS either.
fn passed(layer: &str, known: &[bool; 10]) -> bool {
    if !known[7] {
        return false;
    }
    let ros = known[1] || known[2];
    layer != "publish_client_library" && (ros || !(layer.ends_with("_rcl") || layer.ends_with("_rmw")))
}
