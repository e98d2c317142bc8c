//! Reads the ticks that the recorder counts, and relates them to the kernel's clocks once a second for the whole run.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

pub use tacho_events::layout::{Sync, TickSource};

/// Kernel clock sources that use the TSC. native/recorder/clock.c has the same list.
#[cfg(target_arch = "x86_64")]
const KERNEL_KEEPS_TIME_BY: [&str; 3] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page"];
#[cfg(target_arch = "aarch64")]
const KERNEL_KEEPS_TIME_BY: [&str; 1] = ["arch_sys_counter"];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const KERNEL_KEEPS_TIME_BY: [&str; 0] = [];

/// Returns the counter that recorded processes of this machine use, by the recorder's own rule
/// (native/recorder/clock.c).
pub fn tick_source() -> TickSource {
    if std::env::var_os("TACHO_EVENTS_CLOCK").is_some_and(|wanted| wanted == "monotonic") {
        return TickSource::Monotonic;
    }
    let found = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    if !found.is_ok_and(|name| KERNEL_KEEPS_TIME_BY.contains(&name.trim())) {
        return TickSource::Monotonic;
    }
    counter_of_cpu()
}

#[cfg(target_arch = "x86_64")]
#[allow(unused_unsafe)] // __cpuid became safe after Rust 1.85
fn counter_of_cpu() -> TickSource {
    use std::arch::x86_64::__cpuid;
    // CPUID 8000_0007h EDX bit 8: InvariantTSC.
    let invariant = unsafe { __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0 };
    if invariant {
        TickSource::Tsc
    } else {
        TickSource::Monotonic
    }
}

#[cfg(target_arch = "aarch64")]
fn counter_of_cpu() -> TickSource {
    TickSource::Cntvct
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter_of_cpu() -> TickSource {
    TickSource::Monotonic
}

fn clock_ns(clock: libc::clockid_t) -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is valid, and all clocks used here exist on every Linux.
    unsafe { libc::clock_gettime(clock, &mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// ns of CLOCK_MONOTONIC.
pub fn monotonic_ns() -> i64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// CPU time of all threads that a process has or had, ns.
pub fn process_cpu_ns(pid: u32) -> io::Result<u64> {
    let (mut clock, mut time) = (0, libc::timespec { tv_sec: 0, tv_nsec: 0 });
    // SAFETY: both pointers are valid.
    match unsafe { libc::clock_getcpuclockid(pid as libc::pid_t, &mut clock) } {
        0 => {}
        error => return Err(io::Error::from_raw_os_error(error)),
    }
    // SAFETY: as above.
    if unsafe { libc::clock_gettime(clock, &mut time) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// CPU time of the calling thread, ns.
pub fn thread_cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID) as u64
}

fn ticks(source: TickSource) -> u64 {
    match source {
        #[cfg(target_arch = "x86_64")]
        TickSource::Tsc => unsafe { std::arch::x86_64::_rdtsc() },
        #[cfg(target_arch = "aarch64")]
        TickSource::Cntvct => {
            let ticks: u64;
            unsafe { std::arch::asm!("isb", "mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
            ticks
        }
        _ => monotonic_ns() as u64,
    }
}

/// Reads all clocks at once: the most accurate of several bracketed readings.
pub fn read(source: TickSource) -> Sync {
    let reading = || {
        let before = monotonic_ns();
        let ticks = ticks(source);
        let realtime_ns = clock_ns(libc::CLOCK_REALTIME);
        let after = monotonic_ns();
        Sync {
            ticks,
            monotonic_ns: before + (after - before) / 2,
            realtime_ns,
            bound_ns: ((after - before + 1) / 2) as u64,
        }
    };
    (0..8).map(|_| reading()).min_by_key(|sync| sync.bound_ns).unwrap_or_else(reading)
}

/// Appends readings to `events/clock.sync`: at the start, each second, and at the end.
pub struct ClockSync {
    stop: Sender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl ClockSync {
    /// Makes `path` and starts the thread; the first reading is written before this returns.
    pub fn start(path: &Path) -> io::Result<ClockSync> {
        let mut file = File::options().append(true).create_new(true).open(path)?;
        let source = tick_source();
        append(&mut file, read(source))?;
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new().name("tacho-clock".into()).spawn(move || loop {
            let end = !matches!(stopped.recv_timeout(Duration::from_secs(1)), Err(RecvTimeoutError::Timeout));
            append(&mut file, read(source))?;
            if end {
                return Ok(());
            }
        })?;
        Ok(ClockSync { stop, thread })
    }

    /// Writes the last reading.
    pub fn finish(self) -> io::Result<()> {
        drop(self.stop);
        self.thread.join().map_err(|_| io::Error::other("the clock thread panicked"))?
    }
}

/// {ticks, monotonic_ns, realtime_ns, bound_ns}, little endian.
fn append(file: &mut File, sync: Sync) -> io::Result<()> {
    let words = [sync.ticks, sync.monotonic_ns as u64, sync.realtime_ns as u64, sync.bound_ns];
    file.write_all(&words.map(u64::to_le_bytes).concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_and_monotonic_time_advance_together() {
        let source = tick_source();
        let first = read(source);
        let mut last = first;
        let mut rates = Vec::new();
        for _ in 0..4 {
            let start = last;
            while last.monotonic_ns < start.monotonic_ns + 20_000_000 {
                last = read(source);
            }
            assert!(last.ticks > start.ticks && last.bound_ns < 20_000_000);
            rates.push((last.ticks - start.ticks) as f64 / (last.monotonic_ns - start.monotonic_ns) as f64);
        }
        let tolerance = 4.0 * last.bound_ns.max(first.bound_ns).max(1000) as f64 / 20e6;
        let (least, most) = rates.iter().fold((f64::MAX, 0.0f64), |(a, b), r| (a.min(*r), b.max(*r)));
        assert!(most / least - 1.0 < tolerance, "{rates:?}");
    }

    #[test]
    fn a_sync_file_has_a_reading_at_start_and_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clock.sync");
        ClockSync::start(&path).unwrap().finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let syncs: Vec<Sync> = bytes.chunks(Sync::SIZE).map(|b| Sync::read(b.try_into().unwrap())).collect();
        assert_eq!(syncs.len(), 2);
        assert!(syncs[1].monotonic_ns >= syncs[0].monotonic_ns && syncs[1].ticks >= syncs[0].ticks);
    }
}
