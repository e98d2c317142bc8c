//! Measures what else the machine does while something runs on it: CPU time of others, steal, pressure, load average.
//!
//! The CPU time of others is that of the machine less that of tacho and its descendants (/proc/PID/stat, with the
//! children that each has waited for). So it includes other processes that start and end. A descendant that left the
//! tree because its parent ended first counts as another process, unless it is named.
//!
//! The machine's CPU time is the time of its CPUs less the idle and the stolen part (/proc/stat), which the kernel
//! measures. It only samples the busy parts, once a tick: work that a timer starts falls between two ticks and counts
//! as nothing, or falls on each and counts twice. All values have a resolution of 10 ms.
//!
//! A CPU that was idle and wakes up may wait for the hypervisor first. The kernel counts this wait twice, as idle and
//! as stolen. So the machine used at least what its processes did, whatever is idle or stolen.

use crate::clock::monotonic_ns;
use std::collections::{BTreeMap, BTreeSet};
use tacho_events::run::Load;

/// A sample of the machine's counters.
#[derive(Debug, Clone)]
pub struct Sample {
    at_ns: i64,
    stat: Option<Stat>,
    own_ticks: u64,
    all_ticks: u64,
    pressure: Option<Pressure>,
    average: Option<f64>,
}

/// Time since boot, ticks, over all CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    cpus: u32,
    idle: u64,
    steal: u64,
}

/// Time since boot, us, in which some task, or all that were not idle, waited for a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pressure {
    some: u64,
    full: Option<u64>,
}

impl Sample {
    /// Takes a sample now. The CPU time of this process and its descendants, and that of the processes in `named` and
    /// theirs, is counted separately.
    pub fn now(named: &[u32]) -> Sample {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let roots = named.iter().copied().chain([std::process::id()]).collect();
        let processes = processes();
        Sample {
            at_ns: monotonic_ns(),
            stat: read("/proc/stat").and_then(|text| stat(&text)),
            own_ticks: of_trees(&processes, &roots),
            all_ticks: processes.values().map(|(_, ticks)| ticks).sum(),
            pressure: read("/proc/pressure/cpu").and_then(|text| pressure(&text)),
            average: read("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok()),
        }
    }

    /// Returns what the machine did from this sample to a later one.
    pub fn until(&self, later: &Sample) -> Load {
        let over_s = (later.at_ns - self.at_ns) as f64 / 1e9;
        let stat = self.stat.zip(later.stat);
        let seconds = |ticks: u64| ticks as f64 / ticks_a_second();
        // What CPUs that came or went were idle for is unknown.
        let machine = stat.filter(|(a, b)| a.cpus == b.cpus).map(|(a, b)| {
            let not_idle = over_s * f64::from(b.cpus) - seconds(b.idle.saturating_sub(a.idle));
            let processes = seconds(later.all_ticks.saturating_sub(self.all_ticks)).min(not_idle);
            (not_idle - seconds(b.steal.saturating_sub(a.steal))).max(processes).max(0.0)
        });
        // A process that ended without being waited for takes its ticks along.
        let own = machine.map(|_| seconds(later.own_ticks.saturating_sub(self.own_ticks)));
        let percent = |us: u64| 100.0 * us as f64 / 1e6 / over_s;
        let pressure = self.pressure.zip(later.pressure).filter(|_| over_s > 0.0);
        Load {
            over_s,
            cpus: later.stat.map(|stat| stat.cpus),
            machine_cpu_s: machine,
            own_cpu_s: own,
            // The two files are read at different instants, so the difference can be a tick below zero.
            others_cpu_s: machine.zip(own).map(|(machine, own)| (machine - own).max(0.0)),
            steal_percent: stat
                .filter(|_| over_s > 0.0)
                .map(|(a, b)| 100.0 * seconds(b.steal.saturating_sub(a.steal)) / (over_s * f64::from(b.cpus.max(1)))),
            pressure_some_percent: pressure.map(|(a, b)| percent(b.some.saturating_sub(a.some))),
            pressure_full_percent: pressure.and_then(|(a, b)| Some(percent(b.full?.saturating_sub(a.full?)))),
            load_average_before: self.average,
            load_average_after: later.average,
        }
    }
}

fn ticks_a_second() -> f64 {
    // SAFETY: a call without pointers.
    match unsafe { libc::sysconf(libc::_SC_CLK_TCK) } {
        ticks if ticks > 0 => ticks as f64,
        _ => 100.0,
    }
}

/// proc_stat(5): user nice system idle iowait irq softirq steal; guests are within user and nice.
fn stat(text: &str) -> Option<Stat> {
    let all = text.lines().next()?.strip_prefix("cpu ")?;
    let fields: Vec<u64> = all.split_whitespace().take(8).map_while(|field| field.parse().ok()).collect();
    let &[user, nice, system, idle, iowait, irq, softirq, steal] = fields.as_slice() else { return None };
    let cpus = text.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count() as u32;
    // If all counters are zero, as in some sandboxes, nothing is known.
    let known = [user, nice, system, idle, iowait, irq, softirq].iter().any(|ticks| *ticks > 0);
    known.then_some(Stat { cpus, idle: idle + iowait, steal })
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=123`, then `full`, which older kernels do not have.
fn pressure(text: &str) -> Option<Pressure> {
    let total = |kind: &str| {
        let line = text.lines().find(|line| line.split(' ').next() == Some(kind))?;
        line.split(' ').find_map(|word| word.strip_prefix("total=")?.parse().ok())
    };
    Some(Pressure { some: total("some")?, full: total("full") })
}

/// Parent and CPU time of each process, with that of the children that it has waited for.
fn processes() -> BTreeMap<u32, (u32, u64)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return BTreeMap::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, process(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?))).collect()
}

/// proc_pid_stat(5): after the name in brackets, which may hold brackets itself, state and parent, and 14 to 17 of all
/// fields are the times.
fn process(stat: &str) -> Option<(u32, u64)> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let times = fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok());
    Some((fields.get(1)?.parse().ok()?, times.sum::<Option<u64>>()?))
}

/// CPU time of processes and their descendants.
fn of_trees(all: &BTreeMap<u32, (u32, u64)>, roots: &BTreeSet<u32>) -> u64 {
    let is_own = |mut pid: u32| {
        // A parent may have ended and its number been reused while we read. No path to the root is longer than the
        // number of processes.
        for _ in 0..=all.len() {
            if roots.contains(&pid) {
                return true;
            }
            match all.get(&pid) {
                Some((parent, _)) if *parent != 0 => pid = *parent,
                _ => return false,
            }
        }
        false
    };
    all.iter().filter(|(pid, _)| is_own(**pid)).map(|(_, (_, ticks))| ticks).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::thread_cpu_ns;
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn times_of_the_machine_are_those_of_proc() {
        let text = "cpu  10 20 30 400 50 6 7 8 9 9\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 1 2 3 4 5 6 7 8 0 0\nintr 5\n";
        assert_eq!(stat(text), Some(Stat { cpus: 2, idle: 450, steal: 8 }));
        assert_eq!((stat("cpu  0 0 0 0 0 0 0 0\n"), stat("")), (None, None));
        let told = "some avg10=97.49 avg60=96.76 avg300=59.03 total=5290746062\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(pressure(told), Some(Pressure { some: 5_290_746_062, full: Some(7) }));
        assert_eq!(
            pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"),
            Some(Pressure { some: 5, full: None })
        );
        assert_eq!(process("12 (a) (b) R 7 1 1 0 -1 4194560 1 2 3 4 50 60 70 80 20 0"), Some((7, 260)));
    }

    #[test]
    fn a_tree_is_all_that_it_started_and_nobody_else() {
        let all = [(1, (0, 1)), (5, (1, 10)), (6, (5, 100)), (7, (6, 1_000)), (8, (1, 10_000)), (9, (8, 100_000))]
            .into_iter()
            .collect();
        assert_eq!(of_trees(&all, &[5].into()), 1_110);
        assert_eq!(of_trees(&all, &[6, 8].into()), 111_100);
        assert_eq!(of_trees(&all, &[77].into()), 0);
    }

    /// Steal and load average are whatever they are; no CPU time of this thread and its child is missing.
    #[test]
    fn the_machine_used_at_least_what_a_thread_and_its_child_used() {
        let before = Sample::now(&[]);
        let (begun, mut spun) = (thread_cpu_ns(), 0u64);
        while thread_cpu_ns() - begun < 300_000_000 {
            spun = std::hint::black_box(spun + 1);
        }
        // This child was waited for.
        let burnt =
            Command::new("sh").args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]).status().unwrap();
        assert!(burnt.success());
        let load = before.until(&Sample::now(&[]));
        let (machine, own) = (load.machine_cpu_s.unwrap(), load.own_cpu_s.unwrap());
        assert!(own >= 0.29, "{own}");
        assert!(machine >= own - 0.04, "{machine} of the machine, {own} of this process");
        assert!(machine <= load.over_s * f64::from(load.cpus.unwrap()), "{load:?}");
        assert!((load.others_cpu_s.unwrap() - (machine - own).max(0.0)).abs() < 1e-9);
        assert!(load.cpus.unwrap() > 0 && load.over_s >= 0.3);
    }

    /// Work of 3 ms every 20 ms, at each phase of a tick of 4 or 10 ms: the ticks alone would see 0 to 140 % of it.
    #[test]
    fn work_that_a_timer_starts_counts_at_each_phase_of_the_tick() {
        for phase_ns in (0..10_000_000).step_by(1_000_000) {
            let before = Sample::now(&[]);
            let begun = thread_cpu_ns();
            let mut due_ns = monotonic_ns() / 20_000_000 * 20_000_000 + phase_ns;
            for _ in 0..25 {
                due_ns += 20_000_000;
                let wait = Duration::from_nanos((due_ns - monotonic_ns()).max(0) as u64);
                std::thread::sleep(wait);
                let from = thread_cpu_ns();
                while thread_cpu_ns() - from < 3_000_000 {
                    std::hint::spin_loop();
                }
            }
            let used_s = (thread_cpu_ns() - begun) as f64 / 1e9;
            let machine_s = before.until(&Sample::now(&[])).machine_cpu_s.unwrap();
            assert!(machine_s >= used_s - 0.04, "{machine_s} of the machine, {used_s} of one of its threads");
        }
    }

    #[test]
    fn what_is_idle_and_stolen_at_once_hides_no_process() {
        // Two CPUs for 10 s, 9.5 s of each idle. The kernel counts each value in hundredths of a second.
        let sample = |at_s: i64, idle, steal, all_ticks| Sample {
            at_ns: at_s * 1_000_000_000,
            stat: Some(Stat { cpus: 2, idle, steal }),
            own_ticks: 0,
            all_ticks,
            pressure: None,
            average: None,
        };
        let used = |steal: u64, processes: u64| {
            let load = sample(0, 0, 0, 1_000).until(&sample(10, 1_900, steal, 1_000 + processes));
            assert_eq!(load.machine_cpu_s, load.others_cpu_s);
            load.machine_cpu_s.unwrap()
        };
        // Interrupts are of no process.
        assert_eq!(used(0, 60), 1.0);
        assert_eq!(used(30, 60), 0.7);
        // Of 0.8 s stolen, at most 0.4 s were stolen from processes.
        assert_eq!(used(80, 60), 0.6);
        assert_eq!(used(150, 0), 0.0);
        // Nobody ran while all was idle: a child that ended while the processes were read is in it twice.
        assert_eq!(used(0, 500), 1.0);
    }

    #[test]
    fn a_busy_process_that_tacho_did_not_start_is_an_other_until_it_is_named() {
        // Left by the shell that started it, which ends at once.
        let script = "setsid sh -c 'while :; do :; done' >/dev/null 2>&1 & echo $!";
        let said = Command::new("sh").args(["-c", script]).output().unwrap();
        let pid: u32 = String::from_utf8(said.stdout).unwrap().trim().parse().unwrap();
        let ticks = || processes().get(&pid).map_or(0, |(_, ticks)| *ticks);
        let (unnamed, named, from) = (Sample::now(&[]), Sample::now(&[pid]), ticks());
        while ticks() < from + 30 {
            std::thread::yield_now();
        }
        let (unnamed, named) = (unnamed.until(&Sample::now(&[])), named.until(&Sample::now(&[pid])));
        // SAFETY: of the process that was started above.
        unsafe { libc::kill(pid as i32, libc::SIGKILL) };
        assert!(unnamed.others_cpu_s.unwrap() >= 0.25, "{unnamed:?}");
        assert!(named.own_cpu_s.unwrap() >= unnamed.own_cpu_s.unwrap() + 0.25, "{named:?} {unnamed:?}");
    }
}
