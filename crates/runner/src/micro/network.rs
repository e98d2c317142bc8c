//! Joins the boards and the other nodes of a workload: by a bridge with a tap device for each board if that is allowed,
//! otherwise by QEMU's user networking.
//!
//! Nodes without a host are then placed on a common one, so that boards can reach them. tacho listens to the boards on
//! a host of its own, so that this traffic passes no other host's link.

use crate::hosts;
use crate::protocol::BoardPlan;
use anyhow::{bail, Result};
use std::net::Ipv4Addr;
use std::path::Path;
use tacho_workload::model::{Host, Link, Node, Workload, MICRO_HOST};

/// Name of the keepers' host.
const KEEPERS: &str = "tacho";
/// The link of a board: study C's Ethernet, unless `hosts: {micro: ...}` says otherwise.
const LINK: Link = Link { rate_bit_per_s: Some(100_000_000), delay: None, loss_percent: None };
/// The address that QEMU's user networking gives its only guest.
const USER_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 15);

/// The network of one workload.
#[derive(Debug)]
pub struct Network {
    hosts: Vec<Host>,
    /// Nodes on boards, in the order of the workload.
    boards: Vec<String>,
    link: Link,
    /// Why there is no network of hosts although boards need one.
    without: Option<String>,
}

impl Network {
    /// Plans what the workload needs and this machine allows.
    pub fn of(workload: &Workload) -> Result<Network> {
        Network::allowed(workload, hosts::allowed)
    }

    fn allowed(workload: &Workload, allowed: impl Fn() -> Result<()>) -> Result<Network> {
        let boards: Vec<String> =
            workload.nodes.iter().filter(|node| node.is_on_board()).map(|node| node.name.clone()).collect();
        let link = workload.hosts.iter().find(|host| host.name == MICRO_HOST).map_or(LINK, |host| host.link);
        let mut hosts: Vec<Host> = workload.hosts.iter().filter(|host| host.name != MICRO_HOST).cloned().collect();
        let mut without = None;
        if !boards.is_empty() {
            match allowed() {
                Ok(()) => {
                    if hosts.is_empty() {
                        hosts.push(Host::default());
                    }
                    hosts.push(Host { name: KEEPERS.into(), ..Host::default() });
                }
                Err(error) if !hosts.is_empty() => return Err(error),
                Err(error) if boards.len() > 1 => bail!(
                    "{} boards: {error:#}; without that, expected one board, by QEMU's user networking",
                    boards.len()
                ),
                Err(error) => {
                    without = Some(format!(
                        "no network of hosts for `host: micro`, so QEMU's user networking instead, whose link has no \
                         rate: {error:#}"
                    ))
                }
            }
        }
        Ok(Network { hosts, boards, link, without })
    }

    /// The hosts to make.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The links of boards to join to them.
    pub fn boards(&self) -> Vec<Link> {
        if self.without.is_some() {
            vec![]
        } else {
            vec![self.link; self.boards.len()]
        }
    }

    /// What the workload asks for and this machine lacks.
    pub fn missing(&self) -> Option<&String> {
        self.without.as_ref()
    }

    /// Address of the keepers' host.
    pub fn keepers(&self) -> Option<Ipv4Addr> {
        hosts::address(&self.hosts, KEEPERS).ok().flatten()
    }

    /// Index of the node's board.
    pub fn board_number(&self, node: &str) -> Option<usize> {
        self.boards.iter().position(|board| board == node)
    }

    /// The host that a process runs on; for a board, its keeper's host.
    pub fn place<'a>(&self, host: &'a str) -> &'a str {
        if host == MICRO_HOST {
            KEEPERS
        } else {
            host
        }
    }

    /// The address for a node's middleware; for a board, its keeper's. `None`: nothing leaves this machine.
    pub fn address(&self, node: &Node) -> Result<Option<Ipv4Addr>> {
        if self.without.is_some() {
            return Ok(None);
        }
        hosts::address(&self.hosts, self.place(&node.host))
    }

    /// The board of a node, if it runs on one.
    pub fn board(&self, node: &Node, image: &Path, at_once: bool) -> Option<BoardPlan> {
        let number = self.board_number(&node.name)?;
        let address = if self.without.is_some() { USER_ADDRESS } else { hosts::nth_address(self.hosts.len() + number) };
        Some(BoardPlan { image: image.to_owned(), address, at_once })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(hosts: &[&str], nodes: &[(&str, &str)]) -> Workload {
        let host = |name: &&str| Host { name: name.to_string(), ..Host::default() };
        let node =
            |(name, host): &(&str, &str)| Node { name: name.to_string(), host: host.to_string(), ..Node::default() };
        Workload {
            hosts: hosts.iter().map(host).collect(),
            nodes: nodes.iter().map(node).collect(),
            ..Workload::default()
        }
    }

    #[test]
    fn boards_have_addresses_behind_those_of_the_hosts() {
        let of = workload(&[], &[("a", "micro"), ("b", ""), ("c", "micro")]);
        let network = Network::allowed(&of, || Ok(())).unwrap();
        let names: Vec<&str> = network.hosts().iter().map(|host| host.name.as_str()).collect();
        assert_eq!(names, ["", KEEPERS]);
        let board =
            |node: usize| network.board(&of.nodes[node], Path::new("i"), false).map(|board| board.address.octets()[3]);
        assert_eq!((board(0), board(1), board(2)), (Some(3), None, Some(4)));
        let address = |node: usize| network.address(&of.nodes[node]).unwrap().map(|address| address.octets()[3]);
        assert_eq!((address(0), address(1)), (Some(2), Some(1)), "a board's keeper hears it from its own host");
        assert_eq!(network.boards(), [LINK, LINK]);
    }

    #[test]
    fn a_workload_without_boards_is_as_it_says() {
        let network = Network::allowed(&workload(&["x", "y"], &[("a", "x")]), || unreachable!()).unwrap();
        assert_eq!((network.hosts().len(), network.boards().len()), (2, 0));
    }

    #[test]
    fn one_board_does_without_permission_and_two_do_not() {
        let forbidden = || bail!("found no CAP_SYS_ADMIN");
        let one = workload(&[], &[("a", "micro"), ("b", "")]);
        let network = Network::allowed(&one, forbidden).unwrap();
        assert!(
            network.hosts().is_empty()
                && network.boards().is_empty()
                && network.missing().unwrap().contains("CAP_SYS_ADMIN")
        );
        assert_eq!(network.board(&one.nodes[0], Path::new("i"), false).unwrap().address, USER_ADDRESS);
        assert_eq!(network.address(&one.nodes[1]).unwrap(), None);
        let two = workload(&[], &[("a", "micro"), ("b", "micro")]);
        assert!(Network::allowed(&two, forbidden).unwrap_err().to_string().contains("expected one board"));
        assert!(Network::allowed(&workload(&["x"], &[("a", "micro"), ("b", "x")]), forbidden).is_err());
    }
}
