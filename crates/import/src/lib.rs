//! Reads CTF traces into events, and the times in bags.
//!
//! [`Reader`] reads LTTng traces (CTF 1.8) of ros2_tracing and CARET and returns the events of [`tacho_events`] in
//! order of time. Its memory does not grow with the trace. It decodes packets and metadata from bytes without I/O and
//! without panics, whatever the bytes. [`Reader::problems`] names what cannot be read with file and offset, and
//! [`Reader::gaps`] what the tracer lost. [`import`] writes a run directory from them. [`bag`] reads bags, which
//! contain messages but no events.
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
