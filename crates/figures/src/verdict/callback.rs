//! What is known of the callback of an execution.

use crate::figures::Repeat;
use tacho_tables::row::Row;
use tacho_tables::{Callback, Execution};

/// A callback as the verdict names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Named {
    pub node: Option<String>,
    pub topic: Option<String>,
    pub function: Option<String>,
    pub location: Option<String>,
    /// Its timer's period, ns.
    pub period_ns: Option<i64>,
}

impl Named {
    pub fn of(repeat: &Repeat<'_>, execution: Row<Execution>) -> Named {
        let tables = repeat.tables;
        let callback = &tables.callbacks[tables.executions[execution].callback];
        let (function, location) = function(callback);
        Named {
            node: callback.node.map(|node| tables.nodes[node].name.clone()),
            topic: callback.topic.clone(),
            function,
            location,
            period_ns: callback.period_ns,
        }
    }

    /// `reload_map (planner.py:23)`, else what it answers to.
    pub fn words(&self, name: &str) -> String {
        let file = |location: &str| location.rsplit('/').next().unwrap_or(location).to_owned();
        match (&self.function, &self.location) {
            (Some(function), Some(location)) => format!("{} ({})", short(function), file(location)),
            (Some(function), None) => short(function).to_owned(),
            _ => name.to_owned(),
        }
    }

    /// Whether Python runs it, whose threads compute in turn.
    pub fn is_python(&self) -> bool {
        self.location.as_ref().is_some_and(|location| location.contains(".py:"))
    }
}

/// The last part of a qualified name: `Planner.reload_map` is `reload_map`.
fn short(function: &str) -> &str {
    let bare = function.split('(').next().unwrap_or(function);
    let start = bare.rfind(['.', ':']).map_or(0, |place| place + 1);
    &function[start..]
}

/// Function and `file:line` of a callback.
fn function(callback: &Callback) -> (Option<String>, Option<String>) {
    let Some(symbol) = &callback.symbol else { return (None, None) };
    let split = symbol.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    match split.filter(|(_, at)| at.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok())) {
        Some((name, at)) => (Some(name.to_owned()), Some(at.to_owned())),
        None => (Some(symbol.clone()), None),
    }
}
