//! Sets the CPUs and the scheduling class of a node's thread.
//!
//! Both affect only this thread, which runs the executor, all callbacks and all publish calls. Threads of the
//! middleware are made earlier and keep the settings of the process, as in a real program that raises the priority of
//! its executor alone.

use crate::protocol::NodePlan;
use anyhow::{bail, Context, Result};
use std::io;
use tacho_workload::model::Scheduling;

/// Applies the plan's settings to the calling thread.
pub fn apply(plan: &NodePlan) -> Result<()> {
    pin(&plan.cpus).with_context(|| format!("node {}: CPUs {:?}", plan.node.name, plan.cpus))?;
    if let Some(scheduling) = plan.scheduling {
        schedule(scheduling).with_context(|| format!("node {}", plan.node.name))?;
    }
    Ok(())
}

/// Whether [`apply`] will be permitted: tries it on a thread that ends at once.
pub fn check(plan: &NodePlan) -> Result<()> {
    std::thread::scope(|scope| scope.spawn(|| apply(plan)).join()).unwrap_or_else(|_| bail!("a thread panicked"))
}

/// Whether a thread of this process may get these CPUs and this scheduling.
pub fn is_permitted(cpus: &[u32], scheduling: Option<Scheduling>) -> bool {
    let apply = || pin(cpus).and_then(|()| scheduling.map_or(Ok(()), schedule));
    std::thread::scope(|scope| scope.spawn(apply).join()).is_ok_and(|applied| applied.is_ok())
}

fn pin(cpus: &[u32]) -> Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    // SAFETY: a zeroed cpu_set_t is an empty one.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus {
        if *cpu as usize >= libc::CPU_SETSIZE as usize {
            bail!("CPU {cpu}: expected less than {}", libc::CPU_SETSIZE);
        }
        // SAFETY: the index was checked.
        unsafe { libc::CPU_SET(*cpu as usize, &mut set) };
    }
    // SAFETY: the set is valid; 0 is the calling thread.
    if unsafe { libc::sched_setaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &set) } != 0 {
        return Err(io::Error::last_os_error().into());
    }
    Ok(())
}

fn schedule(scheduling: Scheduling) -> Result<()> {
    let (policy, priority) = match scheduling {
        Scheduling::Nice(nice) => return set_nice(nice),
        Scheduling::Fifo(priority) => (libc::SCHED_FIFO, priority),
        Scheduling::RoundRobin(priority) => (libc::SCHED_RR, priority),
    };
    let parameter = libc::sched_param { sched_priority: priority as libc::c_int };
    // SAFETY: the parameter is valid; 0 is the calling thread.
    if unsafe { libc::sched_setscheduler(0, policy, &parameter) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    let name = if policy == libc::SCHED_FIFO { "SCHED_FIFO" } else { "SCHED_RR" };
    match error.raw_os_error() {
        Some(libc::EPERM) => bail!(
            "{name} with priority {priority} is not allowed: found RLIMIT_RTPRIO {}, expected at least {priority}: run \
             as root, or give the user `rtprio {priority}` in /etc/security/limits.d and log in again; root in a \
             control group with cpu.rt_runtime_us 0 is refused, too",
            limit(libc::RLIMIT_RTPRIO)
        ),
        _ => Err(error).with_context(|| format!("{name} with priority {priority}: expected 1 to 99")),
    }
}

/// On Linux, a nice value belongs to one thread (setpriority(2), C library/kernel differences).
fn set_nice(nice: i32) -> Result<()> {
    // SAFETY: plain call; 0 is the calling thread.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        // getrlimit(2): the limit is 20 - nice.
        Some(libc::EACCES | libc::EPERM) => bail!(
            "nice {nice} is not allowed: found RLIMIT_NICE {}, expected at least {}: run as root, \
             or give the user `nice {nice}` in /etc/security/limits.d and log in again",
            limit(libc::RLIMIT_NICE),
            20 - nice
        ),
        _ => Err(error).with_context(|| format!("nice {nice}")),
    }
}

fn limit(resource: libc::__rlimit_resource_t) -> u64 {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limits` is valid, and both resources exist on every Linux.
    unsafe { libc::getrlimit(resource, &mut limits) };
    limits.rlim_cur
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(cpus: Vec<u32>, scheduling: Option<Scheduling>) -> NodePlan {
        let node = tacho_workload::model::Node { name: "ndt".into(), ..Default::default() };
        NodePlan { node, phase: 0.0, seed: 0, cpus, scheduling, inputs: vec![], outputs: vec![], task_library: None }
    }

    /// Nice value of the calling thread according to the kernel: field 19 of its stat, the 17th after the name.
    fn nice_of_this_thread() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        stat.rsplit(") ").next().unwrap().split(' ').nth(16).unwrap().parse().unwrap()
    }

    #[test]
    fn a_nice_value_is_of_one_thread() {
        let before = nice_of_this_thread();
        let inside = std::thread::spawn(|| {
            apply(&plan(vec![], Some(Scheduling::Nice(7)))).unwrap();
            nice_of_this_thread()
        });
        assert_eq!(inside.join().unwrap(), 7);
        assert_eq!(nice_of_this_thread(), before);
    }

    #[test]
    fn a_priority_is_set_or_refused_with_what_mends_it() {
        let (scheduling, priority) = (Scheduling::Fifo(3), 3);
        let outcome = std::thread::spawn(move || {
            apply(&plan(vec![], Some(scheduling)))?;
            let mut found = libc::sched_param { sched_priority: 0 };
            // SAFETY: `found` is valid.
            let policy = unsafe {
                libc::sched_getparam(0, &mut found);
                libc::sched_getscheduler(0)
            };
            anyhow::Ok((policy, found.sched_priority))
        });
        match outcome.join().unwrap() {
            Ok(set) => assert_eq!(set, (libc::SCHED_FIFO, priority)),
            Err(error) => assert!(format!("{error:#}").contains("RLIMIT_RTPRIO"), "{error:#}"),
        }
    }

    #[test]
    fn what_the_kernel_does_not_know_is_refused() {
        assert!(
            format!("{:#}", check(&plan(vec![5000], None)).unwrap_err()).contains("node ndt: CPUs [5000]: CPU 5000")
        );
        assert!(check(&plan(vec![], Some(Scheduling::RoundRobin(0)))).is_err());
        assert!(check(&plan(vec![0], Some(Scheduling::Nice(0)))).is_ok());
    }
}
