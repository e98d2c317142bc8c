//! How a node that waits is woken: by a thread of the middleware, or by the kernel itself.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tacho_middleware::Waker;
use tacho_recording::clock::monotonic_ns;

/// One node's wake-up: an event that stays until somebody waited for it.
#[derive(Debug)]
pub enum Signal {
    /// Waited for alone.
    Condition {
        /// Whether it is raised.
        raised: Mutex<bool>,
        /// That it was raised.
        changed: Condvar,
    },
    /// Waited for together with other descriptors: an eventfd.
    Descriptor(File),
}

impl Signal {
    /// One to be waited for with [`wait_until`](Signal::wait_until).
    pub fn condition() -> Signal {
        Signal::Condition { raised: Mutex::default(), changed: Condvar::new() }
    }

    /// One to be waited for in a [`Poll`].
    pub fn descriptor() -> io::Result<Signal> {
        // SAFETY: a new descriptor, owned by the File alone.
        match unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) } {
            fd if fd >= 0 => Ok(Signal::Descriptor(unsafe { File::from_raw_fd(fd) })),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Something is there.
    pub fn raise(&self) {
        match self {
            Signal::Condition { raised, changed } => {
                // A wake-up is a system call, even where nobody waits: one is enough until somebody has taken it down.
                if !std::mem::replace(&mut *raised.lock().unwrap_or_else(PoisonError::into_inner), true) {
                    changed.notify_one();
                }
            }
            // It fails only where it has been raised 2^64 - 2 times.
            Signal::Descriptor(event) => drop((&*event).write(&1u64.to_ne_bytes())),
        }
    }

    /// Waits until it is raised, or until an instant of CLOCK_MONOTONIC, and takes it down.
    pub fn wait_until(&self, ns: i64) {
        let Signal::Condition { raised, changed } = self else { unreachable!("a descriptor is waited for by Poll") };
        let mut raised = raised.lock().unwrap_or_else(PoisonError::into_inner);
        while !*raised {
            let left = ns - monotonic_ns();
            if left <= 0 {
                return;
            }
            let limit = Duration::from_nanos(left as u64);
            raised = changed.wait_timeout(raised, limit).unwrap_or_else(PoisonError::into_inner).0;
        }
        *raised = false;
    }
}

/// Ends whatever wait a node is in, from another thread.
pub struct Interrupt {
    /// Of a node that waits for its signal, or in a [`Poll`].
    pub signal: Arc<Signal>,
    /// Of one that waits inside the middleware, without a limit.
    pub waker: Option<Waker>,
}

impl Interrupt {
    /// The node looks at when it is to end.
    pub fn raise(&self) {
        self.signal.raise();
        if let Some(waker) = &self.waker {
            waker.wake();
        }
    }
}

/// The descriptors of a node's subscriptions, in their order, and that of its signal, last.
#[derive(Debug)]
pub struct Poll(Vec<libc::pollfd>);

impl Poll {
    /// Of these subscriptions and a signal with a descriptor.
    pub fn new(subscriptions: &[RawFd], signal: &File) -> Poll {
        let all = subscriptions.iter().copied().chain([signal.as_raw_fd()]);
        Poll(all.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect())
    }

    /// Waits until one is readable or `timeout_ns` have passed; then [`readable`](Poll::readable) says which.
    pub fn wait(&mut self, timeout_ns: i64, signal: &File) {
        let timeout = libc::timespec { tv_sec: timeout_ns / 1_000_000_000, tv_nsec: timeout_ns % 1_000_000_000 };
        // SAFETY: all pointers are valid through the call.
        let count =
            unsafe { libc::ppoll(self.0.as_mut_ptr(), self.0.len() as libc::nfds_t, &timeout, std::ptr::null()) };
        if count < 0 {
            self.0.iter_mut().for_each(|polled| polled.revents = 0); // EINTR: nothing is known
        }
        if self.0.last().is_some_and(|own| own.revents != 0) {
            let _ = (&*signal).read(&mut [0; 8]); // taken down; another thread cannot have been first
        }
    }

    /// Whether the subscription of this index has something to take.
    pub fn readable(&self, index: usize) -> bool {
        self.0[index].revents != 0
    }
}

/// Whether a queue may hold messages: set by the middleware, taken down before the queue is looked at.
#[derive(Debug, Default)]
pub struct Available(AtomicBool);

impl Available {
    /// A message may be there.
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether one may be; from now on it may not, until set again.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::Acquire)
    }

    /// Whether one may be, without taking it down.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
