//! First stage: what the events say, thread by thread.

use crate::observe::actions::Actions;
use crate::observe::collect::Collector;
use crate::observe::preemption::Scheduler;
use crate::observe::ros1::Ros1;
use crate::observe::services::Services;
use crate::observe::Seen;
use crate::Options;

/// All events were pushed. Nothing is linked over processes, and boards are on clocks of their own.
pub(crate) struct Observed {
    pub(super) seen: Seen,
    pub(super) options: Options,
    pub(super) scheduler: Scheduler,
    pub(super) ros1: Ros1,
    pub(super) services: Services,
    pub(super) actions: Actions,
}

impl Observed {
    /// No more events come.
    pub fn of(mut collector: Collector) -> Observed {
        collector.finish();
        let Collector { seen, options, scheduler, ros1, services, actions, .. } = collector;
        Observed { seen, options, scheduler, ros1, services, actions }
    }
}
