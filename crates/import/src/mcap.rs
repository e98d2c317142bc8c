//! Reads bags in MCAP files.
//!
//! It decodes only what timing needs: records up to the end of the data section, and the times and first bytes of each
//! message. An unfinished or damaged file is read as far as possible. The format: MCAP, version 0,
//! <https://mcap.dev/spec>.

mod chunk;
mod definition;
mod reader;
mod record;
pub(crate) mod stamp;

pub(crate) use definition::begins_with_header;
pub use reader::read_bytes;
pub(crate) use reader::Reading;
pub(crate) use record::{read_up_to, Schema, MAGIC};
