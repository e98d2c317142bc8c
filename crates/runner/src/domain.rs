//! Reserves a domain of the middleware that no other run on this machine uses.
//!
//! Runs in one domain share network ports, whoever their users are. The mark of a taken domain has the same scope: an
//! abstract UNIX socket of its name, one for each network namespace. The kernel removes it with its process, however
//! that ends. It is not a file, so nothing is left, and no user's permissions can keep a domain taken.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

/// DDS maps domains above 100 to ports that other programs are given.
const DOMAINS: std::ops::RangeInclusive<u32> = 1..=100;

/// A reserved domain; free again when this is dropped.
#[derive(Debug)]
pub struct Domain {
    /// Its number.
    pub id: u32,
    /// The socket that marks the domain, unless the user chose it. No process connects to it; nodes do not inherit it.
    _taken: Option<UnixListener>,
}

impl Domain {
    /// Returns the requested domain, or reserves a free one.
    pub fn choose(asked: Option<u32>) -> io::Result<Domain> {
        if let Some(id) = asked {
            return Ok(Domain { id, _taken: None });
        }
        let count = DOMAINS.end() - DOMAINS.start() + 1;
        let first = std::process::id() % count;
        for offset in 0..count {
            let id = DOMAINS.start() + (first + offset) % count;
            match take(id) {
                Ok(taken) => return Ok(Domain { id, _taken: Some(taken) }),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                Err(error) => {
                    return Err(io::Error::new(
                        error.kind(),
                        format!("the socket that marks DDS domain {id} as taken: {error}"),
                    ))
                }
            }
        }
        let found = "all DDS domains from 1 to 100 are in use by other runs of tacho on this machine";
        Err(io::Error::other(format!(
            "{found} (ss -xl | grep tacho-domain); expected a free one, or `domain` in the workload"
        )))
    }
}

/// By the same rule as tests/domains.py and native/middleware/conformance/domain.h.
fn take(id: u32) -> io::Result<UnixListener> {
    UnixListener::bind_addr(&SocketAddr::from_abstract_name(format!("tacho-domain-{id}"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_have_different_domains_and_the_users_choice_stands() {
        let (a, b) = (Domain::choose(None).unwrap(), Domain::choose(None).unwrap());
        assert_ne!(a.id, b.id);
        assert_eq!(Domain::choose(Some(a.id)).unwrap().id, a.id);
    }

    #[test]
    fn a_domain_is_free_again_when_its_run_has_ended_and_only_then() {
        let domain = Domain::choose(None).unwrap();
        assert_eq!(take(domain.id).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        let id = domain.id;
        drop(domain);
        // Another run of this machine may have it now, and will free it.
        while take(id).is_err() {
            std::thread::yield_now();
        }
    }
}
