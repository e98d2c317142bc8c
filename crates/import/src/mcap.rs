//! Bags in MCAP files.
//!
//! Only what timing needs is decoded: records up to the end of the data section, of each message its times and its
//! first bytes. A file that was not finished, or is damaged, is read as far as it goes. The format: MCAP, version 0,
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
