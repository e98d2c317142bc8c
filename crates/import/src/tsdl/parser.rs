//! Parses tokens into declarations, in three layers: tokens, types, blocks.

mod cursor;
mod declarations;
mod type_specifiers;

pub use declarations::parse;

#[cfg(test)]
mod tests;
