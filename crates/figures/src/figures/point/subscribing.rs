//! What arrived in time, late, or not at all, subscription by subscription.

use super::{ends, Ends};
use crate::figures::topics::is_told;
use crate::figures::{latency_us, Repeat};
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::grouped::Grouped;
use tacho_tables::summary::{Distribution, SubscriptionFigures};
use tacho_tables::{Delivery, Endpoint, EndpointKind, Message, Node, Tables};

#[derive(Default)]
struct Subscription {
    in_time: u64,
    late: u64,
    /// Taken, and not judged.
    unjudged: u64,
    /// Taken, and without a known publication.
    unlinked: u64,
    lost: u64,
    /// Whether in any repeat events of its process, or of a publisher of its topic, were dropped, or its messages are
    /// not linked.
    dropped: bool,
}

/// Every subscription, in the order of creation in the first repeat.
pub(super) fn subscribing(repeats: &[Repeat<'_>]) -> Vec<SubscriptionFigures> {
    let mut all: Ends<Subscription> = Ends::new();
    // Of each repeat and endpoint row, its place in `all`.
    let mut of_rows: Vec<Column<Endpoint, Option<usize>>> = Vec::new();
    for Repeat { tables, .. } in repeats {
        let mut of_row: Column<Endpoint, Option<usize>> = Column::of(vec![None; tables.endpoints.len()]);
        for (row, end) in ends(tables, EndpointKind::Subscription) {
            let index = all.index(end);
            of_row[row] = Some(index);
            all.order[index].1.dropped |= losses_unknown(tables, row);
        }
        for message in &tables.messages {
            let Some(index) = of_row[message.subscription] else { continue };
            let subscription = &mut all.order[index].1;
            subscription.unlinked += u64::from(message.publish_ns.get().is_none());
            match message.delivery {
                Delivery::InTime => subscription.in_time += 1,
                Delivery::Late => subscription.late += 1,
                Delivery::Taken => subscription.unjudged += 1,
                Delivery::Lost => subscription.lost += 1,
            }
        }
        of_rows.push(of_row);
    }
    let mut latencies = Grouped::new(all.order.len(), || {
        repeats.iter().zip(&of_rows).flat_map(|(repeat, of_row)| {
            let of = |message: &Message| {
                Some((Row::<Subscription>::behind(of_row[message.subscription]?), latency_us(message)?))
            };
            repeat.tables.messages.iter().filter_map(of)
        })
    });
    let figures = |(index, (end, subscription)): (usize, (super::End, Subscription))| SubscriptionFigures {
        node: end.node,
        topic: end.topic,
        received: subscription.in_time + subscription.late + subscription.unjudged,
        lost: (!subscription.dropped).then_some(subscription.lost).filter(|lost| {
            is_told(*lost, subscription.unlinked, subscription.in_time + subscription.late + subscription.unjudged)
        }),
        in_time: (subscription.unjudged == 0).then_some(subscription.in_time),
        late: (subscription.unjudged == 0).then_some(subscription.late),
        latency_us: Distribution::of_slice(latencies.of_mut(Row::behind(index))),
    };
    all.order.into_iter().enumerate().map(figures).collect()
}

/// Whether a message to this subscription may have been sent or taken without an event of it.
fn losses_unknown(tables: &Tables, subscription: Row<Endpoint>) -> bool {
    let topic = &tables.endpoints[subscription].topic;
    let dropped = |node: Row<Node>| tables.processes[tables.nodes[node].process].dropped_events > 0;
    let of_topic = |e: &&Endpoint| e.kind == EndpointKind::Publisher && e.topic == *topic;
    let linked = tables.endpoints[subscription].linked;
    linked == Some(false)
        || dropped(tables.endpoints[subscription].node)
        || tables.endpoints.iter().filter(of_topic).any(|e| dropped(e.node))
}
