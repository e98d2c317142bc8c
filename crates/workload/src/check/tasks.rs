//! Checks the tasks of nodes against the kinds that libraries of tasks offer.

use super::Check;
use crate::diagnostic::{did_you_mean, Report};
use crate::model::{Node, Work};
use crate::read::NodePlaces;
use crate::tasks::{TaskKind, TaskSlot};
use crate::units::format_size;

impl Check<'_> {
    pub(super) fn tasks(&self, kinds: Option<&[TaskKind]>, report: &mut Report) {
        for (node, places) in self.nodes.iter().zip(&self.reading.nodes) {
            let Work::Task { name, parameters } = &node.work else { continue };
            let Some(kinds) = kinds else { continue };
            let Some(kind) = kinds.iter().find(|kind| kind.name == *name) else {
                unknown_task(name, kinds, places, report);
                continue;
            };
            if let Some(reason) = &kind.missing {
                let span = places.task.name;
                report.error("missing-task", span, "the library of this task is not here", format!("`{name}`"), reason);
                continue;
            }
            for error in kind.values(parameters).err().unwrap_or_default() {
                let (of_name, of_value) = places.task.parameters[error.index];
                let (named, span) = if error.is_unknown { ("unknown-key", of_name) } else { ("wrong-value", of_value) };
                report.error(named, span, error.message, error.found, error.expected);
            }
            if places.whole {
                slots(node, kind, places, report);
            }
        }
    }
}

fn unknown_task(name: &str, kinds: &[TaskKind], places: &NodePlaces, report: &mut Report) {
    let names = || kinds.iter().map(|kind| kind.name.as_str());
    let here = || kinds.iter().filter(|kind| kind.missing.is_none()).map(|kind| kind.name.as_str());
    let meant = did_you_mean(name, names()).map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    let expected = match here().collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "a task of a library libtacho_tasks_*.so, of which there is none here".to_owned(),
        known => format!("one of {known}{meant}"),
    };
    report.error("unknown-task", places.task.name, "no such task", format!("`{name}`"), expected);
}

/// Checks that the node has the inputs and outputs that its task needs, in number and size.
fn slots(node: &Node, kind: &TaskKind, places: &NodePlaces, report: &mut Report) {
    let listed = |slots: &[TaskSlot]| match slots {
        [] => "none".to_owned(),
        slots => {
            let one = |slot: &TaskSlot| format!("{}{}", slot.name, if slot.optional { " (optional)" } else { "" });
            slots.iter().map(one).collect::<Vec<_>>().join(", ")
        }
    };
    let sides = [
        ("inputs", "subscribes", node.subscribes.iter().map(|s| s.topic.as_str()).collect::<Vec<_>>(), &kind.inputs),
        ("outputs", "publishes", node.publishes.iter().map(|p| p.topic.as_str()).collect::<Vec<_>>(), &kind.outputs),
    ];
    for (side, key, topics, slots) in sides {
        let needed = slots.iter().filter(|slot| !slot.optional).count();
        if !(needed..=slots.len()).contains(&topics.len()) {
            report.error(
                "task-endpoints",
                places.task.name,
                format!("task `{}` of `{}` has other {side}", kind.name, node.name),
                format!("`{key}` with {}", if topics.is_empty() { "no topic".to_owned() } else { topics.join(", ") }),
                format!("in this order: {}", listed(slots)),
            );
        }
    }
    for ((publication, slot), span) in node.publishes.iter().zip(&kind.outputs).zip(&places.publishes) {
        if publication.size_bytes < slot.size_bytes {
            report.error(
                "task-size",
                *span,
                format!("a message of `{}` has no room for what task `{}` publishes", publication.topic, kind.name),
                format_size(publication.size_bytes),
                format!("size: {}, or more, for its {}", format_size(slot.size_bytes), slot.name),
            );
        }
    }
}
