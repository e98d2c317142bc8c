//! The memory that long tables have together, and the pages of their files, which go back to the kernel once they are
//! many.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// A table as long as this stays in memory, whatever the others have.
pub(super) const KEPT_BYTES: usize = 256 << 10;
/// The same, as [`keep_in_memory`] says.
pub(super) static KEPT: AtomicUsize = AtomicUsize::new(KEPT_BYTES);
/// Whether there is a share: without one, longer tables are in files, of which the least share of pages stays.
pub(super) static SHARES: AtomicBool = AtomicBool::new(true);
/// Bytes of longer tables in memory, and of all mappings.
pub(super) static HELD: AtomicUsize = AtomicUsize::new(0);
pub(super) static MAPPED_BYTES: AtomicUsize = AtomicUsize::new(0);
/// Part of the machine's memory that long tables have; least and most of it.
const SHARE: usize = 32;
const LEAST_SHARE_BYTES: usize = 96 << 20;
const MOST_SHARE_BYTES: usize = 288 << 20;
/// Resident pages of their files have this part of that.
const RESIDENT_PART: usize = 2;
/// How often the kernel is asked for what is resident: a row that is touched makes 64 KiB resident (fault-around), in a
/// microsecond or so.
const ASKED_EVERY: Duration = Duration::from_micros(100);

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
fn resident_share_bytes() -> usize {
    share_bytes() / RESIDENT_PART
}

fn page_bytes() -> usize {
    // SAFETY: a call without conditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// Every mapping of this process, address and length.
static MAPPED: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

pub(super) fn mapped() -> MutexGuard<'static, Vec<(usize, usize)>> {
    MAPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives pages back once there are many.
pub fn relieve() {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    static ASKED_NS: AtomicU64 = AtomicU64::new(0);
    if MAPPED_BYTES.load(Ordering::Relaxed) <= resident_share_bytes() {
        return; // they cannot be many
    }
    let now = BEGAN.get_or_init(Instant::now).elapsed().as_nanos() as u64;
    let asked = ASKED_NS.load(Ordering::Relaxed);
    if now.saturating_sub(asked) < ASKED_EVERY.as_nanos() as u64 {
        return;
    }
    // Of several threads one asks.
    let mine = ASKED_NS.compare_exchange(asked, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    // Where nothing tells how many there are, they may be many.
    if mine && resident_bytes_of_files().is_none_or(|resident| resident > resident_share_bytes()) {
        release();
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
pub fn release() {
    for (address, length) in mapped().iter() {
        // SAFETY: a mapping is in the list for as long as it is there; of a shared mapping of a file, MADV_DONTNEED
        // drops no content.
        let done = unsafe { libc::madvise(*address as *mut libc::c_void, *length, libc::MADV_DONTNEED) };
        debug_assert_eq!(done, 0, "madvise of a mapping of ours");
    }
}

/// Steps of a walk over rows that lie far apart, after which it is asked whether to give pages back.
pub(super) const FAR_APART: usize = 32;

/// The same items, for walks over rows that do not stand together (those of one topic, of one chain): gives pages back
/// now and then.
pub fn far_apart<I: Iterator>(items: I) -> impl Iterator<Item = I::Item> {
    items.enumerate().map(|(step, item)| {
        if step % FAR_APART == FAR_APART - 1 {
            relieve();
        }
        item
    })
}
