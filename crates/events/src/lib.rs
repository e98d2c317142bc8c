//! The event model, its file, and the run directory that holds it.
//!
//! Every source of events (the recorder, our own nodes, imported traces, the simulator) uses the kinds of [`payload`].
//! Every consumer reads them in time order from a [`Reader`]. `docs/event-file.md` and `native/include/tacho/events.h`
//! specify the file; [`layout`] and [`record`] decode it and do no I/O.

#[macro_use]
pub mod payload;
pub mod bag;
pub mod chunk;
pub mod clock;
mod fields;
pub mod file_error;
pub mod files;
pub mod follow;
pub mod format;
pub mod free;
pub mod holes;
pub mod join;
pub mod kept;
mod lasting;
pub mod layout;
pub mod made;
pub mod number;
mod older_widths;
pub mod problem;
pub mod reader;
pub mod record;
pub mod regular;
pub mod run;
pub mod testing;
pub mod text;
pub mod time;
pub mod wall;
pub mod writer;

pub use file_error::FileError;
pub use lasting::Lasting;
pub use payload::{Action, Entity, Gid, Handle, Layer, MadeHandle, Payload};
pub use problem::{Problem, Problems};
pub use reader::{Event, ProcessFacts, ProcessIndex, Progress, Reader, StreamIndex, ThreadId};
pub use run::RunDirectory;
pub use text::{Text, Texts};
pub use time::{Duration, Time};
