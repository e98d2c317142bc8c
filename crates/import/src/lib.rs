//! CTF traces into events, and bags into what they tell of time.
//!
//! [`Reader`] reads LTTng traces (CTF 1.8) of ros2_tracing and CARET and gives the events of [`tacho_events`] in the
//! order of time, in memory that does not grow with the trace. Packets and metadata are decoded from bytes without I/O
//! and without panics, whatever the bytes; what cannot be read is named with file and offset in [`Reader::problems`],
//! what the tracer lost in [`Reader::gaps`]. [`import`] writes a run directory of them. [`bag`] reads bags, which hold
//! messages and no events.
//!
//! ```no_run
//! let mut reader = tacho_import::Reader::open(&["my_trace".into()])?;
//! while let Some(event) = reader.next_event() {
//!     println!("{} {}", event.time.as_ns(), event.payload.name());
//! }
//! # Ok::<(), tacho_import::Error>(())
//! ```

pub mod bag;
mod decode;
mod described;
mod find;
mod gap;
mod index;
mod kernel;
mod kinds;
mod layout;
pub mod mcap;
pub mod metadata;
mod names;
mod packet;
mod process;
mod reader;
pub mod room;
mod run;
mod stream;
mod trace;
pub mod tsdl;
mod window;
mod write;

pub use gap::{Cause, Gap};
pub use reader::{Error, Reader};
pub use run::{import, most, Imported};
