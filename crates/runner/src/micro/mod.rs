//! Nodes on boards: `host: micro` in a workload (study C). A board is an emulated Cortex-M4 with tacho-micro and runs
//! one node.
//!
//! To the runner, a board is a process like any node: its *keeper*, a `tacho-node` whose plan names a board. It starts
//! the emulator, relays between both, and writes the board's event file from what the board sends on a topic of its
//! own.

mod collector;
mod console;
mod emulator;
mod event_file;
pub mod image;
mod keeper;
pub mod network;
mod plan;

pub use emulator::version as emulator_release;
pub use keeper::keep;
pub use network::Network;
