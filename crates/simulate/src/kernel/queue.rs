//! Real-time threads that are ready on a CPU, the first to run first.

use super::Thread;

/// Threads with their priorities: greatest first, among equals in the order of arrival.
#[derive(Default)]
pub(super) struct RealTime(Vec<(u32, Thread)>);

impl RealTime {
    /// Adds a thread behind those of its priority, or before them.
    pub fn put(&mut self, thread: Thread, priority: u32, first: bool) {
        let comes_later = |(other, _): &(u32, Thread)| if first { *other <= priority } else { *other < priority };
        let at = self.0.iter().position(comes_later).unwrap_or(self.0.len());
        self.0.insert(at, (priority, thread));
    }

    /// Removes the first.
    pub fn take(&mut self) -> Option<Thread> {
        (!self.0.is_empty()).then(|| self.0.remove(0).1)
    }

    /// Removes this thread.
    pub fn remove(&mut self, thread: Thread) {
        self.0.retain(|(_, other)| *other != thread);
    }

    /// The first that fulfils a condition.
    pub fn first(&self, is_meant: impl Fn(Thread) -> bool) -> Option<Thread> {
        self.0.iter().map(|(_, thread)| *thread).find(|thread| is_meant(*thread))
    }

    /// Priority of the first.
    pub fn first_priority(&self) -> Option<u32> {
        self.0.first().map(|(priority, _)| *priority)
    }
}
