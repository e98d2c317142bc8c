//! How the middleware's threads wake a node that waits: an event that stays until somebody waited for it.

use crate::node::instant::now_ns;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// One node's wake-up.
#[derive(Debug, Default)]
pub struct Signal {
    raised: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    /// Something is there.
    pub fn raise(&self) {
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }

    /// Waits until it is raised, or until an instant of CLOCK_MONOTONIC, and takes it down.
    pub fn wait_until(&self, ns: i64) {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        while !*raised {
            let left = ns - now_ns();
            if left <= 0 {
                return;
            }
            let limit = Duration::from_nanos(left as u64);
            raised = self.changed.wait_timeout(raised, limit).unwrap_or_else(PoisonError::into_inner).0;
        }
        *raised = false;
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
