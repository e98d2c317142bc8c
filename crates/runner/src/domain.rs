//! A domain of the middleware that no other run on this machine uses.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// DDS maps domains above 100 to ports that other programs are given.
const DOMAINS: std::ops::RangeInclusive<u32> = 1..=100;

/// A domain, kept for as long as this lives.
#[derive(Debug)]
pub struct Domain {
    /// Its number.
    pub id: u32,
    /// The lock that says so, unless the user chose the domain.
    _lock: Option<File>,
}

impl Domain {
    /// The one asked for, else one that is free: a file a domain in the folder for temporary files, locked.
    pub fn choose(asked: Option<u32>) -> io::Result<Domain> {
        if let Some(id) = asked {
            return Ok(Domain { id, _lock: None });
        }
        let count = DOMAINS.end() - DOMAINS.start() + 1;
        let first = std::process::id() % count;
        for offset in 0..count {
            let id = DOMAINS.start() + (first + offset) % count;
            let path = std::env::temp_dir().join(format!("tacho-domain-{id}.lock"));
            // Another user's file may not be opened for writing: then the domain is taken.
            let Ok(file) = File::options().write(true).create(true).truncate(false).open(&path) else { continue };
            // SAFETY: the descriptor is open; the lock goes with it.
            if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
                return Ok(Domain { id, _lock: Some(file) });
            }
        }
        Err(io::Error::other("all DDS domains from 1 to 100 are in use by other runs of tacho; expected a free one"))
    }
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
}
