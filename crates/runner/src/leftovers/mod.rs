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

/// Before a run: what earlier ones left is removed, and said. What stays is not: `tacho doctor` says it.
pub fn remove_before_a_run() {
    match tacho_private::folder().and_then(|private| in_folder(&private, Mode::Remove)) {
        Ok(found) => {
            let removed: Vec<_> = found.iter().filter(|leftover| leftover.stays.is_none()).collect();
            if let Some(first) = removed.first() {
                let bytes = removed.iter().map(|leftover| leftover.bytes).sum();
                eprintln!(
                    "tacho: removed {} objects ({}) that {} left",
                    removed.len(),
                    crate::doctor::size(bytes),
                    first.run
                );
            }
        }
        Err(error) => eprintln!("tacho: what earlier runs left is not removed: {error}"),
    }
}

/// What is still there of what a run noted.
fn remains(noted: &Noted, mode: Mode) -> Vec<Leftover> {
    let run = format!("the run of process {}, which was killed,", noted.pid);
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
        let mut stays = reasons[at].clone().or_else(|| group.filter_map(|other| reasons[other].clone()).next());
        if let (None, Mode::Remove) = (&stays, mode) {
            stays = std::fs::remove_file(&object.path).err().map(|error| error.to_string());
        }
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
    use std::process::{Command, Stdio};

    /// A process that has a file of shared memory open and a folder, in which its run is noted.
    fn noted(folder: &Path, name: &str) -> (Note, std::process::Child, PathBuf) {
        let mut note = Note::begin_in(folder).unwrap();
        let path = shared_memory().join(format!("tacho-test-{name}-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        let child = Command::new("sleep").arg("1000").stdin(Stdio::from(file)).spawn().unwrap();
        note.started(child.id());
        note.look();
        (note, child, path)
    }

    fn end(mut child: std::process::Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn of_a_killed_run_what_nobody_has_is_removed_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let (note, child, path) = noted(folder.path(), "killed");
        assert_eq!(in_folder(folder.path(), Mode::Remove).unwrap(), [], "the run lives");
        note.forget();
        let [left] = &in_folder(folder.path(), Mode::Remove).unwrap()[..] else { panic!("one object") };
        assert!(left.stays.as_ref().unwrap().contains(&format!("process {}", child.id())), "{left:?}");
        end(child);
        assert_eq!(in_folder(folder.path(), Mode::List).unwrap().len(), 1);
        assert!(path.exists(), "only listed");
        let [removed] = &in_folder(folder.path(), Mode::Remove).unwrap()[..] else { panic!("one object") };
        assert_eq!((removed.what.as_str(), &removed.stays), (path.to_str().unwrap(), &None));
        assert!(!path.exists() && in_folder(folder.path(), Mode::List).unwrap().is_empty());
    }

    #[test]
    fn what_another_process_has_or_has_locked_or_made_anew_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (note, child, path) = noted(folder.path(), "shared");
        note.forget();
        end(child);
        let other = Command::new("sleep").arg("1000").stdin(File::open(&path).unwrap()).spawn().unwrap();
        let stays = in_folder(folder.path(), Mode::Remove).unwrap()[0].stays.clone().unwrap();
        assert!(stays.contains(&format!("process {}", other.id())), "{stays}");
        end(other);
        let locked = File::open(&path).unwrap();
        assert!(try_lock(&locked));
        assert!(in_folder(folder.path(), Mode::Remove).unwrap()[0].stays.is_some());
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
        end(child);
        drop(note);
        assert!(!path.exists() && folder.path().join(NOTES).read_dir().unwrap().next().is_none());
    }

    #[test]
    fn what_was_there_before_the_run_is_not_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = shared_memory().join(format!("tacho-test-before-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        let mut note = Note::begin_in(folder.path()).unwrap();
        let child = Command::new("sleep").arg("1000").stdin(file).spawn().unwrap();
        note.started(child.id());
        note.look();
        end(child);
        drop(note);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn sockets_go_with_their_process() {
        let folder = tempfile::tempdir().unwrap();
        let mut note = Note::begin_in(folder.path()).unwrap();
        let path = folder.path().join("socket");
        let listens = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); print(flush=True); sys.stdin.read()";
        let mut command = Command::new("python3");
        let mut child =
            command.args(["-c", listens]).arg(&path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        note.started(child.id());
        note.look();
        note.forget();
        assert!(in_folder(folder.path(), Mode::Remove).unwrap()[0].stays.is_some());
        end(child);
        assert_eq!(in_folder(folder.path(), Mode::Remove).unwrap()[0].stays, None);
        assert!(!path.exists());
    }
}
