//! Removes System V shared memory, which Cyber RT uses. The kernel reports the creator of a segment, its time, and the
//! number of processes that have it attached.

use super::leftover::Mode;
use super::noted::Noted;
use std::fs;

/// A segment as /proc/sysvipc/shm lists it.
#[derive(Debug, PartialEq, Eq)]
struct Segment {
    key: i32,
    id: i32,
    maker: u32,
    attached: u64,
    owner: u32,
    changed_s: u64,
    bytes: u64,
}

/// Segments that processes of a run made: name, bytes, and why each stays.
pub(super) fn of(noted: &Noted, doubt: Option<String>, mode: Mode) -> Vec<(String, u64, Option<String>)> {
    let text = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let of_run = |segment: &Segment| {
        let made_by_it =
            noted.processes.iter().any(|(pid, _)| *pid == segment.maker) && segment.changed_s >= noted.began_s;
        made_by_it && segment.owner == tacho_private::own_user()
    };
    text.lines()
        .filter_map(read)
        .filter(of_run)
        .map(|segment| {
            let attached = (segment.attached > 0).then(|| format!("{} processes use it", segment.attached));
            let mut stays = doubt.clone().or(attached);
            if let (None, Mode::Remove) = (&stays, mode) {
                // SAFETY: the kernel keeps the memory for processes that have it attached.
                let removed = unsafe { libc::shmctl(segment.id, libc::IPC_RMID, std::ptr::null_mut()) } == 0;
                stays = (!removed).then(|| std::io::Error::last_os_error().to_string());
            }
            (format!("System V shared memory {} (key 0x{:08x})", segment.id, segment.key), segment.bytes, stays)
        })
        .collect()
}

/// proc(5): key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap
fn read(line: &str) -> Option<Segment> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    Some(Segment {
        key: words.first()?.parse().ok()?,
        id: words.get(1)?.parse().ok()?,
        bytes: words.get(3)?.parse().ok()?,
        maker: words.get(4)?.parse().ok()?,
        attached: words.get(6)?.parse().ok()?,
        owner: words.get(7)?.parse().ok()?,
        changed_s: words.get(13)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernel_is_read_and_its_heading_is_none() {
        let heading = "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  \
                       cgid      atime      dtime      ctime                   rss                  swap";
        let line = " 360705043          3   644                 4096 24461 24463      2  1000  1000  1000  1000 \
                    1700000002 1700000003 1700000001                  4096                     0";
        assert_eq!(read(heading), None);
        let expected = Segment {
            key: 360_705_043,
            id: 3,
            maker: 24461,
            attached: 2,
            owner: 1000,
            changed_s: 1_700_000_001,
            bytes: 4096,
        };
        assert_eq!(read(line), Some(expected));
    }
}
