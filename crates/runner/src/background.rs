//! Background load: threads that compute all the time beside the nodes, scheduled like any program (study B 5).

use anyhow::{bail, Context, Result};
use std::hint::black_box;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use tacho_workload::random::mix;

/// The argument that makes `tacho-node` a background load of that many threads.
pub const OPTION: &str = "--background=";

/// A process of its own that computes. Dropping this ends it.
#[derive(Debug)]
pub struct Background(Child);

impl Background {
    /// Starts `threads` threads and returns when all compute. They run like any program: without priority, on all CPUs,
    /// not recorded.
    pub fn start(program: &Path, threads: u32) -> Result<Background> {
        let mut command = std::process::Command::new(program);
        command.arg(format!("{OPTION}{threads}")).stdin(Stdio::piped()).stdout(Stdio::piped());
        // Like nodes: it ends with the runner, and ignores signals of the terminal.
        // SAFETY: prctl and signal are async-signal-safe.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_IGN);
                libc::signal(libc::SIGHUP, libc::SIG_IGN);
                match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                    0 => Ok(()),
                    _ => Err(io::Error::last_os_error()),
                }
            });
        }
        let mut background =
            Background(command.spawn().with_context(|| format!("background load: {}", program.display()))?);
        let said = background.0.stdout.take().map(|out| BufReader::new(out).lines().next());
        match said {
            Some(Some(Ok(line))) if line == format!("computing on {threads}") => Ok(background),
            other => bail!("background load of {threads} threads did not start: {}: said {other:?}", program.display()),
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Whether it still computes.
    pub fn runs(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it ended in between
        let _ = self.0.wait();
    }
}

/// Computes until stdin is closed; what `tacho-node` does with [`OPTION`].
pub fn run(threads: u32) -> io::Result<()> {
    let computing = std::sync::Arc::new(std::sync::Barrier::new(threads as usize + 1));
    for _ in 0..threads {
        let computing = computing.clone();
        std::thread::Builder::new().name("background".into()).spawn(move || {
            computing.wait();
            let mut state = 1u64;
            loop {
                state = black_box(mix(state));
            }
        })?;
    }
    computing.wait();
    writeln!(io::stdout(), "computing on {threads}")?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
