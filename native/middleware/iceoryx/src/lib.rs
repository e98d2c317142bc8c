//! The iceoryx plugin: publish-subscribe on iceoryx2, in shared memory and without copies.
//!
//! `borrow` lends the chunk of shared memory itself, `take` shows the publisher's chunk to the subscription, and
//! nothing is serialised: message types are names for byte arrays of the requested size. The header is in iceoryx2's
//! user header, in the same chunk. Publishers notify subscriptions by an event service of the topic (a Unix datagram
//! for each message and subscription).

mod memory;
mod publisher;
mod subscription;
mod topic;
mod wake;

use iceoryx2::prelude::*;
use iceoryx2_bb_elementary::package_version::PackageVersion;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::OnceLock;
use tacho_seam::{Endpoint, Error, Middleware, OnData, Result, Say, SessionConfig};

/// Ports and samples may change threads, as middleware.h allows.
type Ipc = ipc_threadsafe::Service;

struct Iceoryx {
    node: Node<Ipc>,
    domain: u32,
}

/// Sockets of iceoryx2 are in its folder. Their paths must not exceed a UNIX socket's, and their names take this many
/// bytes.
const LONGEST_ROOT: usize = 107 - 64;

/// Locks the folder of iceoryx2's files shared from now to the end of this process. A program that gets the exclusive
/// lock (`tacho doctor --clean`) knows that nobody uses these files, nor the shared memory of the same prefix.
fn root() -> Result<&'static str> {
    static ROOT: OnceLock<Result<(String, File)>> = OnceLock::new();
    let found = ROOT.get_or_init(|| {
        let path = tacho_private::subfolder("iceoryx").map_err(|error| Error::new(error.to_string()))?;
        let text = path.to_str().filter(|text| text.len() <= LONGEST_ROOT).ok_or_else(|| {
            Error::new(format!(
                "{}: expected at most {LONGEST_ROOT} bytes of UTF-8; set XDG_RUNTIME_DIR or TMPDIR to a shorter one",
                path.display()
            ))
        })?;
        let folder = File::open(&path).say(|| text.to_owned())?;
        // SAFETY: the descriptor is open.
        while unsafe { libc::flock(folder.as_raw_fd(), libc::LOCK_SH) } != 0 {
            let error = std::io::Error::last_os_error();
            if error.kind() != std::io::ErrorKind::Interrupted {
                return Err(error).say(|| format!("{text} cannot be locked"));
            }
        }
        Ok((text.to_owned(), folder))
    });
    found.as_ref().map(|(path, _)| path.as_str()).map_err(Clone::clone)
}

/// All domains share files with one prefix, which differs between users, so that the next process removes what a killed
/// process left behind.
fn config() -> Result<Config> {
    let mut config = Config::default();
    let name = |text: String| FileName::new(text.as_bytes()).say(|| text.clone());
    config.global.prefix = name(format!("tacho_{}_", tacho_private::own_user()))?;
    let root = root()?;
    config.global.set_root_path(&Path::new(root.as_bytes()).say(|| root.to_owned())?);
    Ok(config)
}

impl Middleware for Iceoryx {
    const NAME: &'static str = "iceoryx";
    const TRANSPORTS: &'static [&'static str] = &["shm"];
    const DESCRIPTOR: bool = true;
    type Publisher = publisher::Publisher;
    type Subscription = subscription::Subscription;

    fn version() -> Result<String> {
        let version = PackageVersion::get();
        Ok(format!("iceoryx2 {}.{}.{}", version.major(), version.minor(), version.patch()))
    }

    fn open(session: &SessionConfig) -> Result<Self> {
        if !session.address.is_empty() {
            return Err(Error::new(format!(
                "address {}: shared memory ends with this machine; leave the address out, or take a middleware with a \
                 network",
                session.address
            )));
        }
        set_log_level(LogLevel::Fatal); // what goes wrong comes back as an error
        let config = config()?;
        let node = NodeBuilder::new()
            .config(&config)
            .signal_handling_mode(SignalHandlingMode::Disabled) // signals are the process's own
            .create::<Ipc>()
            .say(|| format!("a node below {}", config.global.root_path()))?;
        Ok(Self { node, domain: session.domain })
    }

    fn node(&self, _name: &str) -> Result<()> {
        Ok(()) // a name for humans only: ports belong to the session's one node of iceoryx2
    }

    fn advertise(&self, endpoint: &Endpoint) -> Result<Self::Publisher> {
        Self::Publisher::new(&self.node, self.domain, endpoint)
    }

    fn subscribe(&self, endpoint: &Endpoint, on_data: Option<OnData>) -> Result<Self::Subscription> {
        Self::Subscription::new(&self.node, self.domain, endpoint, on_data)
    }
}

tacho_seam::export!(Iceoryx);
