//! Files that others left, opened only where they are files: opening a pipe of that name would wait for whoever writes it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file to read it.
pub fn open(path: &Path) -> io::Result<File> {
    if std::fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::other("a folder, pipe or device; expected a file"))
    }
}

/// All bytes of a regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_pipe_or_folder_is_refused_at_once_and_what_is_not_there_is_not_found() {
        let folder = tempfile::tempdir().expect("folder");
        let pipe = folder.path().join("pipe");
        let name = CString::new(pipe.as_os_str().as_bytes()).expect("no NUL");
        // SAFETY: a name that ends in a NUL.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        for path in [pipe.as_path(), folder.path()] {
            assert!(read(path).expect_err("no file").to_string().contains("expected a file"));
        }
        assert_eq!(read(&folder.path().join("none")).expect_err("none").kind(), io::ErrorKind::NotFound);
        std::fs::write(folder.path().join("file"), "text").expect("file");
        assert_eq!(read(&folder.path().join("file")).expect("file"), b"text");
    }
}
