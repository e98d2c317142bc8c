//! Notes in the order in which they are reported, whichever stage made them.

use tacho_tables::Note;

/// What a note is about; those of one place stand together, places in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Recording,
    Scheduler,
    LostEvents,
    Executors,
    Starved,
    Udpros,
    Links,
    SimulatedTime,
    Messages,
    Layers,
    Paths,
    Chains,
    Python,
    NoCallbacks,
    Refused,
}

/// All notes so far.
#[derive(Default)]
pub(crate) struct Notes(Vec<(Place, Note)>);

impl Notes {
    /// Adds notes behind those of the same place.
    pub fn add(&mut self, place: Place, notes: impl IntoIterator<Item = Note>) {
        self.0.extend(notes.into_iter().map(|note| (place, note)));
    }

    /// The rows of the table.
    pub fn into_rows(mut self) -> Vec<Note> {
        self.0.sort_by_key(|(place, _)| *place);
        self.0.into_iter().map(|(_, note)| note).collect()
    }
}
