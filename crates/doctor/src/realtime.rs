//! Lints on permissions for real time: what `run: {priority: ...}` of a workload, and real-time nodes of a stack, need.

use crate::{Finding, Realtime};
use tacho_printing::size;

pub(crate) fn findings(facts: &Realtime) -> Vec<Finding> {
    vec![priority(facts), throttling(facts), memory_lock(facts)]
}

fn priority(facts: &Realtime) -> Finding {
    let limit = facts.rtprio.map_or("RLIMIT_RTPRIO unknown".to_owned(), |limit| match limit {
        u64::MAX => "RLIMIT_RTPRIO unlimited".to_owned(),
        limit => format!("RLIMIT_RTPRIO {limit}"),
    });
    let capability = match facts.sys_nice {
        Some(true) => "CAP_SYS_NICE",
        Some(false) => "no CAP_SYS_NICE",
        None => "CAP_SYS_NICE unknown",
    };
    match &facts.fifo {
        Some(Ok(())) => {
            Finding::ok("real-time-priority", format!("SCHED_FIFO was given to a thread ({limit}, {capability})"))
        }
        Some(Err(words)) => {
            let cost = "nodes of real-time priority cannot be run: scheduling experiments (study B, finding 5), \
                        preemption by background load stays";
            let finding =
                Finding::costs("real-time-priority", format!("SCHED_FIFO: {words} ({limit}, {capability})"), cost);
            if facts.sys_nice == Some(true) || facts.rtprio.is_some_and(|limit| limit > 0) {
                finding.mend(
                    "the control group has no real-time budget: write one to its cpu.rt_runtime_us, or leave the group",
                )
            } else {
                finding
                    .mend(
                        "echo \"$USER - rtprio 98\" | sudo tee /etc/security/limits.d/tacho-rtprio.conf   # then log \
                         in again",
                    )
                    .mend("docker run --cap-add=sys_nice --ulimit rtprio=98 ...   # in a container")
            }
        }
        None => Finding::unknown("real-time-priority", format!("not tried ({limit}, {capability})")),
    }
}

fn throttling(facts: &Realtime) -> Finding {
    let name = "real-time-throttling";
    match (facts.rt_runtime_us, facts.rt_period_us) {
        (Some(-1), _) => Finding::ok(name, "off"),
        (Some(runtime), Some(period)) if runtime >= period => {
            Finding::ok(name, format!("{runtime} us of each {period} us: never"))
        }
        (Some(runtime), Some(period)) => Finding::costs(
            name,
            format!("real-time threads may run {runtime} us of each {period} us"),
            "a real-time node that computes longer is stopped for the rest: worst case of callback time (study D)",
        )
        .mend("sysctl -w kernel.sched_rt_runtime_us=-1   # a node that never sleeps then takes its CPU for good"),
        _ => Finding::unknown(name, "kernel.sched_rt_runtime_us and sched_rt_period_us cannot be read"),
    }
}

fn memory_lock(facts: &Realtime) -> Finding {
    let name = "memory-lock";
    match (facts.memlock, facts.ipc_lock) {
        (Some(u64::MAX), _) => Finding::ok(name, "RLIMIT_MEMLOCK unlimited"),
        (_, Some(true)) => Finding::ok(name, "CAP_IPC_LOCK"),
        (Some(limit), Some(false)) => Finding::costs(
            name,
            format!("RLIMIT_MEMLOCK {}, no CAP_IPC_LOCK", size(limit)),
            "nodes that lock their memory (mlockall) fail or are paged: outliers of callback time (study D)",
        )
        .mend(
            "echo \"$USER - memlock unlimited\" | sudo tee /etc/security/limits.d/tacho-memlock.conf   # then log in \
             again",
        )
        .mend("docker run --ulimit memlock=-1 ...   # in a container"),
        _ => Finding::unknown(name, "RLIMIT_MEMLOCK or the capabilities cannot be read"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn priority_is_ok_only_where_it_was_given() {
        let of = |fifo, rtprio| {
            priority(&Realtime { fifo: Some(fifo), rtprio: Some(rtprio), sys_nice: Some(false), ..Realtime::default() })
        };
        assert_eq!(of(Ok(()), 98).verdict, Verdict::Ok);
        let refused = of(Err("Operation not permitted".into()), 0);
        assert!(refused.verdict == Verdict::Costs && refused.mend[0].contains("limits.d"));
        assert!(of(Err("Operation not permitted".into()), 98).mend[0].contains("cpu.rt_runtime_us"));
        assert_eq!(priority(&Realtime { rtprio: Some(98), ..Realtime::default() }).verdict, Verdict::Unknown);
    }

    #[test]
    fn throttling_costs_unless_off() {
        let of = |runtime| {
            throttling(&Realtime { rt_runtime_us: Some(runtime), rt_period_us: Some(1_000_000), ..Realtime::default() })
                .verdict
        };
        assert_eq!((of(-1), of(1_000_000), of(950_000)), (Verdict::Ok, Verdict::Ok, Verdict::Costs));
        assert_eq!(throttling(&Realtime::default()).verdict, Verdict::Unknown);
    }

    #[test]
    fn memory_can_be_locked_by_limit_or_by_capability() {
        let of = |limit, capability| {
            memory_lock(&Realtime { memlock: Some(limit), ipc_lock: capability, ..Realtime::default() }).verdict
        };
        assert_eq!(of(u64::MAX, Some(false)), Verdict::Ok);
        assert_eq!(of(8 << 20, Some(true)), Verdict::Ok);
        assert_eq!(of(8 << 20, Some(false)), Verdict::Costs);
        assert_eq!(of(8 << 20, None), Verdict::Unknown);
    }
}
