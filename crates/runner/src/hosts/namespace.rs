//! A network namespace without a name: it lives as long as its descriptor or a process in it, so nothing is left of it after any end.

use anyhow::{bail, Context, Result};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// One namespace.
#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// A new one, with nothing in it but `lo`, which is down.
    pub fn make() -> Result<Namespace> {
        let made = on_a_thread(|| {
            // SAFETY: plain call; of this thread alone, which ends.
            match unsafe { libc::unshare(libc::CLONE_NEWNET) } {
                0 => File::open("/proc/thread-self/ns/net"),
                _ => Err(io::Error::last_os_error()),
            }
        });
        match made {
            Ok(file) => Ok(Namespace(file)),
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => bail!(
                "`hosts:` of a workload are network namespaces, and making one is not allowed here: found no CAP_SYS_ADMIN; \
                 run tacho as root, or in a container with --cap-add SYS_ADMIN --cap-add NET_ADMIN"
            ),
            Err(error) => Err(error).context("no network namespace can be made"),
        }
    }

    /// A path by which other programs find it, as long as this lives.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// Does something on a thread inside it.
    pub fn within<T: Send>(&self, what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let namespace = self.0.as_raw_fd();
        on_a_thread(move || {
            enter(namespace)?;
            what()
        })
    }

    /// Runs lines through `ip -batch -` or `tc -batch -` inside it.
    pub fn batch(&self, program: &str, lines: &[String]) -> Result<()> {
        let namespace = self.0.as_raw_fd();
        let mut command = Command::new(program);
        command.args(["-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        // SAFETY: setns is async-signal-safe, and the descriptor stays open.
        unsafe { command.pre_exec(move || enter(namespace)) };
        let mut child = match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                bail!("`hosts:` of a workload need the program {program}: found none; apt-get install iproute2")
            }
            started => started.with_context(|| program.to_owned())?,
        };
        let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all((lines.join("\n") + "\n").as_bytes()));
        let output = child.wait_with_output()?;
        if !output.status.success() {
            bail!("{program}: {}; asked for: {}", String::from_utf8_lossy(&output.stderr).trim(), lines.join("; "));
        }
        written.with_context(|| program.to_owned())
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn enter(namespace: i32) -> io::Result<()> {
    // SAFETY: plain call.
    match unsafe { libc::setns(namespace, libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A thread that changes its namespace must not live on as one of ours.
fn on_a_thread<T: Send>(what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| scope.spawn(what).join()).unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
}
