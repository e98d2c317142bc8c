//! Room on a file system.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Returns the bytes that a user other than root may still write at this path (statvfs(3)); `None` if unknown.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: a zeroed statvfs is valid, the path ends with NUL.
    unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &mut found) == 0).then(|| found.f_bavail.saturating_mul(found.f_frsize))
    }
}
