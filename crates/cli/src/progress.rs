//! Shows the progress of long work on stderr: what is under way, how far it is, how much time is left.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Instant;
use tacho_printing::visible;

/// From this part on, the time that passed predicts the time left well enough.
const ENOUGH_TO_TELL: f64 = 0.05;

/// By how much the same part may differ that was summed up in another order.
const ROUNDING: f64 = 1e-6;

/// A bar on a terminal; elsewhere a line for each new thing under way.
pub struct Progress {
    bar: Option<ProgressBar>,
    said: String,
    begun: Instant,
    done: f64,
}

impl Progress {
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
            bar.set_style(
                ProgressStyle::with_template("{msg:40!} {bar:30} {prefix}")
                    .expect("the template is a constant that parses"),
            );
            bar
        });
        Progress { bar, said: String::new(), begun: Instant::now(), done: 0.0 }
    }

    /// Shows that `done` of all the work, 0 to 1, is finished. If it is less than before, other work has begun, and the
    /// time until now does not predict how long that takes.
    pub fn show(&mut self, what: &str, done: f64) {
        if done + ROUNDING < self.done {
            self.begun = Instant::now();
        }
        self.done = done;
        match &self.bar {
            Some(bar) => {
                bar.set_message(visible(what).into_owned());
                bar.set_position((done.clamp(0.0, 1.0) * 1000.0) as u64);
                bar.set_prefix(self.left(done));
            }
            None if self.said != what => {
                let left = self.left(done);
                eprintln!("tacho: {what}{}{left}", if left.is_empty() { "" } else { ", " });
                self.said = what.to_owned();
            }
            None => {}
        }
    }

    /// `90 s left`, `3 min left`; nothing while it is too early for an estimate.
    fn left(&self, done: f64) -> String {
        let done = done.clamp(0.0, 1.0);
        if done < ENOUGH_TO_TELL {
            return String::new();
        }
        match (self.begun.elapsed().as_secs_f64() * (1.0 - done) / done).ceil() {
            seconds if seconds < 120.0 => format!("{seconds:.0} s left"),
            seconds if seconds < 7200.0 => format!("{:.0} min left", seconds / 60.0),
            seconds => format!("{:.1} h left", seconds / 3600.0),
        }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
