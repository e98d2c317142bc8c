//! Second stage: all times on the clocks that they are reported on, and executions with all that threads tell of them.

use super::Observed;
use crate::link::clock_offset;
use crate::notes::{Notes, Place};
use crate::observe::actions::Actions;
use crate::observe::preemption::Scheduled;
use crate::observe::ros1::Ros1;
use crate::observe::services::Services;
use crate::observe::serving::{self, Ended};
use crate::observe::{rclpy, simulated, Seen};
use crate::Options;

/// Times and executions stand. Takes do not have their publications yet.
pub(crate) struct Related {
    pub(super) seen: Seen,
    pub(super) options: Options,
    pub(super) scheduled: Scheduled,
    pub(super) ended: Ended,
    pub(super) ros1: Ros1,
    pub(super) services: Services,
    pub(super) actions: Actions,
    pub(super) notes: Notes,
}

impl Related {
    /// Relates the clocks of boards, what the kernel did to threads, and what goals of actions were executed.
    pub fn of(observed: Observed) -> Related {
        let Observed { mut seen, options, scheduler, ros1, services, mut actions } = observed;
        clock_offset::relate(&mut seen);
        let mut scheduled = scheduler.finish(&mut seen);
        actions.complete(&mut seen);
        let ended = serving::ended(&seen);
        let mut notes = Notes::default();
        notes.add(Place::Scheduler, std::mem::take(&mut scheduled.notes));
        notes.add(Place::Executors, serving::note(&seen, &ended, &options));
        notes.add(Place::SimulatedTime, simulated::note(&seen));
        notes.add(Place::Python, rclpy::notes(&seen));
        Related { seen, options, scheduled, ended, ros1, services, actions, notes }
    }
}
