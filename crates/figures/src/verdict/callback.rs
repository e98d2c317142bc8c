//! What is known of the callback of an execution.

use crate::figures::Repeat;
use tacho_tables::row::Row;
use tacho_tables::{is_python, own_name, Callback, Execution};

/// As causes name a callback: its node, what it answers to, its function and line.
pub(super) fn full_name(repeat: &Repeat<'_>, callback: Row<Callback>) -> String {
    let tables = repeat.tables;
    tables.callbacks[callback].name(&tables.nodes, &tables.processes).to_string()
}

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
        Named::of_callback(repeat, repeat.tables.executions[execution].callback)
    }

    pub fn of_callback(repeat: &Repeat<'_>, callback: Row<Callback>) -> Named {
        let tables = repeat.tables;
        let callback = &tables.callbacks[callback];
        Named {
            node: callback.node.map(|node| tables.nodes[node].name.clone()),
            topic: callback.topic.clone(),
            function: callback.function.clone(),
            location: callback.location.clone(),
            period_ns: callback.period_ns,
        }
    }

    /// `reload_map (planner.py:23)`, else what it answers to.
    pub fn words(&self, name: &str) -> String {
        let file = |location: &str| location.rsplit('/').next().unwrap_or(location).to_owned();
        match (&self.function, &self.location) {
            (Some(function), Some(location)) => format!("{} ({})", own_name(function), file(location)),
            (Some(function), None) => own_name(function).to_owned(),
            _ => name.to_owned(),
        }
    }

    /// `reload_map`, else what it answers to.
    pub fn in_short<'n>(&'n self, name: &'n str) -> &'n str {
        self.function.as_deref().map_or(name, own_name)
    }

    /// Whether Python runs it, whose threads compute in turn.
    pub fn is_python(&self) -> bool {
        is_python(self.location.as_deref())
    }
}
