//! What pointers stand for.
//!
//! Everything is keyed by process and pointer, and pointers are reused: an init event starts a new life of a handle,
//! and what was seen before keeps its old owner.

use crate::observe::groups::{Members, ToldByHandle, CLIENT};
use crate::observe::intra_process::{Buffers, HandedOver};
use crate::observe::{is_internal, EndpointSeen, Offered, Seen, INTERNAL};
use rustc_hash::FxHashMap as HashMap;
use tacho_events::{Gid, Handle, Payload, Texts};
use tacho_tables::row::{self, Row};
use tacho_tables::{Callback, CallbackKind, Endpoint, EndpointKind, Node, Process};

/// What the handles of one process stand for at present.
#[derive(Default)]
pub(crate) struct Handles {
    nodes: HashMap<Handle, Row<Node>>,
    pub publishers: HashMap<Handle, Row<Endpoint>>,
    pub rmw_publishers: HashMap<Handle, Row<Endpoint>>,
    pub subscriptions: HashMap<Handle, Row<Endpoint>>,
    pub rmw_subscriptions: HashMap<Handle, Row<Endpoint>>,
    /// rmw subscriptions without an rcl one: the middleware's own.
    pub rmw_only: HashMap<Handle, ()>,
    /// What the middleware calls an rmw publisher or subscription.
    gids: HashMap<Handle, Gid>,
    /// Type and QoS of an rmw publisher or subscription that rcl has not named yet.
    offered: HashMap<Handle, Offered>,
    /// rclcpp's subscription object, to its endpoint.
    pub objects: HashMap<Handle, Row<Endpoint>>,
    /// Node and topic of every subscription, the internal ones too: their callbacks take time like any other.
    owners: HashMap<Handle, (Row<Node>, String)>,
    /// A subscription object waiting for the other half of its link: its subscription, or its callback.
    half_subscription: HashMap<Handle, Handle>,
    half_callback: HashMap<Handle, Row<Callback>>,
    services: HashMap<Handle, (Option<Row<Node>>, String)>,
    half_service: HashMap<Handle, Row<Callback>>,
    timers: HashMap<Handle, Timer>,
    pub callbacks: HashMap<Handle, Row<Callback>>,
    /// Node and service of each client.
    clients: HashMap<Handle, (Option<Row<Node>>, String)>,
    /// What handles the responses to a client, by rmw client.
    pub client_callbacks: HashMap<Handle, Row<Callback>>,
    /// Endpoint of a subscription callback, by callback.
    pub callback_endpoint: HashMap<Row<Callback>, Row<Endpoint>>,
    pub members: Members,
    pub groups: ToldByHandle,
    pub ipb_object: HashMap<Handle, Handle>,
    pub buffer_ipb: HashMap<Handle, Handle>,
    pub buffers: Buffers,
    pub handed_over: HandedOver,
    /// Sequence number of a publisher's next message and when that is due.
    pub due: HashMap<Handle, (u64, i64)>,
}

#[derive(Default, Clone, Copy)]
struct Timer {
    armed_ns: Option<i64>,
    period_ns: Option<i64>,
    node: Option<Row<Node>>,
    callback: Option<Row<Callback>>,
}

impl Handles {
    /// The node behind a handle, in its present life.
    pub fn node(&self, node: Handle) -> Option<Row<Node>> {
        self.nodes.get(&node).copied()
    }

    /// The endpoint of the subscription that an intra-process buffer belongs to; [`INTERNAL`] where that is nobody's
    /// business.
    pub fn endpoint_of_buffer(&self, buffer: Handle) -> Option<Row<Endpoint>> {
        let object = self.ipb_object.get(self.buffer_ipb.get(&buffer)?)?;
        self.objects.get(object).copied()
    }

    /// Takes an event that begins or links lives of handles; false for any other.
    pub fn init(&mut self, seen: &mut Seen, process: Row<Process>, payload: &Payload, texts: &Texts, now: i64) -> bool {
        match *payload {
            Payload::RclNodeInit { node, name, namespace, .. } => {
                let name = full_name(texts.get(namespace), texts.get(name));
                self.nodes.insert(node, row::add(&mut seen.nodes, Node { process, name }));
            }
            Payload::RclPublisherInit { publisher, node, rmw_publisher, queue_depth, topic } => {
                let new = self.endpoint(seen, node, EndpointKind::Publisher, texts.get(topic), queue_depth, now);
                renew(&mut self.publishers, publisher, new);
                renew(&mut self.rmw_publishers, rmw_publisher, new);
                self.name(seen, new, rmw_publisher);
            }
            Payload::RmwSubscriptionInit { rmw_subscription, gid } => {
                self.gids.insert(rmw_subscription, gid);
                self.rmw_subscriptions.remove(&rmw_subscription);
                self.rmw_only.insert(rmw_subscription, ());
            }
            Payload::RmwPublisherInit { rmw_publisher, gid } => {
                self.gids.insert(rmw_publisher, gid);
                self.rmw_publishers.remove(&rmw_publisher);
            }
            Payload::RmwPublisherQos { rmw_publisher: rmw, reliability, durability, history, message_type, .. }
            | Payload::RmwSubscriptionQos {
                rmw_subscription: rmw,
                reliability,
                durability,
                history,
                message_type,
                ..
            } => {
                self.offered.insert(rmw, Offered::of(reliability, durability, history, texts.get(message_type)));
            }
            Payload::RclSubscriptionInit { subscription, node, rmw_subscription, queue_depth, topic } => {
                self.groups.renew(subscription);
                let new = self.endpoint(seen, node, EndpointKind::Subscription, texts.get(topic), queue_depth, now);
                renew(&mut self.subscriptions, subscription, new);
                if let Some(node) = self.nodes.get(&node) {
                    self.owners.insert(subscription, (*node, texts.get(topic).to_string()));
                }
                renew(&mut self.rmw_subscriptions, rmw_subscription, new);
                self.name(seen, new, rmw_subscription);
            }
            Payload::RclcppSubscriptionInit { subscription, object } => {
                if let Some(endpoint) = self.subscriptions.get(&subscription).copied() {
                    self.objects.insert(object, endpoint);
                    match self.half_callback.remove(&object) {
                        Some(callback) => self.own_by_subscription(seen, callback, subscription),
                        None => drop(self.half_subscription.insert(object, subscription)),
                    }
                }
            }
            Payload::RclcppSubscriptionCallbackAdded { object, callback } => {
                let callback = self.unowned_callback(seen, process, callback);
                self.members.subscription(object, callback);
                match self.half_subscription.remove(&object) {
                    Some(subscription) => self.own_by_subscription(seen, callback, subscription),
                    None => drop(self.half_callback.insert(object, callback)),
                }
            }
            Payload::RclLifecycleStateMachineInit { node, state_machine } => {
                if let Some(node) = self.nodes.get(&node) {
                    seen.lifecycle.made(process, state_machine, *node, now);
                }
            }
            Payload::RclLifecycleTransition { state_machine, start, goal } => {
                seen.lifecycle.changed(process, state_machine, texts.get(start), texts.get(goal), now);
            }
            Payload::RclServiceInit { service, node, name, .. } => {
                let owner = (self.nodes.get(&node).copied(), texts.get(name).to_string());
                self.groups.renew(service);
                if let Some(callback) = self.half_service.remove(&service) {
                    self.groups.tie(&mut seen.groups, process, service, callback);
                    own_by_service(seen, callback, &owner);
                }
                self.services.insert(service, owner);
            }
            Payload::RclcppCallbackGroupAdd { group, object, what, is_exclusive } => {
                let group = seen.groups.number(process, group, is_exclusive);
                if what == CLIENT {
                    self.members.client_groups.extend(self.members.last_client.take().map(|client| (client, group)));
                } else if let Some(callback) = self.members.callback_in(object, what) {
                    seen.groups.add(group, callback);
                }
            }
            Payload::RclClientInit { client, node, name, rmw_client } => {
                self.members.last_client = Some(rmw_client);
                self.groups.client(client, rmw_client);
                self.clients.insert(client, (self.nodes.get(&node).copied(), texts.get(name).to_string()));
            }
            Payload::RclpyClientCallbackAdded { client, callback } => {
                let owner = self.clients.get(&client).map(|(node, service)| (*node, format!("{service} response")));
                // It is added to the future of each request anew.
                let is_known =
                    self.callbacks.get(&callback).zip(owner.as_ref()).is_some_and(|(known, (node, topic))| {
                        let row = &seen.callbacks[*known];
                        row.kind == CallbackKind::Client && row.node == *node && row.topic.as_ref() == Some(topic)
                    });
                if !is_known {
                    let callback = self.unowned_callback(seen, process, callback);
                    if let Some((node, topic)) = owner {
                        let row = &mut seen.callbacks[callback];
                        (row.kind, row.node, row.topic) = (CallbackKind::Client, node, Some(topic));
                    }
                }
            }
            Payload::RmwClientInit { rmw_client, .. } => drop(self.client_callbacks.remove(&rmw_client)),
            Payload::RclcppServiceCallbackAdded { service, callback: address } => {
                let callback = self.unowned_callback(seen, process, address);
                self.members.other(address, callback);
                self.groups.tie(&mut seen.groups, process, service, callback);
                match self.services.get(&service) {
                    Some(owner) => own_by_service(seen, callback, owner),
                    None => drop(self.half_service.insert(service, callback)),
                }
            }
            Payload::RclTimerInit { timer, period_ns } => {
                self.groups.renew(timer);
                self.timers
                    .insert(timer, Timer { armed_ns: Some(now), period_ns: Some(period_ns), ..Timer::default() });
            }
            Payload::RclcppTimerCallbackAdded { timer, callback: address } => {
                let callback = self.unowned_callback(seen, process, address);
                self.members.other(address, callback);
                self.groups.tie(&mut seen.groups, process, timer, callback);
                let timer = self.timers.entry(timer).or_default();
                timer.callback = Some(callback);
                own_by_timer(seen, timer);
            }
            Payload::RclcppTimerLinkNode { timer, node } => {
                let node = self.nodes.get(&node).copied();
                let timer = self.timers.entry(timer).or_default();
                timer.node = node;
                own_by_timer(seen, timer);
            }
            Payload::RclcppCallbackRegister { callback, symbol } => {
                let known = self.callbacks.get(&callback.handle).copied();
                let row = match known.filter(|c| seen.callbacks[*c].symbol.is_none()) {
                    Some(known) => known,
                    None => self.new_callback(seen, process, callback.handle),
                };
                seen.callbacks[row].address = callback.address;
                // tracetools has no name for a function that its program does not export.
                seen.callbacks[row].register(texts.get(symbol));
            }
            Payload::RclcppIpbToSubscription { ipb, object } => drop(self.ipb_object.insert(ipb, object)),
            Payload::RclcppBufferToIpb { buffer, ipb } => drop(self.buffer_ipb.insert(buffer, ipb)),
            _ => return self.groups.take(&mut seen.groups, process, payload, texts),
        }
        true
    }

    /// A new life of an endpoint; [`INTERNAL`] for topics that are nobody's business.
    fn endpoint(
        &mut self,
        seen: &mut Seen,
        node: Handle,
        kind: EndpointKind,
        topic: &str,
        depth: u64,
        now: i64,
    ) -> Option<Row<Endpoint>> {
        if is_internal(topic) {
            return Some(INTERNAL);
        }
        let Some(node) = self.nodes.get(&node).copied() else {
            seen.counters.unknown_node += 1;
            return None;
        };
        let topic = seen.topics.intern(topic);
        // 0 is what a layer without a queue depth writes.
        let depth = Some(depth).filter(|d| *d > 0);
        Some(seen.endpoints.push(EndpointSeen::new(node, kind, topic, depth, now)))
    }

    /// What the middleware knows of an endpoint; rmw reports it before rcl does.
    fn name(&mut self, seen: &mut Seen, endpoint: Option<Row<Endpoint>>, rmw: Handle) {
        let offered = self.offered.remove(&rmw).unwrap_or_default();
        if let Some(endpoint) = endpoint.filter(|e| *e != INTERNAL) {
            let row = &mut seen.endpoints[endpoint];
            row.gid = self.gids.get(&rmw).copied().filter(|gid| *gid != Gid::default());
            row.depth = row.depth.filter(|_| offered.keep_all != Some(true));
            row.offered = offered;
        }
    }

    /// A new life of a callback's address.
    pub fn new_callback(&mut self, seen: &mut Seen, process: Row<Process>, address: Handle) -> Row<Callback> {
        let index = row::add(&mut seen.callbacks, Callback::new(process, address.0, CallbackKind::Unknown));
        self.callbacks.insert(address, index);
        index
    }

    /// The callback that is about to get an owner: the one at this address if it has none yet, else a new life of the
    /// address.
    fn unowned_callback(&mut self, seen: &mut Seen, process: Row<Process>, address: Handle) -> Row<Callback> {
        match self.callbacks.get(&address) {
            Some(known) if seen.callbacks[*known].kind == CallbackKind::Unknown => *known,
            _ => self.new_callback(seen, process, address),
        }
    }

    fn own_by_subscription(&mut self, seen: &mut Seen, callback: Row<Callback>, subscription: Handle) {
        let row = &mut seen.callbacks[callback];
        row.kind = CallbackKind::Subscription;
        self.groups.tie(&mut seen.groups, row.process, subscription, callback);
        if let Some(endpoint) = self.subscriptions.get(&subscription) {
            self.callback_endpoint.insert(callback, *endpoint);
        }
        if let Some((node, topic)) = self.owners.get(&subscription) {
            row.node = Some(*node);
            row.topic = Some(topic.clone());
        }
    }
}

/// A handle begins a new life, or ends its old one where nothing is known of the new.
fn renew(lives: &mut HashMap<Handle, Row<Endpoint>>, handle: Handle, new: Option<Row<Endpoint>>) {
    match new {
        Some(new) if handle != Handle::NONE => drop(lives.insert(handle, new)),
        _ => drop(lives.remove(&handle)),
    }
}

fn own_by_service(seen: &mut Seen, callback: Row<Callback>, (node, name): &(Option<Row<Node>>, String)) {
    let row = &mut seen.callbacks[callback];
    row.kind = CallbackKind::Service;
    row.node = *node;
    row.topic = Some(name.clone());
}

fn own_by_timer(seen: &mut Seen, timer: &Timer) {
    let Some(callback) = timer.callback else { return };
    let row = &mut seen.callbacks[callback];
    row.kind = CallbackKind::Timer;
    row.node = timer.node.or(row.node);
    row.period_ns = timer.period_ns.or(row.period_ns);
    row.armed_ns = timer.armed_ns.or(row.armed_ns);
}

/// `/` and `talker` make `/talker`, `/a/b` and `c` make `/a/b/c`.
fn full_name(namespace: &str, name: &str) -> String {
    match namespace.trim_end_matches('/') {
        "" => format!("/{name}"),
        namespace if namespace.starts_with('/') => format!("{namespace}/{name}"),
        namespace => format!("/{namespace}/{name}"),
    }
}
