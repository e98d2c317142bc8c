//! Where a message spends its time, layer by layer (study A): contiguous parts that add up to its latency.

use super::{Matched, Messages};
use crate::observe::{PublicationSeen, Seen, TakeSeen};
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::{Layers, Note};

/// One row for each message that was taken and whose publication is known, none in emulated time.
pub(crate) fn layers(seen: &Seen, matched: &Matched, messages: &Messages) -> (Rows<Layers>, Option<Note>) {
    let Messages { messages, takes, .. } = messages;
    let (mut rows, mut out_of_order) = (Rows::new(), 0);
    for (index, (message, take)) in messages.iter().zip(takes).enumerate().filter(|(_, (message, _))| !message.emulated)
    {
        let Some(row) = *take else { continue };
        let take = &seen.takes[row];
        let Some(publication) = take.publication.filter(|_| !take.intra_process) else { continue };
        let Some((start, end)) = message.publish_ns.get().zip(message.callback_ns.get().or(message.take_ns.get()))
        else {
            continue;
        };
        let ends = if seen.roscpp.told.contains(&take.endpoint) {
            // Within a process roscpp hands a pointer over.
            let Some(written) = matched.ros1.written_ns(row) else { continue };
            ends_of_ros1(take, written, message.callback_ns.get())
        } else {
            ends(seen, matched, take, publication, message.callback_ns.get())
        };
        let (parts, disordered) = split(start, end, ends);
        out_of_order += disordered;
        let [client, rcl, rmw, dds, transport, receive, executor, take_rmw, take_rcl, take_client] = parts;
        rows.push(Layers {
            message: Row::behind(index),
            publish_client_library_ns: client.into(),
            publish_rcl_ns: rcl.into(),
            publish_rmw_ns: rmw.into(),
            publish_dds_ns: dds.into(),
            transport_ns: transport.into(),
            receive_dds_ns: receive.into(),
            executor_ns: executor.into(),
            take_rmw_ns: take_rmw.into(),
            take_rcl_ns: take_rcl.into(),
            take_client_library_ns: take_client.into(),
        });
    }
    let text = "borders between layers that seem to lie before the one above, or after the message was taken; their \
                part is in the next";
    let note =
        (out_of_order > 0).then(|| Note { name: "layers-out-of-order".into(), count: out_of_order, text: text.into() });
    (rows, note)
}

/// When each layer ended, as far as it was recorded.
fn ends(
    seen: &Seen,
    matched: &Matched,
    take: &TakeSeen,
    publication: Row<PublicationSeen>,
    callback_ns: Option<i64>,
) -> [Option<i64>; 10] {
    let published = &seen.publications[publication];
    let endpoint = &seen.endpoints[take.endpoint];
    let passed = matched.samples.passed(publication, published.process, seen.process_of(take.endpoint), endpoint.gid);
    [
        published.rcl_ns.get(),
        published.rmw_called_ns.get(),
        published.rmw_ns.get(),
        passed.sent_ns,
        passed.received_ns,
        passed.available_ns.or(take.arrival.get()),
        take.called_ns.get(),
        Some(take.time),
        // Without a callback a latency ends at the take, above which nothing belongs to it.
        take.rcl_ns.get().filter(|_| callback_ns.is_some()),
        callback_ns,
    ]
}

/// The same of ROS 1: roscpp has neither rcl nor rmw below it.
fn ends_of_ros1(take: &TakeSeen, written: i64, callback_ns: Option<i64>) -> [Option<i64>; 10] {
    let mut ends = [None; 10];
    (ends[0], ends[4], ends[6], ends[9]) = (Some(written), take.arrival.get(), Some(take.time), callback_ns);
    ends
}

/// Durations of the layers whose end is known, each from the last known end on, and how many ends were out of order.
fn split(start: i64, end: i64, ends: [Option<i64>; 10]) -> ([Option<i64>; 10], u64) {
    let (mut parts, mut from, mut disordered) = ([None; 10], start, 0);
    for (part, at) in parts.iter_mut().zip(ends) {
        let Some(at) = at else { continue };
        if at < from || at > end {
            disordered += 1;
            continue;
        }
        *part = Some(at - from);
        from = at;
    }
    (parts, disordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_end_to_end_and_what_is_not_known_is_in_the_next() {
        let mut ends = [None; 10];
        (ends[1], ends[4], ends[9]) = (Some(13), Some(40), Some(100));
        let (parts, disordered) = split(10, 100, ends);
        assert_eq!((parts[1], parts[4], parts[9], disordered), (Some(3), Some(27), Some(60), 0));
        assert_eq!(parts.iter().flatten().sum::<i64>(), 90);
    }

    #[test]
    fn an_end_before_the_one_above_or_after_the_callback_is_left_out_and_counted() {
        let mut ends = [None; 10];
        (ends[3], ends[4], ends[5], ends[7]) = (Some(50), Some(40), Some(101), Some(100));
        let (parts, disordered) = split(10, 100, ends);
        assert_eq!((parts[3], parts[4], parts[5], parts[7], disordered), (Some(40), None, None, Some(50), 2));
    }
}
