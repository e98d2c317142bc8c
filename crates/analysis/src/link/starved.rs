//! Subscriptions to which nothing came: told in words, so that a loss of 100 % is not taken for a fault of the
//! measuring.

use std::collections::BTreeMap;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::{Delivery, Endpoint, Message, Note};
use tacho_workload::model::Workload;

const MEGABYTE: f64 = 1e6;

/// Of all messages that subscriptions should have taken: how many of those have taken none, and what the workload has
/// to be carried.
pub(crate) fn note(messages: &Rows<Message>, workload: Option<&Workload>) -> Option<Note> {
    let mut came: BTreeMap<Row<Endpoint>, bool> = BTreeMap::new();
    for message in messages {
        *came.entry(message.subscription).or_default() |= message.delivery != Delivery::Lost;
    }
    let starved = came.values().filter(|came| !**came).count() as u64;
    let load = workload
        .map_or_else(String::new, |w| format!("; {:.1} MB/s were to be carried", offered_bytes_per_s(w) / MEGABYTE));
    let text = format!(
        "subscriptions took none of the messages that were sent to them, though they were matched: the middleware \
         dropped them, or overwrote them, or still had them when the run ended{load}"
    );
    (starved > 0).then(|| Note { name: "nothing-arrived".into(), count: starved, text })
}

/// What publications with a rate have to be carried, to each of their subscriptions.
fn offered_bytes_per_s(workload: &Workload) -> f64 {
    let subscribers =
        |topic: &str| workload.nodes.iter().flat_map(|n| &n.subscribes).filter(|s| s.topic == topic).count() as f64;
    let of_node = |node: &tacho_workload::model::Node| -> f64 {
        let carried = |p: &tacho_workload::model::Publication| p.size_bytes as f64 * subscribers(&p.topic);
        node.publishes.iter().filter_map(|p| Some(node.clocked_hz(p)? * carried(p))).sum()
    };
    workload.nodes.iter().map(of_node).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(subscription: u32, delivery: Delivery) -> Message {
        Message::of(9, subscription, delivery)
    }

    #[test]
    fn a_subscription_to_which_one_message_came_is_not_starved() {
        let came = [message(1, Delivery::Lost), message(1, Delivery::Late), message(2, Delivery::InTime)];
        assert!(note(&came.to_vec().into(), None).is_none() && note(&Rows::new(), None).is_none());
    }

    #[test]
    fn those_to_which_none_came_are_counted_with_what_was_to_be_carried() {
        let text = "
middleware: inproc
topology: {kind: one-to-many, nodes: 2, size: 1 MB, rate: 10 Hz}
run: {duration: 1 s}
";
        let (workload, _) = tacho_workload::parse(text, "test.yaml").unwrap();
        let messages = vec![message(1, Delivery::Lost), message(1, Delivery::Lost), message(2, Delivery::InTime)];
        let found = note(&messages.into(), Some(&workload)).unwrap();
        assert_eq!((found.name.as_str(), found.count), ("nothing-arrived", 1));
        assert!(found.text.ends_with("; 20.0 MB/s were to be carried"), "{}", found.text);
    }
}
