//! Always on: keeps the last seconds of a running recording, and saves them on request.
//!
//! The programs write as usual. [`Ring`] checks their files a few times a second, keeps the lasting events of chunks
//! that are too old, and punches holes there: the files grow, but their storage does not. Chunks are not reused, so a
//! concurrent reader sees the original bytes or zeros, never other events. `docs/record.md` and `docs/event-file.md`
//! explain this for users.

mod ask;
mod file;
mod files;
mod kept_going;
mod save;

pub use ask::{save as ask_to_save, Error as AskError};
pub use files::{measured_from_ns, Error, Ring};
pub use kept_going::block_signal;
pub use kept_going::{Going, Outcome, Wanted, Watch};
