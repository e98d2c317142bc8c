//! Reads the note of a run that is gone.

use super::held::begin_of;
use super::locks::try_lock;
use super::object::Object;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

/// Folder of notes, in the private folder.
pub(super) const NOTES: &str = "runs";

/// Content of a note.
#[derive(Debug, Default, Clone)]
pub(super) struct Noted {
    /// Process id of tacho.
    pub pid: u32,
    /// When the run began, seconds since 1970.
    pub began_s: u64,
    pub boot: String,
    pub pids: String,
    /// Ids of processes, and when these began, because ids are reused.
    pub processes: Vec<(u32, u64)>,
    pub objects: BTreeSet<Object>,
}

impl Noted {
    /// Reads a note if its run is gone. Removes a note from before the last boot, which is of no use.
    pub fn of_a_run_that_is_gone(path: &Path) -> io::Result<Option<Noted>> {
        let file = tacho_private::open(path)?;
        if !try_lock(&file) {
            return Ok(None);
        }
        let noted = Noted::read(&String::from_utf8_lossy(&fs::read(path)?));
        if noted.boot != boot() {
            fs::remove_file(path)?;
            return Ok(None);
        }
        Ok(Some(noted))
    }

    fn read(text: &str) -> Noted {
        let mut noted = Noted::default();
        for line in text.lines() {
            let words: Vec<&str> = line.splitn(4, ' ').collect();
            match words[..] {
                ["run", pid, began_s, rest] => {
                    let (boot, pids) = rest.split_once(' ').unwrap_or_default();
                    (noted.boot, noted.pids) = (boot.into(), pids.into());
                    (noted.pid, noted.began_s) = (pid.parse().unwrap_or(0), began_s.parse().unwrap_or(u64::MAX));
                }
                ["process", pid, begin] => noted.processes.extend(pid.parse().ok().zip(begin.parse().ok())),
                ["object", device, inode, path] => {
                    let identity = device.parse().ok().zip(inode.parse().ok());
                    noted.objects.extend(identity.map(|identity| Object { path: path.into(), identity }));
                }
                _ => {} // the last line may be incomplete if the run was killed
            }
        }
        noted
    }

    /// Why nothing of the run may be removed; `None` if it may.
    pub fn doubt(&self) -> Option<String> {
        if self.pids != pid_namespace() {
            return Some("its run was in another container, whose processes cannot be seen from here".into());
        }
        let living = self.processes.iter().find(|(pid, begin)| begin_of(*pid) == Some(*begin));
        living.map(|(pid, _)| format!("process {pid} of its run has not ended"))
    }
}

pub(super) fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

pub(super) fn pid_namespace() -> String {
    fs::read_link("/proc/self/ns/pid").map(|link| link.display().to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_that_was_cut_short_tells_what_it_has() {
        let noted = Noted::read(
            "run 7 1700000000 abc pid:[4]\nprocess 8 99\nobject 5 6 /dev/shm/a b\nobject 5 7 /dev/shm/c\nobject 5",
        );
        assert_eq!(
            (noted.pid, noted.began_s, noted.boot.as_str(), noted.pids.as_str()),
            (7, 1_700_000_000, "abc", "pid:[4]")
        );
        assert_eq!(noted.processes, [(8, 99)]);
        assert_eq!(
            noted.objects.iter().map(|object| object.path.to_str().unwrap()).collect::<Vec<_>>(),
            ["/dev/shm/a b", "/dev/shm/c"]
        );
        assert!(noted.doubt().unwrap().contains("another container"));
    }
}
