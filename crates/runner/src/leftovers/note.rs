//! The note of a run: its processes, and the shared memory and sockets that these use. A line each, appended as it
//! comes to be known, so that whenever the run is killed the note tells what was so far.

use super::{held, iceoryx, lock_folder, remains, shared_memory, try_lock, Mode, NOTES};
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Looking at processes takes at most this part of the time.
const PART: u32 = 20;
const PERIOD: Duration = Duration::from_millis(300);

/// Memory of RouDi, the daemon of iceoryx 1, and what else is its own: it leaves them if it is killed.
const ROUDI: (&str, [&str; 3]) = ("iceoryx_mgmt", ["/tmp/roudi", "/tmp/roudi.lock", "/tmp/iox-unique-roudi.lock"]);

/// What identifies a file.
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
    /// What is there of a path.
    pub fn of(path: PathBuf) -> Option<Object> {
        let identity = identity(&path.symlink_metadata().ok()?);
        Some(Object { path, identity })
    }

    /// Files that its maker has made for it, and has not always open: locks and semaphores of Fast DDS, locks of
    /// iceoryx 1, and what RouDi has that made its memory.
    fn beside(&self) -> Vec<Object> {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let names = [format!("sem.{name}_mutex"), format!("{name}_el"), format!("{name}_sl"), format!("{name}.lock")];
        let of_roudi = ROUDI.1.iter().filter(|_| name == ROUDI.0).map(PathBuf::from);
        names.into_iter().map(|name| self.path.with_file_name(name)).chain(of_roudi).filter_map(Object::of).collect()
    }

    fn found(&self) -> Option<Metadata> {
        self.path.symlink_metadata().ok().filter(|found| identity(found) == self.identity)
    }

    /// Whether the very same is still there, and ours.
    pub fn is_there(&self) -> bool {
        self.found().is_some_and(|found| {
            found.uid() == tacho_private::own_user() && (found.is_file() || found.file_type().is_socket())
        })
    }

    /// Removes it where that is asked for; why it could not.
    pub fn goes(&self, mode: Mode) -> Option<String> {
        let removed = if mode == Mode::Remove { fs::remove_file(&self.path) } else { Ok(()) };
        removed.err().map(|error| error.to_string())
    }

    /// What it takes.
    pub fn bytes(&self) -> u64 {
        self.found().map_or(0, |found| 512 * found.blocks())
    }

    /// Locked, or that nobody listens on it; else why it stays.
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

    /// The name that is common to files that belong together: `fastdds_port7400` for `sem.fastdds_port7400_mutex`,
    /// `fastdds_port7400_el`.
    pub fn group(&self) -> &str {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.strip_prefix("sem.").unwrap_or(name);
        ["_mutex", "_el", "_sl", ".lock"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
    }
}

/// The note of a run that goes on. Dropped, it takes away what its processes left, and itself.
#[derive(Debug)]
pub struct Note {
    path: PathBuf,
    /// Locked as long as the run lives.
    file: File,
    noted: Noted,
    /// Shared memory that was there when the run began.
    before: BTreeSet<Identity>,
    next: Instant,
}

impl Note {
    /// Of a run that begins now.
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

    /// A process of the run.
    pub fn started(&mut self, pid: u32) {
        if let Some(begin) = held::begin_of(pid) {
            self.noted.processes.push((pid, begin));
            self.write(&format!("process {pid} {begin}"));
        }
    }

    /// Notes what the processes use by now.
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

    /// The same, unless it was just done.
    pub fn look_now_and_then(&mut self) {
        if Instant::now() >= self.next {
            self.look();
        }
    }

    fn write(&mut self, line: &str) {
        // What is not noted is not removed; the run goes on.
        let _ = self.file.write_all(format!("{line}\n").as_bytes());
    }

    /// As if the run were killed.
    #[cfg(test)]
    pub(super) fn forget(self) {
        let note = std::mem::ManuallyDrop::new(self);
        // SAFETY: closed once, as the note is never dropped.
        unsafe { libc::close(std::os::fd::AsRawFd::as_raw_fd(&note.file)) };
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        remains(&self.noted, Mode::Remove);
        if let Some(private) = self.path.ancestors().nth(2) {
            let _ = iceoryx::leftovers(private, Mode::Remove); // else the next one does
        }
        let _ = fs::remove_file(&self.path); // removed by hand
    }
}

/// What a note says.
#[derive(Debug, Default, Clone)]
pub(super) struct Noted {
    /// Of tacho.
    pub pid: u32,
    /// When the run began, seconds since 1970.
    pub began_s: u64,
    boot: String,
    pids: String,
    /// Process ids, and when these processes began: ids are used again.
    pub processes: Vec<(u32, u64)>,
    pub objects: BTreeSet<Object>,
}

impl Noted {
    /// What the note says, if its run is gone. The note of a run before the machine started last tells nothing, and
    /// goes.
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
                _ => {} // the last line, cut short when the run was killed
            }
        }
        noted
    }

    /// Why nothing of the run may be removed, where it may not.
    pub fn doubt(&self) -> Option<String> {
        if self.pids != pid_namespace() {
            return Some("its run was in another container, whose processes cannot be seen from here".into());
        }
        let living = self.processes.iter().find(|(pid, begin)| held::begin_of(*pid) == Some(*begin));
        living.map(|(pid, _)| format!("process {pid} of its run has not ended"))
    }
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

fn pid_namespace() -> String {
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

    #[test]
    fn files_of_one_port_belong_together() {
        let group =
            |name: &str| Object { path: format!("/dev/shm/{name}").into(), identity: (0, 0) }.group().to_owned();
        for name in ["fastdds_port7400", "fastdds_port7400_el", "fastdds_port7400_sl", "sem.fastdds_port7400_mutex"] {
            assert_eq!(group(name), "fastdds_port7400");
        }
    }
}
