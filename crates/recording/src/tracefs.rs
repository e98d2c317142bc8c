//! Reads ids and fields of tracepoints from tracefs. If tracefs is not mounted, it makes a private mount.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

const MOUNTED_AT: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// A folder with tracefs.
pub(crate) struct Tracefs(OwnedFd);

impl Tracefs {
    /// Opens the existing mount, or makes a private one.
    pub fn open() -> io::Result<Tracefs> {
        for folder in MOUNTED_AT {
            let found = open_at(libc::AT_FDCWD, folder, libc::O_PATH | libc::O_DIRECTORY).map(Tracefs);
            if let Some(found) = found.ok().filter(|found| found.read("events/sched/sched_switch/id").is_ok()) {
                return Ok(found);
            }
        }
        Tracefs::mount()
    }

    /// fsopen(2) and fsmount(2), Linux 5.2: the mount is attached nowhere and ends with its descriptor.
    fn mount() -> io::Result<Tracefs> {
        const FSCONFIG_CMD_CREATE: libc::c_uint = 6;
        const CLOEXEC: libc::c_uint = 1; // FSOPEN_CLOEXEC, FSMOUNT_CLOEXEC
        let check = |result: libc::c_long| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as i32) };
        // SAFETY: names are NUL-terminated, absent arguments null, and each descriptor is new and owned once.
        unsafe {
            let context = OwnedFd::from_raw_fd(check(libc::syscall(libc::SYS_fsopen, c"tracefs".as_ptr(), CLOEXEC))?);
            let null = std::ptr::null::<libc::c_char>();
            check(libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), FSCONFIG_CMD_CREATE, null, null, 0))?;
            let mount = check(libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), CLOEXEC, 0))?;
            Ok(Tracefs(OwnedFd::from_raw_fd(mount)))
        }
    }

    /// Returns a file's text.
    pub fn read(&self, path: &str) -> io::Result<String> {
        let mut text = String::new();
        File::from(open_at(self.0.as_raw_fd(), path, libc::O_RDONLY)?).read_to_string(&mut text)?;
        Ok(text)
    }

    /// Appends a line to a file of commands, in one write, as tracefs requires.
    pub fn append(&self, path: &str, line: &str) -> io::Result<()> {
        File::from(open_at(self.0.as_raw_fd(), path, libc::O_WRONLY | libc::O_APPEND)?)
            .write_all(format!("{line}\n").as_bytes())
    }
}

fn open_at(folder: i32, path: &str, flags: i32) -> io::Result<OwnedFd> {
    let path = CString::new(path)?;
    // SAFETY: the path is NUL-terminated, the descriptor new.
    match unsafe { libc::openat(folder, path.as_ptr(), flags | libc::O_CLOEXEC) } {
        -1 => Err(io::Error::last_os_error()),
        fd => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
    }
}
