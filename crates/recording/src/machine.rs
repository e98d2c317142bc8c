//! Describes the machine of a run, as far as timing depends on it.

use crate::clock;
use crate::preemption::{self, Preemption};
use tacho_events::layout::{FileHeader, Sync, TickSource};
use tacho_events::run::Machine;

/// Returns this machine's facts; unknown ones are empty or absent.
pub fn machine() -> Machine {
    let (host, kernel, version) = uname();
    Machine {
        host,
        cpu: cpu_model(&read("/proc/cpuinfo")).or_else(device_model).unwrap_or_default(),
        cpus: std::thread::available_parallelism().map_or(0, |cpus| cpus.get() as u32),
        memory_bytes: memory_bytes(&read("/proc/meminfo")).unwrap_or(0),
        kernel,
        preemption: preemption(&version, preemption::at_present()),
        governor: Some(read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")).filter(|found| !found.is_empty()),
        clocksource: read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    }
}

/// Returns the identity of this boot: the clocks of two event files can be compared if it is equal.
fn boot_id() -> String {
    read("/proc/sys/kernel/random/boot_id")
}

/// Makes the header of an event file that starts now and is timed in ns of CLOCK_MONOTONIC. All files of this machine
/// share its fields.
pub fn file_header() -> FileHeader {
    let now = clock::read(TickSource::Monotonic);
    FileHeader {
        ticks: TickSource::Monotonic,
        start: Sync { ticks: now.monotonic_ns as u64, ..now },
        boot_id: boot_id(),
        host: uname().0,
        ..FileHeader::default()
    }
}

/// Returns the file without surrounding blanks, or an empty text if it cannot be read: missing facts are not errors.
fn read(path: &str) -> String {
    std::fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
}

fn uname() -> (String, String, String) {
    // Zeroed is valid for utsname, and the call cannot fail on a valid pointer.
    let mut system: libc::utsname = unsafe { std::mem::zeroed() };
    unsafe { libc::uname(&mut system) };
    let text = |field: &[libc::c_char]| {
        let bytes: Vec<u8> = field.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    (text(&system.nodename), text(&system.release), text(&system.version))
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name") || line.starts_with("Hardware"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Boards have their name in their device tree if /proc/cpuinfo has no model.
fn device_model() -> Option<String> {
    Some(read("/proc/device-tree/model").trim_end_matches('\0').to_owned()).filter(|found| !found.is_empty())
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    let kibibytes = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.trim().strip_suffix("kB")?;
    Some(kibibytes.trim().parse::<u64>().ok()? * 1024)
}

/// Returns the preemption model that `uname -v` names. For a dynamic one, also returns the current model; if only root
/// may read that, the model from boot or build.
fn preemption(version: &str, at_present: Option<Preemption>) -> String {
    let model = version.split_whitespace().find(|word| word.starts_with("PREEMPT")).unwrap_or("none");
    let name = match at_present {
        Some(Preemption::Full) => "full",
        Some(Preemption::Lazy) => "lazy",
        Some(Preemption::Voluntary) => "voluntary",
        Some(Preemption::None) => "none",
        Some(Preemption::RealTime | Preemption::DynamicUnknown) | None => return model.to_owned(),
    };
    match model {
        "PREEMPT_DYNAMIC" => format!("{model} ({name})"),
        "none" => name.to_owned(),
        _ => model.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_name_a_kernel_and_memory() {
        let found = machine();
        assert!(!found.host.is_empty() && !found.kernel.is_empty());
        assert!(found.cpus > 0 && found.memory_bytes > 1 << 20);
    }

    #[test]
    fn preemption_models_are_read_from_the_kernel_version() {
        assert_eq!(preemption("#1 SMP PREEMPT_RT Debian 6.1", Some(Preemption::RealTime)), "PREEMPT_RT");
        assert_eq!(preemption("#1 SMP PREEMPT_DYNAMIC @0", Some(Preemption::Full)), "PREEMPT_DYNAMIC (full)");
        assert_eq!(preemption("#1 SMP PREEMPT_DYNAMIC @0", Some(Preemption::DynamicUnknown)), "PREEMPT_DYNAMIC");
        assert_eq!(preemption("#1 SMP Debian 5.10", Some(Preemption::Voluntary)), "voluntary");
        assert_eq!(preemption("#1 SMP Debian 5.10", None), "none");
    }

    #[test]
    fn cpu_and_memory_are_read_as_the_kernel_writes_them() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: AMD EPYC\n").as_deref(), Some("AMD EPYC"));
        assert_eq!(cpu_model("processor\t: 0\nCPU part\t: 0xd08\n"), None);
        assert_eq!(memory_bytes("MemTotal:       16384 kB\nMemFree: 1 kB\n"), Some(16384 * 1024));
    }
}
