//! Progress of long work on stderr: what is under way, how far, how much time is left.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A bar on a terminal; elsewhere a line for each new thing under way.
pub struct Progress {
    bar: Option<ProgressBar>,
    said: String,
}

impl Progress {
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
            bar.set_style(
                ProgressStyle::with_template("{msg:40!} {bar:30} {prefix}").expect("the template is a constant that parses"),
            );
            bar
        });
        Progress { bar, said: String::new() }
    }

    /// `done` of 0 to 1, of all the work; `left` where it can be told.
    pub fn show(&mut self, what: &str, done: f64, left: Option<Duration>) {
        match &self.bar {
            Some(bar) => {
                bar.set_message(what.to_owned());
                bar.set_position((done.clamp(0.0, 1.0) * 1000.0) as u64);
                bar.set_prefix(left.map_or(String::new(), |left| format!("{} s left", left.as_secs_f64().ceil())));
            }
            None if self.said != what => {
                eprintln!("tacho: {what}");
                self.said = what.to_owned();
            }
            None => {}
        }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
