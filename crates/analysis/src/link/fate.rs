//! What became of a message that a node on a chain never took. docs/figures-of-chains.md, "lost_inputs", has the words.

use crate::observe::{PublicationSeen, INTERNAL};
use crate::stages::Ways;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::{Delivery, Endpoint, LostIn, Process};

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
    ways: &'a Ways,
    /// By what they are found by, in its order.
    lost: Rows<(Sent, Option<LostIn>)>,
}

/// Publisher, subscription and publish time of a message.
type Sent = (Row<Endpoint>, Row<Endpoint>, i64);

impl<'a> Fates<'a> {
    pub fn new(ways: &'a Ways) -> Fates<'a> {
        let lost = ways.carried.messages.messages.iter().filter(|m| m.delivery == Delivery::Lost);
        let lost = lost.filter_map(|m| Some(((m.publisher?, m.subscription, m.publish_ns.get()?), m.lost_in)));
        Fates { ways, lost: lost.collect::<Rows<_>>().sorted_by(|one, other| one.0.cmp(&other.0)) }
    }

    /// Of a publication that the subscription did not take. `exchanged`: it took another one of the topic; `overtaken`:
    /// a younger one.
    pub fn of(
        &self,
        publication: Row<PublicationSeen>,
        subscription: Row<Endpoint>,
        exchanged: bool,
        overtaken: bool,
    ) -> Fate {
        let seen = self.ways;
        let row = &seen.publications[publication];
        let Some(publisher) = row.endpoint.filter(|e| *e != INTERNAL) else { return Fate::Untold };
        let sent = (publisher, subscription, row.time);
        if let Ok(place) = self.lost.binary_search_by_key(&sent, |lost| lost.0) {
            return Fate::Lost(self.lost[place].1);
        }
        let process = seen.process_of(subscription);
        let dropped = |process: Row<Process>| seen.processes[process].dropped_events > 0 && seen.gaps.is_empty();
        if row.time > seen.alive_until(process) {
            Fate::Ended
        } else if row.time > seen.ended.served_until(seen, subscription) {
            Fate::Pending
        } else if dropped(process) || dropped(row.process) || seen.gaps.iter().any(|gap| gap.1 >= row.time) {
            Fate::Untold
        } else if seen.legs.is_leg(seen.topic_of(subscription)) || !seen.options.measures(row.belongs_ns()) {
            // No rows among the messages.
            if overtaken {
                Fate::Lost(None)
            } else {
                Fate::Pending
            }
        } else if overtaken {
            Fate::Unmatched
        } else if exchanged {
            Fate::Pending
        } else {
            Fate::Untold
        }
    }
}
