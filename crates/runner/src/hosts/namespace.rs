//! A network namespace without a name, and the other namespaces of a host. The kernel removes them with their last
//! descriptor and process, so nothing is left however tacho ends.

use anyhow::{bail, Context, Result};
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The interface of every host.
pub const INTERFACE: &str = "eth0";

/// Most packets that wait for a link, in each direction.
pub const QUEUE_PACKETS: u32 = 10_000;

/// Longest time from setting a link up until the kernel reports it as up.
const LINK_LIMIT: Duration = Duration::from_secs(5);

/// One namespace.
#[derive(Debug)]
pub struct Namespace(File);

/// What a host has of its own besides its network: shared memory and the machine's identity. Fast DDS assumes that
/// peers with the same machine-id are local, and looks for them only on its own addresses and in shared memory.
#[derive(Debug)]
pub struct Mounts(File);

impl Mounts {
    /// Makes them for the host of this number.
    pub fn make(number: usize) -> Result<Mounts> {
        let made = on_a_thread(|| {
            // SAFETY: affects only this thread, which ends.
            if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
                return Err(io::Error::last_os_error());
            }
            mount(None, c"/", None, libc::MS_REC | libc::MS_PRIVATE)?;
            mount(Some(c"tacho"), c"/dev/shm", Some(c"tmpfs"), 0)?;
            if std::path::Path::new("/etc/machine-id").exists() {
                std::fs::write(
                    "/dev/shm/machine-id",
                    format!("{:032x}\n", (std::process::id() as u128) << 32 | number as u128),
                )?;
                mount(Some(c"/dev/shm/machine-id"), c"/etc/machine-id", None, libc::MS_BIND)?;
            }
            File::open("/proc/thread-self/ns/mnt")
        });
        Ok(Mounts(made.context("a host's own shared memory and machine-id")?))
    }
}

impl AsFd for Mounts {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn mount(what: Option<&CStr>, on: &CStr, kind: Option<&CStr>, flags: libc::c_ulong) -> io::Result<()> {
    let pointer = |text: Option<&CStr>| text.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: all texts live through the call.
    match unsafe { libc::mount(pointer(what), on.as_ptr(), pointer(kind), flags, std::ptr::null()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

impl Namespace {
    /// Makes one. It contains only `lo`, which is down.
    pub fn make() -> Result<Namespace> {
        let made = on_a_thread(|| {
            // SAFETY: affects only this thread, which ends.
            match unsafe { libc::unshare(libc::CLONE_NEWNET) } {
                0 => File::open("/proc/thread-self/ns/net"),
                _ => Err(io::Error::last_os_error()),
            }
        });
        match made {
            Ok(file) => Ok(Namespace(file)),
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => bail!(
                "`hosts:` of a workload are network namespaces, and making one is not allowed here: found no \
                 CAP_SYS_ADMIN; run tacho as root, or in a container with --cap-add SYS_ADMIN --cap-add NET_ADMIN"
            ),
            Err(error) => Err(error).context("no network namespace can be made"),
        }
    }

    /// A path by which other programs find it while this exists.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// Runs `what` on a thread inside it.
    pub fn within<T: Send>(&self, what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let namespace = self.0.as_raw_fd();
        on_a_thread(move || {
            enter(namespace)?;
            what()
        })
    }

    /// Waits until the kernel reports a link as up, which takes a moment; until then middlewares ignore it.
    pub fn wait_for_link(&self, name: &str) -> Result<()> {
        let limit = Instant::now() + LINK_LIMIT;
        while !self.within(|| is_running(name)).with_context(|| format!("link {name}"))? {
            if Instant::now() > limit {
                bail!("link {name} of a host was not up after {} s", LINK_LIMIT.as_secs());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
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
        let written =
            child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all((lines.join("\n") + "\n").as_bytes()));
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

/// Whether a link of this thread's namespace and its other end are up (netdevice(7): IFF_RUNNING).
fn is_running(name: &str) -> io::Result<bool> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: an ifreq of zeros is one; the name is shorter than its field by the check, and ends with a zero.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        if name.len() >= request.ifr_name.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *to = from as libc::c_char;
        }
        if libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &mut request) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(i32::from(request.ifr_ifru.ifru_flags) & libc::IFF_RUNNING != 0)
    }
}

fn enter(namespace: i32) -> io::Result<()> {
    // SAFETY: plain call.
    match unsafe { libc::setns(namespace, libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Runs `what` on a thread of its own, because a thread that has changed its namespace must not be reused.
fn on_a_thread<T: Send>(what: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| scope.spawn(what).join()).unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
}
