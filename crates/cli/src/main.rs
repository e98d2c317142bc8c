//! The `tacho` command.
fn main() {}
