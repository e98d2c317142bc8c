//! Reads the facts of this machine from /proc, /sys and the system.

use crate::kernel::{chosen, counts_run_delay};
use crate::{probe, software, Boards, Cpu, Facts, FileSystem, Kernel, Network, Quota, Realtime, Software, Storage};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tacho_recording::clock::{tick_source, TickSource};
use tacho_recording::load::Sample;
use tacho_recording::preemption;
use tacho_runner::install::Installation;
use tacho_runner::leftovers::{leftovers, Mode};

const CPUS: &str = "/sys/devices/system/cpu";
/// Least time for which load is reported.
const LEAST_LOAD: Duration = Duration::from_secs(1);
/// Loopback takes microseconds; a machine under load more.
const DATAGRAM_LIMIT: Duration = Duration::from_secs(2);

impl Facts {
    /// Reads the facts of this machine, of the installation of the running program, and of the folder where runs are
    /// written by default.
    pub fn read(runs: &Path) -> Facts {
        let (begun, before) = (Instant::now(), Sample::now(&[]));
        let storage = storage(runs); // before plugins are tried, which may remove what others left
        let boards = Boards::read();
        let facts = Facts {
            software: software(),
            kernel: kernel(),
            cpu: cpu(),
            realtime: realtime(),
            network: network(),
            storage,
            boards,
            load: None,
        };
        // Over less, a tick more or less would say much.
        std::thread::sleep(LEAST_LOAD.saturating_sub(begun.elapsed()));
        Facts { load: Some(before.until(&Sample::now(&[]))), ..facts }
    }
}

/// Returns a file's text without surrounding blanks.
fn text(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn number<T: std::str::FromStr>(path: impl AsRef<Path>) -> Option<T> {
    text(path)?.parse().ok()
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(|value| value.to_string_lossy().into_owned())
}

fn software() -> Software {
    let mut facts = Software {
        ament_prefixes: std::env::var_os("AMENT_PREFIX_PATH")
            .map(|list| std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect::<Vec<_>>())
            .unwrap_or_default()
            .into_iter()
            .map(|path| (path.clone(), path.is_dir()))
            .collect(),
        ros_distro: variable("ROS_DISTRO"),
        rmw_implementation: variable("RMW_IMPLEMENTATION"),
        ..Software::default()
    };
    let installation = match Installation::find() {
        Ok(installation) => installation,
        Err(error) => {
            facts.installation = Some(Err(error.to_string()));
            return facts;
        }
    };
    facts.installation = Some(Ok(installation.recorder()));
    facts.packaged = installation.is_package();
    facts.node = Some(installation.node().map_err(|error| error.to_string()));
    let environment = installation.libraries().with_file_name("venv");
    facts.environment = environment.join("lib/librcl.so").is_file().then_some(environment);
    if let Some(rmw) = &facts.rmw_implementation {
        let prefixes = facts.ament_prefixes.iter().map(|(prefix, _)| prefix).chain(&facts.environment);
        facts.rmw_library = prefixes.map(|prefix| software::rmw_library(prefix, rmw)).find(|library| library.is_file());
    }
    probe::try_all(&installation, &mut facts);
    facts
}

fn kernel() -> Kernel {
    Kernel {
        preemption: preemption::at_present(),
        release: text("/proc/sys/kernel/osrelease"),
        transparent_hugepages: text("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|text| chosen(&text).map(str::to_owned)),
        counts_run_delay: match std::fs::read_to_string("/proc/thread-self/schedstat") {
            Ok(text) => Some(counts_run_delay(&text)),
            Err(error) => (error.kind() == ErrorKind::NotFound).then_some(false),
        },
    }
}

fn cpu() -> Cpu {
    let online = text(format!("{CPUS}/online")).and_then(|list| numbers(&list));
    let governors: BTreeSet<String> =
        online.iter().flatten().filter_map(|cpu| text(format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor"))).collect();
    let clocks = "/sys/devices/system/clocksource/clocksource0";
    Cpu {
        online: online.map(|cpus| cpus.len() as u32),
        usable: affinity(),
        governors: governors.into_iter().collect(),
        turbo: number::<u8>(format!("{CPUS}/intel_pstate/no_turbo"))
            .map(|off| off == 0)
            .or_else(|| number::<u8>(format!("{CPUS}/cpufreq/boost")).map(|on| on == 1)),
        smt: number::<u8>(format!("{CPUS}/smt/active")).map(|active| active == 1),
        virtual_machine: text("/proc/cpuinfo").and_then(|text| is_virtual(&text)),
        stolen: text("/proc/stat").and_then(|text| stolen(&text)),
        isolated: text(format!("{CPUS}/isolated")),
        nohz_full: text(format!("{CPUS}/nohz_full")),
        clock_source: text(format!("{clocks}/current_clocksource")),
        clock_sources: text(format!("{clocks}/available_clocksource"))
            .map(|list| list.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default(),
        counts_ticks: Some(tick_source() != TickSource::Monotonic),
        clock_read_ns: Some(clock_read_ns()),
        quota: text("/proc/self/cgroup").and_then(|groups| quota(&groups, Path::new("/sys/fs/cgroup"))),
        container: container(),
    }
}

/// Returns the CPUs that a list like `0-3,8` names.
fn numbers(list: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in list.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        all.extend(from.parse::<u32>().ok()?..=to.parse().ok()?);
    }
    Some(all)
}

fn affinity() -> Option<u32> {
    // SAFETY: a zeroed set is valid, and the call writes only into it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        (libc::sched_getaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &mut set) == 0)
            .then(|| libc::CPU_COUNT(&set) as u32)
    }
}

/// The CPUID flag `hypervisor` marks a guest; only x86 shows it in /proc/cpuinfo.
fn is_virtual(cpuinfo: &str) -> Option<bool> {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"))?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// Part of the CPU time since boot that was stolen (proc(5): user nice system idle iowait irq softirq steal; guest is
/// within user).
fn stolen(stat: &str) -> Option<f64> {
    let fields: Vec<u64> = stat
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace()
        .take(8)
        .map_while(|field| field.parse().ok())
        .collect();
    let total: u64 = fields.iter().sum();
    (fields.len() == 8 && total > 0).then(|| fields[7] as f64 / total as f64)
}

/// Returns the least of several averages, because other programs can only make them larger.
fn clock_read_ns() -> f64 {
    const READINGS: u32 = 2000;
    let average = || {
        let start = Instant::now();
        for _ in 0..READINGS {
            std::hint::black_box(Instant::now());
        }
        start.elapsed().as_nanos() as f64 / f64::from(READINGS)
    };
    (0..10).map(|_| average()).fold(f64::INFINITY, f64::min)
}

/// Returns the tightest quota of this process's control group and its parents: `cpu.max` of version 2, `cpu.cfs_*_us`
/// of version 1. In a container, the paths may be those of the host; then the mounted root counts.
fn quota(groups: &str, root: &Path) -> Option<Quota> {
    let mut read_one = false;
    let mut tightest: Option<(f64, PathBuf)> = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let mount = match controllers {
            "" => root.to_owned(),
            list if list.split(',').any(|controller| controller == "cpu") => {
                let named = root.join(list);
                if named.is_dir() {
                    named
                } else {
                    root.join("cpu")
                }
            }
            _ => continue,
        };
        let own = mount.join(path.trim_start_matches('/'));
        // If the root group of version 2 has no cpu.max, nothing limits it: its existence is enough.
        read_one |= mount.join("cgroup.controllers").is_file() || mount.join("cpu.cfs_quota_us").is_file();
        for folder in own.ancestors().take_while(|folder| folder.starts_with(&mount)) {
            if let Some((cpus, file)) = limit(folder) {
                if tightest.as_ref().is_none_or(|(least, _)| cpus < *least) {
                    tightest = Some((cpus, file));
                }
            }
        }
    }
    match tightest {
        Some((cpus, file)) => Some(Quota::Limited { cpus, file }),
        None => read_one.then_some(Quota::Unlimited),
    }
}

fn limit(folder: &Path) -> Option<(f64, PathBuf)> {
    let file = folder.join("cpu.max");
    if let Some(text) = text(&file) {
        let (quota, period) = text.split_once(' ')?;
        return Some((quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?, file));
    }
    let file = folder.join("cpu.cfs_quota_us");
    let quota: f64 = number(&file).filter(|quota| *quota > 0.0)?;
    Some((quota / number::<f64>(folder.join("cpu.cfs_period_us"))?, file))
}

fn container() -> Option<String> {
    let signs = ["/.dockerenv", "/run/.containerenv"];
    signs
        .into_iter()
        .find(|path| Path::new(path).exists())
        .map(str::to_owned)
        .or_else(|| variable("container").map(|kind| format!("container={kind}")))
}

fn realtime() -> Realtime {
    let resource = |resource| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: `limit` is valid.
        (unsafe { libc::getrlimit(resource, &mut limit) } == 0).then_some(limit.rlim_cur)
    };
    let capabilities = text("/proc/self/status").and_then(|status| capabilities(&status));
    // Bits of linux/capability.h.
    let has = |bit: u32| capabilities.map(|set| set >> bit & 1 == 1);
    Realtime {
        fifo: std::thread::spawn(try_fifo).join().ok(),
        rtprio: resource(libc::RLIMIT_RTPRIO),
        memlock: resource(libc::RLIMIT_MEMLOCK),
        sys_nice: has(23),
        ipc_lock: has(14),
        rt_runtime_us: number("/proc/sys/kernel/sched_rt_runtime_us"),
        rt_period_us: number("/proc/sys/kernel/sched_rt_period_us"),
    }
}

fn capabilities(status: &str) -> Option<u64> {
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(set.trim(), 16).ok()
}

/// On the calling thread, which ends soon after.
fn try_fifo() -> Result<(), String> {
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: the parameter is valid; 0 is the calling thread.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &priority) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error().to_string()),
    }
}

fn network() -> Network {
    let core = |name: &str| number(format!("/proc/sys/net/core/{name}"));
    Network {
        rmem_max: core("rmem_max"),
        wmem_max: core("wmem_max"),
        rmem_default: core("rmem_default"),
        wmem_default: core("wmem_default"),
        ipfrag_high_thresh: number("/proc/sys/net/ipv4/ipfrag_high_thresh"),
        ipfrag_time_s: number("/proc/sys/net/ipv4/ipfrag_time"),
        loopback_multicast: Some(multicast().map_err(|error| error.to_string())),
        loopback_flag: text("/sys/class/net/lo/flags")
            .and_then(|flags| u32::from_str_radix(flags.trim_start_matches("0x"), 16).ok())
            .map(|flags| flags & libc::IFF_MULTICAST as u32 != 0),
    }
}

/// Sends itself a datagram through the group that DDS discovery uses (DDSI-RTPS 2.5, 9.6.1.4), on a port of the
/// system's choice.
fn multicast() -> io::Result<()> {
    const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 0, 1);
    let receiver = UdpSocket::bind((GROUP, 0))?;
    receiver.join_multicast_v4(&GROUP, &Ipv4Addr::LOCALHOST)?;
    receiver.set_read_timeout(Some(DATAGRAM_LIMIT))?;
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let interface = libc::in_addr { s_addr: u32::from(Ipv4Addr::LOCALHOST).to_be() };
    // SAFETY: `interface` lives through the call, which gets its size.
    let set = unsafe {
        libc::setsockopt(
            sender.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_MULTICAST_IF,
            (&raw const interface).cast(),
            std::mem::size_of::<libc::in_addr>() as libc::socklen_t,
        )
    };
    if set != 0 {
        return Err(io::Error::last_os_error());
    }
    let sent = std::process::id().to_ne_bytes();
    sender.send_to(&sent, receiver.local_addr()?)?;
    let mut received = [0; 4];
    match receiver.recv(&mut received) {
        Ok(_) if received == sent => Ok(()),
        Ok(_) => Err(io::Error::other("another program's datagram came")),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            Err(io::Error::other(format!(
                "a datagram to {GROUP} on 127.0.0.1 did not arrive within {} s",
                DATAGRAM_LIMIT.as_secs()
            )))
        }
        Err(error) => Err(error),
    }
}

fn storage(runs: &Path) -> Storage {
    let shm = Path::new("/dev/shm");
    Storage {
        shm: shm.is_dir().then(|| file_system(shm)),
        runs: Some(file_system(runs)),
        leftovers: Some(leftovers(Mode::List).map_err(|error| error.to_string())),
    }
}

/// Returns the file system of a folder, or of its first existing parent.
fn file_system(folder: &Path) -> FileSystem {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let there = whole.ancestors().find(|path| path.exists()).and_then(|path| path.canonicalize().ok());
    let Some(there) = there else { return FileSystem { folder: whole, ..FileSystem::default() } };
    let mut facts = FileSystem { folder: whole, ..FileSystem::default() };
    facts.kind = text("/proc/self/mountinfo").and_then(|mounts| kind(&mounts, &there));
    let Ok(path) = CString::new(there.as_os_str().as_bytes()) else { return facts };
    // SAFETY: a zeroed statvfs is valid, the path ends with NUL.
    unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        if libc::statvfs(path.as_ptr(), &mut found) == 0 {
            facts.size = Some(found.f_blocks.saturating_mul(found.f_frsize));
            facts.free = Some(found.f_bavail.saturating_mul(found.f_frsize));
        }
        facts.writable = Some(libc::access(path.as_ptr(), libc::W_OK) == 0);
    }
    facts
}

/// Returns the type of the file system that is mounted closest above the folder; the last if several are mounted there
/// (proc(5), mountinfo).
fn kind(mounts: &str, folder: &Path) -> Option<String> {
    let of = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let point = PathBuf::from(before.split(' ').nth(4)?.replace("\\040", " "));
        let kind = after.split(' ').next()?.to_owned();
        folder.starts_with(&point).then(|| (point.components().count(), kind))
    };
    // If several are equal, max_by_key returns the last.
    mounts.lines().filter_map(of).max_by_key(|(depth, _)| *depth).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read_as_the_kernel_writes_them() {
        assert_eq!((numbers("0-2,8"), numbers("0"), numbers("")), (Some(vec![0, 1, 2, 8]), Some(vec![0]), None));
    }

    #[test]
    fn guests_and_stolen_time_are_read_as_the_kernel_writes_them() {
        assert_eq!(is_virtual("processor : 0\nflags\t\t: fpu hypervisor\n"), Some(true));
        assert_eq!(is_virtual("flags\t\t: fpu\n"), Some(false));
        assert_eq!(is_virtual("processor : 0\n"), None);
        assert_eq!(stolen("cpu  10 0 10 70 0 0 0 10 5 0\ncpu0 ..."), Some(0.1));
        assert_eq!(stolen("cpu  10 0 10 70"), None);
    }

    #[test]
    fn the_mount_closest_above_counts_and_of_two_on_one_place_the_last() {
        let mounts = "1 0 254:0 / / rw - ext4 /dev/vda rw\n2 1 0:1 / /tmp rw - tmpfs none rw\n\
                      3 1 0:1 / /my\\040runs rw shared:1 - nfs4 a:/b rw\n4 1 0:2 / /tmp rw - xfs none rw\n";
        let of = |path| kind(mounts, Path::new(path));
        assert_eq!(of("/home").as_deref(), Some("ext4"));
        assert_eq!(of("/tmp/x").as_deref(), Some("xfs"));
        assert_eq!(of("/tmpx").as_deref(), Some("ext4"));
        assert_eq!(of("/my runs/a").as_deref(), Some("nfs4"));
    }

    #[test]
    fn the_tightest_quota_of_a_group_and_those_above_counts() {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("car/planner");
        std::fs::create_dir_all(&group).unwrap();
        assert_eq!(quota("0::/car/planner\n", root.path()), None);
        std::fs::write(root.path().join("cgroup.controllers"), "cpu\n").unwrap();
        std::fs::write(group.join("cpu.max"), "max 100000\n").unwrap();
        assert_eq!(quota("0::/car/planner\n", root.path()), Some(Quota::Unlimited));
        std::fs::write(root.path().join("car/cpu.max"), "150000 100000\n").unwrap();
        let file = root.path().join("car/cpu.max");
        assert_eq!(quota("0::/car/planner\n", root.path()), Some(Quota::Limited { cpus: 1.5, file }));
    }

    #[test]
    fn quotas_of_version_1_are_read_too() {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("cpu,cpuacct/docker");
        std::fs::create_dir_all(&group).unwrap();
        std::fs::write(root.path().join("cpu,cpuacct/cpu.cfs_quota_us"), "-1\n").unwrap();
        let groups = "5:memory:/docker\n4:cpu,cpuacct:/docker\n";
        assert_eq!(quota(groups, root.path()), Some(Quota::Unlimited));
        std::fs::write(group.join("cpu.cfs_quota_us"), "50000\n").unwrap();
        std::fs::write(group.join("cpu.cfs_period_us"), "100000\n").unwrap();
        assert!(matches!(quota(groups, root.path()), Some(Quota::Limited { cpus, .. }) if cpus == 0.5));
    }

    #[test]
    fn capabilities_are_read_from_the_effective_set() {
        assert_eq!(capabilities("CapPrm:\tff\nCapEff:\t0000000000804000\n"), Some(1 << 23 | 1 << 14));
    }

    #[test]
    fn this_machine_is_read() {
        let (cpu, network) = (cpu(), network());
        assert!(cpu.usable.unwrap() >= 1 && cpu.clock_read_ns.unwrap() > 0.0);
        assert!(network.rmem_max.is_some());
        assert!(file_system(Path::new("/proc")).kind.as_deref() == Some("proc"));
    }
}
