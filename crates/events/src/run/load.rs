//! What else ran on the machine.

use serde::{Deserialize, Serialize};

/// What a machine did while something ran on it, from /proc. Unreadable values are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Load {
    /// Wall time that all below is of.
    pub over_s: f64,
    /// CPUs that were online.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpus: Option<u32>,
    /// CPU time that all processes, the kernel and interrupts used: the time of all CPUs less the idle and the stolen
    /// part (/proc/stat), and at least the CPU time of all processes (/proc/PID/stat). A wait for the hypervisor at the
    /// end of an idle time is in both parts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub machine_cpu_s: Option<f64>,
    /// The part of tacho and of what it started or attached to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub own_cpu_s: Option<f64>,
    /// The rest: what other processes used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub others_cpu_s: Option<f64>,
    /// Part of the time of all CPUs that the hypervisor gave to others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub steal_percent: Option<f64>,
    /// Part of the time in which some task waited for a CPU (/proc/pressure/cpu): of the run or of others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pressure_some_percent: Option<f64>,
    /// Part of the time in which all tasks that were not idle waited for one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pressure_full_percent: Option<f64>,
    /// Load average over a minute, tasks, at the begin (/proc/loadavg).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load_average_before: Option<f64>,
    /// And at the end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load_average_after: Option<f64>,
}

impl Load {
    /// If others used more CPUs than this on average, the run was not alone.
    pub const MUCH_OTHERS_CPUS: f64 = 0.5;
    /// Steal is reported if it is more than this share of the time of all CPUs.
    pub const MUCH_STEAL_PERCENT: f64 = 1.0;
    /// Stalls by the hypervisor decide a tail if they are more than this share of the CPU time that was asked for.
    pub const MUCH_STOLEN_PERCENT: f64 = 3.0;
    /// Part of the time of all CPUs from which on none is free.
    const FULL: f64 = 0.95;
    /// Least time for which either is reported: over less, the kernel's ticks of 10 ms are too coarse.
    const LEAST_S: f64 = 0.5;

    /// Load of a run that joins several: of the one whose others used most. On one machine, what the other runs used is
    /// no longer that of others.
    pub fn joined(loads: &[&Load], of_one_machine: bool) -> Option<Load> {
        let own_s = |load: &Load| load.own_cpu_s.unwrap_or(0.0);
        let all_s: f64 = loads.iter().map(|load| own_s(load)).sum();
        let joined = loads.iter().map(|load| match of_one_machine {
            true => Load {
                own_cpu_s: load.own_cpu_s.map(|_| all_s),
                others_cpu_s: load.others_cpu_s.map(|others_s| (others_s - (all_s - own_s(load))).max(0.0)),
                ..(*load).clone()
            },
            false => (*load).clone(),
        });
        joined.max_by(|a, b| a.others_cpus().unwrap_or(0.0).total_cmp(&b.others_cpus().unwrap_or(0.0)))
    }

    /// CPUs that others used on the average.
    pub fn others_cpus(&self) -> Option<f64> {
        self.others_cpu_s.filter(|_| self.over_s > 0.0).map(|cpu_s| cpu_s / self.over_s)
    }

    /// CPU time that the hypervisor gave to others, s.
    pub fn stolen_s(&self) -> Option<f64> {
        Some(self.steal_percent? / 100.0 * f64::from(self.cpus?) * self.over_s)
    }

    /// Part of the CPU time that anybody here asked for and the hypervisor gave to others. On a machine that is mostly
    /// idle, a small steal is a large part of it.
    pub fn stolen_part(&self) -> Option<f64> {
        let stolen_s = self.stolen_s()?;
        let asked_s = stolen_s + self.machine_cpu_s?;
        (asked_s > 0.0).then_some(stolen_s / asked_s)
    }

    /// Part of the time of all CPUs in which one was in use, by whomever.
    pub fn used_part(&self) -> Option<f64> {
        let all_s = f64::from(self.cpus?) * self.over_s;
        (all_s > 0.0).then_some(self.machine_cpu_s? / all_s)
    }

    /// Whether all CPUs were in use nearly all the time, and others had a good part of them: whoever woke up waited.
    pub fn is_full(&self) -> bool {
        self.used_part().is_some_and(|part| part >= Load::FULL) && self.much().is_some()
    }

    /// Whether the hypervisor took a good part of the CPUs' time.
    pub fn steals_much(&self) -> bool {
        self.steal_percent.is_some_and(|percent| percent > Load::MUCH_STEAL_PERCENT)
    }

    /// Returns in words what used much of the machine: `other processes used 1.52 CPUs on the average`. `None`: nothing
    /// did, or it is unknown.
    pub fn much(&self) -> Option<String> {
        if self.over_s < Load::LEAST_S {
            return None;
        }
        let others = self.others_cpus().filter(|cpus| *cpus > Load::MUCH_OTHERS_CPUS);
        let others = others.map(|cpus| match self.cpus {
            Some(all) => format!("other processes used {cpus:.2} of {all} CPUs on the average"),
            None => format!("other processes used {cpus:.2} CPUs on the average"),
        });
        let steal = self.steal_percent.filter(|percent| *percent > Load::MUCH_STEAL_PERCENT);
        let steal =
            steal.map(|percent| format!("the hypervisor gave {percent:.1} % of the CPUs' time to others (steal)"));
        let told: Vec<String> = others.into_iter().chain(steal).collect();
        (!told.is_empty()).then(|| told.join(", and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_steal_is_much_of_what_an_idle_machine_asks_for() {
        let load = |machine_cpu_s| Load {
            over_s: 10.0,
            cpus: Some(2),
            machine_cpu_s: Some(machine_cpu_s),
            steal_percent: Some(1.0),
            ..Load::default()
        };
        assert_eq!(load(0.6).stolen_part(), Some(0.25));
        assert_eq!(load(19.8).stolen_part(), Some(0.01));
        assert_eq!(Load { steal_percent: None, ..load(1.0) }.stolen_part(), None);
    }

    #[test]
    fn runs_of_one_machine_are_no_others_to_each_other() {
        let of = |own_s, others_s| Load {
            over_s: 10.0,
            own_cpu_s: Some(own_s),
            others_cpu_s: Some(others_s),
            ..Load::default()
        };
        let (one, other) = (of(4.0, 9.0), of(8.0, 5.0));
        let joined = Load::joined(&[&one, &other], true).unwrap();
        assert_eq!((joined.own_cpu_s, joined.others_cpu_s), (Some(12.0), Some(1.0)));
        let apart = Load::joined(&[&one, &other], false).unwrap();
        assert_eq!(apart, one);
        assert_eq!(Load::joined(&[&one], true).unwrap(), one);
        assert_eq!(Load::joined(&[], true), None);
    }
}
