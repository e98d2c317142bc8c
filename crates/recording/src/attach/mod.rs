//! Recording programs that are running already: `tacho record --attach PID`.
//!
//! Sets uprobes on the functions of libtracetools with perf_event_open(2). Nothing is loaded into the program, and it
//! is not stopped. Each call costs it a trap into the kernel: some microseconds, while the preloaded recorder takes
//! nanoseconds. The probes are defined in tracefs (`uprobe_events`), so the kernel itself fetches arguments and texts
//! at the call. [`earlier`] reconstructs what was made before from what the program does. This needs root.

mod earlier;
mod library;
mod probes;
mod probing;
mod process;
mod record;
mod run;

pub use probing::{Attach, Error};
pub use process::Attached;
pub use run::{record, Wanted};
