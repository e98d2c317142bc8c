//! Last stage: the instances of chains, what made them late, and the tables of all.

use super::linked::Carried;
use super::{Paths, Ways};
use crate::chains::busy::Busy;
use crate::chains::causes::causes;
use crate::chains::states::executors;
use crate::chains::usage::Usage;
use crate::chains::{Traced, Tracer};
use crate::link::fate::Fates;
use crate::link::Messages;
use crate::notes::Place;
use crate::observe::Seen;
use crate::slowdowns::slowdowns;
use crate::Asked;
use tacho_tables::in_order::both;
use tacho_tables::row::Row;
use tacho_tables::{Cause, ExecutorThread, HostClock, Note, Slowdown, Tables};
use tacho_workload::links::Links;
use tacho_workload::model::Workload;

/// All that is known of a run.
pub(crate) struct Chains {
    ways: Ways,
    traced: Traced,
    causes: Vec<Cause>,
    executors: Vec<ExecutorThread>,
    slowdowns: Vec<Slowdown>,
}

impl Chains {
    /// Follows each path over the whole run, and explains what is late and lost if all is asked for.
    pub fn of(paths: Paths, workload: Option<&Workload>, stated: &Links, asked: Asked) -> Chains {
        let Paths { mut ways, paths } = paths;
        let (busy, usage) = both(|| Busy::new(&ways), || Usage::new(&ways));
        let mut tracer = Tracer::new(&ways, &usage, busy, workload, stated);
        let mut traced = tracer.trace(paths);
        let ((executors, slowdowns), causes) = match asked {
            Asked::All => both(
                || (executors(&ways, &tracer.busy), slowdowns(&ways)),
                || causes(&tracer, &traced, &Fates::new(&ways)),
            ),
            Asked::NamedChains => Default::default(),
        };
        drop(tracer);
        let lost_events = lost_events(&ways, traced.left_out);
        ways.notes.add(Place::LostEvents, lost_events);
        ways.notes.add(Place::Chains, std::mem::take(&mut traced.notes));
        Chains { ways, traced, causes, executors, slowdowns }
    }

    /// Follows none.
    pub fn none(ways: Ways) -> Chains {
        Chains { ways, traced: Traced::default(), causes: Vec::new(), executors: Vec::new(), slowdowns: Vec::new() }
    }

    /// The tables of the run. `clocks`: of its hosts.
    pub fn into_tables(self, clocks: Vec<HostClock>) -> Tables {
        let Chains { ways, traced, causes, executors, slowdowns } = self;
        let Ways { mut seen, scheduled, carried, services, goals, notes, .. } = ways;
        let Carried { messages: Messages { publications, messages, .. }, layers, endpoints } = carried;
        for (row, callback) in (0..).map(Row::new).zip(&mut seen.callbacks) {
            if let Some((group, reentrant)) = seen.groups.of(callback.process, row) {
                (callback.callback_group, callback.reentrant) = (Some(group), Some(reentrant));
            }
        }
        Tables {
            processes: seen.processes,
            nodes: seen.nodes,
            endpoints,
            callbacks: seen.callbacks,
            executions: seen.executions,
            publications,
            messages,
            layers,
            services,
            goals,
            states: seen.lifecycle.states,
            chains: traced.chains,
            instances: traced.instances,
            hops: traced.hops,
            links: traced.links,
            inputs: traced.inputs,
            causes,
            preemptions: scheduled.preemptions,
            executors,
            slowdowns,
            signals: seen.signals.signals,
            samples: seen.signals.samples,
            clocks,
            notes: notes.into_rows(),
            ..Tables::default()
        }
    }
}

/// What lost events touch, where it is known when they were lost.
fn lost_events(seen: &Seen, instances: u64) -> Option<Note> {
    let executions =
        seen.executions.iter().filter(|e| e.end_ns.get().is_some_and(|end| seen.lacks(e.start_ns, end))).count();
    let times = seen.gaps.len() as u64;
    let text = format!(
        "stretches of time in which events were lost (gaps in run.json): counts there are too low; left out are \
         {executions} callback times and {instances} instances of chains that reach into them, and losses of messages \
         sent in them; lost is not told"
    );
    (times > 0).then(|| Note { name: "lost-events".into(), count: times, text })
}
