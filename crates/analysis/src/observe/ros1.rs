//! ROS 1: what the library beside the recorder saw of roscpp, into the same rows as ROS 2.
//!
//! A subscription here is one call of NodeHandle::subscribe: each has a queue and a callback of its own, while all of a process share one
//! connection to each publisher. How messages find their publications and losses their places is in [`links`].

mod links;

use crate::Options;
use crate::observe::{is_internal, EndpointSeen, Observed, PublicationSeen, TakeSeen, INTERNAL};
use crate::observe::handles::Handles;
use crate::rows::Rows;
use crate::tables::{CallbackKind, Delivery, EndpointKind, LostIn, Message, Node};
use links::{Incoming, Outgoing, Ports, Received, Written};
use std::collections::{HashMap, HashSet};
use tacho_events::{Handle, Payload, Texts};

/// Whether an event is one of roscpp's.
pub(crate) fn is_of_roscpp(payload: &Payload) -> bool {
    (80..=99).contains(&payload.kind())
}

/// What is known in the end, besides rows in tables that ROS 2 has as well.
#[derive(Default)]
pub(crate) struct Found {
    /// Processes on roscpp: their callbacks are recorded, whether or not they have any.
    pub processes: HashSet<u32>,
    /// Subscriptions whose losses are all in `losses`.
    pub told: HashSet<u32>,
    pub losses: Vec<Loss>,
    /// Takes of messages that a latched publisher had published before the subscriber came.
    pub latched: HashSet<u32>,
    /// Messages that came over UDPROS and are like others sent over the same connection.
    pub alike: u64,
    /// When what a take got was handed to its connection: by take, in order, where it came over one.
    pub written: Rows<(u32, i64)>,
}

/// A message that a subscription should have got and did not.
pub(crate) struct Loss {
    pub publication: Option<u32>,
    pub subscription: u32,
    pub arrival: Option<i64>,
    pub lost_in: LostIn,
}

impl Found {
    /// When what a take got was handed to its connection; absent where it came over none that was recorded.
    pub fn written_ns(&self, take: u32) -> Option<i64> {
        self.written.binary_search_by_key(&take, |of| of.0).ok().map(|place| self.written[place].1)
    }

    /// A row for each message that was lost.
    pub fn lost_messages(&self, seen: &Observed, options: &Options) -> Vec<Message> {
        let row = |loss: &Loss| {
            let publication = loss.publication.map(|p| &seen.publications[p as usize]);
            let belongs_ns = publication.map(PublicationSeen::belongs_ns).or(loss.arrival)?;
            options.measures(belongs_ns).then(|| Message {
                publisher: publication.and_then(|p| p.endpoint).filter(|e| *e != INTERNAL),
                subscription: loss.subscription,
                sequence: None,
                publish_ns: publication.map(|p| p.time),
                arrival_ns: loss.arrival,
                take_ns: None,
                callback_ns: None,
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

/// State of the events so far.
#[derive(Default)]
pub(crate) struct Ros1 {
    processes: HashMap<u32, Process>,
    threads: HashMap<usize, Thread>,
    subscriptions: Vec<Subscription>,
    pushes: Rows<Push>,
    outgoing: Vec<Outgoing>,
    incoming: Vec<Incoming>,
    /// Publishers that keep their last message for subscribers to come.
    latching: HashSet<u32>,
}

/// What the handles of one process stand for at present.
#[derive(Default)]
struct Process {
    nodes: HashMap<Handle, u32>,
    publishers: HashMap<Handle, u32>,
    /// Publication of a serialised message.
    buffers: HashMap<Handle, u32>,
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
    publishing: Option<u32>,
    receiving: Option<Source>,
    called: Option<i64>,
}

/// Where a message came from.
#[derive(Clone, Copy)]
enum Source {
    Publication(u32),
    /// The n-th that was received over this link.
    Link { incoming: u32, received: u32 },
    /// Of a latched publisher, handed to a further subscription of a process that had it already; or not recorded.
    Unknown,
}

struct Subscription {
    endpoint: u32,
    ended_ns: Option<i64>,
    pushes: Rows<u32>,
    overflows: u64,
}

/// A message put into the queue of one subscription.
#[derive(Clone, Copy)]
struct Push {
    time: i64,
    /// Into `subscriptions`.
    subscription: u32,
    source: Source,
    take: Option<u32>,
}

/// Where an event happens.
pub(crate) struct At<'a> {
    pub seen: &'a mut Observed,
    pub handles: &'a mut Handles,
    pub process: u32,
    pub stream: usize,
    /// Innermost execution that the thread is in.
    pub running: Option<u32>,
    pub now: i64,
}

impl Ros1 {
    /// Takes the next event of roscpp; the take that it began, if it did.
    pub fn push(&mut self, at: At<'_>, payload: &Payload, texts: &Texts) -> Option<u32> {
        let At { seen, handles, process, stream, running, now } = at;
        let here = self.processes.entry(process).or_default();
        let thread = self.threads.entry(stream).or_default();
        match *payload {
            Payload::Ros1NodeInit { node, name } => {
                seen.ros1.processes.insert(process);
                seen.nodes.push(Node { process, name: texts.get(name).to_string() });
                here.nodes.insert(node, seen.nodes.len() as u32 - 1);
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
                seen.publications.push(PublicationSeen { endpoint, ..PublicationSeen::new(now, process, running) });
                thread.publishing = Some(seen.publications.len() as u32 - 1);
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
                let described = &mut seen.callbacks[row as usize];
                described.kind = CallbackKind::Subscription;
                described.node = Some(node);
                described.topic = Some(topic.to_string());
                handles.callback_endpoint.insert(row, endpoint);
                if endpoint != INTERNAL {
                    seen.ros1.told.insert(endpoint);
                    here.subscriptions.insert(callback, self.subscriptions.len() as u32);
                    self.subscriptions.push(Subscription { endpoint, ended_ns: None, pushes: Rows::new(), overflows: 0 });
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
                seen.takes.push(TakeSeen {
                    time: now,
                    endpoint: self.subscriptions[push.subscription as usize].endpoint,
                    source_timestamp: 0,
                    id: None,
                    publication: None,
                    arrival: Some(push.time),
                    execution: None,
                    first_line: None,
                    called_ns: None,
                    rcl_ns: None,
                    intra_process: false,
                });
                push.take = Some(seen.takes.len() as u32 - 1);
                return push.take;
            }
            Payload::Ros1TimerInit { callback, node, period_ns, function, .. } => {
                let node = here.nodes.get(&node).copied();
                let same = |c: &u32| {
                    let known = &seen.callbacks[*c as usize];
                    known.kind == CallbackKind::Timer && known.node == node && known.period_ns == Some(period_ns)
                };
                // A timer that was stopped and started again goes on.
                if !handles.callbacks.get(&callback).is_some_and(same) {
                    let row = handles.new_callback(seen, process, callback);
                    let described = &mut seen.callbacks[row as usize];
                    described.kind = CallbackKind::Timer;
                    described.node = node;
                    described.period_ns = Some(period_ns);
                    described.symbol = Some(texts.get(function).to_string());
                }
            }
            Payload::Ros1TimerPeriod { callback, period_ns } => {
                if let Some(row) = handles.callbacks.get(&callback) {
                    let described = &mut seen.callbacks[*row as usize];
                    // Of several periods none is the period.
                    described.period_ns = described.period_ns.filter(|before| *before == period_ns);
                }
            }
            Payload::Ros1ServiceInit { callback, node, name, .. } => {
                let row = handles.new_callback(seen, process, callback);
                let described = &mut seen.callbacks[row as usize];
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
fn endpoint(seen: &mut Observed, node: u32, kind: EndpointKind, topic: &str, depth: u64, now: i64) -> u32 {
    if is_internal(topic) {
        return INTERNAL;
    }
    let topic = seen.topics.intern(topic);
    // 0 is roscpp's word for a queue without an end.
    let depth = Some(depth).filter(|d| *d > 0);
    seen.endpoints.push(EndpointSeen { node, kind, topic, depth, created_ns: now, arrivals: Rows::new(), gid: None, is_buffered: false, called: 0 });
    seen.endpoints.len() as u32 - 1
}
