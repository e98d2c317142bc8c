//! The pid namespace of this process: in which ids of processes mean what they mean here.

use std::os::unix::fs::MetadataExt;

/// The one that a machine boots with (PROC_PID_INIT_INO of the kernel, include/linux/proc_ns.h).
const FIRST: u64 = 0xEFFF_FFFC;

/// Its number, the inode of its file; `None`: there is no /proc.
pub(crate) fn number() -> Option<u64> {
    std::fs::metadata("/proc/self/ns/pid").ok().map(|namespace| namespace.ino())
}

/// Returns whether processes have the same ids here as in the kernel.
pub(crate) fn is_first() -> bool {
    number() == Some(FIRST)
}
