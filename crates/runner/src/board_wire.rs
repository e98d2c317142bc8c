//! The wire of a board: its connection to the other nodes.

use anyhow::{bail, Result};
use std::os::fd::RawFd;

/// How a board's frames travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardWire {
    /// A tap device on the hosts' bridge, as an inherited descriptor.
    Tap(RawFd),
    /// tacho's own switch, as an inherited descriptor of datagrams.
    Switch(RawFd),
    /// QEMU's user networking, in which this machine is the gateway.
    User,
}

/// The environment variable that describes the wire to a board's keeper.
const WIRE: &str = "TACHO_BOARD_WIRE";

impl BoardWire {
    /// The variable for a keeper that inherits the descriptor.
    pub fn environment(self) -> Option<(&'static str, String)> {
        match self {
            BoardWire::Tap(fd) => Some((WIRE, format!("tap:{fd}"))),
            BoardWire::Switch(fd) => Some((WIRE, format!("switch:{fd}"))),
            BoardWire::User => None,
        }
    }

    /// The wire of this keeper.
    pub fn here() -> Result<BoardWire> {
        let Ok(text) = std::env::var(WIRE) else { return Ok(BoardWire::User) };
        let parsed = text.split_once(':').and_then(|(kind, fd)| Some((kind, fd.parse().ok()?)));
        match parsed {
            Some(("tap", fd)) => Ok(BoardWire::Tap(fd)),
            Some(("switch", fd)) => Ok(BoardWire::Switch(fd)),
            _ => bail!("{WIRE} is {text:?}; expected tap:FD or switch:FD"),
        }
    }
}
