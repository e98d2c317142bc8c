//! Events of the scheduler and of interrupts. They belong to a CPU, and form a process of pid 0 for each host.
//!
//! lttng-modules writes them from Linux's own trace points with the kernel's numbers for states, which are converted to
//! those of `events.h`. Thread ids are those of the host's first pid namespace, and so are `vtid`s of processes outside
//! containers.

use crate::process::{Origin, Registry};
use crate::trace::Trace;
use tacho_events::{Payload, ProcessIndex, StreamIndex, ThreadId};

/// Bits of a task's state that say why it sleeps, or that it ends. Linux sets a bit above them for a thread whose CPU
/// was taken (`TASK_REPORT_MAX`; `TASK_STATE_MAX` before 4.14).
const ASLEEP: u64 = 0xff;

/// The state of a kernel stream: its CPU, and the thread on it.
#[derive(Default)]
pub(crate) struct Kernel {
    cpu: Option<(u32, ProcessIndex, StreamIndex)>,
    /// Thread on the CPU; 0 if it is the idle thread or unknown.
    running: u64,
}

impl Kernel {
    /// Process, stream and thread of an event on `cpu`.
    pub fn place(
        &mut self,
        cpu: u32,
        trace: &Trace,
        ns: i64,
        registry: &mut Registry,
    ) -> (ProcessIndex, StreamIndex, ThreadId) {
        let (process, stream) = match self.cpu {
            Some((known, process, stream)) if known == cpu => (process, stream),
            _ => {
                let origin = Origin { host: trace.host_index, namespace: 0, pid: 0, tid: cpu };
                let (process, stream) = registry.place(origin, &trace.host, &trace.folder, ns, b"kernel");
                (self.cpu, self.running) = (Some((cpu, process, stream)), 0);
                (process, stream)
            }
        };
        (process, stream, ThreadId(cpu))
    }

    /// Process, stream and thread of the previous event; `None` if there was none.
    pub fn known(&self) -> Option<(ProcessIndex, StreamIndex, ThreadId)> {
        self.cpu.map(|(cpu, process, stream)| (process, stream, ThreadId(cpu)))
    }

    /// Adds what the event itself does not contain: the waking thread, and whether a thread could have continued.
    pub fn complete(&mut self, payload: &mut Payload) {
        match payload {
            Payload::SchedSwitch { prev_state, next_tid, .. } => {
                if *prev_state & ASLEEP == 0 {
                    *prev_state = 0;
                }
                self.running = *next_tid;
            }
            Payload::SchedWakeup { waker_tid, .. } => *waker_tid = self.running,
            _ => {}
        }
    }

    /// Forgets the running thread after events of this CPU were lost: it is unknown until the next switch.
    pub fn forget(&mut self) {
        self.running = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_events::Text;

    fn switch(prev_state: u64, next_tid: u64) -> Payload {
        Payload::SchedSwitch { prev_tid: 7, prev_state, next_tid, prev_comm: Text::EMPTY, next_comm: Text::EMPTY }
    }

    #[test]
    fn a_thread_whose_cpu_was_taken_could_have_gone_on() {
        // TASK_RUNNING, TASK_REPORT_MAX, TASK_STATE_MAX of Linux 3 and 4; then S, D, D with TASK_NOLOAD, X.
        for (state, expected) in
            [(0, 0), (0x100, 0), (0x400, 0), (0x800, 0), (1, 1), (2, 2), (0x402, 0x402), (0x10, 0x10)]
        {
            let mut payload = switch(state, 8);
            Kernel::default().complete(&mut payload);
            assert_eq!(payload, switch(expected, 8), "{state:#x}");
        }
    }

    #[test]
    fn who_runs_wakes() {
        let wakeup = |waker_tid| Payload::SchedWakeup { tid: 9, target_cpu: 1, waker_tid, comm: Text::EMPTY };
        let (mut kernel, mut before, mut after) = (Kernel::default(), wakeup(0), wakeup(0));
        kernel.complete(&mut before);
        kernel.complete(&mut switch(1, 42));
        kernel.complete(&mut after);
        assert_eq!((before, after), (wakeup(0), wakeup(42)));
        kernel.forget();
        kernel.complete(&mut after);
        assert_eq!(after, wakeup(0));
    }
}
