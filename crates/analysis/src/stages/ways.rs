//! Fourth stage: the ways that data takes from node to node, over topics and over calls of services and actions.

use super::linked::Carried;
use super::Linked;
use crate::calls::{self, Legs};
use crate::link::{Doubts, Matched, OfTopic};
use crate::notes::Notes;
use crate::observe::preemption::Scheduled;
use crate::observe::serving::Ended;
use crate::observe::{Seen, Topic};
use crate::Options;
use std::ops::Deref;
use tacho_tables::row::Column;
use tacho_tables::rows::Rows;
use tacho_tables::{Goal, ServiceCall};

/// What chains run over. Reads as [`Seen`], which has the two ways of each service among its topics, endpoints,
/// publications and takes from here on.
pub(crate) struct Ways {
    pub(super) seen: Seen,
    pub options: Options,
    pub scheduled: Scheduled,
    pub ended: Ended,
    pub doubts: Doubts,
    pub by_topic: Column<Topic, OfTopic>,
    pub legs: Legs,
    pub carried: Carried,
    pub(super) services: Rows<ServiceCall>,
    pub(super) goals: Vec<Goal>,
    pub(super) notes: Notes,
}

impl Ways {
    /// Joins calls and goals to the topics.
    pub fn of(linked: Linked) -> Ways {
        let Linked { mut seen, options, scheduled, ended, services, actions, matched, carried, notes } = linked;
        let Matched { mut by_topic, doubts, .. } = matched;
        let legs = calls::join(&services, &actions, &mut seen, &mut by_topic);
        let (services, goals) = (services.rows(&options), actions.rows(&options));
        Ways { seen, options, scheduled, ended, doubts, by_topic, legs, carried, services, goals, notes }
    }
}

impl Deref for Ways {
    type Target = Seen;

    fn deref(&self) -> &Seen {
        &self.seen
    }
}
