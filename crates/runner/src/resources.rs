//! Measures what node processes use in the measured window (study A, C 3), and the load of the rest of the machine. It
//! reads from outside, so that no process is disturbed.
//!
//! Counts are read twice, before the window begins and just before it ends, while all threads exist. Memory is read
//! once, after the end, because walking a process's mappings holds its lock for milliseconds.
//!
//! - CPU time is the process's CPU-time clock (clock_getcpuclockid(3)), ns: of all threads, including ended ones. For a
//!   thread that runs on another CPU during the reading, it is accurate to the kernel's last tick.
//! - Context switches are summed over the threads that exist at the second reading; those of threads that ended before
//!   are lost.
//! - Memory is summed over /proc/PID/smaps, exact to the page. It excludes the mapping of events, which is tacho's own
//!   and grows during the run. Only the peak, which the kernel records, includes it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use tacho_events::run::{Load, Resources};
use tacho_recording::clock::{monotonic_ns, process_cpu_ns};
use tacho_recording::load::Sample;

/// Counts of a process at an instant.
#[derive(Debug, Clone, Default)]
struct Counts {
    at_ns: i64,
    cpu_ns: u64,
    /// Voluntary and involuntary switches of each thread.
    switches: BTreeMap<u32, (u64, u64)>,
}

/// The counts of processes at the beginning and the end of a window, and their memory at the end.
#[derive(Debug)]
pub struct Usage {
    pids: Vec<u32>,
    recorder: PathBuf,
    before: Vec<Option<Counts>>,
    after: Vec<Option<Counts>>,
    /// Load of the machine at both readings.
    machine: (Option<Sample>, Option<Sample>),
    found: Vec<Option<Resources>>,
    /// Duration of a reading of all counts.
    reading_ns: i64,
}

impl Usage {
    /// Prepares for processes that write events into files below `recorder`.
    pub fn of(pids: Vec<u32>, recorder: &Path) -> Usage {
        let recorder = recorder.canonicalize().unwrap_or_else(|_| recorder.to_owned());
        let (before, after, found) = (vec![None; pids.len()], vec![None; pids.len()], vec![None; pids.len()]);
        Usage { pids, recorder, before, after, machine: (None, None), found, reading_ns: 0 }
    }

    /// Reads the counts before the window. A process that has ended has no counts.
    pub fn count_before(&mut self) {
        let begun_ns = monotonic_ns();
        self.machine.0 = Some(Sample::now(&[]));
        self.before = self.counts();
        self.reading_ns = monotonic_ns() - begun_ns;
    }

    /// Reads the counts again, at the end of the window.
    pub fn count_after(&mut self) {
        self.after = self.counts();
        self.machine.1 = Some(Sample::now(&[]));
    }

    /// Load of the machine between the two readings; `None` unless it was read twice.
    pub fn load(&self) -> Option<Load> {
        Some(self.machine.0.as_ref()?.until(self.machine.1.as_ref()?))
    }

    /// Time to allow for such a reading.
    pub fn reading_ns(&self) -> i64 {
        (2 * self.reading_ns).clamp(2_000_000, 100_000_000)
    }

    fn counts(&self) -> Vec<Option<Counts>> {
        self.pids.iter().map(|pid| Counts::of(*pid).ok()).collect()
    }

    /// Reads the memory, after the window.
    pub fn weigh(&mut self) {
        self.found = (self.pids.iter().zip(&self.before).zip(&self.after))
            .map(|((pid, before), after)| {
                let memory = Memory::of(*pid, &self.recorder).ok()?;
                Some(between(before.as_ref()?, after.as_ref()?, &memory))
            })
            .collect();
    }

    /// Resources of each process, in order; `None` if it ended before the window did.
    pub fn found(&self) -> &[Option<Resources>] {
        &self.found
    }
}

fn between(before: &Counts, after: &Counts, memory: &Memory) -> Resources {
    let (mut voluntary, mut involuntary) = (0, 0);
    for (thread, now) in &after.switches {
        let then = before.switches.get(thread).copied().unwrap_or_default();
        // A reused thread id starts again from zero.
        voluntary += now.0.checked_sub(then.0).unwrap_or(now.0);
        involuntary += now.1.checked_sub(then.1).unwrap_or(now.1);
    }
    Resources {
        over_ns: (after.at_ns - before.at_ns) as u64,
        cpu_ns: after.cpu_ns - before.cpu_ns,
        voluntary_switches: voluntary,
        involuntary_switches: involuntary,
        rss_bytes: memory.rss_bytes,
        peak_rss_bytes: memory.peak_rss_bytes,
        pss_bytes: Some(memory.pss_bytes),
        shared_bytes: memory.shared_bytes,
        threads: after.switches.len() as u32,
    }
}

impl Counts {
    fn of(pid: u32) -> io::Result<Counts> {
        let cpu_ns = process_cpu_ns(pid)?;
        let at_ns = monotonic_ns();
        let mut switches = BTreeMap::new();
        for thread in std::fs::read_dir(format!("/proc/{pid}/task"))? {
            let path = thread?.path();
            let Some(id) = path.file_name().and_then(|name| name.to_str()?.parse().ok()) else { continue };
            // A thread that has just ended has no switches.
            let Ok(status) = std::fs::read_to_string(path.join("status")) else { continue };
            let counts = field(&status, "voluntary_ctxt_switches:").zip(field(&status, "nonvoluntary_ctxt_switches:"));
            switches.extend(counts.map(|counts| (id, counts)));
        }
        Ok(Counts { at_ns, cpu_ns, switches })
    }
}

/// The number after a name at the start of a line; sizes are in KiB.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Memory {
    rss_bytes: u64,
    peak_rss_bytes: u64,
    pss_bytes: u64,
    shared_bytes: u64,
}

impl Memory {
    fn of(pid: u32, recorder: &Path) -> io::Result<Memory> {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}"));
        let mut memory = Memory::in_mappings(&read("smaps")?, &tmpfs_devices(&read("mountinfo")?), recorder);
        let peak =
            field(&read("status")?, "VmHWM:").ok_or_else(|| io::Error::other("no VmHWM: the process has ended"))?;
        memory.peak_rss_bytes = peak * 1024;
        Ok(memory)
    }

    /// Sums smaps (proc_pid_smaps(5)). Each mapping has a head `from-to mode offset device inode path`, then its sizes.
    fn in_mappings(smaps: &str, tmpfs: &BTreeSet<String>, recorder: &Path) -> Memory {
        let mut memory = Memory::default();
        let (mut ours, mut shared) = (false, false);
        for line in smaps.lines() {
            let mut words = line.split_whitespace();
            let first = words.next().unwrap_or_default();
            if !first.ends_with(':') {
                let device = words.nth(2).unwrap_or_default();
                let path = words.nth(1).unwrap_or_default();
                ours = !path.is_empty() && Path::new(path).starts_with(recorder);
                // Includes tmpfs that is not mounted: memfd_create, System V, shared anonymous memory.
                shared = tmpfs.contains(device)
                    || ["/memfd:", "/SYSV", "/dev/zero"].iter().any(|prefix| path.starts_with(prefix));
                continue;
            }
            if ours || !matches!(first, "Rss:" | "Pss:") {
                continue;
            }
            let bytes = words.next().and_then(|kibibytes| kibibytes.parse::<u64>().ok()).unwrap_or(0) * 1024;
            if first == "Pss:" {
                memory.pss_bytes += bytes;
            } else {
                memory.rss_bytes += bytes;
                memory.shared_bytes += if shared { bytes } else { 0 };
            }
        }
        memory
    }
}

/// Devices of tmpfs mounts as smaps writes them, `00:1b`. proc_pid_mountinfo(5): `id parent major:minor root ... - type
/// source options`.
fn tmpfs_devices(mountinfo: &str) -> BTreeSet<String> {
    let of_line = |line: &str| {
        let (mount, file_system) = line.split_once(" - ")?;
        let (major, minor) = mount.split(' ').nth(2)?.split_once(':')?;
        let device = format!("{:02x}:{:02x}", major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?);
        file_system.starts_with("tmpfs ").then_some(device)
    };
    mountinfo.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    const SMAPS: &str = "\
55d0c8a00000-55d0c8a21000 r--p 00000000 08:01 131 /usr/bin/cat
Size:                132 kB
Rss:                 100 kB
Pss:                  50 kB
VmFlags: rd mr mw me sd
7f0000000000-7f0000100000 rw-s 00000000 00:1b 7 /run/tacho/r/events/12-7.events
Rss:                1024 kB
Pss:                1024 kB
7f0000200000-7f0000300000 rw-s 00000000 00:1b 8 /dev/shm/iox 1
Rss:                 512 kB
Pss:                 128 kB
7f0000400000-7f0000500000 rw-s 00000000 00:01 9 /memfd:pool (deleted)
Rss:                  64 kB
Pss:                  64 kB
7f0000600000-7f0000700000 rw-p 00000000 00:00 0
Rss:                   8 kB
Pss:                   8 kB
";

    #[test]
    fn mappings_are_summed_without_those_of_the_recorder() {
        let mounts = "25 1 0:27 / /dev/shm rw - tmpfs tmpfs rw\n26 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
        let memory = Memory::in_mappings(SMAPS, &tmpfs_devices(mounts), Path::new("/run/tacho/r/events"));
        let expected = Memory {
            rss_bytes: (100 + 512 + 64 + 8) * 1024,
            pss_bytes: (50 + 128 + 64 + 8) * 1024,
            shared_bytes: (512 + 64) * 1024,
            peak_rss_bytes: 0,
        };
        assert_eq!(memory, expected);
    }

    #[test]
    fn threads_that_came_and_went_are_no_negative_switches() {
        let counts = |at_ns, switches: &[(u32, (u64, u64))]| Counts {
            at_ns,
            cpu_ns: 5,
            switches: switches.iter().copied().collect(),
        };
        let before = counts(10, &[(1, (100, 10)), (2, (50, 5))]);
        let after = counts(30, &[(1, (107, 12)), (3, (4, 1))]);
        let used = between(&before, &after, &Memory::default());
        assert_eq!((used.over_ns, used.voluntary_switches, used.involuntary_switches, used.threads), (20, 11, 3, 2));
    }

    const CPU_MS: u64 = 200;
    const ALLOCATED: usize = 64 << 20;
    const SLEEPS: u32 = 300;

    /// The process that the next test observes from outside.
    #[test]
    #[ignore = "run by the test below"]
    fn uses_what_it_says() {
        let mut lines = std::io::stdin().lines();
        println!("ready");
        lines.next();
        // In a thread that has ended when the test reads.
        let burn = || crate::node::work::compute(CPU_MS * 1_000_000, || ());
        std::thread::spawn(burn).join().unwrap();
        let memory = vec![1u8; ALLOCATED];
        for _ in 0..SLEEPS {
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
        println!("done");
        lines.next();
        assert_eq!(std::hint::black_box(memory)[ALLOCATED - 1], 1);
    }

    #[test]
    fn a_process_that_burns_allocates_and_sleeps_a_known_amount_is_seen_to() {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "resources::tests::uses_what_it_says", "--ignored", "--nocapture", "--test-threads=1"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut tell = child.stdin.take().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut wait_for = |word: &str| assert!(said.by_ref().any(|line| line.unwrap().ends_with(word)));

        wait_for("ready");
        let idle = Memory::of(child.id(), Path::new("/nowhere")).unwrap();
        let mut usage = Usage::of(vec![child.id(), u32::MAX / 2], Path::new("/nowhere"));
        usage.count_before();
        writeln!(tell).unwrap();
        wait_for("done");
        usage.count_after();
        usage.weigh();
        writeln!(tell).unwrap();
        assert!(child.wait().unwrap().success());

        let used = usage.found()[0].clone().unwrap();
        // Filling the memory and sleeping also cost some time; only the time of `burn` is known.
        let cpu_ms = used.cpu_ns / 1_000_000;
        assert!((CPU_MS..2 * CPU_MS).contains(&cpu_ms), "{cpu_ms} ms");
        assert!(used.over_ns >= used.cpu_ns);
        let grown = used.rss_bytes - idle.rss_bytes;
        assert!((ALLOCATED as u64..ALLOCATED as u64 + (4 << 20)).contains(&grown), "{grown} bytes");
        assert!(used.peak_rss_bytes >= used.rss_bytes && used.pss_bytes.unwrap() <= used.rss_bytes);
        let slept = used.voluntary_switches;
        assert!((u64::from(SLEEPS)..u64::from(SLEEPS) + 50).contains(&slept), "{slept} switches");
        assert!(used.threads >= 1 && used.shared_bytes == 0);
        assert_eq!(usage.found()[1], None, "no such process");
    }
}
