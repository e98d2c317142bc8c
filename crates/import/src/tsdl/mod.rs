//! TSDL, the language of CTF 1.8 metadata: parses text into declarations. Does no I/O.

mod fault;
mod lexer;
mod parser;
mod types;
mod value;

pub use fault::Fault;
pub use parser::parse;
pub use types::*;
