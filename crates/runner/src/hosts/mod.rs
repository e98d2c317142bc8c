//! Makes the hosts of a workload on one machine (study B, V2X; study C, across CPUs): a network namespace for each,
//! joined by links with a rate, a delay and a loss.
//!
//! Every host has one interface, `eth0`, with an address of 10.77.0.0/16 and a route for multicast, and a link to a
//! switch that joins them all. A message from one host to another passes two links: the sender's, up, and the
//! receiver's, down. A link is the same in both directions, so a one-way delay between two hosts is the sum of their
//! delays.
//!
//! The switch is the kernel's bridge in a namespace of its own, and links are pairs of veth, shaped at both ends by
//! netem. If the kernel has no netem and the workload asks for a delay or a loss, the switch is [`switch`], in user
//! space. All hosts share this machine's clock and files, except /dev/shm and /etc/machine-id, of which each has its
//! own.

mod kernel;
mod namespace;
mod switch;
mod wire;

use crate::board_wire::BoardWire;
use anyhow::{bail, Context, Result};
use namespace::{Mounts, Namespace, INTERFACE, QUEUE_PACKETS};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use switch::Switch;
use tacho_workload::model::{Host, Link};

/// The connection of the hosts, kept as long as they exist.
enum Joined {
    /// There are no hosts.
    Nothing,
    /// The kernel's bridge.
    Kernel { bridge: Namespace },
    /// The switch in user space.
    User { _switch: Switch },
}

/// Running hosts. They vanish when this is dropped, and when tacho ends in any way.
pub struct Hosts {
    hosts: Vec<(String, Namespace, Mounts)>,
    /// Descriptors through which boards send and receive frames.
    wires: Vec<OwnedFd>,
    joined: Joined,
    missing: Vec<String>,
}

impl Hosts {
    /// Makes the hosts and their links, and joins boards by their links. The boards' addresses follow those of the
    /// hosts.
    pub fn make(hosts: &[Host], boards: &[Link]) -> Result<Hosts> {
        if hosts.is_empty() {
            return Ok(Hosts { hosts: vec![], wires: vec![], joined: Joined::Nothing, missing: vec![] });
        }
        let one = |(number, host): (usize, &Host)| Ok((host.name.clone(), Namespace::make()?, Mounts::make(number)?));
        let made = hosts.iter().enumerate().map(one).collect::<Result<Vec<_>>>()?;
        let bridge = Namespace::make()?;
        let links: Vec<Link> = hosts.iter().map(|host| host.link).collect();
        let namespaces: Vec<&Namespace> = made.iter().map(|(_, namespace, _)| namespace).collect();

        let shaped = |link: &Link| link.delay.is_some() || link.loss_percent.is_some();
        let mut missing = Vec::new();
        let mut wires = Vec::new();
        // A tap device is shaped only towards its board.
        let joined = if boards.iter().any(shaped) || (links.iter().any(shaped) && !kernel::has_netem(&bridge)) {
            match Switch::start(&namespaces, &links, boards) {
                Ok((switch, of_boards)) => {
                    wires = of_boards;
                    missing.push(
                        "links of hosts: this kernel has no netem (or a board has a delay or a loss), so tacho itself \
                         passes every packet on, in user space: its own wake-ups, some ten microseconds on an idle \
                         machine, are added to the delay"
                            .into(),
                    );
                    Joined::User { _switch: switch }
                }
                Err(error) if !boards.is_empty() => return Err(error),
                Err(error) => {
                    missing.push(format!(
                        "delay and loss of hosts' links are not there: this kernel has no netem (apt-get install \
                         linux-modules-extra), and in user space: {error}"
                    ));
                    kernel::join(&bridge, &namespaces, &links, false)?;
                    Joined::Kernel { bridge }
                }
            }
        } else {
            kernel::join(&bridge, &namespaces, &links, true)?;
            wires = kernel::join_boards(&bridge, boards)?;
            Joined::Kernel { bridge }
        };
        for (index, namespace) in namespaces.iter().enumerate() {
            namespace.batch("ip", &interface_up(nth_address(index)))?;
        }
        for namespace in &namespaces {
            namespace.wait_for_link(INTERFACE)?;
        }
        Ok(Hosts { hosts: made, wires, joined, missing })
    }

    /// Network and mount namespace of a host; `None` means this machine's own.
    pub fn namespaces(&self, host: &str) -> Option<[BorrowedFd<'_>; 2]> {
        self.hosts
            .iter()
            .find(|(name, ..)| name == host)
            .map(|(_, namespace, mounts)| [namespace.as_fd(), mounts.as_fd()])
    }

    /// Begins to count the traffic between hosts, without that of the host `own`. `None` if no bridge joins them.
    pub fn count_bytes(&self, own: Option<Ipv4Addr>) -> Result<Option<wire::Wire>> {
        let Joined::Kernel { bridge } = &self.joined else { return Ok(None) };
        let hosts = (0..self.hosts.len()).map(|index| format!("port{index}"));
        let ports: Vec<String> = hosts.chain((0..self.wires.len()).map(|index| format!("board{index}"))).collect();
        Ok(Some(wire::Wire::start(bridge, &ports, own)?))
    }

    /// The wire of the board with this index.
    pub fn wire(&self, board: usize) -> Option<BoardWire> {
        let fd = self.wires.get(board)?.as_raw_fd();
        Some(if let Joined::User { .. } = self.joined { BoardWire::Switch(fd) } else { BoardWire::Tap(fd) })
    }

    /// Requested properties that are missing or different.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }
}

/// Whether this machine allows hosts; the error says why not.
pub fn allowed() -> Result<()> {
    Namespace::make()?.within(|| switch::tap(INTERFACE)).context("/dev/net/tun").map(drop)
}

/// The address that a host will have; `None` for the empty name, which is this machine.
pub fn address(hosts: &[Host], host: &str) -> Result<Option<Ipv4Addr>> {
    match hosts.iter().position(|known| known.name == host) {
        Some(index) => Ok(Some(nth_address(index))),
        None if host.is_empty() && hosts.is_empty() => Ok(None),
        None => {
            let known: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
            bail!("host {host:?} of a node: expected one of `hosts:`, which has: {}", known.join(", "))
        }
    }
}

/// The address of the host with this index.
pub fn nth_address(index: usize) -> Ipv4Addr {
    let number = index as u16 + 1;
    Ipv4Addr::new(10, 77, (number >> 8) as u8, number as u8)
}

/// Brings the interface up without an IPv6 address, so that it sends no neighbour discovery.
fn interface_up(address: Ipv4Addr) -> Vec<String> {
    vec![
        "link set lo up".into(),
        // Room for the fragments of a message of several MB; a tap device drops fragments that exceed it.
        format!("link set {INTERFACE} addrgenmode none txqueuelen {QUEUE_PACKETS}"),
        format!("address add {address}/16 dev {INTERFACE}"),
        format!("link set {INTERFACE} up"),
        format!("route add 224.0.0.0/4 dev {INTERFACE}"),
    ]
}
