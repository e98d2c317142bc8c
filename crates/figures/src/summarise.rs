//! Tables into `summary.json`: all figures, and what was found in them.

use crate::figures::{self, Repeat};
use crate::{lints, verdict};
use std::thread::ScopedJoinHandle;
use tacho_events::run::Load;
use tacho_tables::summary::Summary;
use tacho_tables::Note;
use tacho_workload::model::Workload;

/// The figures of a run: of one repeat, or of all that a run directory holds.
pub fn summarise(repeats: &[Repeat<'_>], workload: Option<&Workload>) -> Summary {
    // Each goes through tables that nobody changes. More at once would be more memory, too.
    std::thread::scope(|scope| {
        let callbacks = scope.spawn(|| figures::callbacks(repeats));
        let chains = scope.spawn(|| figures::chains(repeats));
        let findings = scope.spawn(|| lints::findings(repeats, workload));
        let mut notes = notes(repeats);
        let topics = figures::topics::topics(repeats, &mut notes);
        let bag_topics = figures::bag::figures(repeats, &mut notes);
        let layers = figures::layers::figures(repeats);
        let (mut callbacks, mut chains) = (done(callbacks), done(chains));
        figures::emulated::withhold(&mut callbacks, &mut chains, repeats);
        // While the lints still run.
        let points = workload.map(|w| figures::point::point(repeats, w, &chains)).into_iter().collect();
        let findings = done(findings);
        Summary {
            verdict: verdict::verdict(repeats, &chains, &callbacks, &findings),
            services: figures::services::figures(repeats),
            actions: figures::actions::figures(repeats),
            lifecycle: figures::lifecycle::figures(repeats),
            quality: figures::quality::figures(repeats),
            reactions: figures::reactions::figures(repeats),
            points,
            callbacks,
            topics,
            bag_topics,
            layers,
            chains,
            executors: figures::threads::executors(repeats),
            preemptors: figures::threads::preemptors(repeats),
            findings: Some(findings),
            notes,
            window: figures::window::figures(repeats),
        }
    })
}

/// Topics, callbacks and chains alone, as a run that goes on is shown again and again.
pub(crate) fn of_what_is_shown(repeats: &[Repeat<'_>]) -> Summary {
    let mut notes = notes(repeats);
    let (mut callbacks, mut chains) = (figures::callbacks(repeats), figures::chains(repeats));
    figures::emulated::withhold(&mut callbacks, &mut chains, repeats);
    Summary { topics: figures::topics::topics(repeats, &mut notes), callbacks, chains, notes, ..Summary::default() }
}

/// What a thread computed; its panic is this one's.
fn done<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn notes(repeats: &[Repeat<'_>]) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for note in repeats.iter().flat_map(|r| &r.tables.notes) {
        match notes.iter_mut().find(|n| n.name == note.name && n.text == note.text) {
            Some(known) => known.count += note.count,
            None => notes.push(note.clone()),
        }
    }
    notes.extend(busy_machine(repeats));
    notes
}

/// That others had much of the machine, in words of the run in which they had most.
fn busy_machine(repeats: &[Repeat<'_>]) -> Option<Note> {
    let loads = repeats.iter().filter_map(|repeat| repeat.info?.load.as_ref());
    let busy: Vec<&Load> = loads.filter(|load| load.much().is_some()).collect();
    let worst = busy.iter().max_by(|a, b| a.others_cpus().unwrap_or(0.0).total_cmp(&b.others_cpus().unwrap_or(0.0)))?;
    let in_most = if repeats.len() > 1 { " (of the repeats with such load the one with most)" } else { "" };
    let text = format!(
        "{}{in_most}: latencies, callback times and lateness have what that took from the run; `load` in run.json has \
         the rest",
        worst.much()?
    );
    Some(Note { name: "busy-machine".into(), count: busy.len() as u64, text })
}
