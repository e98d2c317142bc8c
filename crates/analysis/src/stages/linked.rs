//! Third stage: publications to takes, over processes, and the tables of messages.

use super::Related;
use crate::link::endpoints::endpoints;
use crate::link::layers::layers;
use crate::link::{link, messages, refused, start_up, starved, udpros, Matched, Messages};
use crate::notes::{Notes, Place};
use crate::observe::actions::Actions;
use crate::observe::preemption::Scheduled;
use crate::observe::services::Services;
use crate::observe::serving::Ended;
use crate::observe::Seen;
use crate::Options;
use tacho_tables::in_order::both;
use tacho_tables::rows::Rows;
use tacho_tables::{Endpoint, Layers};
use tacho_workload::model::Workload;

/// Takes have their publications and arrivals. The only endpoints, publications and takes are those of topics.
pub(crate) struct Linked {
    pub(super) seen: Seen,
    pub(super) options: Options,
    pub(super) scheduled: Scheduled,
    pub(super) ended: Ended,
    pub(super) services: Services,
    pub(super) actions: Actions,
    pub(super) matched: Matched,
    pub(super) carried: Carried,
    pub(super) notes: Notes,
}

/// Tables of what topics carried.
pub(crate) struct Carried {
    pub messages: Messages,
    pub layers: Rows<Layers>,
    pub endpoints: Vec<Endpoint>,
}

impl Linked {
    /// Links all takes and makes the tables of what topics carried.
    pub fn of(related: Related, workload: Option<&Workload>) -> Linked {
        let Related { mut seen, mut options, scheduled, ended, ros1, services, actions, mut notes } = related;
        let mut matched = link(&mut seen, &ros1, &ended, &options);
        if let Some(begin_ns) = options.begin_ns.filter(|_| options.leaves_start_up) {
            options.started_ns = start_up::end_ns(&seen, begin_ns);
        }
        let mut messages = messages(&seen, &matched, &ended, &options, workload);
        let ((layers, layer_notes), endpoints) =
            both(|| layers(&seen, &matched, &messages), || endpoints(&seen, &matched, &messages, &options));
        notes.add(Place::Recording, seen.notes(&matched.ros1.unlinked()));
        notes.add(Place::Links, std::mem::take(&mut matched.notes));
        notes.add(Place::Messages, std::mem::take(&mut messages.notes));
        notes.add(Place::Layers, layer_notes);
        notes.add(Place::Starved, starved::note(&messages.messages, workload));
        let process_of = |endpoint| seen.process_of(endpoint);
        notes.add(Place::Udpros, udpros::note(&messages.messages, &messages.publications, process_of, workload));
        notes.add(Place::Refused, refused::notes(&seen, &options));
        let carried = Carried { messages, layers, endpoints };
        Linked { seen, options, scheduled, ended, services, actions, matched, carried, notes }
    }
}
