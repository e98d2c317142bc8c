//! Waits on several descriptors, and provides a thread that does so until it is dropped.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::thread::JoinHandle;
use tacho_seam::{Result, Say};

/// Readable while one of its descriptors is.
pub struct Poll(OwnedFd);

fn checked(what: &str, result: i32) -> Result<i32> {
    if result < 0 {
        Err(io::Error::last_os_error()).say(|| what.into())
    } else {
        Ok(result)
    }
}

/// A descriptor that is readable until it is closed.
pub fn raised() -> Result<OwnedFd> {
    // SAFETY: no addresses; the descriptor is new and owned from here on.
    Ok(unsafe { OwnedFd::from_raw_fd(checked("eventfd", libc::eventfd(1, libc::EFD_CLOEXEC))?) })
}

impl Poll {
    /// The descriptors must stay open as long as this is used.
    pub fn new(descriptors: &[RawFd]) -> Result<Self> {
        // SAFETY: no addresses; the descriptor is new and owned from here on.
        let poll =
            unsafe { Self(OwnedFd::from_raw_fd(checked("epoll_create1", libc::epoll_create1(libc::EPOLL_CLOEXEC))?)) };
        for descriptor in descriptors {
            let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: *descriptor as u64 };
            // SAFETY: the event lives through the call.
            checked("epoll_ctl", unsafe {
                libc::epoll_ctl(poll.0.as_raw_fd(), libc::EPOLL_CTL_ADD, *descriptor, &mut event)
            })?;
        }
        Ok(poll)
    }

    /// Returns a descriptor for poll() and the like.
    pub fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Waits until one is readable, and returns which.
    fn wait(&self) -> RawFd {
        loop {
            let mut event = libc::epoll_event { events: 0, u64: 0 };
            // SAFETY: room for one event.
            if unsafe { libc::epoll_wait(self.0.as_raw_fd(), &mut event, 1, -1) } == 1 {
                return event.u64 as RawFd;
            }
        }
    }
}

/// A thread that waits on descriptors.
pub struct Watch {
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Calls `ready` whenever one of them is readable; `ready` must read until it is empty. The descriptors must stay
    /// open until this is dropped.
    pub fn new(name: &str, descriptors: &[RawFd], ready: impl Fn() + Send + 'static) -> Result<Self> {
        // SAFETY: no addresses; the descriptor is new and owned from here on.
        let stop = unsafe { OwnedFd::from_raw_fd(checked("eventfd", libc::eventfd(0, libc::EFD_CLOEXEC))?) };
        let end = stop.as_raw_fd();
        let poll = Poll::new(&[descriptors, &[end]].concat())?;
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || {
            while poll.wait() != end {
                ready();
            }
        });
        Ok(Self { stop, thread: Some(thread.say(|| "a thread to wait on notifications".into())?) })
    }
}

impl Drop for Watch {
    /// When it returns, `ready` is no longer called.
    fn drop(&mut self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight bytes, the size that an eventfd takes.
        let written = unsafe { libc::write(self.stop.as_raw_fd(), one.as_ptr().cast(), one.len()) };
        debug_assert_eq!(written, 8);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // the panic was already reported
        }
    }
}
