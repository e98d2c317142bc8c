//! Opens foreign files only if they are regular files: opening a pipe would wait for its writer.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Opens a regular file to read it.
pub fn open(path: &Path) -> io::Result<File> {
    if std::fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::other("a folder, pipe or device; expected a file"))
    }
}

/// No file that is read at once has more bytes: texts, figures, readings of clocks. A sparse file takes no room on the
/// disk, but would take all of memory.
const MOST_BYTES: u64 = 1 << 30;

/// Reads all bytes of a regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    all(open(path)?)
}

/// Reads all text of a regular file.
pub fn read_text(path: &Path) -> io::Result<String> {
    text(read(path)?)
}

/// Reads all text of a file, or of a pipe.
pub fn read_text_or_pipe(path: &Path) -> io::Result<String> {
    text(all(File::open(path)?)?)
}

/// Fills `bytes` from a file, beginning at a position. Returns how many it read; fewer at the file's end.
pub fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    let mut count = 0;
    while count < bytes.len() {
        match file.read_at(&mut bytes[count..], at + count as u64) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "no text; expected UTF-8"))
}

fn all(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = file.metadata()?.len();
    if length <= MOST_BYTES {
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    }
    match length.max(bytes.len() as u64) {
        found if found > MOST_BYTES => Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("{found} bytes or more; expected at most {MOST_BYTES} of a file that is read at once"),
        )),
        _ => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn what_is_larger_than_any_such_file_takes_no_memory() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("sparse");
        File::create(&path).and_then(|file| file.set_len(8 << 40)).expect("a sparse file");
        for error in [read(&path).expect_err("too large"), read_text_or_pipe(&path).expect_err("too large")] {
            assert!(
                error.to_string().contains("8796093022208 bytes") && error.to_string().contains("expected at most"),
                "{error}"
            );
        }
    }

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
