//! perf_event_open(2): events on every CPU, and the rings that the kernel writes them into.

use crate::descriptors;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{fence, AtomicU64, Ordering};

const PERF_TYPE_SOFTWARE: u32 = 1;
const PERF_TYPE_TRACEPOINT: u32 = 2;
const PERF_COUNT_SW_DUMMY: u64 = 9;
const PERF_SAMPLE_TID: u64 = 1 << 1;
const PERF_SAMPLE_TIME: u64 = 1 << 2;
const PERF_SAMPLE_CALLCHAIN: u64 = 1 << 5;
const PERF_SAMPLE_RAW: u64 = 1 << 10;
const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 1 << 3;
const PERF_EVENT_IOC_ENABLE: libc::c_ulong = 0x2400;
const PERF_EVENT_IOC_SET_OUTPUT: libc::c_ulong = 0x2405;

/// Bits of `perf_event_attr` after `read_format`.
const DISABLED: u64 = 1;
const COMM: u64 = 1 << 9;
const TASK: u64 = 1 << 13;
const WATERMARK: u64 = 1 << 14;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const EXCLUDE_CALLCHAIN_USER: u64 = 1 << 22;
const USE_CLOCKID: u64 = 1 << 25;
const CONTEXT_SWITCH: u64 = 1 << 26;

/// Pages of a CPU's ring, best first. 2 MiB are some 20,000 switches; without CAP_IPC_LOCK 512 KiB are allowed
/// (kernel.perf_event_mlock_kb).
const RING_PAGES: [usize; 3] = [512, 128, 32];

/// Functions of the kernel that a switch has at most. Each costs the thread some 0.3 us. These reach the function that
/// waits, and often its system call.
pub(crate) const MOST_CALLS: u16 = 5;

/// `struct perf_event_attr`, PERF_ATTR_SIZE_VER5.
#[repr(C)]
#[derive(Default)]
struct Attr {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_watermark: u32,
    bp_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clockid: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
}

const _: () = assert!(size_of::<Attr>() == 112);

/// Offsets in `struct perf_event_mmap_page`.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

/// Events of one CPU.
pub(crate) struct Ring {
    pub cpu: u32,
    event: OwnedFd,
    /// Events that write into this ring, too.
    _others: Vec<OwnedFd>,
    page: *mut u8,
    mapped: usize,
    data: usize,
    tail: u64,
    /// A record that wraps around the end of the ring, joined.
    joined: Vec<u8>,
}

// SAFETY: only this ring uses the mapping, which lives as long as the ring.
unsafe impl Send for Ring {}

/// CPUs that are online, from /sys.
pub(crate) fn online_cpus() -> io::Result<Vec<u32>> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online")?;
    parse_cpus(text.trim()).ok_or_else(|| io::Error::other(format!("{text:?}; a list of CPUs was expected")))
}

/// `0-3,6`.
fn parse_cpus(list: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in list.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        cpus.extend(from.parse::<u32>().ok()?..=to.parse().ok()?);
    }
    Some(cpus)
}

/// Opens tracepoints by id, all of a CPU into one ring; forks and exits, too.
pub(crate) fn open_tracepoints(cpus: &[u32], ids: &[u64]) -> io::Result<Vec<Ring>> {
    open(cpus, tracepoint, ids)
}

/// Opens the same with the kernel's call chain in each record of the first.
pub(crate) fn open_tracepoints_with_calls_of_first(cpus: &[u32], ids: &[u64]) -> io::Result<Vec<Ring>> {
    let with_calls = |attr: Attr| Attr {
        sample_type: attr.sample_type | PERF_SAMPLE_CALLCHAIN,
        flags: attr.flags | EXCLUDE_CALLCHAIN_USER,
        sample_max_stack: MOST_CALLS,
        ..attr
    };
    open(cpus, |first| if first { with_calls(tracepoint(first)) } else { tracepoint(first) }, ids)
}

fn tracepoint(first: bool) -> Attr {
    Attr {
        kind: PERF_TYPE_TRACEPOINT,
        sample_period: 1,
        sample_type: PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
        flags: if first { TASK } else { 0 },
        ..Attr::default()
    }
}

/// Opens the kernel's records of context switches, forks, exits and names.
pub(crate) fn open_context_switches(cpus: &[u32]) -> io::Result<Vec<Ring>> {
    open(
        cpus,
        |_| Attr {
            kind: PERF_TYPE_SOFTWARE,
            sample_type: PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
            flags: CONTEXT_SWITCH | TASK | COMM,
            ..Attr::default()
        },
        &[PERF_COUNT_SW_DUMMY],
    )
}

fn open(cpus: &[u32], attr: impl Fn(bool) -> Attr, configs: &[u64]) -> io::Result<Vec<Ring>> {
    let one = |config: u64, cpu: u32, first: bool| {
        let attr = attr(first);
        let flags = attr.flags | DISABLED | WATERMARK | SAMPLE_ID_ALL | USE_CLOCKID;
        perf_event_open(
            &Attr {
                size: size_of::<Attr>() as u32,
                config,
                flags,
                clockid: libc::CLOCK_MONOTONIC,
                wakeup_watermark: WAKE_AT,
                ..attr
            },
            cpu,
        )
    };
    descriptors::raise();
    let mut rings = Vec::new();
    for cpu in cpus {
        let mut events = Vec::new();
        for (index, config) in configs.iter().enumerate() {
            match one(*config, *cpu, index == 0) {
                // Gone offline since the list was read.
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => break,
                Err(error) if error.raw_os_error() == Some(libc::EMFILE) => {
                    let needed = cpus.len() * configs.len();
                    return Err(io::Error::other(format!(
                        "{error}: {needed} descriptors are needed, more than `ulimit -Hn` says; raise it"
                    )));
                }
                event => events.push(event?),
            }
        }
        if events.len() == configs.len() {
            rings.push(Ring::new(*cpu, events)?);
        }
    }
    for ring in &rings {
        for event in std::iter::once(&ring.event).chain(&ring._others) {
            ioctl(event, PERF_EVENT_IOC_ENABLE, 0)?;
        }
    }
    Ok(rings)
}

/// Bytes in a ring at which its reader is woken, whatever the time: a quarter of the smallest.
const WAKE_AT: u32 = 32 * 4096 / 4;

fn perf_event_open(attr: &Attr, cpu: u32) -> io::Result<OwnedFd> {
    // SAFETY: the attribute has the size that it states; any process (-1) on one CPU, no group (-1).
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            attr as *const Attr,
            -1 as libc::pid_t,
            cpu as libc::c_int,
            -1 as libc::c_int,
            PERF_FLAG_FD_CLOEXEC,
        )
    };
    match fd {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: the descriptor is new, and nobody else owns it.
        fd => Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) }),
    }
}

fn ioctl(event: &OwnedFd, request: libc::c_ulong, argument: libc::c_int) -> io::Result<()> {
    // SAFETY: both requests take an integer.
    match unsafe { libc::ioctl(event.as_raw_fd(), request as _, argument) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Waits until one of the rings is a quarter full, or until the time has passed.
pub(crate) fn wait<'a>(rings: impl IntoIterator<Item = &'a Ring>, milliseconds: i32) -> io::Result<()> {
    let mut events: Vec<libc::pollfd> = rings
        .into_iter()
        .map(|ring| libc::pollfd { fd: ring.event.as_raw_fd(), events: libc::POLLIN, revents: 0 })
        .collect();
    // SAFETY: the list has the given length.
    match unsafe { libc::poll(events.as_mut_ptr(), events.len() as _, milliseconds) } {
        -1 => match io::Error::last_os_error() {
            error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            error => Err(error),
        },
        _ => Ok(()),
    }
}

impl Ring {
    fn new(cpu: u32, mut events: Vec<OwnedFd>) -> io::Result<Ring> {
        let others = events.split_off(1);
        let event = events.remove(0);
        let page_size = page_size();
        let mut refused = None;
        for pages in RING_PAGES {
            let mapped = (1 + pages) * page_size;
            // SAFETY: a new mapping, wherever the kernel puts it.
            let page = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    mapped,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED,
                    event.as_raw_fd(),
                    0,
                )
            };
            if page != libc::MAP_FAILED {
                let ring = Ring {
                    cpu,
                    event,
                    _others: others,
                    page: page.cast(),
                    mapped,
                    data: pages * page_size,
                    tail: 0,
                    joined: Vec::new(),
                };
                for other in &ring._others {
                    ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, ring.event.as_raw_fd())?;
                }
                return Ok(ring);
            }
            refused = Some(io::Error::last_os_error());
        }
        Err(refused.unwrap_or_else(|| io::Error::other("no size of ring to try")))
    }

    /// Hands each whole record that is there to `each`, and gives its room back.
    pub fn drain(&mut self, mut each: impl FnMut(&[u8])) {
        // SAFETY: both lie in the first page, are aligned, and are shared with the kernel as 64-bit words.
        let (head, tail) = unsafe {
            (AtomicU64::from_ptr(self.page.add(DATA_HEAD).cast()), AtomicU64::from_ptr(self.page.add(DATA_TAIL).cast()))
        };
        let end = head.load(Ordering::Acquire);
        // SAFETY: the data follow the first page; the kernel writes only outside of [tail, head).
        let data = unsafe { std::slice::from_raw_parts(self.page.add(self.mapped - self.data), self.data) };
        while self.tail < end {
            let at = (self.tail % self.data as u64) as usize;
            // struct perf_event_header: type u32, misc u16, size u16; records are aligned to 8 bytes, so a header is
            // never divided.
            let size = u16::from_le_bytes([data[at + 6], data[at + 7]]) as usize;
            if size < 8 {
                break; // not a record: the kernel never writes one
            }
            if at + size <= self.data {
                each(&data[at..at + size]);
            } else {
                self.joined.clear();
                self.joined.extend_from_slice(&data[at..]);
                self.joined.extend_from_slice(&data[..at + size - self.data]);
                each(&self.joined);
            }
            self.tail += size as u64;
        }
        fence(Ordering::SeqCst); // all is read before its room is given back
        tail.store(self.tail, Ordering::Release);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped by new(), and no slice of it is left.
        unsafe { libc::munmap(self.page.cast(), self.mapped) };
    }
}

fn page_size() -> usize {
    // SAFETY: asks for a constant of the system.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_cpus_is_read_as_the_kernel_writes_it() {
        assert_eq!(parse_cpus("0-3,6,8-9"), Some(vec![0, 1, 2, 3, 6, 8, 9]));
        assert_eq!(parse_cpus("0"), Some(vec![0]));
        assert_eq!(parse_cpus("all"), None);
    }
}
