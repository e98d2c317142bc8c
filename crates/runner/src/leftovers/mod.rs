//! What runs that were killed left behind: shared memory and sockets of their node processes, which the middleware
//! removes in order and not otherwise.
//!
//! A run notes what its processes use ([`note`]), in a file that it keeps locked. Whoever gets that lock knows that
//! the run is gone; then an object of the note is removed if it is the very one (device, inode, owner), and no
//! process that can be seen has it ([`held`]). Where that is in doubt it stays, with the reason.

mod held;
mod iceoryx;
mod masters;
mod note;
mod segments;

pub use note::Note;

use held::Held;
use note::Noted;
use serde::Serialize;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Notes of runs, in the private folder.
const NOTES: &str = "runs";

/// Something that a run left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Leftover {
    /// Its path; of System V shared memory, what `ipcs -m` calls it.
    pub what: String,
    /// Memory or disk that it takes, bytes.
    pub bytes: u64,
    /// Whose it was.
    pub run: String,
    /// Why it stays; absent: it was removed, or will be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stays: Option<String>,
}

/// Whether to remove anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Only look.
    List,
    /// Remove what is not in doubt.
    Remove,
}

/// What runs of this user left that are gone.
pub fn leftovers(mode: Mode) -> io::Result<Vec<Leftover>> {
    let private = tacho_private::folder()?;
    let mut found = in_folder(&private, mode)?;
    found.extend(masters::leftovers(&private, mode)?);
    Ok(found)
}

fn in_folder(private: &Path, mode: Mode) -> io::Result<Vec<Leftover>> {
    let notes = private.join(NOTES);
    let mut found = iceoryx::leftovers(private, mode)?;
    if !notes.is_dir() {
        return Ok(found);
    }
    // A note is made and locked under this lock, so one that can be locked is nobody's.
    let _alone = lock_folder(&notes)?;
    for entry in notes.read_dir()? {
        let path = entry?.path();
        let Some(noted) = Noted::of_a_run_that_is_gone(&path)? else { continue };
        let of_run = remains(&noted, mode);
        if mode == Mode::Remove && of_run.iter().all(|leftover| leftover.stays.is_none()) {
            std::fs::remove_file(&path)?;
        }
        found.extend(of_run);
    }
    found.sort_by(|a, b| a.what.cmp(&b.what));
    found.dedup_by(|a, b| a.what == b.what);
    Ok(found)
}

/// How many objects were removed, and their bytes.
pub fn removed(found: &[Leftover]) -> (usize, u64) {
    found
        .iter()
        .filter(|left| left.stays.is_none())
        .fold((0, 0), |(count, bytes), left| (count + 1, bytes + left.bytes))
}

/// Before a run: what earlier ones left is removed, and said. What stays is not: `tacho doctor` says it.
pub fn remove_before_a_run() {
    match tacho_private::folder().and_then(|private| in_folder(&private, Mode::Remove)) {
        Ok(found) => {
            if let Some(first) = found.iter().find(|leftover| leftover.stays.is_none()) {
                let (count, bytes) = removed(&found);
                let bytes = tacho_printing::size(bytes);
                eprintln!("tacho: removed {count} objects ({bytes}) that {}, left", first.run);
            }
        }
        Err(error) => eprintln!("tacho: what earlier runs left is not removed: {error}"),
    }
}

/// What is still there of what a run noted.
fn remains(noted: &Noted, mode: Mode) -> Vec<Leftover> {
    let run = format!("the run of process {}, which was killed", noted.pid);
    let doubt = noted.doubt();
    let mut found = Vec::new();
    let there: Vec<_> = noted.objects.iter().filter(|object| object.is_there()).collect();
    // Taken first: who comes while we look finds it locked, and takes another name.
    let locks: Vec<_> = there.iter().map(|object| object.lock()).collect();
    let held = if there.is_empty() || doubt.is_some() { Held::default() } else { Held::by_processes() };
    let why = |at: usize| doubt.clone().or_else(|| locks[at].as_ref().err().cloned()).or_else(|| held.why(there[at]));
    let reasons: Vec<_> = (0..there.len()).map(why).collect();
    for (at, object) in there.iter().enumerate() {
        // What belongs together goes together: a port of Fast DDS, its lock and its semaphore.
        let group = (0..there.len()).filter(|other| there[*other].group() == object.group());
        let reason = reasons[at].clone().or_else(|| group.filter_map(|other| reasons[other].clone()).next());
        let stays = reason.or_else(|| object.goes(mode));
        found.push(Leftover {
            what: object.path.display().to_string(),
            bytes: object.bytes(),
            run: run.clone(),
            stays,
        });
    }
    found.extend(segments::of(noted, doubt, mode).into_iter().map(|(what, bytes, stays)| Leftover {
        what,
        bytes,
        run: run.clone(),
        stays,
    }));
    found
}

/// The exclusive lock of a folder; it goes with the file.
fn lock_folder(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    // SAFETY: the descriptor is open.
    while unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } != 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(file)
}

/// Whether an exclusive lock could be had without waiting.
fn try_lock(file: &File) -> bool {
    // SAFETY: the descriptor is open.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

/// Folder of shared memory.
fn shared_memory() -> PathBuf {
    PathBuf::from("/dev/shm")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    /// A process that ends with its test, however that ends.
    struct Process(Child);

    impl Process {
        fn that_has(file: File) -> Process {
            Process(Command::new("sleep").arg("1000").stdin(Stdio::from(file)).spawn().unwrap())
        }

        fn id(&self) -> u32 {
            self.0.id()
        }
    }

    impl Drop for Process {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    /// A process that has a file of shared memory open and a folder, in which its run is noted.
    fn noted(folder: &Path, name: &str) -> (Note, Process, PathBuf) {
        let mut note = Note::begin_in(folder).unwrap();
        let path = shared_memory().join(format!("tacho-test-{name}-{}", std::process::id()));
        let child = Process::that_has(File::create(&path).unwrap());
        note.started(child.id());
        note.look();
        (note, child, path)
    }

    /// The one object of a run that was killed. A process that another test has just started has the run's lock, too,
    /// until it executes its program.
    fn one_left(folder: &Path, mode: Mode) -> Leftover {
        loop {
            let mut found = in_folder(folder, mode).unwrap();
            if let Some(left) = found.pop() {
                assert_eq!(found, []);
                return left;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn of_a_killed_run_what_nobody_has_is_removed_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let (note, child, path) = noted(folder.path(), "killed");
        assert_eq!(in_folder(folder.path(), Mode::Remove).unwrap(), [], "the run lives");
        note.forget();
        let left = one_left(folder.path(), Mode::Remove);
        assert!(left.stays.as_ref().unwrap().contains(&format!("process {}", child.id())), "{left:?}");
        drop(child);
        one_left(folder.path(), Mode::List);
        assert!(path.exists(), "only listed");
        let removed = one_left(folder.path(), Mode::Remove);
        assert_eq!((removed.what.as_str(), &removed.stays), (path.to_str().unwrap(), &None));
        assert!(!path.exists() && in_folder(folder.path(), Mode::List).unwrap().is_empty());
    }

    #[test]
    fn what_another_process_has_or_has_locked_or_made_anew_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (note, child, path) = noted(folder.path(), "shared");
        note.forget();
        drop(child);
        let other = Process::that_has(File::open(&path).unwrap());
        let stays = one_left(folder.path(), Mode::Remove).stays.unwrap();
        assert!(stays.contains(&format!("process {}", other.id())), "{stays}");
        drop(other);
        let locked = File::open(&path).unwrap();
        assert!(try_lock(&locked));
        assert!(one_left(folder.path(), Mode::Remove).stays.is_some());
        drop(locked);
        let another = path.with_extension("new");
        std::fs::write(&another, "another's").unwrap();
        std::fs::rename(&another, &path).unwrap();
        assert_eq!(in_folder(folder.path(), Mode::Remove).unwrap(), []);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_run_that_ends_in_order_takes_away_what_a_process_of_it_left() {
        let folder = tempfile::tempdir().unwrap();
        let (note, child, path) = noted(folder.path(), "order");
        drop(child);
        drop(note);
        assert!(!path.exists() && folder.path().join(NOTES).read_dir().unwrap().next().is_none());
    }

    #[test]
    fn what_was_there_before_the_run_is_not_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = shared_memory().join(format!("tacho-test-before-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        let mut note = Note::begin_in(folder.path()).unwrap();
        let child = Process::that_has(file);
        note.started(child.id());
        note.look();
        drop(child);
        drop(note);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn sockets_go_with_their_process() {
        let folder = tempfile::tempdir().unwrap();
        let mut note = Note::begin_in(folder.path()).unwrap();
        let path = folder.path().join("socket");
        let listens = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); print(flush=True); \
                       sys.stdin.read()";
        let mut command = Command::new("python3");
        command.args(["-c", listens]).arg(&path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = Process(command.spawn().unwrap());
        std::io::Read::read_exact(child.0.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        note.started(child.id());
        note.look();
        note.forget();
        assert!(one_left(folder.path(), Mode::Remove).stays.is_some());
        drop(child);
        assert_eq!(one_left(folder.path(), Mode::Remove).stays, None);
        assert!(!path.exists());
    }
}
