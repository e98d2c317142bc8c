//! Events into tables: messages, callbacks, chains.

pub mod summary;
pub mod tables;
