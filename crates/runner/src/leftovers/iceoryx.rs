//! Removes files of iceoryx2. They have one prefix and one folder for all runs of a user. Every process that uses them
//! holds a shared lock of that folder (native/middleware/iceoryx): a process with the exclusive lock may remove all of
//! them, but not single ones.

use super::held::Held;
use super::leftover::{Leftover, Mode};
use super::locks::try_lock;
use super::object::{identity, shared_memory, Object};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub(super) fn leftovers(private: &Path, mode: Mode) -> io::Result<Vec<Leftover>> {
    let folder = private.join("iceoryx");
    let Ok(lock) = File::open(&folder) else { return Ok(vec![]) };
    if !try_lock(&lock) {
        return Ok(vec![]);
    }
    let ours = |object: &Object| {
        let user = tacho_private::own_user();
        is_of_all_runs(object) && object.path.symlink_metadata().is_ok_and(|found| found.uid() == user)
    };
    let memory: Vec<_> = files(&shared_memory(), 0)?.into_iter().filter(ours).collect();
    let files = files(&folder, 3)?;
    // A process with another private folder, or of an older version, may use them without that lock.
    let held = if memory.is_empty() && files.is_empty() { Held::default() } else { Held::by_processes() };
    let why = memory
        .iter()
        .chain(&files)
        .find_map(|object| held.why(object).map(|why| format!("{}: {why}", object.path.display())));
    let mut found = Vec::new();
    for object in memory.iter().chain(&files) {
        // iceoryx2 always leaves this file, even after an orderly end.
        if mode == Mode::List && object.path.extension().is_some_and(|end| end == "global_mgmt") {
            continue;
        }
        let bytes = object.bytes();
        let stays = why.clone().or_else(|| object.goes(mode));
        let run = "runs on iceoryx, which were killed".into();
        found.push(Leftover { what: object.path.display().to_string(), bytes, run, stays });
    }
    if mode == Mode::Remove && why.is_none() {
        for inside in fs::read_dir(&folder)?.flatten().filter(|entry| entry.path().is_dir()) {
            fs::remove_dir_all(inside.path())?; // contains only empty folders
        }
    }
    Ok(found)
}

/// Whether an object is one of these files, which belong to no single run.
pub(super) fn is_of_all_runs(object: &Object) -> bool {
    let prefix = format!("tacho_{}_", tacho_private::own_user());
    object.path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&prefix))
}

/// Lists everything but folders, in a folder and in its folders down to a depth.
fn files(folder: &Path, depth: usize) -> io::Result<Vec<Object>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Ok(there) = path.symlink_metadata() else { continue };
        if !there.is_dir() {
            found.push(Object { identity: identity(&there), path });
        } else if depth > 0 {
            found.extend(files(&path, depth - 1)?);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_has_locked_goes_as_a_whole_and_else_nothing_goes() {
        let private = tempfile::tempdir().unwrap();
        let nodes = private.path().join("iceoryx/nodes");
        fs::create_dir_all(&nodes).unwrap();
        fs::write(nodes.join("one"), "").unwrap();
        let using = File::open(private.path().join("iceoryx")).unwrap();
        // SAFETY: the descriptor is open.
        assert_eq!(unsafe { libc::flock(std::os::fd::AsRawFd::as_raw_fd(&using), libc::LOCK_SH) }, 0);
        assert_eq!(leftovers(private.path(), Mode::List).unwrap(), []);
        drop(using);
        let listed = leftovers(private.path(), Mode::List).unwrap();
        assert!(listed.iter().any(|left| left.what.ends_with("nodes/one")) && nodes.join("one").exists(), "{listed:?}");
    }
}
