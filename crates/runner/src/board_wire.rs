//! How a board is joined to the others.

use anyhow::{bail, Result};
use std::os::fd::RawFd;

/// How a board's frames travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardWire {
    /// A tap device on the bridge of the hosts, by an inherited descriptor.
    Tap(RawFd),
    /// The switch of tacho, by an inherited descriptor of datagrams.
    Switch(RawFd),
    /// QEMU's user networking: the host is its gateway.
    User,
}

/// The variable that tells a keeper of its board's wire.
const WIRE: &str = "TACHO_BOARD_WIRE";

impl BoardWire {
    /// What a keeper that inherits the descriptor needs in its environment.
    pub fn environment(self) -> Option<(&'static str, String)> {
        match self {
            BoardWire::Tap(fd) => Some((WIRE, format!("tap:{fd}"))),
            BoardWire::Switch(fd) => Some((WIRE, format!("switch:{fd}"))),
            BoardWire::User => None,
        }
    }

    /// That of this keeper.
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
