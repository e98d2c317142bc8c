//! Bags in MCAP files, as `ros2 bag record` and others write them: when the recorder had each message, and what that says of its time.
//!
//! Only what timing needs is decoded: records up to the end of the data section, of each message its times and its first bytes. A file
//! that was not finished, or is damaged, is read as far as it goes. The format: MCAP, version 0, <https://mcap.dev/spec>.

mod chunk;
mod definition;
mod find;
mod reader;
mod record;
mod stamp;

pub use find::files;
pub use reader::{read_bag, read_bytes, Bag};
