//! The memory that long tables have together, and the pages of their files, which a thread gives back to the kernel
//! once they are many: no walk over rows needs to think of it.

use memmap2::MmapMut;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

/// A table as long as this stays in memory, whatever the others have.
pub(super) const KEPT_BYTES: usize = 256 << 10;
/// The same, as [`keep_in_memory`] says.
pub(super) static KEPT: AtomicUsize = AtomicUsize::new(KEPT_BYTES);
/// Whether there is a share: without one, longer tables are in files, of which the least share of pages stays.
pub(super) static SHARES: AtomicBool = AtomicBool::new(true);
/// Bytes of longer tables in memory.
pub(super) static HELD: AtomicUsize = AtomicUsize::new(0);
/// Part of the machine's memory that long tables have; least and most of it.
const SHARE: usize = 32;
const LEAST_SHARE_BYTES: usize = 96 << 20;
const MOST_SHARE_BYTES: usize = 288 << 20;
/// Resident pages of their files have this part of that.
const RESIDENT_PART: usize = 2;
/// How often the kernel is asked for what is resident, while there are mappings enough. A row that is touched makes
/// 64 KiB resident (fault-around), in a microsecond or so.
const ASKED_EVERY: Duration = Duration::from_millis(1);

/// Says from how many bytes on a table of this process goes to a file. For tests: figures are the same whatever it is.
pub fn keep_in_memory(bytes: usize) {
    KEPT.store(bytes, Ordering::Relaxed);
    SHARES.store(false, Ordering::Relaxed);
}

/// Memory that all long tables may have.
pub(super) fn share_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    if !SHARES.load(Ordering::Relaxed) {
        return LEAST_SHARE_BYTES;
    }
    *BYTES.get_or_init(|| {
        // SAFETY: a call without conditions.
        let machine =
            page_bytes().saturating_mul(usize::try_from(unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) }).unwrap_or(0));
        // That of a container, where one is set ("max" otherwise).
        let container =
            std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
        (machine.min(container.unwrap_or(usize::MAX)) / SHARE).clamp(LEAST_SHARE_BYTES, MOST_SHARE_BYTES)
    })
}

/// Pages of files that are left alone.
pub(super) fn resident_share_bytes() -> usize {
    share_bytes() / RESIDENT_PART
}

fn page_bytes() -> usize {
    // SAFETY: a call without conditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// Every mapping of this process, address and length, and the bytes of all.
static MAPPED: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
static MAPPED_BYTES: AtomicUsize = AtomicUsize::new(0);

fn mapped() -> MutexGuard<'static, Vec<(usize, usize)>> {
    MAPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, pages of this mapping are given back.
pub(super) fn watch(bytes: &MmapMut) {
    // If no thread can be started, this is None, and more pages stay resident.
    static WATCH: OnceLock<Option<Thread>> = OnceLock::new();
    mapped().push((bytes.as_ptr() as usize, bytes.len()));
    MAPPED_BYTES.fetch_add(bytes.len(), Ordering::Relaxed);
    if may_be_many() {
        let made = || Some(thread::Builder::new().name("pages".into()).spawn(keep_few).ok()?.thread().clone());
        WATCH.get_or_init(made).iter().for_each(Thread::unpark);
    }
}

/// A mapping that is about to go.
pub(super) fn forget(bytes: &MmapMut) {
    let address = bytes.as_ptr() as usize;
    mapped().retain(|of| of.0 != address);
    MAPPED_BYTES.fetch_sub(bytes.len(), Ordering::Relaxed);
}

fn may_be_many() -> bool {
    MAPPED_BYTES.load(Ordering::Relaxed) > resident_share_bytes()
}

/// Returns pages to the kernel while more of them are resident than should be.
fn keep_few() {
    loop {
        if !may_be_many() {
            thread::park();
            continue;
        }
        // Where nothing says how many there are, they may be many.
        if resident_bytes_of_files().is_none_or(|resident| resident > resident_share_bytes()) {
            release();
        }
        thread::sleep(ASKED_EVERY);
    }
}

/// Third field of /proc/self/statm (proc(5)): resident pages of files.
fn resident_bytes_of_files() -> Option<usize> {
    static STATM: OnceLock<Option<File>> = OnceLock::new();
    let mut text = [0u8; 64];
    let length = STATM.get_or_init(|| File::open("/proc/self/statm").ok()).as_ref()?.read_at(&mut text, 0).ok()?;
    let pages: usize = std::str::from_utf8(&text[..length]).ok()?.split(' ').nth(2)?.parse().ok()?;
    Some(pages * page_bytes())
}

/// Gives the resident pages of all tables back to the kernel. Nothing is lost: what is touched again is mapped again.
pub(super) fn release() {
    for (address, length) in mapped().iter() {
        // SAFETY: a mapping is in the list for as long as it is there; of a shared mapping of a file, MADV_DONTNEED
        // drops no content.
        let done = unsafe { libc::madvise(*address as *mut libc::c_void, *length, libc::MADV_DONTNEED) };
        debug_assert_eq!(done, 0, "madvise of a mapping of ours");
    }
}
