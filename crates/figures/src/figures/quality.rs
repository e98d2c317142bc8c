//! What tasks report of their quality, over all repeats.

use crate::figures::Repeat;
use tacho_tables::summary::QualityFigures;

pub(crate) fn figures(repeats: &[Repeat<'_>]) -> Vec<QualityFigures> {
    let mut all: Vec<QualityFigures> = Vec::new();
    for of in repeats.iter().filter_map(|repeat| repeat.info).flat_map(|info| &info.quality) {
        for figure in &of.figures {
            let is_same = |known: &&mut QualityFigures| {
                (&known.node, &known.task, &known.name) == (&of.node, &of.task, &figure.name)
            };
            match all.iter_mut().find(is_same) {
                Some(known) => known.values.push(figure.value),
                None => all.push(QualityFigures {
                    node: of.node.clone(),
                    task: of.task.clone(),
                    name: figure.name.clone(),
                    values: vec![figure.value],
                }),
            }
        }
    }
    all
}
