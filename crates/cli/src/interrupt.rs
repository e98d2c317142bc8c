//! ^C: the first asks the work under way to stop in order, the second ends the program as usual.

use crate::exit::{self, Failure, Outcome};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
/// The first signal that came; 0: none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

extern "C" fn on_signal(signal: libc::c_int) {
    let is_first = SIGNAL.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    ASKED.store(true, Ordering::Relaxed);
    if !is_first {
        // SAFETY: signal() and raise() are async-signal-safe.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}

/// Catches SIGINT and SIGTERM from now on; the flag is set by the first.
pub fn catch() -> io::Result<&'static AtomicBool> {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only touches an atomic and calls async-signal-safe functions.
        let previous = unsafe { libc::signal(signal, on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t) };
        if previous == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(&ASKED)
}

/// The outcome of work that a signal may have cut short. Then the exit code is that of a program which the signal ended, so that no
/// script takes a part for the whole.
pub fn whole(outcome: Outcome) -> Outcome {
    match (SIGNAL.load(Ordering::Relaxed), outcome) {
        (0, outcome) => outcome,
        (signal, outcome) => {
            outcome.err().map(exit::say);
            eprintln!("tacho: interrupted: what was done until then is kept");
            Err(Failure::Code(128 + signal as u8))
        }
    }
}

/// From now on the first ends the program as usual: nothing is left that must stop in order.
pub fn release() -> io::Result<()> {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the default disposition.
        if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_was_caught_ends_the_program_again_once_it_is_released() {
        let disposition = || {
            // SAFETY: asks only; a zeroed sigaction is a valid place for the answer.
            unsafe {
                let mut now: libc::sigaction = std::mem::zeroed();
                assert_eq!(libc::sigaction(libc::SIGINT, std::ptr::null(), &mut now), 0);
                now.sa_sigaction
            }
        };
        super::catch().unwrap();
        assert_ne!(disposition(), libc::SIG_DFL);
        super::release().unwrap();
        assert_eq!(disposition(), libc::SIG_DFL);
    }
}
