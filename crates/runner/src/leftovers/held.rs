//! Reads from /proc which shared memory and sockets a process uses, and which files all processes have mapped or open.

use super::object::{identity, shared_memory, Identity, Object};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// When a process began, in ticks since the machine started; `None` if it does not exist or is a zombie.
pub(super) fn begin_of(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in parentheses, may hold anything; proc(5): state is the third word, starttime the 22nd.
    let words: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
    let ended = matches!(words.first(), Some(&"Z" | &"X"));
    words.get(19).filter(|_| !ended)?.parse().ok()
}

/// Shared memory that a process has mapped or open, and sockets that it has bound, by their paths. Omits what it may
/// not read.
pub(super) fn objects_of(pid: u32) -> Vec<Object> {
    let (folder, memory) = (PathBuf::from(format!("/proc/{pid}")), shared_memory());
    let mut found = Vec::new();
    let mut add =
        |path: &Path, only: Identity| found.extend(Object::of(path.into()).filter(|object| object.identity == only));
    let maps = fs::read_to_string(folder.join("maps")).unwrap_or_default();
    for (is_shared, identity, path) in mapped(&maps) {
        if is_shared && path.parent() == Some(&memory) {
            add(path, identity);
        }
    }
    let unix = fs::read_to_string(folder.join("net/unix")).unwrap_or_default();
    let sockets = bound_sockets(&unix);
    for file in fs::read_dir(folder.join("fd")).into_iter().flatten().flatten() {
        let Ok(link) = fs::read_link(file.path()) else { continue };
        let inode = link.to_str().and_then(|text| text.strip_prefix("socket:[")?.strip_suffix(']'));
        if let Some(path) = inode.and_then(|inode| sockets.get(inode)) {
            if let Some(there) = path.symlink_metadata().ok().filter(|found| found.file_type().is_socket()) {
                add(path, identity(&there));
            }
        } else if let (true, Ok(there)) = (link.parent() == Some(&memory), file.path().metadata()) {
            add(&link, identity(&there));
        }
    }
    found
}

/// Parses /proc/PID/maps: whether each mapping is shared, its file's identity and path.
fn mapped(maps: &str) -> impl Iterator<Item = (bool, Identity, &Path)> {
    maps.lines().filter_map(|line| {
        let mut words = line.splitn(6, ' ');
        let (_address, access, _offset, device, inode, path) =
            (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
        let (major, minor) = device.split_once(':')?;
        let device = libc::makedev(u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?);
        let inode: u64 = inode.parse().ok().filter(|inode| *inode > 0)?;
        Some((access.ends_with('s'), (device, inode), Path::new(path.trim_start())))
    })
}

/// Parses /proc/PID/net/unix: paths of sockets by their inodes. Omits sockets without a file.
fn bound_sockets(unix: &str) -> BTreeMap<&str, PathBuf> {
    unix.lines()
        .filter_map(|line| {
            let mut words = line.split_ascii_whitespace().skip(6);
            let (inode, path) = (words.next()?, words.next()?);
            path.starts_with('/').then(|| (inode, path.into()))
        })
        .collect()
}

/// Files that processes use, with one process for each.
#[derive(Debug, Default)]
pub(super) struct Held(BTreeMap<Identity, u32>);

impl Held {
    /// Looks at all visible processes but this one. Another user's processes are not readable: mapped memory remains
    /// valid for them after removal, and their locks are checked separately.
    pub fn by_processes() -> Held {
        let mut held = BTreeMap::new();
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            if pid == std::process::id() {
                continue;
            }
            // The process has just ended or is another user's: it counts as using nothing.
            let maps = fs::read_to_string(process.path().join("maps")).unwrap_or_default();
            held.extend(mapped(&maps).map(|(_, identity, _)| (identity, pid)));
            let files = fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten();
            let open = files
                .filter_map(|file| file.path().metadata().ok())
                .filter(|found| found.is_file() && found.nlink() > 0);
            held.extend(open.map(|found| (identity(&found), pid)));
        }
        Held(held)
    }

    /// Why an object stays, if a process uses it.
    pub fn why(&self, object: &Object) -> Option<String> {
        self.0.get(&object.identity).map(|pid| format!("process {pid} uses it"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_begin_and_one_that_ended_is_none() {
        assert!(begin_of(std::process::id()).is_some());
        let mut child = std::process::Command::new("true").spawn().unwrap();
        while begin_of(child.id()).is_some() {
            std::thread::yield_now(); // a zombie until wait()
        }
        child.wait().unwrap();
    }

    #[test]
    fn maps_and_sockets_are_read_with_blanks_in_their_names() {
        let maps = "7f00-7f01 rw-s 00000000 00:1b 8                    /dev/shm/a b\n\
                    7f02-7f03 r-xp 00000000 fd:01 9 /lib/c.so\n7f04-7f05 rw-p 00000000 00:00 0 \n";
        let found: Vec<_> = mapped(maps).collect();
        assert_eq!(
            found,
            [
                (true, (0x1b, 8), Path::new("/dev/shm/a b")),
                (false, (libc::makedev(0xfd, 1), 9), Path::new("/lib/c.so"))
            ]
        );
        let unix = "Num RefCount Protocol Flags Type St Inode Path\n0: 2 0 10000 1 1 77 /tmp/x\n\
                    0: 2 0 10000 1 1 78 @abstract\n0: 2 0 0 1 3 79\n";
        assert_eq!(bound_sockets(unix), BTreeMap::from([("77", "/tmp/x".into())]));
    }
}
