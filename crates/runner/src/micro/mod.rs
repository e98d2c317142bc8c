//! Nodes on boards: `host: micro` in a workload (study C). A board is an emulated Cortex-M4 with tacho-micro, one node each.
//!
//! To the runner a board is a process as any node: its *keeper*, `tacho-node` with a plan that names a board, starts the emulator, passes on what
//! both say, and writes the board's event file from what the board sends on a topic of its own.

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

use anyhow::{bail, Result};
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;
use std::os::fd::RawFd;
use std::path::PathBuf;

/// What a keeper must know besides its node.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BoardPlan {
    /// What runs on it.
    pub image: PathBuf,
    /// Its address.
    pub address: Ipv4Addr,
    /// Begins at once, whoever is there.
    pub at_once: bool,
}

/// How a board's frames travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// A tap device on the bridge of the hosts, by an inherited descriptor.
    Tap(RawFd),
    /// The switch of tacho, by an inherited descriptor of datagrams.
    Switch(RawFd),
    /// QEMU's user networking: the host is its gateway.
    User,
}

/// The variable that tells a keeper of its board's wire.
const WIRE: &str = "TACHO_BOARD_WIRE";

impl Wire {
    /// What a keeper that inherits the descriptor needs in its environment.
    pub fn environment(self) -> Option<(&'static str, String)> {
        match self {
            Wire::Tap(fd) => Some((WIRE, format!("tap:{fd}"))),
            Wire::Switch(fd) => Some((WIRE, format!("switch:{fd}"))),
            Wire::User => None,
        }
    }

    /// That of this keeper.
    fn here() -> Result<Wire> {
        let Ok(text) = std::env::var(WIRE) else { return Ok(Wire::User) };
        let parsed = text.split_once(':').and_then(|(kind, fd)| Some((kind, fd.parse().ok()?)));
        match parsed {
            Some(("tap", fd)) => Ok(Wire::Tap(fd)),
            Some(("switch", fd)) => Ok(Wire::Switch(fd)),
            _ => bail!("{WIRE} is {text:?}; expected tap:FD or switch:FD"),
        }
    }
}
