//! Finds out which processes may still write an event file. A file is never cut or replaced while a process may write
//! it: if that process stored beyond the new end, SIGBUS would kill it.

use crate::pid_namespace;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The writer of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writer {
    /// The process with this id here has the file mapped.
    Process(u32),
    /// The kernel reports that the file is open or mapped for writing. Its writer is invisible: it may be another
    /// user's process, one that is not dumpable, or one in another pid namespace.
    Unseen,
    /// The kernel does not report it: the file is another user's, or its file system gives no leases (NFS, FUSE, 9p).
    Unknown,
}

impl Writer {
    /// Returns the process, if it is visible.
    pub fn process(self) -> Option<u32> {
        match self {
            Writer::Process(pid) => Some(pid),
            Writer::Unseen | Writer::Unknown => None,
        }
    }

    /// Returns whether the file is certainly being written.
    pub fn is_certain(self) -> bool {
        self != Writer::Unknown
    }
}

/// Returns those of `files` that a process may still write, with their writers. All others can be cut.
pub(crate) fn writers(files: &[PathBuf]) -> BTreeMap<PathBuf, Writer> {
    let mut found = BTreeMap::new();
    let mut on_overlay = Vec::new();
    for path in files {
        match lease(path) {
            Lease::Given => {}
            Lease::GivenOnOverlay => on_overlay.push(path),
            Lease::Refused => drop(found.insert(path.clone(), Writer::Unseen)),
            Lease::None => drop(found.insert(path.clone(), Writer::Unknown)),
        }
    }
    if found.is_empty() && on_overlay.is_empty() {
        return found;
    }
    let maps = Maps::of(files);
    if !maps.complete {
        found.extend(on_overlay.into_iter().map(|path| (path.clone(), Writer::Unknown)));
    }
    found.extend(maps.mapped.into_iter().map(|(path, pid)| (path, Writer::Process(pid))));
    found
}

/// Does the same soon after: a process that had a file mapped `before` and still has it is its writer, and only for the
/// other files are all processes of the machine looked through.
pub(crate) fn writers_since(before: &BTreeMap<PathBuf, Writer>, files: &[PathBuf]) -> BTreeMap<PathBuf, Writer> {
    let names = Maps::names(files);
    let known: BTreeSet<u32> = files.iter().filter_map(|path| before.get(path)?.process()).collect();
    let still = known.into_iter().flat_map(|pid| {
        let text = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default(); // ended: another may write its file
        Maps::mapped_in(&text, &names).into_iter().map(move |path| (path, Writer::Process(pid)))
    });
    let mut found: BTreeMap<PathBuf, Writer> = still.collect();
    let others: Vec<PathBuf> = files.iter().filter(|path| !found.contains_key(*path)).cloned().collect();
    found.extend(writers(&others));
    found
}

/// The kernel's answer to a request for a read lease (fcntl(2), F_SETLEASE). It grants one only on a file that no
/// process has open or mapped for writing, including processes in other namespaces.
enum Lease {
    Given,
    /// Says nothing about mappings whose descriptor is closed: overlayfs counts them on the file below.
    GivenOnOverlay,
    Refused,
    None,
}

fn lease(path: &Path) -> Lease {
    const F_SETSIG: libc::c_int = 10; // asm-generic/fcntl.h
    let Ok(file) = File::open(path) else { return Lease::None };
    // SAFETY: the descriptor is open. If another process opens the file at this moment, the kernel sends SIGURG, which
    // is ignored.
    let given = unsafe {
        libc::fcntl(file.as_raw_fd(), F_SETSIG, libc::SIGURG);
        libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) == 0
    };
    if !given {
        return match io::Error::last_os_error().raw_os_error() {
            Some(libc::EAGAIN) => Lease::Refused,
            _ => Lease::None,
        };
    }
    // SAFETY: the descriptor is open, and a zeroed statfs is a valid place for the answer.
    unsafe {
        libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK);
        let mut system: libc::statfs = std::mem::zeroed();
        let asked = libc::fstatfs(file.as_raw_fd(), &mut system) == 0;
        if asked && system.f_type as i64 != libc::OVERLAYFS_SUPER_MAGIC {
            Lease::Given
        } else {
            Lease::GivenOnOverlay
        }
    }
}

/// The mappings of files that /proc lists.
struct Maps {
    /// Files with the id here of a process that has them mapped.
    mapped: Vec<(PathBuf, u32)>,
    /// Whether the mappings of every process of the machine were readable.
    complete: bool,
}

impl Maps {
    /// Finds files by name, because the pid in an event file may mean another process in this pid namespace. A name
    /// contains the pid and the time of its creation.
    fn of(files: &[PathBuf]) -> Maps {
        let names = Maps::names(files);
        // Mounted with hidepid, /proc lists only the processes of this user; in a container, only those of the
        // container.
        let whole = Path::new("/proc/1").exists() && pid_namespace::is_first();
        let mut maps = Maps { mapped: Vec::new(), complete: whole };
        for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = process.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let text = match fs::read(process.path().join("maps")) {
                Ok(text) => text,
                Err(error) => {
                    maps.complete &= matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH)); // ended just now
                    continue;
                }
            };
            maps.mapped.extend(Maps::mapped_in(&text, &names).into_iter().map(|path| (path, pid)));
        }
        maps
    }

    fn names(files: &[PathBuf]) -> HashMap<&OsStr, &PathBuf> {
        files.iter().filter_map(|path| Some((path.file_name()?, path))).collect()
    }

    /// Those of the files that stand in the text of /proc/PID/maps.
    fn mapped_in(text: &[u8], names: &HashMap<&OsStr, &PathBuf>) -> Vec<PathBuf> {
        let name = |line: &[u8]| names.get(OsStr::from_bytes(line.rsplit(|byte| *byte == b'/').next()?)).copied();
        text.split(|byte| *byte == b'\n').filter_map(|line| name(line).cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_as_long_as_it_is_open_or_mapped_for_writing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let who = || writers(std::slice::from_ref(&path)).get(&path).copied();
        fs::write(&path, [0; 4096]).unwrap();
        assert_eq!(who(), None);
        let file = File::options().read(true).write(true).open(&path).unwrap();
        assert_eq!(who(), Some(Writer::Unseen), "open, and nowhere mapped");
        // SAFETY: no process cuts the file.
        let mapping = unsafe { memmap2::MmapMut::map_mut(&file) }.unwrap();
        drop(file);
        let writer = Writer::Process(std::process::id());
        assert_eq!(who(), Some(writer));
        let since = |before: &BTreeMap<PathBuf, Writer>| writers_since(before, std::slice::from_ref(&path));
        let known = since(&BTreeMap::new());
        assert_eq!(known.get(&path), Some(&writer));
        assert_eq!(since(&known), known);
        let ended = BTreeMap::from([(path.clone(), Writer::Process(u32::MAX))]);
        assert_eq!(since(&ended), known, "another process has it now");
        drop(mapping);
        assert_eq!((who(), since(&known).get(&path)), (None, None));
    }

    #[test]
    fn a_file_whose_writers_the_kernel_does_not_tell_may_have_one() {
        let found = writers(&["/dev/null".into(), "/no/such/file".into()]);
        assert_eq!(found.into_values().collect::<Vec<_>>(), [Writer::Unknown, Writer::Unknown]);
    }
}
