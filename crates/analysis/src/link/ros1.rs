//! Publications to messages received, connection by connection, and what became of those that were not taken.
//!
//! Nothing in a message of ROS 1 says which publication it is. But the n-th message written to a TCP connection is the
//! n-th read from it, and the library beside the recorder numbers both. UDPROS loses messages: there, those that were
//! received are found among those that were written by their content, in order; what is like another message of its
//! connection stays unlinked.

use crate::observe::ros1::{Incoming, Outgoing, Ports, Received, Ros1, Source, Subscription};
use crate::observe::{PublicationSeen, Seen, TakeSeen, Topic, UnlinkedOfRos1, INTERNAL};
use crate::Options;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::{CallbackKind, Delivery, Endpoint, LostIn, MaybeNs, Message, Process};

const TCPROS: u64 = 1;
const UDPROS: u64 = 2;

/// What became of messages of ROS 1, besides the publications of their takes.
#[derive(Default)]
pub(crate) struct Found {
    /// All losses of the subscriptions of roscpp.
    pub losses: Vec<Loss>,
    /// Takes of messages that a latched publisher had published before the subscriber came.
    pub latched: HashSet<Row<TakeSeen>>,
    /// Messages that came over UDPROS and are like others sent over the same connection.
    pub alike: u64,
    /// When what a take got was handed to its connection: by take, in order, where it came over one.
    pub written: Rows<(Row<TakeSeen>, i64)>,
    /// Service requests of which only the callback is seen.
    pub requests: u64,
}

/// A message that a subscription should have got and did not.
pub(crate) struct Loss {
    pub publication: Option<Row<PublicationSeen>>,
    pub subscription: Row<Endpoint>,
    pub arrival: Option<i64>,
    pub lost_in: LostIn,
}

impl Found {
    /// Counts what could not be linked.
    pub fn unlinked(&self) -> UnlinkedOfRos1 {
        UnlinkedOfRos1 { requests: self.requests, latched: self.latched.len() as u64, alike: self.alike }
    }

    /// When what a take got was handed to its connection; absent where it came over none that was recorded.
    pub fn written_ns(&self, take: Row<TakeSeen>) -> Option<i64> {
        self.written.binary_search_by_key(&take, |of| of.0).ok().map(|place| self.written[place].1)
    }

    /// A row for each message that was lost.
    pub fn lost_messages(&self, seen: &Seen, options: &Options) -> Vec<Message> {
        let row = |loss: &Loss| {
            let publication = loss.publication.map(|p| &seen.publications[p]);
            let belongs_ns = publication.map(PublicationSeen::belongs_ns).or(loss.arrival)?;
            options.measures(belongs_ns).then(|| Message {
                publisher: publication.and_then(|p| p.endpoint).filter(|e| *e != INTERNAL),
                subscription: loss.subscription,
                sequence: None,
                publish_ns: publication.map(|p| p.time).into(),
                arrival_ns: loss.arrival.into(),
                take_ns: MaybeNs::NONE,
                callback_ns: MaybeNs::NONE,
                execution: None,
                published_in: publication.and_then(|p| p.execution),
                delivery: Delivery::Lost,
                lost_in: Some(loss.lost_in),
                emulated: false,
            })
        };
        self.losses.iter().filter_map(row).collect()
    }
}

/// A connection both of whose ends were recorded.
struct Connection<'a> {
    outgoing: &'a Outgoing,
    incoming: &'a Incoming,
    /// Of each message received, its place among those written.
    matched: Rows<Option<u32>>,
    /// Messages received that may be any of several that were written.
    alike: u64,
}

/// Gives takes their publications, and tells what was lost where.
pub(super) fn link(of: &Ros1, seen: &mut Seen) -> Found {
    let connections = connections(of);
    let mut found = Found::default();
    let publication_of = |source: Source| match source {
        Source::Publication(publication) => Some((publication, false, None)),
        Source::Link { incoming, received } => {
            let connection = connections.get(&incoming)?;
            let written = connection.matched[received as usize]?;
            let written = &connection.outgoing.written[written as usize];
            let publication = written.publication?;
            // A latched message is sent to subscribers that come after its publication: how old it is then is no
            // latency.
            let row = &seen.publications[publication];
            let latched = row.time < connection.outgoing.created_ns
                && row.endpoint.is_some_and(|endpoint| of.latching.contains(&endpoint));
            Some((publication, latched, Some(written.time)))
        }
        Source::Unknown => None,
    };
    let sources: Rows<_> = of.pushes.iter().map(|push| publication_of(push.source)).collect();
    let mut written_ns: Rows<(Row<TakeSeen>, i64)> = Rows::new();
    for (push, source) in of.pushes.iter().zip(&sources) {
        let Some(take) = push.take else { continue };
        let latched_here = matches!(push.source, Source::Unknown);
        match source {
            Some((publication, false, written)) => {
                seen.takes[take].publication = Some(*publication);
                written_ns.extend(written.map(|ns| (take, ns)));
            }
            Some((_, true, _)) => drop(found.latched.insert(take)),
            None if latched_here => drop(found.latched.insert(take)),
            None => {}
        }
    }
    // Queues are taken from in other orders than they were filled.
    found.written = written_ns.sorted_by(|a, b| a.0.cmp(&b.0));
    found.alike = connections.values().map(|c| c.alike).sum();
    let whole = |process: Row<Process>| seen.processes[process].dropped_events == 0;
    let mut losses = Vec::new();
    for subscription in &of.subscriptions {
        if whole(seen.process_of(subscription.endpoint)) {
            // A queue drops its oldest message: of those never taken the first as many as it dropped. The others
            // were still in it.
            let left = subscription.pushes.iter().filter(|p| of.pushes[**p as usize].take.is_none());
            losses.extend(left.take(subscription.overflows as usize).map(|push| Loss {
                publication: sources[*push as usize].map(|s| s.0),
                subscription: subscription.endpoint,
                arrival: Some(of.pushes[*push as usize].time),
                lost_in: LostIn::SubscriptionQueue,
            }));
        }
    }
    for connection in connections.values() {
        let (from, to) = (connection.outgoing.process, connection.incoming.process);
        if whole(from) && whole(to) {
            for (publication, lost_in) in connection.losses() {
                let time = seen.publications[publication].time;
                losses.extend(subscribed(of, seen, to, connection.incoming.topic, time).map(|subscription| Loss {
                    publication: Some(publication),
                    subscription,
                    arrival: None,
                    lost_in,
                }));
            }
        }
    }
    losses.sort_by_key(|loss| (loss.subscription, loss.publication, loss.arrival));
    found.losses = losses;
    let is_request = |e: &&tacho_tables::Execution| {
        let callback = &seen.callbacks[e.callback];
        callback.kind == CallbackKind::Service && seen.roscpp.processes.contains(&callback.process)
    };
    found.requests = seen.executions.iter().filter(is_request).count() as u64;
    found
}

/// Subscriptions of a process to a topic that were there at an instant.
fn subscribed<'a>(
    of: &'a Ros1,
    seen: &'a Seen,
    process: Row<Process>,
    topic: Row<Topic>,
    at: i64,
) -> impl Iterator<Item = Row<Endpoint>> + 'a {
    let there = move |s: &&Subscription| {
        let endpoint = &seen.endpoints[s.endpoint];
        seen.process_of(s.endpoint) == process
            && endpoint.topic == topic
            && endpoint.created_ns <= at
            && s.ended_ns.is_none_or(|end| at <= end)
    };
    of.subscriptions.iter().filter(there).map(|s| s.endpoint)
}

/// Connections by their incoming end.
fn connections(of: &Ros1) -> HashMap<u32, Connection<'_>> {
    let key = |transport, publishers_port, subscribers_port, topic| match transport {
        TCPROS => Some((transport, publishers_port, subscribers_port, topic)),
        UDPROS => Some((transport, 0, subscribers_port, topic)),
        _ => None,
    };
    let mut by_ports: HashMap<_, Vec<&Outgoing>> = HashMap::default();
    for outgoing in &of.outgoing {
        let Ports { transport, local, remote } = outgoing.ports;
        if let Some(key) = key(transport, local, remote, outgoing.topic) {
            by_ports.entry(key).or_default().push(outgoing);
        }
    }
    let mut connections = HashMap::default();
    for (index, incoming) in of.incoming.iter().enumerate() {
        let Ports { transport, local, remote } = incoming.ports;
        let same = key(transport, remote, local, incoming.topic).and_then(|key| by_ports.get(&key));
        // Ports are used again: of several, the one that began nearest to it in time.
        let nearest = same.and_then(|ends| ends.iter().min_by_key(|o| o.created_ns.abs_diff(incoming.created_ns)));
        if let Some(outgoing) = nearest {
            connections.insert(index as u32, Connection::new(outgoing, incoming));
        }
    }
    connections
}

impl<'a> Connection<'a> {
    fn new(outgoing: &'a Outgoing, incoming: &'a Incoming) -> Self {
        let mut connection = Connection { outgoing, incoming, matched: Rows::new(), alike: 0 };
        connection.matched = match incoming.ports.transport {
            TCPROS => incoming.received.iter().map(|r| connection.numbered(r)).collect(),
            _ => connection.found_by_content(),
        };
        connection
    }

    /// TCPROS: the written one of the same number.
    fn numbered(&self, received: &Received) -> Option<u32> {
        let sequence = received.sequence.checked_sub(self.incoming.received_before)?;
        self.outgoing.written.binary_search_by_key(&sequence, |w| w.sequence).ok().map(|found| found as u32)
    }

    /// UDPROS: the only one of the same content that was written before it came and after the one before.
    fn found_by_content(&mut self) -> Rows<Option<u32>> {
        let by_digest: Rows<(u64, u32)> =
            self.outgoing.written.iter().zip(0..).map(|(written, index)| (written.digest, index)).collect();
        let by_digest = by_digest.sorted_by(Ord::cmp);
        let mut next = 0;
        let mut found = Rows::new();
        for received in self.incoming.received.iter() {
            let from = by_digest.partition_point(|of| *of < (received.digest, next));
            let could_be = |of: &&(u64, u32)| {
                of.0 == received.digest && self.outgoing.written[of.1 as usize].time <= received.time
            };
            let mut candidates = by_digest[from..].iter().take_while(could_be);
            let first = candidates.next().map(|of| of.1);
            if candidates.next().is_some() {
                self.alike += 1;
                found.push(None);
            } else {
                next = first.map_or(next, |f| f + 1);
                found.push(first);
            }
        }
        found
    }

    /// Publications that were meant for this connection and never came out of it, and where they were lost. What
    /// nothing later overtook may still have been on its way.
    fn losses(&self) -> Vec<(Row<PublicationSeen>, LostIn)> {
        let mut losses = Vec::new();
        let mut enqueued = self.outgoing.enqueued.iter();
        for written in self.outgoing.written.iter().filter_map(|w| w.publication) {
            let dropped = enqueued.by_ref().take_while(|publication| **publication != written);
            losses.extend(dropped.map(|publication| (*publication, LostIn::PublisherQueue)));
        }
        // A TCP connection loses nothing; of messages that are alike it is not known which came.
        if self.incoming.ports.transport == UDPROS && self.alike == 0 {
            let mut next = 0;
            // Each later than the one before.
            for came in self.matched.iter().flatten() {
                let missing = self.outgoing.written[next as usize..*came as usize].iter();
                losses.extend(missing.filter_map(|written| Some((written.publication?, LostIn::Transport))));
                next = came + 1;
            }
        }
        losses
    }
}
