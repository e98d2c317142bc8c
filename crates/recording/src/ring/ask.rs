//! Implements `tacho record --save RUN`: it asks a recording that runs elsewhere to save.
//!
//! The request goes to a socket in the run directory. Every process that sees the directory finds it, even from another
//! container or with the same pid. The answer is one line: `saved saves/001`, or `refused` with the reason.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use tacho_events::RunDirectory;

const NAME: &str = "ring.socket";
const SAVED: &str = "saved ";
const REFUSED: &str = "refused ";

/// Why nothing was saved.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No recording answers there.
    #[error("{path}: no tacho record --ring is running there ({cause}); expected the run directory of one")]
    NotThere {
        /// The run directory.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The ring could not be saved, or has ended.
    #[error("{0}")]
    Refused(String),
}

/// Asks the recording in a run directory to save, and waits. Returns the saved run.
pub fn save(run: &RunDirectory) -> Result<RunDirectory, Error> {
    let not_there = |cause| Error::NotThere { path: run.path().to_owned(), cause };
    // Uses the directory's descriptor, because the path of a socket has at most 107 bytes.
    let folder = File::open(run.path()).map_err(not_there)?;
    let stream = UnixStream::connect(format!("/proc/self/fd/{}/{NAME}", folder.as_raw_fd())).map_err(not_there)?;
    let mut answer = String::new();
    let read = BufReader::new(stream).read_line(&mut answer);
    match (read, answer.trim_end().strip_prefix(SAVED), answer.trim_end().strip_prefix(REFUSED)) {
        (_, Some(path), _) => Ok(RunDirectory::new(run.path().join(path))),
        (_, _, Some(why)) => Err(Error::Refused(why.to_owned())),
        (Err(error), ..) => Err(Error::Refused(format!("the recording ended before it had saved: {error}"))),
        _ => Err(Error::Refused("the recording ended before it had saved".into())),
    }
}

/// The socket where requests arrive.
pub(super) struct Door {
    listener: UnixListener,
    folder: File,
    run: RunDirectory,
}

impl Door {
    /// Opens the socket. Replaces one that a killed tacho left.
    pub fn open(run: &RunDirectory) -> io::Result<Door> {
        match std::fs::remove_file(run.path().join(NAME)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let folder = File::open(run.path())?;
        let listener = UnixListener::bind(format!("/proc/self/fd/{}/{NAME}", folder.as_raw_fd()))?;
        listener.set_nonblocking(true)?;
        Ok(Door { listener, folder, run: run.clone() })
    }

    /// Accepts the next request, if there is one.
    pub fn asked(&self) -> Option<Asker> {
        self.listener.accept().ok().map(|(stream, _)| Asker(stream))
    }

    /// Closes the socket; later requests then get an error.
    pub fn close(self) -> io::Result<()> {
        drop((self.listener, self.folder));
        std::fs::remove_file(self.run.path().join(NAME))
    }
}

/// A request that waits for an answer.
pub(super) struct Asker(UnixStream);

impl Asker {
    /// Answers. A process that has gone away needs no answer.
    pub fn answer(mut self, saved: &Result<String, String>) {
        let line = match saved {
            Ok(path) => format!("{SAVED}{path}\n"),
            Err(why) => format!("{REFUSED}{}\n", why.replace('\n', " ")),
        };
        let _gone_away = self.0.write_all(line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_is_answered_and_where_nobody_is_that_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::new(folder.path().join("a".repeat(120)));
        assert!(matches!(save(&run), Err(Error::NotThere { .. })));
        std::fs::create_dir(run.path()).unwrap();
        assert!(matches!(save(&run), Err(Error::NotThere { .. })));
        for answer in [Ok("saves/001".to_owned()), Err("full".to_owned())] {
            let door = Door::open(&run).unwrap();
            std::thread::scope(|scope| {
                let asking = scope.spawn(|| save(&run));
                let asker = loop {
                    if let Some(asker) = door.asked() {
                        break asker;
                    }
                    std::thread::yield_now();
                };
                asker.answer(&answer);
                match (asking.join().unwrap(), &answer) {
                    (Ok(saved), Ok(path)) => assert_eq!(saved, RunDirectory::new(run.path().join(path))),
                    (Err(Error::Refused(said)), Err(why)) => assert_eq!(&said, why),
                    other => panic!("{other:?}"),
                }
            });
            door.close().unwrap();
        }
        assert!(matches!(save(&run), Err(Error::NotThere { .. })));
    }
}
