//! ROS 1: what the library beside the recorder saw of roscpp, into the same rows as ROS 2.
//!
//! A subscription here is one call of NodeHandle::subscribe: each has a queue and a callback of its own, while all of a
//! process share one connection to each publisher. How messages find their publications and losses their places is in
//! [`crate::link::ros1`].

mod connections;

pub(crate) use connections::{Incoming, Outgoing, Ports, Received, Written};

use crate::observe::handles::Handles;
use crate::observe::{is_internal, EndpointSeen, PublicationSeen, Seen, TakeSeen, INTERNAL};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use tacho_events::{Handle, Payload, Texts};
use tacho_tables::row::{self, Row};
use tacho_tables::rows::Rows;
use tacho_tables::{Callback, CallbackKind, Endpoint, EndpointKind, Execution, MaybeNs, Node, Process};

/// Whether an event is one of roscpp's.
pub(crate) fn is_of_roscpp(payload: &Payload) -> bool {
    (80..=99).contains(&payload.kind())
}

/// What the events tell besides rows in tables that ROS 2 has as well.
#[derive(Default)]
pub(crate) struct Roscpp {
    /// Processes on roscpp: their callbacks are recorded, whether or not they have any.
    pub processes: HashSet<Row<Process>>,
    /// Subscriptions of which all losses are reported.
    pub told: HashSet<Row<Endpoint>>,
}

/// State of the events so far.
#[derive(Default)]
pub(crate) struct Ros1 {
    processes: HashMap<Row<Process>, OfProcess>,
    threads: HashMap<usize, Thread>,
    pub subscriptions: Vec<Subscription>,
    pub pushes: Rows<Push>,
    pub outgoing: Vec<Outgoing>,
    pub incoming: Vec<Incoming>,
    /// Publishers that keep their last message for subscribers to come.
    pub latching: HashSet<Row<Endpoint>>,
}

/// What the handles of one process stand for at present.
#[derive(Default)]
struct OfProcess {
    nodes: HashMap<Handle, Row<Node>>,
    publishers: HashMap<Handle, Row<Endpoint>>,
    /// Publication of a serialised message.
    buffers: HashMap<Handle, Row<PublicationSeen>>,
    /// Into `outgoing`.
    subscriber_links: HashMap<Handle, u32>,
    connections: HashMap<Handle, u32>,
    /// Into `incoming`.
    publisher_links: HashMap<Handle, u32>,
    /// Into `subscriptions`, by callback.
    subscriptions: HashMap<Handle, u32>,
    /// Pushes that were not taken yet, by queue and deserializer.
    queued: HashMap<(Handle, Handle), u32>,
    /// When callbacks of timers and services were put into their queue.
    items: HashMap<Handle, i64>,
}

/// What one thread is in the middle of.
#[derive(Default)]
struct Thread {
    publishing: Option<Row<PublicationSeen>>,
    receiving: Option<Source>,
    called: Option<i64>,
}

/// Where a message came from.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    Publication(Row<PublicationSeen>),
    /// The n-th that was received over this link.
    Link {
        incoming: u32,
        received: u32,
    },
    /// Of a latched publisher, handed to a further subscription of a process that had it already; or not recorded.
    Unknown,
}

pub(crate) struct Subscription {
    pub endpoint: Row<Endpoint>,
    pub ended_ns: Option<i64>,
    pub pushes: Rows<u32>,
    pub overflows: u64,
}

/// A message put into the queue of one subscription.
#[derive(Clone, Copy)]
pub(crate) struct Push {
    pub time: i64,
    /// Into `subscriptions`.
    subscription: u32,
    pub source: Source,
    pub take: Option<Row<TakeSeen>>,
}

/// Where an event happens.
pub(crate) struct At<'a> {
    pub seen: &'a mut Seen,
    pub handles: &'a mut Handles,
    pub process: Row<Process>,
    pub stream: usize,
    /// Innermost execution that the thread is in.
    pub running: Option<Row<Execution>>,
    pub now: i64,
}

impl Ros1 {
    /// Takes the next event of roscpp; the take that it began, if it did.
    pub fn push(&mut self, at: At<'_>, payload: &Payload, texts: &Texts) -> Option<Row<TakeSeen>> {
        let At { seen, handles, process, stream, running, now } = at;
        let here = self.processes.entry(process).or_default();
        let thread = self.threads.entry(stream).or_default();
        match *payload {
            Payload::Ros1NodeInit { node, name } => {
                seen.roscpp.processes.insert(process);
                let new = Node { process, name: texts.get(name).to_string() };
                here.nodes.insert(node, row::add(&mut seen.nodes, new));
            }
            Payload::Ros1PublisherInit { publisher, node, queue_size, latch, topic, .. } => {
                let Some(node) = here.nodes.get(&node) else {
                    seen.counters.unknown_node += 1;
                    return None;
                };
                let new = endpoint(seen, *node, EndpointKind::Publisher, texts.get(topic), queue_size, now);
                here.publishers.insert(publisher, new);
                if latch {
                    self.latching.insert(new);
                }
            }
            Payload::Ros1Publish { publisher, .. } => {
                let endpoint = here.publishers.get(&publisher).copied();
                let new = PublicationSeen { endpoint, ..PublicationSeen::new(now, process, running) };
                thread.publishing = Some(seen.publications.add(new));
            }
            Payload::Ros1Serialized { buffer, .. } => {
                if let Some(publication) = thread.publishing.filter(|_| buffer.0 != 0) {
                    here.buffers.insert(buffer, publication);
                }
            }
            Payload::Ros1SubscriberLinkInit { link, connection, transport, local_port, remote_port, topic, .. } => {
                let ports = Ports { transport, local: local_port, remote: remote_port };
                let topic = seen.topics.intern(texts.get(topic));
                let new = self.outgoing.len() as u32;
                self.outgoing.push(Outgoing::new(process, topic, ports, now));
                here.subscriber_links.insert(link, new);
                here.connections.insert(connection, new);
            }
            Payload::Ros1Enqueue { link, buffer } => {
                if let (Some(link), Some(publication)) = (here.subscriber_links.get(&link), here.buffers.get(&buffer)) {
                    self.outgoing[*link as usize].enqueued.push(*publication);
                }
            }
            Payload::Ros1Write { connection, sequence, buffer, digest } => {
                if let Some(link) = here.connections.get(&connection) {
                    let publication = here.buffers.get(&buffer).copied();
                    self.outgoing[*link as usize].written.push(Written { sequence, publication, digest, time: now });
                }
            }
            Payload::Ros1PublisherLinkInit { link, transport, local_port, remote_port, received_before, topic } => {
                let ports = Ports { transport, local: local_port, remote: remote_port };
                let topic = seen.topics.intern(texts.get(topic));
                here.publisher_links.insert(link, self.incoming.len() as u32);
                self.incoming.push(Incoming::new(process, topic, ports, now, received_before));
            }
            Payload::Ros1Receive { link, transport, sequence, buffer, digest, .. } => {
                let within = if buffer.0 == 0 { thread.publishing } else { here.buffers.get(&buffer).copied() };
                let mut over = || {
                    let incoming = *here.publisher_links.get(&link)?;
                    let received = &mut self.incoming[incoming as usize].received;
                    received.push(Received { sequence, digest, time: now });
                    Some(Source::Link { incoming, received: received.len() as u32 - 1 })
                };
                let source = if transport == 0 { within.map(Source::Publication) } else { over() };
                thread.receiving = Some(source.unwrap_or(Source::Unknown));
            }
            Payload::Ros1Received { .. } => thread.receiving = None,
            Payload::Ros1SubscriptionInit { callback, node, queue_size, topic, .. } => {
                let Some(node) = here.nodes.get(&node).copied() else {
                    seen.counters.unknown_node += 1;
                    return None;
                };
                let topic = texts.get(topic);
                let endpoint = endpoint(seen, node, EndpointKind::Subscription, topic, queue_size, now);
                let row = handles.new_callback(seen, process, callback);
                let described = &mut seen.callbacks[row];
                described.kind = CallbackKind::Subscription;
                described.node = Some(node);
                described.topic = Some(topic.to_string());
                handles.callback_endpoint.insert(row, endpoint);
                if endpoint != INTERNAL {
                    seen.roscpp.told.insert(endpoint);
                    here.subscriptions.insert(callback, self.subscriptions.len() as u32);
                    self.subscriptions.push(Subscription {
                        endpoint,
                        ended_ns: None,
                        pushes: Rows::new(),
                        overflows: 0,
                    });
                }
            }
            Payload::Ros1SubscriptionEnd { callback } => {
                if let Some(subscription) = here.subscriptions.remove(&callback) {
                    self.subscriptions[subscription as usize].ended_ns = Some(now);
                }
            }
            Payload::Ros1QueuePush { callback, queue, deserializer } => {
                if let Some(subscription) = here.subscriptions.get(&callback) {
                    let push = self.pushes.len() as u32;
                    let source = thread.receiving.unwrap_or(Source::Unknown);
                    self.pushes.push(Push { time: now, subscription: *subscription, source, take: None });
                    self.subscriptions[*subscription as usize].pushes.push(push);
                    here.queued.insert((queue, deserializer), push);
                }
            }
            Payload::Ros1QueueOverflow { callback } => {
                if let Some(subscription) = here.subscriptions.get(&callback) {
                    self.subscriptions[*subscription as usize].overflows += 1;
                }
            }
            Payload::Ros1Take { queue, deserializer } => {
                let push = &mut self.pushes[here.queued.remove(&(queue, deserializer))? as usize];
                let take = seen.takes.add(TakeSeen {
                    time: now,
                    endpoint: self.subscriptions[push.subscription as usize].endpoint,
                    source_timestamp: 0,
                    header_stamp: 0,
                    message: 0,
                    id: None,
                    publication: None,
                    arrival: push.time.into(),
                    execution: None,
                    first_line: MaybeNs::NONE,
                    called_ns: MaybeNs::NONE,
                    rcl_ns: MaybeNs::NONE,
                    intra_process: false,
                });
                push.take = Some(take);
                return push.take;
            }
            Payload::Ros1TimerInit { callback, node, period_ns, function, .. } => {
                let node = here.nodes.get(&node).copied();
                let same = |c: &Row<Callback>| {
                    let known = &seen.callbacks[*c];
                    known.kind == CallbackKind::Timer && known.node == node && known.period_ns == Some(period_ns)
                };
                // A timer that was stopped and started again goes on.
                if !handles.callbacks.get(&callback).is_some_and(same) {
                    let row = handles.new_callback(seen, process, callback);
                    let described = &mut seen.callbacks[row];
                    described.kind = CallbackKind::Timer;
                    described.node = node;
                    described.period_ns = Some(period_ns);
                    described.register(texts.get(function));
                }
            }
            Payload::Ros1TimerPeriod { callback, period_ns } => {
                if let Some(row) = handles.callbacks.get(&callback) {
                    let described = &mut seen.callbacks[*row];
                    // Of several periods none is the period.
                    described.period_ns = described.period_ns.filter(|before| *before == period_ns);
                }
            }
            Payload::Ros1ServiceInit { callback, node, name, .. } => {
                let row = handles.new_callback(seen, process, callback);
                let described = &mut seen.callbacks[row];
                described.kind = CallbackKind::Service;
                described.node = here.nodes.get(&node).copied();
                described.topic = Some(texts.get(name).to_string());
            }
            Payload::Ros1CallbackQueued { item } => drop(here.items.insert(item, now)),
            Payload::Ros1CallbackCall { item } => thread.called = here.items.remove(&item),
            _ => {}
        }
        None
    }

    /// A callback starts on this thread: when it was put into its callback queue, where that is recorded.
    pub fn called(&mut self, stream: usize) -> Option<i64> {
        self.threads.get_mut(&stream)?.called.take()
    }
}

/// A new life of an endpoint; [`INTERNAL`] for topics that are nobody's business.
fn endpoint(seen: &mut Seen, node: Row<Node>, kind: EndpointKind, topic: &str, depth: u64, now: i64) -> Row<Endpoint> {
    if is_internal(topic) {
        return INTERNAL;
    }
    let topic = seen.topics.intern(topic);
    // 0 is roscpp's word for a queue without an end.
    let depth = Some(depth).filter(|d| *d > 0);
    seen.endpoints.push(EndpointSeen::new(node, kind, topic, depth, now))
}
