//! Events into tables: messages, callbacks, chains.

mod calls;
mod chains;
mod graph;
mod link;
mod notes;
mod observe;
mod runs;
mod saves;
mod slowdowns;
mod stages;
mod window;

pub use chains::bound_paths;
pub use link::{promise, queue, udpros};
pub use runs::{analyse, analyse_named_chains, analyse_window, analyse_with, Analysed, Error};
pub use window::{Moment, Window, WindowError};

use link::clocks;
use observe::collect::Collector;
use stages::{Chains, Linked, Observed, Paths, Related, Ways};

use tacho_events::{Event, ProcessFacts, Texts};
use tacho_tables::row::rows_of;
use tacho_tables::{HostClock, Tables};
use tacho_workload::links::Links;
use tacho_workload::model::Workload;

/// What analysis must know besides the events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Start of the measured window, ns of CLOCK_MONOTONIC; `None`: from the first event.
    pub measured_from_ns: Option<i64>,
    /// End of the measured window; `None`: to the last event.
    pub measured_to_ns: Option<i64>,
    /// From when on sources send no more though other nodes run: the end of a workload's duration.
    pub sources_end_ns: Option<i64>,
    /// CLOCK_REALTIME minus CLOCK_MONOTONIC; links the source timestamps of tracetools before Jazzy.
    pub realtime_offset_ns: Option<i64>,
    /// Greatest error of an event's time.
    pub clock_error_ns: i64,
    /// When the run began, if what counts of it is reported: of a recorded system, and where a window was asked for.
    pub begin_ns: Option<i64>,
    /// Whether chains and findings leave out the start-up of the system.
    pub leaves_start_up: bool,
    /// When the system had started: chains and findings count from then on. Analysis finds it.
    pub started_ns: Option<i64>,
}

impl Options {
    /// A time of CLOCK_REALTIME on CLOCK_MONOTONIC, if how they relate is known.
    pub(crate) fn monotonic_ns(&self, realtime_ns: i64) -> Option<i64> {
        realtime_ns.checked_sub(self.realtime_offset_ns?)
    }

    /// Whether an instant counts for chains and findings: it is measured, and the system had started.
    pub fn judges(&self, ns: i64) -> bool {
        self.measures(ns) && self.started_ns.is_none_or(|started| ns >= started)
    }

    /// Whether an instant lies in the measured window; its start belongs to it, its end does not.
    pub fn measures(&self, ns: i64) -> bool {
        self.measured_from_ns.is_none_or(|from| ns >= from) && self.measured_to_ns.is_none_or(|to| ns < to)
    }
}

/// What an analysis is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// All tables.
    All,
    /// Chains that a workload or a links file names, and nothing that explains them.
    NamedChains,
}

/// A state machine over events in the order of time. Tell it each process, push each event, then ask for the tables.
pub struct Analysis {
    options: Options,
    collector: Collector,
    clocks: Vec<HostClock>,
}

impl Analysis {
    /// Nothing seen yet.
    pub fn new(options: Options) -> Self {
        Analysis { options, collector: Collector::new(options), clocks: Vec::new() }
    }

    /// Announces the next process, in the order of their indices in events.
    pub fn add_process(&mut self, facts: &ProcessFacts) {
        self.collector.add_process(facts);
    }

    /// Says that events of the time between two instants were lost. What lies in that time is left out of figures that
    /// would be wrong.
    pub fn add_gap(&mut self, from_ns: i64, to_ns: i64) {
        self.collector.seen.gaps.push((from_ns, to_ns));
    }

    /// Takes the next event in the order of time.
    pub fn push(&mut self, event: &Event, texts: &Texts) {
        self.collector.push(event, texts);
    }

    /// Messages from one process to another, on the clocks of both: all that an analysis is asked for before clocks are
    /// related.
    pub(crate) fn sightings(&self) -> Vec<clocks::Sighting> {
        link::sightings(&self.collector.seen, &self.options)
    }

    /// Says which clock each process is on; the times of events to come are on the first already.
    pub(crate) fn set_clocks(&mut self, clocks: &clocks::Clocks) {
        let seen = &mut self.collector.seen;
        for process in rows_of(&seen.processes) {
            seen.clock_group[process] = clocks.group(process);
            let several = !clocks.rows.is_empty();
            seen.processes[process].clock = several.then(|| clocks.of_process[process]);
        }
        self.clocks = clocks.rows.clone();
    }

    /// Links what was seen and makes the tables. `workload` is what ran, where it is known: it names chains and rates.
    pub fn finish(self, workload: Option<&Workload>) -> Tables {
        self.finish_with(workload, &Links::default())
    }

    /// The same without chains, executors and causes, for those who ask what became of messages alone.
    pub fn finish_messages(self) -> Tables {
        Chains::none(ways(self.collector, None)).into_tables(self.clocks)
    }

    /// The same as [`Analysis::finish`], with what a links file states.
    pub fn finish_with(self, workload: Option<&Workload>, stated: &Links) -> Tables {
        self.finish_started(workload, stated, Asked::All).0
    }

    /// The same, and when the system had started ([`Options::started_ns`]).
    pub(crate) fn finish_started(
        self,
        workload: Option<&Workload>,
        stated: &Links,
        asked: Asked,
    ) -> (Tables, Option<i64>) {
        let ways = ways(self.collector, workload);
        let started_ns = ways.options.started_ns;
        let paths = Paths::of(ways, workload, stated, asked);
        (Chains::of(paths, workload, stated, asked).into_tables(self.clocks), started_ns)
    }
}

fn ways(collector: Collector, workload: Option<&Workload>) -> Ways {
    Ways::of(Linked::of(Related::of(Observed::of(collector)), workload))
}
