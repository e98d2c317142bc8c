//! Links between publications, takes and callbacks; losses; what is not known.

mod before_jazzy;
mod buffers;
mod linked;
mod losses;
mod not_linked;
#[path = "../../../analysis/tests/scene/mod.rs"]
mod scene;

use scene::*;
use tacho_events::testing::FileBuilder;
use tacho_tables::{CallbackKind, Delivery, EndpointKind, Tables};

/// (publish, take, callback) of each message, in order.
fn times(tables: &Tables) -> Vec<(Option<i64>, Option<i64>, Option<i64>)> {
    tables.messages.iter().map(|m| (m.publish_ns.get(), m.take_ns.get(), m.callback_ns.get())).collect()
}

fn note(tables: &Tables, name: &str) -> u64 {
    tables.notes.iter().filter(|n| n.name == name).map(|n| n.count).sum()
}

fn talker_and_listener() -> FileBuilder {
    FileBuilder::new().node(1, "talker").publisher("/chatter").timer(1_000).node(2, "listener").subscription("/chatter")
}

fn lost(tables: &Tables) -> Vec<(u32, Option<u64>)> {
    tables
        .messages
        .iter()
        .filter(|m| m.delivery == Delivery::Lost)
        .map(|m| (m.subscription.number(), m.sequence))
        .collect()
}
