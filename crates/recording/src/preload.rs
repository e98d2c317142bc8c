//! Finds out whether a library can be preloaded into a program, and if not, why.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Returns the path of `command` as execvp would find it.
pub fn find_program(command: &OsStr) -> Option<PathBuf> {
    let runnable =
        |path: &Path| path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    if command.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(command)).filter(|path| runnable(path));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(command)).find(|path| runnable(path))
}

/// `LD_PRELOAD` with `library` before what is there already.
pub fn prepended(library: &Path, before: Option<OsString>) -> OsString {
    let mut list = library.as_os_str().to_owned();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        list.push(":");
        list.push(before);
    }
    list
}

/// Returns an `ASAN_OPTIONS` with which a program built with the address sanitiser accepts a library before the
/// sanitiser's own. An option that the user set stays. The recorder replaces no function that the sanitiser needs to
/// intercept.
pub fn sanitizer_options(before: Option<OsString>) -> OsString {
    let mut options = before.unwrap_or_default();
    if !options.to_string_lossy().contains("verify_asan_link_order") {
        if !options.is_empty() {
            options.push(":");
        }
        options.push("verify_asan_link_order=0");
    }
    options
}

/// Why the dynamic linker would not preload into this program, in words; `None`: nothing speaks against it.
pub fn obstacle(program: &Path) -> Option<String> {
    obstacle_below(program, 4)
}

fn obstacle_below(program: &Path, interpreters: u32) -> Option<String> {
    let name = program.display();
    let found = program.metadata().ok()?;
    let sets_ids = found.mode() & 0o4000 != 0 || (found.mode() & 0o2000 != 0 && found.mode() & 0o010 != 0);
    if sets_ids {
        return Some(format!("{name} is a set-user-ID or set-group-ID program: the system preloads nothing into it"));
    }
    if has_capabilities(program) {
        return Some(format!("{name} has file capabilities (see getcap): the system preloads nothing into it"));
    }
    let known = program
        .file_name()
        .is_some_and(|file| ["docker", "podman", "apptainer", "singularity"].iter().any(|c| file == *c));
    if known {
        return Some(format!(
            "{name} starts its programs in a container, which has neither the recorder nor this environment: run tacho \
             inside it, or mount the recorder and the run directory there and pass LD_PRELOAD and TACHO_EVENTS_DIR"
        ));
    }
    let mut start = Vec::new();
    File::open(program).ok()?.take(1 << 16).read_to_end(&mut start).ok()?;
    if let Some(interpreter) = script_interpreter(&start) {
        return (interpreters > 0).then(|| obstacle_below(&interpreter, interpreters - 1)).flatten();
    }
    elf_obstacle(&start).map(|reason| format!("{name} {reason}"))
}

fn has_capabilities(program: &Path) -> bool {
    let Ok(path) = std::ffi::CString::new(program.as_os_str().as_bytes()) else { return false };
    // SAFETY: it asks only for the size, so nothing is written.
    unsafe { libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0) > 0 }
}

/// Returns the interpreter of a `#!` script; python3 for `#!/usr/bin/env python3`.
fn script_interpreter(start: &[u8]) -> Option<PathBuf> {
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let interpreter = Path::new(OsStr::from_bytes(words.next()?));
    match words.next() {
        Some(program) if interpreter.ends_with("env") => find_program(OsStr::from_bytes(program)),
        _ => Some(interpreter.to_owned()),
    }
}

/// Returns what prevents preloading, from an ELF file's header and program headers (System V ABI, chapters 4 and 5).
fn elf_obstacle(start: &[u8]) -> Option<String> {
    const PROGRAM_INTERPRETER: u32 = 3; // PT_INTERP
    if !start.starts_with(b"\x7fELF") {
        return None;
    }
    if start.get(4) != Some(&2) {
        return Some("is a 32-bit program: the recorder is 64-bit".to_owned());
    }
    let u16_at = |at: usize| Some(u16::from_le_bytes(start.get(at..at + 2)?.try_into().ok()?));
    let table = u64::from_le_bytes(start.get(32..40)?.try_into().ok()?) as usize;
    let (size, count) = (u16_at(54)? as usize, u16_at(56)? as usize);
    let kinds = (0..count).map(|i| {
        let at = table.checked_add(i * size)?;
        Some(u32::from_le_bytes(start.get(at..at + 4)?.try_into().ok()?))
    });
    let kinds: Option<Vec<u32>> = kinds.collect();
    // A table beyond the bytes that were read is not checked.
    (!kinds?.contains(&PROGRAM_INTERPRETER))
        .then(|| "is statically linked: nothing can be preloaded into it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dynamic_program_has_no_obstacle() {
        assert_eq!(obstacle(&find_program(OsStr::new("ls")).unwrap()), None);
        assert_eq!(find_program(OsStr::new("no-such-program-here")), None);
    }

    #[test]
    fn options_of_the_sanitiser_stay() {
        let options = |before: Option<&str>| sanitizer_options(before.map(OsString::from)).into_string().expect("text");
        assert_eq!(options(None), "verify_asan_link_order=0");
        assert_eq!(options(Some("detect_leaks=0")), "detect_leaks=0:verify_asan_link_order=0");
        assert_eq!(options(Some("verify_asan_link_order=1")), "verify_asan_link_order=1");
    }

    #[test]
    fn set_user_id_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ls");
        std::fs::copy(find_program(OsStr::new("ls")).unwrap(), &program).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).unwrap();
        assert!(obstacle(&program).unwrap().contains("set-user-ID"));
    }

    #[test]
    fn a_static_program_is_named_also_behind_a_script() {
        // The smallest static program is an ELF header with an empty program header table.
        let folder = tempfile::tempdir().unwrap();
        let (program, script) = (folder.path().join("static"), folder.path().join("script"));
        let mut header = vec![0; 64];
        header[..5].copy_from_slice(b"\x7fELF\x02");
        std::fs::write(&program, header).unwrap();
        std::fs::write(&script, format!("#!{} -x\n", program.display())).unwrap();
        assert!(obstacle(&program).unwrap().contains("statically linked"));
        assert!(obstacle(&script).unwrap().contains("statically linked"));
    }

    #[test]
    fn env_scripts_lead_to_their_interpreter() {
        assert_eq!(script_interpreter(b"#!/usr/bin/env ls\n"), find_program(OsStr::new("ls")));
        assert_eq!(script_interpreter(b"#!/bin/sh -e\nls"), Some(PathBuf::from("/bin/sh")));
        assert_eq!(script_interpreter(b"\x7fELF"), None);
    }

    #[test]
    fn an_existing_preload_stays() {
        assert_eq!(prepended(Path::new("/r.so"), None), "/r.so");
        assert_eq!(prepended(Path::new("/r.so"), Some("/a.so".into())), "/r.so:/a.so");
    }
}
