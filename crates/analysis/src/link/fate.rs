//! What became of a message that a node on a chain never took. docs/figures.md, "lost_inputs", has the words.

use crate::Options;
use crate::observe::{Observed, INTERNAL};
use crate::rows::far_apart;
use crate::tables::{Delivery, LostIn, Message};
use std::collections::HashMap;

/// Why a subscription never took a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Lost, as the messages say; where, if that is known.
    Lost(Option<LostIn>),
    /// The two did not know each other yet.
    Unmatched,
    /// Its process was killed before.
    Ended,
    /// Nothing younger was taken, and the run ended, or its executor did.
    Pending,
    /// Events were lost, or the two never exchanged a message.
    Untold,
}

/// Looks up messages that were not taken.
pub(crate) struct Fates<'a> {
    seen: &'a Observed,
    options: &'a Options,
    /// By publisher, subscription and publish time.
    lost: HashMap<(u32, u32, i64), Option<LostIn>>,
}

impl<'a> Fates<'a> {
    pub fn new(seen: &'a Observed, options: &'a Options, messages: &[Message]) -> Fates<'a> {
        let lost = far_apart(messages.iter()).filter(|m| m.delivery == Delivery::Lost);
        let lost = lost.filter_map(|m| Some(((m.publisher?, m.subscription, m.publish_ns?), m.lost_in))).collect();
        Fates { seen, options, lost }
    }

    /// Of a publication that the subscription did not take. `exchanged`: it took another one of the topic; `overtaken`: a younger one.
    pub fn of(&self, publication: u32, subscription: u32, exchanged: bool, overtaken: bool) -> Fate {
        let seen = self.seen;
        let row = &seen.publications[publication as usize];
        let Some(publisher) = row.endpoint.filter(|e| *e != INTERNAL) else { return Fate::Untold };
        if let Some(lost_in) = self.lost.get(&(publisher, subscription, row.time)) {
            return Fate::Lost(*lost_in);
        }
        let process = seen.process_of(subscription);
        let dropped = |process: u32| seen.processes[process as usize].dropped_events > 0 && seen.gaps.is_empty();
        if row.time > seen.alive_until(process) {
            Fate::Ended
        } else if row.time > seen.served_until(subscription) {
            Fate::Pending
        } else if dropped(process) || dropped(row.process) || seen.gaps.iter().any(|gap| gap.1 >= row.time) {
            Fate::Untold
        } else if seen.legs.is_leg(seen.topic_of(subscription)) || !self.options.measures(row.belongs_ns()) {
            // No rows among the messages.
            if overtaken { Fate::Lost(None) } else { Fate::Pending }
        } else if overtaken {
            Fate::Unmatched
        } else if exchanged {
            Fate::Pending
        } else {
            Fate::Untold
        }
    }
}
