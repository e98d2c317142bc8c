//! Reads how the kernel schedules threads.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use tacho_events::run::{Policy, ThreadScheduling};

/// Threads of recorded processes, each as last seen; `None` before any was.
#[derive(Default)]
pub(crate) struct Threads(Option<BTreeMap<(u32, u32), ThreadScheduling>>);

impl Threads {
    /// Looks at the threads of a process, which has the id `pid` here and `pid_of_events` in its events.
    pub fn look(&mut self, pid: u32, pid_of_events: u32) {
        let Ok(threads) = of_process(pid, pid_of_events) else { return }; // it ended
        self.0.get_or_insert_default().extend(threads.into_iter().map(|of| ((of.pid, of.tid), of)));
    }

    /// Those that are not scheduled like any program on all CPUs; `None` if none was seen.
    pub fn unusual(self) -> Option<Vec<ThreadScheduling>> {
        Some(self.0?.into_values().filter(|of| !of.is_usual()).collect())
    }
}

/// The threads of a process. Those that end meanwhile are left out.
fn of_process(pid: u32, pid_of_events: u32) -> io::Result<Vec<ThreadScheduling>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
        let Some(here) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let tid = if pid == pid_of_events { Some(here) } else { id_inside(pid, here) };
        if let (Some(tid), Some(policy), Some(cpus)) = (tid, policy(here), cpus(here)) {
            found.push(ThreadScheduling { pid: pid_of_events, tid, cpus, policy });
        }
    }
    Ok(found)
}

/// Id of a thread in the innermost pid namespace that it is in.
fn id_inside(pid: u32, tid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/task/{tid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("NSpid:"))?.split_whitespace().last()?.parse().ok()
}

fn policy(tid: u32) -> Option<Policy> {
    let tid = tid as libc::pid_t;
    let mut parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: plain calls; the parameter is valid.
    let class = unsafe { libc::sched_getscheduler(tid) };
    if class < 0 || unsafe { libc::sched_getparam(tid, &mut parameter) } != 0 {
        return None;
    }
    let priority = parameter.sched_priority as u32;
    Some(match class & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_OTHER => Policy::Nice(nice(tid)?),
        libc::SCHED_FIFO => Policy::Fifo(priority),
        libc::SCHED_RR => Policy::RoundRobin(priority),
        class => Policy::Else(class as u32),
    })
}

/// On Linux, a nice value belongs to one thread (getpriority(2), C library/kernel differences).
fn nice(tid: libc::pid_t) -> Option<i32> {
    // SAFETY: plain calls; errno is this thread's. -1 is a nice value and an error.
    unsafe {
        *libc::__errno_location() = 0;
        let nice = libc::getpriority(libc::PRIO_PROCESS, tid as libc::id_t);
        (*libc::__errno_location() == 0).then_some(nice)
    }
}

/// CPUs that a thread may use; none are listed if it may use all.
fn cpus(tid: u32) -> Option<Vec<u32>> {
    // SAFETY: a zeroed cpu_set_t is an empty one; it is valid, and the indices are below its size.
    let (set, online) = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(tid as libc::pid_t, std::mem::size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return None;
        }
        (set, libc::sysconf(libc::_SC_NPROCESSORS_ONLN))
    };
    // SAFETY: as above.
    let cpus: Vec<u32> =
        (0..libc::CPU_SETSIZE as u32).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu as usize, &set) }).collect();
    Some(if cpus.len() as i64 >= online { Vec::new() } else { cpus })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_found_as_it_was_made() {
        let (ready, wait) = (std::sync::mpsc::channel(), std::sync::mpsc::channel::<()>());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // SAFETY: plain calls on this thread; the set is valid.
                let tid = unsafe {
                    let mut set: libc::cpu_set_t = std::mem::zeroed();
                    libc::CPU_SET(0, &mut set);
                    assert_eq!(libc::sched_setaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &set), 0);
                    assert_eq!(libc::setpriority(libc::PRIO_PROCESS, 0, 7), 0);
                    libc::gettid() as u32
                };
                ready.0.send(tid).unwrap();
                let _ = wait.1.recv();
            });
            let tid = ready.1.recv().unwrap();
            let pid = std::process::id();
            let found = of_process(pid, pid).unwrap();
            drop(wait.0);
            let of = |tid: u32| found.iter().find(|of| of.tid == tid).unwrap();
            assert_eq!(of(tid).policy, Policy::Nice(7));
            // SAFETY: plain call.
            let is_alone = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) } == 1;
            assert_eq!(of(tid).cpus, if is_alone { vec![] } else { vec![0] });
            // SAFETY: plain call.
            assert_ne!(of(unsafe { libc::gettid() } as u32).policy, Policy::Nice(7));
        });
    }
}
