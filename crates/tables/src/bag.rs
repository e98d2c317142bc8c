//! The tables of a bag.

use super::{Note, Tables};
use crate::rows::Rows;
use tacho_events::bag::{BagMessage, BagTopic};

impl Tables {
    /// The tables of a bag, from its messages in any order.
    pub fn of_bag(topics: Vec<BagTopic>, mut messages: Rows<BagMessage>) -> Tables {
        messages.sort_unstable_by_key(|message| (message.topic, message.log_ns, message.stretch, message.sequence));
        let text = "messages of a bag, as its recorder had them: who sent and took them, callbacks and chains are not \
                    in it, nor what was lost before it";
        let note = Note { name: "bag".into(), count: messages.len() as u64, text: text.into() };
        Tables { bag_topics: topics, bag_messages: messages, notes: vec![note], ..Tables::default() }
    }
}
