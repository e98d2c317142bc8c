//! Wakes a waiting node: from a thread of the middleware, or by the kernel itself.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tacho_middleware::Waker;
use tacho_recording::clock::monotonic_ns;

/// The wake-up of one node. It stays raised until a wait takes it down.
#[derive(Debug)]
pub enum Signal {
    /// For a wait on this signal alone.
    Condition {
        /// Whether it is raised.
        raised: Mutex<bool>,
        /// Notifies that it was raised.
        changed: Condvar,
    },
    /// For a wait together with other descriptors: an eventfd.
    Descriptor(File),
}

impl Signal {
    /// Makes a signal for [`wait_until`](Signal::wait_until).
    pub fn condition() -> Signal {
        Signal::Condition { raised: Mutex::default(), changed: Condvar::new() }
    }

    /// Makes a signal for a [`Poll`].
    pub fn descriptor() -> io::Result<Signal> {
        // SAFETY: a new descriptor, owned by the File alone.
        match unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) } {
            fd if fd >= 0 => Ok(Signal::Descriptor(unsafe { File::from_raw_fd(fd) })),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Announces that there is something to do.
    pub fn raise(&self) {
        match self {
            Signal::Condition { raised, changed } => {
                // A wake-up is a system call even if nothing waits: one is enough until a wait has taken it down.
                if !std::mem::replace(&mut *raised.lock().unwrap_or_else(PoisonError::into_inner), true) {
                    changed.notify_one();
                }
            }
            // It fails only after 2^64 - 2 raises without a wait.
            Signal::Descriptor(event) => drop((&*event).write(&1u64.to_ne_bytes())),
        }
    }

    /// Waits until it is raised, or until an instant of CLOCK_MONOTONIC, and takes it down.
    pub fn wait_until(&self, ns: i64) {
        let Signal::Condition { raised, changed } = self else { unreachable!("Poll waits for a descriptor") };
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

/// Ends any wait of a node, from another thread.
pub struct Interrupt {
    /// For a node that waits for its signal, or in a [`Poll`].
    pub signal: Arc<Signal>,
    /// For a node that waits inside the middleware without a limit.
    pub waker: Option<Waker>,
}

impl Interrupt {
    /// Makes the node check when it is to end.
    pub fn raise(&self) {
        self.signal.raise();
        if let Some(waker) = &self.waker {
            waker.wake();
        }
    }
}

/// The descriptors of a node's subscriptions, in their order, followed by that of its signal.
#[derive(Debug)]
pub struct Poll {
    polled: Vec<libc::pollfd>,
    subscriptions: Vec<RawFd>,
}

impl Poll {
    /// Polls these subscriptions and a signal with a descriptor.
    pub fn new(subscriptions: &[RawFd], signal: &File) -> Poll {
        let all = subscriptions.iter().copied().chain([signal.as_raw_fd()]);
        let polled = all.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
        Poll { polled, subscriptions: subscriptions.to_vec() }
    }

    /// Waits until one is readable or `timeout_ns` have passed; [`readable`](Poll::readable) then says which. Those
    /// that are known to have a message are not waited for: on several threads their node may be busy.
    pub fn wait(&mut self, timeout_ns: i64, signal: &File, is_known: impl Fn(usize) -> bool) {
        for (index, (polled, fd)) in self.polled.iter_mut().zip(&self.subscriptions).enumerate() {
            polled.fd = if is_known(index) { -1 } else { *fd };
        }
        let timeout = libc::timespec { tv_sec: timeout_ns / 1_000_000_000, tv_nsec: timeout_ns % 1_000_000_000 };
        // SAFETY: all pointers are valid through the call.
        let count = unsafe {
            libc::ppoll(self.polled.as_mut_ptr(), self.polled.len() as libc::nfds_t, &timeout, std::ptr::null())
        };
        if count < 0 {
            self.polled.iter_mut().for_each(|polled| polled.revents = 0); // on EINTR the results are undefined
        }
        if self.polled.last().is_some_and(|own| own.revents != 0) {
            let _ = (&*signal).read(&mut [0; 8]); // takes it down; only this thread reads it
        }
    }

    /// Whether the subscription of this index has a message to take.
    pub fn readable(&self, index: usize) -> bool {
        self.polled[index].revents != 0
    }
}

/// What came for an events executor, first come first.
#[derive(Debug, Default)]
pub struct Arrivals {
    came: Mutex<VecDeque<Arrival>>,
    subscriptions: AtomicUsize,
}

/// That a subscription, by its number in the executor, has a message: since when, by CLOCK_MONOTONIC.
#[derive(Debug)]
struct Arrival {
    at_ns: i64,
    subscription: usize,
    /// Whether the middleware announced it; otherwise there may be one that it did not announce.
    is_announced: bool,
}

impl Arrivals {
    fn queue(&self) -> MutexGuard<'_, VecDeque<Arrival>> {
        self.came.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a subscription, and returns its number.
    fn add(&self) -> usize {
        self.subscriptions.fetch_add(1, Ordering::Relaxed)
    }

    fn push(&self, subscription: usize, is_announced: bool) {
        let mut queue = self.queue();
        queue.push_back(Arrival { at_ns: monotonic_ns(), subscription, is_announced });
    }

    fn is_noted(&self, subscription: usize) -> bool {
        self.queue().iter().any(|arrival| arrival.subscription == subscription)
    }

    /// How many have come and are not taken.
    pub fn count(&self) -> usize {
        self.queue().len()
    }

    /// Takes the first one, if it came by an instant; returns the number of its subscription.
    pub fn pop_by(&self, ns: i64) -> Option<usize> {
        let mut queue = self.queue();
        loop {
            queue.front().filter(|first| first.at_ns <= ns)?;
            let first = queue.pop_front()?;
            // A message that was announced meanwhile has its place behind.
            let is_announced = || queue.iter().any(|other| other.subscription == first.subscription);
            if first.is_announced || !is_announced() {
                return Some(first.subscription);
            }
        }
    }
}

/// Whether a queue may hold messages. The middleware sets it; the node clears it before it looks at the queue.
#[derive(Debug)]
pub struct Available {
    is_set: AtomicBool,
    /// Of an events executor: what came, and the number of the subscription.
    arrivals: Option<(Arc<Arrivals>, usize)>,
}

impl Available {
    /// Of the next subscription of an executor, which has `arrivals` if it is an events executor.
    pub fn of(arrivals: Option<&Arc<Arrivals>>) -> Available {
        Available { is_set: AtomicBool::new(false), arrivals: arrivals.map(|of| (of.clone(), of.add())) }
    }

    /// Notes that a message came.
    pub fn set(&self) {
        self.is_set.store(true, Ordering::Release);
        if let Some((arrivals, subscription)) = &self.arrivals {
            arrivals.push(*subscription, true);
        }
    }

    /// Notes that there may be more messages than were announced.
    pub fn set_again(&self) {
        self.is_set.store(true, Ordering::Release);
        if let Some((arrivals, subscription)) = &self.arrivals {
            if !arrivals.is_noted(*subscription) {
                arrivals.push(*subscription, false);
            }
        }
    }

    /// Whether a message may be there; clears it.
    pub fn take(&self) -> bool {
        self.is_set.swap(false, Ordering::Acquire)
    }

    /// Whether a message may be there, without clearing it.
    pub fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }
}
