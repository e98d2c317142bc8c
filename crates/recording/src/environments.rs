//! Finds processes by their environment, the only trace of a daemon that has left its parents.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// Processes that started with this variable in their environment, with their command lines. Processes of other users
/// are not visible.
pub(crate) fn with(variable: &OsStr) -> Vec<(u32, String)> {
    let mut found: Vec<(u32, String)> = Vec::new();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|one| one == variable.as_bytes()) {
            let command = fs::read(process.path().join("cmdline")).unwrap_or_default();
            let words: Vec<_> =
                command.split(|byte| *byte == 0).filter(|word| !word.is_empty()).map(String::from_utf8_lossy).collect();
            found.push((pid, words.join(" ")));
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_is_found_by_its_environment_with_its_command_until_it_has_ended() {
        let value = format!("x{}", std::process::id());
        let variable = format!("TACHO_TEST_ENVIRONMENT={value}");
        assert_eq!(with(OsStr::new(&variable)), []);
        let mut child = Command::new("cat")
            .env("TACHO_TEST_ENVIRONMENT", &value)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // The child is in /proc before its program runs.
        while with(OsStr::new(&variable)) != [(child.id(), "cat".to_owned())] {
            assert_eq!(child.try_wait().unwrap(), None);
        }
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(with(OsStr::new(&variable)), []);
    }
}
