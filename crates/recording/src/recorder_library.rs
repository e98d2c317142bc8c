//! Checks that the library to preload is complete: a program that loads a damaged one dies, or runs unrecorded.

use crate::preload;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

const MEND: &str = "build it again with `make build`, or name the folder of a whole build in TACHO_HOME";

/// Checks `library` by its own tables, and with a program that loads it after the libraries in `before` and does
/// nothing. The error says what is wrong, and what to do.
pub(crate) fn check(library: &Path, before: &[&Path]) -> Result<(), String> {
    by_its_tables(library).and_then(|()| by_trial(library, before)).map_err(|found| format!("{found}; {MEND}"))
}

/// ELF header (System V ABI, chapter 4). Linkers put the table of sections at the end, so that a file which was cut has
/// none.
fn by_its_tables(library: &Path) -> Result<(), String> {
    let mut header = [0; 64];
    let mut file = File::open(library).map_err(|cause| cause.to_string())?;
    let size = file.metadata().map_err(|cause| cause.to_string())?.len();
    let read = file.read_exact(&mut header);
    if read.is_err() || !header.starts_with(b"\x7fELF\x02") {
        return Err(format!("{size} bytes that do not begin as a 64-bit ELF file, which a shared library is"));
    }
    let u16_at = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let ours = if cfg!(target_arch = "x86_64") { 62 } else { 183 }; // EM_X86_64, EM_AARCH64
    if u16_at(18) != ours {
        return Err(format!("it is for another processor: e_machine is {}, {ours} was expected", u16_at(18)));
    }
    let sections = u64::from_le_bytes(std::array::from_fn(|byte| header[40 + byte]));
    let end = sections.saturating_add(u64::from(u16_at(58)) * u64::from(u16_at(60)));
    if sections == 0 || end > size {
        return Err(format!("it is cut short: {size} bytes, its tables end at {end}"));
    }
    Ok(())
}

/// The dynamic linker names on stderr what it cannot preload, and continues without it.
fn by_trial(library: &Path, before: &[&Path]) -> Result<(), String> {
    let Some(program) = preload::find_program(OsStr::new("true")).filter(|path| preload::obstacle(path).is_none())
    else {
        return Ok(());
    };
    let list: Vec<&OsStr> = before.iter().copied().chain([library]).map(Path::as_os_str).collect();
    let trial = Command::new(&program)
        .env("LD_PRELOAD", list.join(OsStr::new(":")))
        .env_remove("TACHO_EVENTS_DIR")
        .stdin(Stdio::null())
        .output()
        .map_err(|cause| format!("{}: {cause}", program.display()))?;
    if let Some(signal) = trial.status.signal() {
        return Err(format!("a program that loads it ends by signal {signal}"));
    }
    let said = String::from_utf8_lossy(&trial.stderr);
    if !trial.status.success() || said.contains("ld.so") {
        return Err(format!("a program that loads it does not run as without it: {}", said.trim()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// Makes a complete library in a folder of its own.
    fn whole(folder: &Path) -> PathBuf {
        let (source, library) = (folder.join("x.c"), folder.join("libx.so"));
        std::fs::write(&source, "int x_of_a_test(void) { return 1; }\n").unwrap();
        let done = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status().unwrap();
        assert!(done.success());
        library
    }

    #[test]
    fn a_whole_library_passes_and_one_cut_anywhere_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let library = whole(folder.path());
        assert_eq!(check(&library, &[]), Ok(()));
        let bytes = std::fs::read(&library).unwrap();
        for length in (0..bytes.len()).step_by(997).chain([bytes.len() - 1]) {
            std::fs::write(&library, &bytes[..length]).unwrap();
            let found = by_its_tables(&library).unwrap_err();
            assert!(found.contains("bytes"), "{length}: {found}");
        }
    }

    #[test]
    fn what_is_no_library_or_another_processors_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let library = whole(folder.path());
        let mut bytes = std::fs::read(&library).unwrap();
        bytes[18] = 8; // MIPS
        std::fs::write(&library, &bytes).unwrap();
        assert!(check(&library, &[]).unwrap_err().contains("another processor"));
        std::fs::write(&library, "garbage".repeat(10_000)).unwrap();
        let found = check(&library, &[]).unwrap_err();
        assert!(found.contains("do not begin as a 64-bit ELF file") && found.contains("make build"), "{found}");
    }

    #[test]
    fn zeros_in_its_midst_are_found_by_loading_it() {
        let folder = tempfile::tempdir().unwrap();
        let library = whole(folder.path());
        let mut bytes = std::fs::read(&library).unwrap();
        let end = bytes.len() - 4096;
        bytes[64..end].fill(0);
        std::fs::write(&library, &bytes).unwrap();
        assert!(check(&library, &[]).unwrap_err().contains("a program that loads it"));
    }
}
