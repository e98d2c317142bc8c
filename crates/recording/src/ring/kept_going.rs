//! Runs the thread that maintains a ring, and saves it on a signal, a command or a trigger.

use super::ask::{Asker, Door};
use super::files::Ring;
use crate::clock::monotonic_ns;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tacho_events::run::{EventGap, Ring as Facts, RunInfo};
use tacho_events::RunDirectory;

const TURN: Duration = Duration::from_millis(100);
/// The files are looked at so often, and at each turn while one of them fills.
const RELEASE_EVERY_NS: i64 = 500_000_000;
/// Triggers are judged so often: each time a few seconds are analysed.
const WATCH_EVERY_NS: i64 = 500_000_000;
/// A period is saved this long after its end, because tacho writes its own events with this much delay.
const SETTLED_NS: i64 = 300_000_000;

/// Called twice a second; returns why a save is due, if one is.
pub type Watch = Box<dyn FnMut() -> Result<Option<String>, String> + Send>;

/// The settings of a ring.
pub struct Wanted {
    /// The period that is kept.
    pub span: Duration,
    /// How long after a trigger the ring is saved.
    pub after: Duration,
    /// Saves of one recording, at most.
    pub most_saves: u32,
    /// Triggers.
    pub watch: Option<Watch>,
}

/// A running ring.
pub struct Going {
    stop: Sender<()>,
    held: Arc<AtomicBool>,
    gaps: Arc<Mutex<Vec<EventGap>>>,
    thread: JoinHandle<Outcome>,
}

/// A finished ring.
pub struct Outcome {
    /// Its files.
    pub ring: Ring,
    /// For `run.json`.
    pub facts: Facts,
    /// What went wrong, in words.
    pub failures: Vec<String>,
}

/// A save that is due.
struct Pending {
    to_ns: i64,
    why: String,
    asker: Option<Asker>,
}

struct Keeper {
    ring: Ring,
    wanted: Wanted,
    info: RunInfo,
    gaps: Arc<Mutex<Vec<EventGap>>>,
    run: RunDirectory,
    door: Option<Door>,
    pending: Vec<Pending>,
    facts: Facts,
    failures: Vec<String>,
    watched_ns: i64,
    released_ns: i64,
    /// Triggers are passed over until then.
    hold_off_until_ns: i64,
}

/// Leaves SIGUSR1 to the ring's thread: of this thread and of those that it starts from now on.
pub fn block_signal() {
    // SAFETY: valid sets.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &usr1(), std::ptr::null_mut()) };
}

fn usr1() -> libc::sigset_t {
    // SAFETY: a zeroed set is valid, and these calls cannot fail on valid sets and signals.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGUSR1);
        set
    }
}

fn signalled() -> bool {
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: valid set and time.
    unsafe { libc::sigtimedwait(&usr1(), std::ptr::null_mut(), &now) == libc::SIGUSR1 }
}

impl Going {
    /// Starts the thread, which handles SIGUSR1. `info` describes the recording in saves.
    pub fn start(ring: Ring, wanted: Wanted, info: RunInfo, run: &RunDirectory) -> io::Result<Going> {
        let mut failures = Vec::new();
        let door = Door::open(run).map_err(|error| {
            let why = format!(
                "{}: no socket can be made there ({error}): tacho record --save will not find this recording, SIGUSR1 \
                 does",
                run.path().display()
            );
            eprintln!("tacho: {why}");
            failures.push(why);
        });
        let facts = Facts { span_s: wanted.span.as_secs_f64(), ..Facts::default() };
        let gaps = Arc::new(Mutex::new(Vec::new()));
        let keeper = Keeper {
            ring,
            wanted,
            info,
            gaps: gaps.clone(),
            run: run.clone(),
            door: door.ok(),
            pending: Vec::new(),
            facts,
            failures,
            watched_ns: 0,
            released_ns: i64::MIN,
            hold_off_until_ns: i64::MIN,
        };
        let (stop, stopped) = channel();
        let held = Arc::new(AtomicBool::new(false));
        let is_held = held.clone();
        let thread = std::thread::Builder::new().name("tacho-ring".into()).spawn(move || {
            let mut keeper = keeper;
            while matches!(stopped.recv_timeout(TURN), Err(RecvTimeoutError::Timeout)) {
                if is_held.load(Ordering::Relaxed) {
                    keeper.ring.hold();
                }
                keeper.turn(false);
            }
            keeper.end()
        })?;
        Ok(Going { stop, held, gaps, thread })
    }

    /// The recorded command has ended: from now on the ring keeps its last seconds, even if its descendants continue.
    pub fn hold(&self) {
        self.held.store(true, Ordering::Relaxed);
    }

    /// Adds lost events, which saves report.
    pub fn lost(&self, gaps: &[EventGap]) {
        self.gaps.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(gaps);
    }

    /// Saves what is still due, and ends the thread.
    pub fn finish(self) -> io::Result<Outcome> {
        drop(self.stop);
        self.thread.join().map_err(|_| io::Error::other("the thread of the ring panicked"))
    }
}

impl Keeper {
    /// `last`: nothing follows.
    fn turn(&mut self, last: bool) {
        let now = monotonic_ns();
        // A save has what the last look at the files found.
        let is_due = |pending: &Pending| now >= pending.to_ns + SETTLED_NS;
        if last
            || now.saturating_sub(self.released_ns) >= RELEASE_EVERY_NS
            || self.ring.is_filling()
            || self.pending.iter().any(is_due)
        {
            self.released_ns = now;
            if let Err(error) = self.ring.turn() {
                self.failed(format!("the ring: {error}"));
            }
        }
        if signalled() {
            self.pending.push(Pending { to_ns: now, why: "SIGUSR1".into(), asker: None });
        }
        while let Some(asker) = self.door.as_ref().and_then(Door::asked) {
            self.pending.push(Pending { to_ns: now, why: "tacho record --save".into(), asker: Some(asker) });
        }
        let watch = self.wanted.watch.as_mut().filter(|_| now >= self.watched_ns + WATCH_EVERY_NS);
        self.watched_ns = if watch.is_some() { now } else { self.watched_ns };
        match watch.map_or(Ok(None), |watch| watch()) {
            Ok(None) => {}
            Ok(Some(why)) => self.triggered(why, now),
            Err(error) => {
                self.wanted.watch = None;
                self.failed(format!("the triggers are watched no more: {error}"));
            }
        }
        let (due, later) = std::mem::take(&mut self.pending).into_iter().partition(is_due);
        self.pending = later;
        self.save_all(due);
    }

    fn triggered(&mut self, why: String, now: i64) {
        let full = self.facts.saves + self.pending.len() as u32 >= self.wanted.most_saves;
        if now < self.hold_off_until_ns || full {
            self.facts.triggers_passed_over += 1;
            return;
        }
        let to_ns = now + self.wanted.after.as_nanos() as i64;
        // Most of what follows within a ring's length is in this save.
        self.hold_off_until_ns = to_ns + self.wanted.span.as_nanos() as i64;
        eprintln!("tacho: trigger: {why}; saved in {:.1} s", self.wanted.after.as_secs_f64());
        self.pending.push(Pending { to_ns, why, asker: None });
    }

    fn save_all(&mut self, due: Vec<Pending>) {
        for Pending { to_ns, why, asker } in due {
            let saved = self.save(&why, to_ns);
            match &saved {
                Ok(path) => eprintln!("tacho: saved ({why}): {}", self.run.path().join(path).display()),
                Err(refused) => self.failed(format!("not saved ({why}): {refused}")),
            }
            if let Some(asker) = asker {
                asker.answer(&saved);
            }
        }
    }

    /// Saves, and returns the path in the run directory.
    fn save(&mut self, why: &str, to_ns: i64) -> Result<String, String> {
        if self.facts.saves >= self.wanted.most_saves {
            return Err(format!("there are {} saves of this recording, as many as wanted (--saves)", self.facts.saves));
        }
        let number = self.facts.saves + 1;
        let to = self.run.save(number);
        let gaps = self.gaps.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.ring.save(&to, RunInfo { gaps, ..self.info.clone() }, why, to_ns).map_err(|error| error.to_string())?;
        self.facts.saves = number;
        Ok(format!("saves/{number:03}"))
    }

    /// Says each failure once.
    fn failed(&mut self, failure: String) {
        if !self.failures.contains(&failure) {
            eprintln!("tacho: {failure}");
            self.failures.push(failure);
        }
    }

    fn end(mut self) -> Outcome {
        self.turn(true);
        let now = monotonic_ns();
        let mut due = std::mem::take(&mut self.pending);
        due.iter_mut().for_each(|pending| pending.to_ns = pending.to_ns.min(now));
        self.save_all(due);
        if let Some(Err(error)) = self.door.take().map(Door::close) {
            self.failed(format!("{}: {error}", self.run.path().display()));
        }
        self.facts.kept_from_ns = self.ring.kept_from_ns();
        self.facts.processes_let_go = self.ring.processes_let_go();
        Outcome { ring: self.ring, facts: self.facts, failures: self.failures }
    }
}
