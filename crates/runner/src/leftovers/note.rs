//! Writes the note of a run: its processes, and the shared memory and sockets that these use. Each is appended as a
//! line as soon as it is known, so that the note of a killed run is complete up to that moment.

use super::held;
use super::iceoryx;
use super::leftover::Mode;
use super::locks::{lock_folder, try_lock};
use super::noted::{boot, pid_namespace, Noted, NOTES};
use super::object::{identity, shared_memory, Identity, Object};
use super::remains::remains;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Looking at processes takes at most one part in this many of the time.
const PART: u32 = 20;
const PERIOD: Duration = Duration::from_millis(300);

/// The note of a running run. Dropping it removes what its processes left, and the note itself.
#[derive(Debug)]
pub struct Note {
    path: PathBuf,
    /// Stays locked as long as the run lives.
    file: File,
    noted: Noted,
    /// Shared memory that existed before the run.
    before: BTreeSet<Identity>,
    next: Instant,
}

impl Note {
    /// Begins the note of a run that starts now.
    pub fn begin() -> io::Result<Note> {
        Note::begin_in(&tacho_private::folder()?)
    }

    pub(super) fn begin_in(private: &Path) -> io::Result<Note> {
        let folder = private.join(NOTES);
        match fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let pid = std::process::id();
        let path = folder.join(format!("{pid}-{}", since_1970.as_nanos()));
        let file = {
            let _alone = lock_folder(&folder)?;
            let file = tacho_private::create(&path)?;
            if !try_lock(&file) {
                return Err(io::Error::other(format!("{}: cannot be locked", path.display())));
            }
            file
        };
        let noted =
            Noted { pid, began_s: since_1970.as_secs(), boot: boot(), pids: pid_namespace(), ..Noted::default() };
        let mut note = Note { path, file, noted, before: BTreeSet::new(), next: Instant::now() };
        note.write(&format!("run {} {} {} {}", pid, note.noted.began_s, note.noted.boot, note.noted.pids));
        note.before = fs::read_dir(shared_memory())
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| Some(identity(&entry.metadata().ok()?)))
            .collect();
        Ok(note)
    }

    /// Adds a process of the run.
    pub fn started(&mut self, pid: u32) {
        if let Some(begin) = held::begin_of(pid) {
            self.noted.processes.push((pid, begin));
            self.write(&format!("process {pid} {begin}"));
        }
    }

    /// Notes what the processes use at this moment.
    pub fn look(&mut self) {
        let begin = Instant::now();
        for (pid, _) in self.noted.processes.clone() {
            let found = held::objects_of(pid);
            let beside: Vec<_> = found
                .iter()
                .filter(|object| !self.before.contains(&object.identity))
                .flat_map(Object::beside)
                .collect();
            for object in found.into_iter().chain(beside) {
                let of_run = !self.before.contains(&object.identity) && !iceoryx::is_of_all_runs(&object);
                if of_run && object.is_there() && self.noted.objects.insert(object.clone()) {
                    let (device, inode) = object.identity;
                    self.write(&format!("object {device} {inode} {}", object.path.display()));
                }
            }
        }
        self.next = Instant::now() + PERIOD.max(begin.elapsed() * PART);
    }

    /// Calls [`look`](Note::look) unless it was called recently.
    pub fn look_now_and_then(&mut self) {
        if Instant::now() >= self.next {
            self.look();
        }
    }

    fn write(&mut self, line: &str) {
        // An object without a note is not removed; the run continues.
        let _ = self.file.write_all(format!("{line}\n").as_bytes());
    }

    /// Ends as if the run were killed.
    #[cfg(test)]
    pub(super) fn forget(self) {
        let note = std::mem::ManuallyDrop::new(self);
        // SAFETY: closed only once, because the note is never dropped.
        unsafe { libc::close(std::os::fd::AsRawFd::as_raw_fd(&note.file)) };
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        remains(&self.noted, Mode::Remove);
        if let Some(private) = self.path.ancestors().nth(2) {
            let _ = iceoryx::leftovers(private, Mode::Remove); // otherwise the next run does it
        }
        let _ = fs::remove_file(&self.path); // the user may have removed it
    }
}
