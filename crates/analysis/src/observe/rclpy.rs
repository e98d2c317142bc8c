//! Processes of rclpy, which has no callback events of its own: whether the recorder could put itself around its
//! callbacks.

use crate::observe::Seen;
use std::collections::BTreeMap;
use tacho_tables::row::Row;
use tacho_tables::{Note, Process};

/// What the recorder said, by process.
#[derive(Default)]
pub(crate) struct Hooked(BTreeMap<Row<Process>, OfProcess>);

#[derive(Default)]
struct OfProcess {
    tells: bool,
    /// What could not be done, each once.
    not_recorded: Vec<String>,
}

impl Hooked {
    /// rclpy_callbacks: empty, or why callbacks are not recorded.
    pub fn hooked(&mut self, process: Row<Process>, not_recorded: &str) {
        let of = self.0.entry(process).or_default();
        if not_recorded.is_empty() {
            of.tells = true;
        } else if !of.not_recorded.iter().any(|known| known == not_recorded) {
            of.not_recorded.push(not_recorded.into());
        }
    }

    /// Whether callbacks of a process are told by the recorder itself.
    pub fn tells(&self, process: Row<Process>) -> bool {
        self.0.get(&process).is_some_and(|of| of.tells)
    }

    /// All such processes.
    pub fn told(&self) -> impl Iterator<Item = Row<Process>> + '_ {
        self.0.iter().filter(|(_, of)| of.tells).map(|(process, _)| *process)
    }
}

/// What of Python's callbacks is not recorded, and why.
pub(crate) fn notes(seen: &Seen) -> impl Iterator<Item = Note> + '_ {
    seen.rclpy.0.iter().filter(|(_, of)| !of.not_recorded.is_empty()).map(|(process, of)| {
        let (row, what) =
            (&seen.processes[*process], if of.tells { "some Python callbacks" } else { "Python callbacks" });
        let text = format!(
            "process {} ({}): {what} are not recorded: {}",
            row.pid,
            row.executable,
            of.not_recorded.join("; ")
        );
        Note { name: "python-callbacks-not-recorded".into(), count: of.not_recorded.len() as u64, text }
    })
}
