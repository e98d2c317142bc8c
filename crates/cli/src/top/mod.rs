//! `tacho top`: a live view of a system that is being recorded.

mod names;
mod rows;
mod screen;
mod source;

use crate::exit::{Failure, Outcome};
use crate::interrupt;
use crate::live_page::{self, LivePage};
use crate::options::Top;
use crate::runs;
use screen::{Asked, Screen};
use serde::Serialize;
use source::Source;
use std::io::IsTerminal;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tacho_figures::live::{due_again, LiveFacts, LiveWindow};
use tacho_printing::Lines;
use tacho_tables::summary::{CallbackFigures, ChainFigures, Summary, TopicFigures};

/// How long `--once` rests between two readings.
const READ_EVERY: Duration = Duration::from_millis(250);
/// How long it takes at most until the screen shows that its size changed.
const DRAW_EVERY: Duration = Duration::from_millis(500);

pub fn run(options: Top) -> Outcome {
    let interrupted = interrupt::catch()?;
    let source = Source::open(&options)?;
    if let Some(port) = options.browser {
        let outcome = in_browser(&options, port, &source, interrupted);
        source.close()?;
        return outcome;
    }
    let mut window = LiveWindow::new(source.run(), options.window.as_nanos() as i64);
    let outcome = match options.once {
        true => once(&options, &source, &mut window, interrupted),
        false => live(&options, &source, &mut window, interrupted),
    };
    source.close()?;
    outcome
}

/// One window's figures, for scripts.
#[derive(Serialize)]
struct Once<'a> {
    window_s: f64,
    processes: usize,
    events_per_s: f64,
    dropped_events: u64,
    topics: &'a [TopicFigures],
    callbacks: &'a [CallbackFigures],
    chains: &'a [ChainFigures],
}

/// Waits until the window is full, or nothing more comes, and prints it.
fn once(
    options: &Top,
    source: &Source,
    window: &mut LiveWindow,
    interrupted: &std::sync::atomic::AtomicBool,
) -> Outcome {
    let full = options.window.as_nanos() as i64;
    let mut news = (0, Instant::now());
    loop {
        // Asked before reading, so that the reader also sees what is written until the end.
        let ended = source.ended();
        window.read().map_err(anyhow::Error::from)?;
        let facts = window.facts();
        if facts.events != news.0 {
            news = (facts.events, Instant::now());
        }
        let quiet = facts.events > 0 && news.1.elapsed() > options.window;
        if ended || quiet || facts.filled_ns >= full || interrupted.load(Ordering::Relaxed) {
            break;
        }
        std::thread::sleep(READ_EVERY);
    }
    let (summary, facts) = (window.summary(true), window.facts());
    if facts.events == 0 {
        return Err(Failure::Fault(anyhow::anyhow!("{}: nothing has been recorded", source.run().path().display())));
    }
    let window_s = facts.filled_ns as f64 / 1e9;
    if options.json {
        let (topics, callbacks, chains) = (&summary.topics, &summary.callbacks, &summary.chains);
        let (processes, events_per_s, dropped_events) = (facts.processes, facts.events_per_s, facts.dropped_events);
        return runs::print_json(&Once {
            window_s,
            processes,
            events_per_s,
            dropped_events,
            topics,
            callbacks,
            chains,
        });
    }
    let mut text = Lines::new();
    for kind in rows::Kind::ALL {
        let rows = rows::arrange(rows::rows(kind, &summary, window_s), "", kind.worst_first(), false);
        text.cells(kind.headings());
        for row in rows {
            let values = row.values.iter().map(|value| rows::shown(*value));
            text.cells(std::iter::once(row.name).chain(values));
        }
        text.line("");
    }
    runs::print(&text)
}

fn in_browser(options: &Top, port: u16, source: &Source, interrupted: &std::sync::atomic::AtomicBool) -> Outcome {
    let (run, spans) = (source.run(), (options.window, options.interval));
    let mut page = LivePage::new(live_page::bind(port)?, run, source.title(), runs::workload(run)?, spans);
    eprintln!("tacho: {} shows the last {:?}; ^C ends it, the recording goes on", page.address(), options.window);
    // Windows are small: other threads would cost more than they help.
    tacho_tables::in_order::use_threads(1);
    page.serve(|| interrupted.load(Ordering::Relaxed), || source.ended())
}

fn live(
    options: &Top,
    source: &Source,
    window: &mut LiveWindow,
    interrupted: &std::sync::atomic::AtomicBool,
) -> Outcome {
    if !std::io::stdout().is_terminal() {
        return Err(Failure::Usage("top draws on a terminal; for a pipe or a file, use --once".into()));
    }
    // Windows are small: other threads would cost more than they help.
    tacho_tables::in_order::use_threads(1);
    let mut screen = Screen::open()?;
    let (mut figures, mut ended): ((Summary, LiveFacts), bool) = Default::default();
    let (mut due, mut with_chains) = (Instant::now(), false);
    while !interrupted.load(Ordering::Relaxed) {
        let lacks_chains = screen.shows_chains() && !with_chains;
        if Instant::now() >= due || lacks_chains {
            let begun = Instant::now();
            with_chains = screen.shows_chains();
            ended = source.ended();
            window.read().map_err(anyhow::Error::from)?;
            if !screen.paused() {
                figures = (window.summary(with_chains), window.facts());
            } else if lacks_chains {
                figures.0.chains = window.summary(true).chains;
            }
            due = due_again(begun, options.interval);
        }
        screen.draw(&figures.0, &figures.1, source, ended)?;
        let rest = due.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        if screen.wait(DRAW_EVERY.min(rest))? == Asked::ToEnd {
            break;
        }
    }
    Ok(())
}
