//! Handles signals while a command runs in the foreground: the command acts on them, and tacho waits for its end.

use std::io;
use std::process::{Child, ExitStatus};

/// The signals that would end tacho. They are blocked, and checked while the command runs.
pub(crate) struct Signals {
    watched: libc::sigset_t,
    pub before: libc::sigset_t,
}

impl Signals {
    pub fn block() -> Signals {
        // Zeroed sets are valid, and these calls cannot fail on valid sets and signals.
        unsafe {
            let mut signals: Signals = std::mem::zeroed();
            libc::sigemptyset(&mut signals.watched);
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGCHLD] {
                libc::sigaddset(&mut signals.watched, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &signals.watched, &mut signals.before);
            signals
        }
    }

    /// Waits for the child. A signal that `kill` sent to tacho is passed on to the child; one from the terminal has
    /// already reached it. If a second ^C has no effect, tacho prints how to kill the process.
    pub fn wait(&self, child: &mut Child, mut now_and_then: impl FnMut()) -> io::Result<ExitStatus> {
        let mut interrupts = 0;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            now_and_then();
            // SIGCHLD ends the wait at once. If another thread has consumed it, this limit does.
            let limit = libc::timespec { tv_sec: 0, tv_nsec: 100_000_000 };
            let mut cause: libc::siginfo_t = unsafe { std::mem::zeroed() };
            let signal = unsafe { libc::sigtimedwait(&self.watched, &mut cause, &limit) };
            interrupts += u32::from(signal == libc::SIGINT);
            if signal == libc::SIGINT && interrupts == 2 {
                eprintln!(
                    "tacho: process {0} still runs after ^C, and so does the recording; kill -9 {0} ends it and loses \
                     nothing that was recorded",
                    child.id()
                );
            }
            let sent_by_a_process = cause.si_code <= 0; // SI_USER and its like; the kernel's own are positive
            if signal > 0 && signal != libc::SIGCHLD && sent_by_a_process {
                // Not yet waited for, so the pid is still the child's.
                unsafe { libc::kill(child.id() as libc::pid_t, signal) };
            }
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // Restores the signal mask. First removes a pending ^C, which was meant for the command.
        unsafe {
            let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            while libc::sigtimedwait(&self.watched, std::ptr::null_mut(), &now) > 0 {}
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut());
        }
    }
}
