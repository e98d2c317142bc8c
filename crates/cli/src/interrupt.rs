//! Handles ^C: the first asks the work under way to stop in order, the second ends the program as usual. SIGHUP asks
//! the same and never ends the program, because both the shell and the kernel send it when a terminal ends.

use crate::exit::{self, Failure, Outcome};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
/// The first signal that came; 0 if none came.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Asks the work under way to stop. Returns whether this signal is the first.
fn ask(signal: libc::c_int) -> bool {
    let is_first = SIGNAL.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    ASKED.store(true, Ordering::Relaxed);
    is_first
}

extern "C" fn on_signal(signal: libc::c_int) {
    if !ask(signal) {
        // SAFETY: signal() and raise() are async-signal-safe.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}

extern "C" fn on_hangup(signal: libc::c_int) {
    ask(signal);
    for number in 0..=libc::STDERR_FILENO {
        // SAFETY: tcgetattr(), open(), dup2() and close() are async-signal-safe; a zeroed termios is a valid place
        // for the answer.
        unsafe {
            let mut found: libc::termios = std::mem::zeroed();
            // The terminal is gone, so nobody reads what is still printed, and that is no error.
            if libc::tcgetattr(number, &mut found) != 0 && *libc::__errno_location() == libc::EIO {
                let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
                libc::dup2(nowhere, number);
                libc::close(nowhere);
            }
        }
    }
}

/// Catches SIGINT, SIGTERM and SIGHUP from now on; the first one sets the flag. Under nohup(1), SIGHUP stays ignored.
pub fn catch() -> io::Result<&'static AtomicBool> {
    let on_signal = on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t;
    let on_hangup = on_hangup as extern "C" fn(libc::c_int) as libc::sighandler_t;
    set(libc::SIGINT, on_signal)?;
    set(libc::SIGTERM, on_signal)?;
    set_hangup(on_hangup)?;
    Ok(&ASKED)
}

/// The outcome of work that a signal may have cut short. If one did, the exit code is that of a program which the
/// signal ended, so that no script takes a part for the whole.
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

/// The exit code of a program that the signal which came ended: 130 after ^C.
pub fn code() -> u8 {
    128 + SIGNAL.load(Ordering::Relaxed) as u8
}

/// From now on the first signal ends the program as usual, because nothing is left that must stop in order.
pub fn release() -> io::Result<()> {
    set(libc::SIGINT, libc::SIG_DFL)?;
    set(libc::SIGTERM, libc::SIG_DFL)?;
    set_hangup(libc::SIG_DFL)
}

/// Sets what SIGHUP does, unless it is ignored.
fn set_hangup(action: libc::sighandler_t) -> io::Result<()> {
    if set(libc::SIGHUP, action)? == libc::SIG_IGN {
        set(libc::SIGHUP, libc::SIG_IGN)?;
    }
    Ok(())
}

/// Sets what a signal does and returns what it did.
fn set(signal: libc::c_int, action: libc::sighandler_t) -> io::Result<libc::sighandler_t> {
    // SAFETY: the handlers only touch an atomic and call async-signal-safe functions.
    match unsafe { libc::signal(signal, action) } {
        libc::SIG_ERR => Err(io::Error::last_os_error()),
        previous => Ok(previous),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_was_caught_ends_the_program_again_once_it_is_released() {
        let disposition = |signal| {
            // SAFETY: the call only reads the handler; a zeroed sigaction is a valid place for the answer.
            unsafe {
                let mut now: libc::sigaction = std::mem::zeroed();
                assert_eq!(libc::sigaction(signal, std::ptr::null(), &mut now), 0);
                now.sa_sigaction
            }
        };
        let ignored = disposition(libc::SIGHUP) == libc::SIG_IGN; // under nohup(1)
        super::catch().unwrap();
        assert_ne!(disposition(libc::SIGINT), libc::SIG_DFL);
        assert!(ignored || disposition(libc::SIGHUP) != libc::SIG_DFL);
        super::release().unwrap();
        assert_eq!(disposition(libc::SIGINT), libc::SIG_DFL);
        assert_eq!(disposition(libc::SIGHUP) == libc::SIG_IGN, ignored);
    }
}
