//! Messages too large for UDPROS: why they were lost, and what would hold them, so that nobody looks for it in the
//! measuring.
//!
//! roscpp 1.15 (transport_udp.cpp) writes a message as datagrams of 1,500 B with 8 B of its own in each, all at once
//! and each once, asks for no receive buffer, and drops a message that lacks a datagram. Linux counts 2,304 B of a
//! receive buffer for each (seen with 6.18), so that its default of 208 KiB holds 92 of them.

use std::collections::BTreeMap;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::{Delivery, Endpoint, Message, Note, Process, Publication};
use tacho_workload::model::Workload;

const PAYLOAD: u64 = 1500 - 8; // B of a message in a datagram
const OF_BUFFER: u64 = 2304; // B, for a datagram
const DEFAULT_BUFFER: u64 = 212_992; // B, net.core.rmem_default unless somebody set it

/// Of a workload on UDPROS, how many messages were lost that are more than a socket of the default size holds.
/// `process_of` an endpoint: within one, pointers are handed over.
pub(crate) fn note(
    messages: &Rows<Message>,
    publications: &Rows<Publication>,
    process_of: impl Fn(Row<Endpoint>) -> Row<Process>,
    workload: Option<&Workload>,
) -> Option<Note> {
    workload.filter(|w| carries(w))?;
    let mut too_large: BTreeMap<Row<Endpoint>, u64> = BTreeMap::new();
    for publication in publications {
        let size = publication.size_bytes.filter(|size| burst(*size) > DEFAULT_BUFFER);
        too_large.extend(size.map(|size| (publication.publisher, size)));
    }
    let size_of_lost = |message: &Message| {
        let publisher =
            message.publisher.filter(|publisher| process_of(*publisher) != process_of(message.subscription))?;
        too_large.get(&publisher).copied().filter(|_| message.delivery == Delivery::Lost)
    };
    let sizes: Vec<u64> = messages.iter().filter_map(size_of_lost).collect();
    let largest = *sizes.iter().max()?;
    let text = format!(
        "messages were lost that UDPROS sends in bursts larger than a receiving socket of {} KiB, which is what roscpp \
         gets where nobody set another: it sends each datagram once, and one that finds no room loses the message. \
         Messages of {largest} B take `sysctl -w net.core.rmem_default={}` before the nodes start, which holds two, or \
         transport tcpros",
        DEFAULT_BUFFER / 1024,
        2 * burst(largest)
    );
    Some(Note { name: "udpros-bursts".into(), count: sizes.len() as u64, text })
}

/// Whether a workload's messages go over UDPROS: the protocol has this name as a transport, and no other does.
pub fn carries(workload: &Workload) -> bool {
    workload.transport == "udpros"
}

/// Datagrams of a message of this size.
pub fn datagrams(size_bytes: u64) -> u64 {
    size_bytes.div_ceil(PAYLOAD)
}

/// Bytes of a receive buffer that hold a message of this size.
fn burst(size_bytes: u64) -> u64 {
    datagrams(size_bytes) * OF_BUFFER
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_tables::MaybeNs;

    fn workload(transport: &str) -> Workload {
        let text = format!(
            "
middleware: ros1
transport: {transport}
topology: {{kind: pairs, nodes: 1, size: 2 MiB, rate: 10 Hz, reliability: best_effort}}
run: {{duration: 1 s}}
"
        );
        tacho_workload::parse(&text, "test.yaml").unwrap().0
    }

    fn message(publisher: u32, delivery: Delivery) -> Message {
        Message::of(publisher, 9, delivery)
    }

    fn publication(publisher: u32, size_bytes: u64) -> Publication {
        Publication {
            publisher: Row::new(publisher),
            publish_ns: 1,
            due_ns: MaybeNs::NONE,
            sequence: None,
            size_bytes: Some(size_bytes),
            execution: None,
        }
    }

    #[test]
    fn of_lost_messages_those_are_counted_that_no_socket_of_the_default_size_holds() {
        // 92 datagrams of 1492 B fit: seen with a socket that nobody reads.
        let published = vec![publication(1, 2 << 20), publication(2, 92 * 1492), publication(3, 92 * 1492 + 1)];
        let lost = vec![
            message(1, Delivery::Lost),
            message(1, Delivery::InTime),
            message(2, Delivery::Lost),
            message(3, Delivery::Lost),
        ];
        let (lost, published) = (lost.into(), published.into());
        let note = |transport, process_of: fn(Row<Endpoint>) -> Row<Process>| {
            note(&lost, &published, process_of, Some(&workload(transport)))
        };
        let found = note("udpros", |endpoint| Row::new(endpoint.number())).unwrap();
        assert_eq!((found.name.as_str(), found.count), ("udpros-bursts", 2));
        // ceil(2097152 / 1492) * 2304 * 2
        assert!(
            found.text.contains("Messages of 2097152 B take `sysctl -w net.core.rmem_default=6478848`"),
            "{}",
            found.text
        );
        assert!(
            note("tcpros", |endpoint| Row::new(endpoint.number())).is_none()
                && note("udpros", |_| Row::new(1)).is_none()
        );
    }
}
