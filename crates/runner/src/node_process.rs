//! Controls a node process: starts it, exchanges messages with it, ends it.

use crate::board_wire::BoardWire;
use crate::protocol::{Answer, Command, Plan};
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};
use tacho_events::run::ProcessExit;
use tacho_recording::descriptors;

/// Longest time from closing its stdin until its end.
const ENDING_LIMIT: Duration = Duration::from_secs(5);

/// Output of a process, or its end.
#[derive(Debug)]
pub enum Said {
    /// A line of the protocol.
    Answer(Answer),
    /// Other text on its stdout, which a library printed.
    Noise,
    /// Its stdout was closed.
    Ended,
}

/// The environment of a process.
pub struct Place<'a> {
    /// Variables added to the runner's own.
    pub environment: &'a [(OsString, OsString)],
    /// The namespaces of its host, network and mounts; `None` means the runner's.
    pub namespaces: Option<[BorrowedFd<'a>; 2]>,
    /// The wire of its board, whose descriptor it inherits.
    pub wire: BoardWire,
}

/// A process of nodes. Dropping this kills it if it still runs.
pub struct NodeProcess {
    /// Its name in the workload.
    pub name: String,
    /// The file of its stderr.
    pub log: PathBuf,
    child: Child,
    stdin: Option<ChildStdin>,
}

impl NodeProcess {
    /// Starts it with its plan. `said` receives its index with what it prints.
    pub fn start(
        program: &Path,
        name: &str,
        index: usize,
        plan: &Plan,
        place: &Place<'_>,
        log: PathBuf,
        said: Sender<(usize, Said)>,
    ) -> io::Result<NodeProcess> {
        let mut command = std::process::Command::new(program);
        // The name is for people who use `ps`.
        command.arg(name).envs(place.environment.iter().map(|(k, v)| (k, v)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&log)?);
        command.envs(place.wire.environment());
        let inherited = match place.wire {
            BoardWire::Tap(fd) | BoardWire::Switch(fd) => Some(fd),
            BoardWire::User => None,
        };
        // No node outlives its runner. A terminal sends ^C and its end to every process of the group; only the runner
        // acts on them.
        let namespaces = place.namespaces.map(|both| both.map(|namespace| namespace.as_raw_fd()));
        // Entering another mount namespace moves the process to its root.
        let folder = CString::new(std::env::current_dir()?.into_os_string().into_vec())?;
        // SAFETY: setns, chdir, fcntl, prctl, signal and setrlimit are async-signal-safe, and the descriptors are open
        // until the child has started.
        unsafe {
            command.pre_exec(move || {
                if let Some([network, mounts]) = namespaces {
                    let inside =
                        libc::setns(network, libc::CLONE_NEWNET) == 0 && libc::setns(mounts, libc::CLONE_NEWNS) == 0;
                    if !inside || libc::chdir(folder.as_ptr()) != 0 {
                        return Err(io::Error::last_os_error());
                    }
                }
                if inherited.is_some_and(|fd| libc::fcntl(fd, libc::F_SETFD, 0) != 0) {
                    return Err(io::Error::last_os_error());
                }
                libc::signal(libc::SIGINT, libc::SIG_IGN);
                libc::signal(libc::SIGHUP, libc::SIG_IGN);
                match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                    0 => descriptors::restore(),
                    _ => Err(io::Error::last_os_error()),
                }
            });
        }
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no pipe from stdout"))?;
        let stdin = child.stdin.take();
        let mut process = NodeProcess { name: name.to_owned(), log, child, stdin };
        std::thread::Builder::new().name(format!("from {name}")).spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { break };
                let what = serde_json::from_str(&line).map(Said::Answer).unwrap_or(Said::Noise);
                if said.send((index, what)).is_err() {
                    return;
                }
            }
            let _ = said.send((index, Said::Ended)); // the receiver ends with the run
        })?;
        process.write(plan)?;
        Ok(process)
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a command. If the process has ended, `said` reports that instead.
    pub fn tell(&mut self, command: &Command) {
        let _ = self.write(command); // EPIPE: its end is reported by its stdout
    }

    fn write(&mut self, what: &impl serde::Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        match &mut self.stdin {
            Some(stdin) => stdin.write_all(&line),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Closes its stdin, which ends it if it still waits for a command.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Returns its exit; kills it if it does not end by itself.
    pub fn exit_soon(&mut self) -> io::Result<ProcessExit> {
        let limit = Instant::now() + ENDING_LIMIT;
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if Instant::now() > limit {
                self.child.kill()?;
                break self.child.wait()?;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        Ok(ProcessExit {
            name: self.name.clone(),
            pid: self.child.id(),
            code: status.code(),
            signal: status.signal(),
            ..ProcessExit::default()
        })
    }

    /// The last lines of its log.
    pub fn last_words(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(5)..].join(" | ")
    }
}

impl Drop for NodeProcess {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill(); // it may have ended meanwhile
            let _ = self.child.wait();
        }
    }
}
