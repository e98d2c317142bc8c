//! Shared memory and sockets that processes use, each known by device and inode.

use super::leftover::Mode;
use super::locks::try_lock;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// Shared memory of RouDi, the daemon of iceoryx 1, and its other files, which stay if it is killed.
const ROUDI: (&str, [&str; 3]) = ("iceoryx_mgmt", ["/tmp/roudi", "/tmp/roudi.lock", "/tmp/iox-unique-roudi.lock"]);

/// The folder of shared memory.
pub(super) fn shared_memory() -> PathBuf {
    PathBuf::from("/dev/shm")
}

/// Device and inode of a file.
pub(super) type Identity = (u64, u64);

pub(super) fn identity(found: &Metadata) -> Identity {
    (found.dev(), found.ino())
}

/// Shared memory or a socket.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Object {
    pub path: PathBuf,
    pub identity: Identity,
}

impl Object {
    /// The object at a path, if one exists.
    pub fn of(path: PathBuf) -> Option<Object> {
        let identity = identity(&path.symlink_metadata().ok()?);
        Some(Object { path, identity })
    }

    /// Further files of the same maker, which it does not always have open: locks and semaphores of Fast DDS, locks of
    /// iceoryx 1, and the other files of RouDi.
    pub fn beside(&self) -> Vec<Object> {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let names = [format!("sem.{name}_mutex"), format!("{name}_el"), format!("{name}_sl"), format!("{name}.lock")];
        let of_roudi = ROUDI.1.iter().filter(|_| name == ROUDI.0).map(PathBuf::from);
        names.into_iter().map(|name| self.path.with_file_name(name)).chain(of_roudi).filter_map(Object::of).collect()
    }

    fn found(&self) -> Option<Metadata> {
        self.path.symlink_metadata().ok().filter(|found| identity(found) == self.identity)
    }

    /// Whether this very object still exists and belongs to this user.
    pub fn is_there(&self) -> bool {
        self.found().is_some_and(|found| {
            found.uid() == tacho_private::own_user() && (found.is_file() || found.file_type().is_socket())
        })
    }

    /// Removes it in [`Mode::Remove`]; returns why that failed.
    pub fn goes(&self, mode: Mode) -> Option<String> {
        let removed = if mode == Mode::Remove { fs::remove_file(&self.path) } else { Ok(()) };
        removed.err().map(|error| error.to_string())
    }

    /// Bytes that it uses.
    pub fn bytes(&self) -> u64 {
        self.found().map_or(0, |found| 512 * found.blocks())
    }

    /// Locks the file, or checks that no process listens on the socket; the error says why it stays.
    pub fn lock(&self) -> Result<Option<File>, String> {
        if self.found().is_some_and(|found| found.file_type().is_socket()) {
            return match UnixStream::connect(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(None),
                _ => Err("a process listens on it".into()),
            };
        }
        let options = File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(&self.path);
        match options {
            Ok(file) if try_lock(&file) => Ok(Some(file)),
            Ok(_) => Err("a process has it locked".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The common name of files that belong together: `fastdds_port7400` for `sem.fastdds_port7400_mutex` and
    /// `fastdds_port7400_el`.
    pub fn group(&self) -> &str {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.strip_prefix("sem.").unwrap_or(name);
        ["_mutex", "_el", "_sl", ".lock"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_port_belong_together() {
        let group =
            |name: &str| Object { path: format!("/dev/shm/{name}").into(), identity: (0, 0) }.group().to_owned();
        for name in ["fastdds_port7400", "fastdds_port7400_el", "fastdds_port7400_sl", "sem.fastdds_port7400_mutex"] {
            assert_eq!(group(name), "fastdds_port7400");
        }
    }
}
