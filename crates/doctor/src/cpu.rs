//! Lints on processors and the clock.

use crate::{Cpu, Finding, Quota};

pub(crate) fn findings(facts: &Cpu) -> Vec<Finding> {
    vec![
        cpus(facts),
        quota(facts),
        isolated(facts),
        governor(facts),
        turbo(facts),
        smt(facts),
        virtual_machine(facts),
        clock(facts),
    ]
}

fn cpus(facts: &Cpu) -> Finding {
    let (Some(online), Some(usable)) = (facts.online, facts.usable) else {
        return Finding::unknown("cpus", "how many there are cannot be read");
    };
    let found = format!("{usable} of {online} may be used");
    if usable < online {
        let cost = "workloads that pin nodes to the others fail, and figures are those of the smaller machine";
        Finding::costs("cpus", found, cost)
            .mend(format!("taskset -c 0-{} tacho ...   # or widen the cpuset of the container", online - 1))
    } else if usable == 1 {
        let cost = "publisher and subscriber take turns: every latency has a switch of processes in it (study A runs \
                    on many cores)";
        Finding::costs("cpus", found, cost)
            .mend("measure on a machine, or give the virtual machine or container, more CPUs")
    } else {
        Finding::ok("cpus", found)
    }
}

fn quota(facts: &Cpu) -> Finding {
    let place = facts
        .container
        .as_ref()
        .map_or("not in a container that shows".to_owned(), |sign| format!("in a container ({sign})"));
    match &facts.quota {
        Some(Quota::Unlimited) => Finding::ok("cpu-quota", format!("none; {place}")),
        Some(Quota::Limited { cpus, file }) => Finding::costs(
            "cpu-quota",
            format!("{cpus:.2} CPUs by {}; {place}", file.display()),
            "once it is used up, every node stands still for the rest of the period: outliers of latency, messages \
             late (study A)",
        )
        .mend("start the container without --cpus and --cpu-quota, or raise CPUQuota= of the systemd unit"),
        None => Finding::unknown("cpu-quota", format!("the control group of this process cannot be read; {place}")),
    }
}

fn isolated(facts: &Cpu) -> Finding {
    let Some(isolated) = &facts.isolated else {
        return Finding::unknown("isolated-cpus", "/sys/devices/system/cpu/isolated cannot be read");
    };
    let ticks = match facts.nohz_full.as_deref() {
        Some("") | Some("(null)") => ", the tick stops on none (nohz_full)".to_owned(),
        Some(list) => format!(", the tick stops on {list} (nohz_full)"),
        None => String::new(),
    };
    if !isolated.is_empty() {
        return Finding::ok("isolated-cpus", format!("{isolated}{ticks}"));
    }
    let finding = Finding::costs(
        "isolated-cpus",
        format!("none{ticks}"),
        "other work shares the CPU with a pinned node: spread of callback time (study D); communication latency hardly \
         (study B, finding 5)",
    );
    match facts.online {
        Some(cpus) if cpus > 2 => {
            let last = cpus - 1;
            finding.mend(format!(
                "add isolcpus=managed_irq,domain,{last} nohz_full={last} to the kernel's command line, then boot"
            ))
        }
        _ => finding.mend("needs more CPUs than there are here: two for the system, others to isolate"),
    }
}

fn governor(facts: &Cpu) -> Finding {
    let found = facts.governors.join(", ");
    if facts.governors.is_empty() {
        let why = if facts.virtual_machine == Some(true) { ": a virtual machine, the host decides" } else { "" };
        return Finding::unknown("governor", format!("no cpufreq here{why}"));
    }
    if facts.governors.iter().all(|governor| governor == "performance") {
        return Finding::ok("governor", found);
    }
    let cost = "frequency follows load: at low rates callbacks run slower than at high ones (latency by rate, studies \
                A and B 7; callback time, D)";
    Finding::costs("governor", found, cost).mend("cpupower frequency-set -g performance")
}

fn turbo(facts: &Cpu) -> Finding {
    match facts.turbo {
        Some(false) => Finding::ok("turbo", "off"),
        Some(true) => Finding::costs(
            "turbo",
            "on",
            "frequency depends on heat and on how many cores work: drift over a run (study C, 1.1), and runs that \
             differ",
        )
        .mend("echo 0 > /sys/devices/system/cpu/cpufreq/boost")
        .mend("echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo   # Intel"),
        None => Finding::unknown("turbo", "neither cpufreq/boost nor intel_pstate/no_turbo is there"),
    }
}

fn smt(facts: &Cpu) -> Finding {
    match facts.smt {
        Some(false) => Finding::ok("smt", "no CPUs share a core"),
        Some(true) => Finding::costs(
            "smt",
            "CPUs share cores",
            "a node slows down while the CPU beside it works: callback time (study D) and computation time of chains \
             (study E)",
        )
        .mend("echo off > /sys/devices/system/cpu/smt/control"),
        None => Finding::unknown("smt", "/sys/devices/system/cpu/smt/active cannot be read"),
    }
}

fn virtual_machine(facts: &Cpu) -> Finding {
    let stolen = facts.stolen.map_or("stolen time cannot be read".to_owned(), |part| {
        format!("{:.2} % of the time since boot was stolen", part * 100.0)
    });
    match facts.virtual_machine {
        Some(false) => Finding::ok("virtual-machine", "none"),
        Some(true) => Finding::costs(
            "virtual-machine",
            format!("yes; {stolen}"),
            "the host stops CPUs unseen: outliers of every time, which repeats and medians bear, worst cases do not",
        )
        .mend("measure worst cases on the machine itself, or pin the virtual CPUs on the host"),
        None => Finding::unknown("virtual-machine", "/proc/cpuinfo does not say"),
    }
}

fn clock(facts: &Cpu) -> Finding {
    let Some(source) = &facts.clock_source else {
        return Finding::unknown("clock", "the clock source cannot be read");
    };
    let reading = facts.clock_read_ns.map_or(String::new(), |ns| format!("; a reading takes {ns:.0} ns here"));
    match facts.counts_ticks {
        Some(true) => Finding::ok("clock", format!("{source}; the recorder counts ticks of the CPU{reading}")),
        Some(false) => {
            let finding = Finding::costs(
                "clock",
                format!("{source}; the recorder reads CLOCK_MONOTONIC for each event{reading}"),
                "each event costs a reading of the clock more, and so does each stamp of a message: latency of small \
                 messages (study A)",
            );
            match ["tsc", "arch_sys_counter"]
                .into_iter()
                .find(|&counter| counter != source && facts.clock_sources.iter().any(|s| s == counter))
            {
                Some(counter) => finding
                    .mend(format!("echo {counter} > /sys/devices/system/clocksource/clocksource0/current_clocksource")),
                None => finding.mend(
                    "unset TACHO_EVENTS_CLOCK; else a processor whose counter is constant, and a kernel that trusts it",
                ),
            }
        }
        None => Finding::unknown("clock", format!("{source}; what the recorder counts is not known{reading}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn cpus_are_all_usable_and_more_than_one() {
        let of = |online, usable| cpus(&Cpu { online: Some(online), usable: Some(usable), ..Cpu::default() }).verdict;
        assert_eq!((of(8, 8), of(8, 2), of(1, 1)), (Verdict::Ok, Verdict::Costs, Verdict::Costs));
    }

    #[test]
    fn a_quota_costs_and_names_its_file() {
        let of =
            |quota| self::quota(&Cpu { quota: Some(quota), container: Some("/.dockerenv".into()), ..Cpu::default() });
        assert_eq!(of(Quota::Unlimited).verdict, Verdict::Ok);
        let limited = of(Quota::Limited { cpus: 1.5, file: "/sys/fs/cgroup/cpu.max".into() });
        assert_eq!(limited.verdict, Verdict::Costs);
        assert_eq!(limited.found, "1.50 CPUs by /sys/fs/cgroup/cpu.max; in a container (/.dockerenv)");
    }

    #[test]
    fn isolation_names_a_cpu_that_there_is() {
        let of = |list: &str, online| {
            isolated(&Cpu {
                isolated: Some(list.into()),
                nohz_full: Some("".into()),
                online: Some(online),
                ..Cpu::default()
            })
        };
        assert_eq!(of("2-3", 4).verdict, Verdict::Ok);
        assert!(of("", 8).verdict == Verdict::Costs && of("", 8).mend[0].contains("nohz_full=7"));
        assert!(!of("", 2).mend[0].contains("isolcpus"));
    }

    #[test]
    fn the_governor_of_every_cpu_must_be_performance() {
        let of = |governors: &[&str]| {
            governor(&Cpu { governors: governors.iter().map(|g| (*g).into()).collect(), ..Cpu::default() }).verdict
        };
        assert_eq!(
            (of(&["performance"]), of(&["performance", "powersave"]), of(&[])),
            (Verdict::Ok, Verdict::Costs, Verdict::Unknown)
        );
    }

    #[test]
    fn turbo_shared_cores_and_virtual_machines_cost() {
        let of = |lint: fn(&Cpu) -> Finding, yes| {
            lint(&Cpu { turbo: yes, smt: yes, virtual_machine: yes, ..Cpu::default() }).verdict
        };
        for lint in [turbo, smt, virtual_machine] {
            assert_eq!(
                (of(lint, Some(false)), of(lint, Some(true)), of(lint, None)),
                (Verdict::Ok, Verdict::Costs, Verdict::Unknown)
            );
        }
    }

    #[test]
    fn a_clock_that_is_no_counter_costs_and_the_counter_is_offered_where_there_is_one() {
        let of = |source: &str, counts| {
            clock(&Cpu {
                clock_source: Some(source.into()),
                clock_sources: vec!["tsc".into(), "hpet".into()],
                counts_ticks: Some(counts),
                ..Cpu::default()
            })
        };
        assert_eq!(of("tsc", true).verdict, Verdict::Ok);
        assert!(of("hpet", false).verdict == Verdict::Costs && of("hpet", false).mend[0].starts_with("echo tsc >"));
        assert!(of("tsc", false).mend[0].contains("TACHO_EVENTS_CLOCK"));
    }
}
