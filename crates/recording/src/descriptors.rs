//! Raises tacho's limit of descriptors: with about 140 CPUs or more, the events of every CPU need more than the usual
//! 1024.

use std::sync::OnceLock;

static BEFORE: OnceLock<libc::rlimit> = OnceLock::new();

/// Raises the soft limit of this process to the hard one. Programs that tacho starts get [the former limit](restore)
/// back, because a program that uses select(2) relies on it.
pub fn raise() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls have a valid limit. If the limit cannot be raised, it stays, and the code that needs more
    // descriptors reports that itself.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 && limit.rlim_cur < limit.rlim_max {
            let _ = BEFORE.set(limit);
            libc::setrlimit(libc::RLIMIT_NOFILE, &libc::rlimit { rlim_cur: limit.rlim_max, ..limit });
        }
    }
}

/// Restores the original limit in a process that was just forked; async-signal-safe.
pub fn restore() -> std::io::Result<()> {
    match BEFORE.get() {
        // SAFETY: a limit that the kernel gave.
        Some(limit) if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, limit) } != 0 => {
            Err(std::io::Error::last_os_error())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;

    #[test]
    fn what_is_started_has_the_limit_as_it_was() {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: a valid limit, and one below it.
        unsafe {
            assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit), 0);
            assert_eq!(
                libc::setrlimit(libc::RLIMIT_NOFILE, &libc::rlimit { rlim_cur: limit.rlim_max - 1, ..limit }),
                0
            );
        }
        raise();
        let told = |restored: bool| {
            let mut command = std::process::Command::new("sh");
            command.args(["-c", "ulimit -Sn"]);
            if restored {
                // SAFETY: setrlimit is async-signal-safe.
                unsafe { command.pre_exec(restore) };
            }
            String::from_utf8(command.output().unwrap().stdout).unwrap().trim().parse::<u64>().unwrap()
        };
        assert_eq!((told(false), told(true)), (limit.rlim_max, limit.rlim_max - 1));
    }
}
