//! The runtime of Dust DDS: one thread of tokio's, which ends with it. Dust DDS's own executor never ends the thread
//! that it starts.

use dust_dds::runtime::{DdsRuntime, Spawner, TaskHandle, Timer};
use dust_dds::std_runtime::StdClock;
use std::future::Future;
use std::sync::mpsc::{sync_channel, Receiver};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;

/// Spawns onto a runtime of tokio's.
#[derive(Clone)]
pub struct OnTokio(pub Handle);

/// Ends the process when a task of Dust DDS panics, because its participant would receive nothing from then on, and its
/// missing messages would look like loss.
struct Whole;

impl Drop for Whole {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "dustdds: Dust DDS has failed inside, as said above (docs/middleware.md, dustdds); its process \
                 ends here"
            );
            std::process::abort();
        }
    }
}

/// A spawned task.
pub struct Task(Mutex<Receiver<()>>);

#[derive(Clone)]
pub struct Delay;

impl DdsRuntime for OnTokio {
    type ClockHandle = StdClock;
    type TimerHandle = Delay;
    type SpawnerHandle = Self;

    fn timer(&self) -> Delay {
        Delay
    }

    fn clock(&self) -> StdClock {
        StdClock
    }

    fn spawner(&self) -> Self {
        self.clone()
    }
}

impl Spawner for OnTokio {
    type TaskHandle = Task;

    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Task {
        let (running, ended) = sync_channel(0);
        self.0.spawn(async move {
            let _running = running;
            let _whole = Whole;
            future.await;
        });
        Task(Mutex::new(ended))
    }
}

impl TaskHandle for Task {
    fn join(&self) {
        // Nobody sends on it: receiving means that the sender ended, together with the task.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).recv();
    }
}

impl Timer for Delay {
    fn delay(&mut self, duration: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(duration)
    }
}
