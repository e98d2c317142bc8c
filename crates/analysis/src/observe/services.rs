//! Service calls: a request from client to server, handled, and a response back. Actions are services and topics, so
//! their goals, cancellations and results are here too.
//!
//! A call is one client's gid and one sequence number (rmw, `rmw_request_id_t`): `rmw_send_request` and
//! `rmw_take_response` name the client by handle, `rmw_take_request` and `rmw_send_response` by gid. rmw tells them
//! from tracetools 8.6 on, the recorder in its place before.

use crate::Options;
use rustc_hash::FxHashMap as HashMap;
use std::collections::VecDeque;
use tacho_events::{Gid, Handle, Payload, Texts};
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::{Execution, Name, Node, Process, ServiceCall};

/// For so long after a call's response was taken, events of it are still told from those of another life of its client:
/// its server may have been kept off the CPU between what it did and the event that tells of it.
const STILL_OPEN_NS: i64 = 60_000_000_000;

/// Service calls so far.
#[derive(Default)]
pub(crate) struct Services {
    /// gid of each client: process, rmw handle.
    gids: HashMap<(Row<Process>, Handle), Gid>,
    /// Node and name of each client, by gid, and of each service, by process and rmw handle.
    clients: HashMap<Gid, (Option<Row<Node>>, Name)>,
    servers: HashMap<(Row<Process>, Handle), (Option<Row<Node>>, Name)>,
    /// gid of each client by its rcl handle.
    of_rcl: HashMap<(Row<Process>, Handle), Gid>,
    /// Calls of which events may come.
    open: HashMap<(Gid, i64), usize>,
    /// When the last event that each of some calls should have came, in order.
    over: VecDeque<(i64, (Gid, i64), usize)>,
    calls: Rows<Call>,
    /// Call whose request a thread took last and has not answered.
    handling: HashMap<usize, usize>,
    /// Call whose response a thread took last.
    answered: HashMap<usize, usize>,
}

/// A call, and the execution that sent the response.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub row: ServiceCall,
    pub answered_in: Option<Row<Execution>>,
}

/// Where an event happens.
pub(crate) struct Place<'a> {
    pub process: Row<Process>,
    pub stream: usize,
    pub now: i64,
    /// Execution that the thread is inside of.
    pub running: Option<Row<Execution>>,
    /// Node behind a handle, where its creation was recorded.
    pub node: &'a dyn Fn(Handle) -> Option<Row<Node>>,
}

impl Services {
    /// Takes an event; those of no service change nothing.
    pub fn push(&mut self, at: &Place<'_>, payload: &Payload, texts: &Texts) {
        match *payload {
            Payload::RmwClientInit { rmw_client, gid } => {
                self.gids.insert((at.process, rmw_client), gid);
                self.clients.insert(gid, (None, Name::from("")));
            }
            Payload::RclClientInit { client, node, rmw_client, name } => {
                if let Some(gid) = self.gids.get(&(at.process, rmw_client)) {
                    self.of_rcl.insert((at.process, client), *gid);
                    self.clients.insert(*gid, ((at.node)(node), texts.get(name).into()));
                }
            }
            Payload::RclServiceInit { node, rmw_service, name, .. } => {
                self.servers.insert((at.process, rmw_service), ((at.node)(node), texts.get(name).into()));
            }
            Payload::RmwSendRequest { rmw_client, sequence, .. } => {
                if let Some(gid) = self.gids.get(&(at.process, rmw_client)).copied() {
                    // Sent again under a number that was used before: another life of the client.
                    let open = self.open.get(&(gid, sequence));
                    if open.is_some_and(|call| self.calls[*call].row.request_ns.is_some()) {
                        self.open.remove(&(gid, sequence));
                    }
                    let call = self.call(gid, sequence);
                    call.row.request_ns = Some(at.now);
                    call.row.requested_in = at.running;
                }
            }
            Payload::RmwTakeRequest { rmw_service, client, sequence, taken: true, .. } => {
                let server = self.servers.get(&(at.process, rmw_service)).copied();
                let call = self.call(client, sequence);
                // Of several servers of one name, the first.
                if call.row.request_taken_ns.is_none() {
                    call.row.request_taken_ns = Some(at.now);
                    if let Some((node, name)) = server {
                        (call.row.server, call.row.service) = (node, name);
                    }
                    let index = self.open[&(client, sequence)];
                    self.handling.insert(at.stream, index);
                }
            }
            Payload::RmwSendResponse { client, sequence, .. } => {
                let call = self.call(client, sequence);
                if call.row.response_ns.is_none() {
                    call.row.response_ns = Some(at.now);
                    // rclcpp sends it when the callback has ended; a deferred one is sent in whatever callback has it
                    // then.
                    call.answered_in = at.running.or(call.row.execution);
                }
                self.handling.remove(&at.stream);
                // Of a client that is not recorded nothing comes after it.
                if !self.clients.contains_key(&client) {
                    self.is_over(at.now, (client, sequence));
                }
            }
            Payload::RmwTakeResponse { rmw_client, sequence, taken: true, .. } => {
                if let Some(gid) = self.gids.get(&(at.process, rmw_client)).copied() {
                    let call = self.call(gid, sequence);
                    if call.row.response_taken_ns.is_none() {
                        call.row.response_taken_ns = Some(at.now);
                        call.row.response_taken_in = at.running;
                        let index = self.open[&(gid, sequence)];
                        self.answered.insert(at.stream, index);
                        self.is_over(at.now, (gid, sequence));
                    }
                }
            }
            _ => {}
        }
    }

    /// A service's callback starts on a thread: it handles the request that the thread took last.
    pub fn started(&mut self, stream: usize, execution: Row<Execution>) {
        if let Some(call) = self.handling.remove(&stream) {
            self.calls[call].row.execution = Some(execution);
        }
    }

    /// A callback starts for the response that a thread took last.
    pub fn handles_response(&mut self, stream: usize, execution: Row<Execution>) {
        if let Some(call) = self.answered.remove(&stream) {
            self.calls[call].row.response_taken_in = Some(execution);
        }
    }

    /// The call of a client by its rcl handle, with this sequence number.
    pub fn of_client(&self, process: Row<Process>, client: Handle, sequence: i64) -> Option<usize> {
        self.open.get(&(*self.of_rcl.get(&(process, client))?, sequence)).copied()
    }

    /// A callback starts that handles the response of a call.
    pub fn responded(&mut self, call: usize, execution: Row<Execution>) {
        self.calls[call].row.response_taken_in = Some(execution);
    }

    /// Node and service of a client, where its creation was recorded.
    pub fn client(&self, process: Row<Process>, rmw_client: Handle) -> Option<&(Option<Row<Node>>, Name)> {
        self.clients.get(self.gids.get(&(process, rmw_client))?).filter(|client| !client.1.is_empty())
    }

    /// All calls.
    pub fn calls(&self) -> &Rows<Call> {
        &self.calls
    }

    /// The calls that began in the measured window, in the order of their first events.
    pub fn rows(self, options: &Options) -> Rows<ServiceCall> {
        let measured = |call: &ServiceCall| {
            let began = [call.request_ns, call.request_taken_ns, call.response_ns, call.response_taken_ns]
                .into_iter()
                .flatten()
                .next();
            began.is_some_and(|ns| options.measures(ns))
        };
        self.calls.into_iter().map(|call| call.row).filter(measured).collect()
    }

    /// The last event of a call came; those that are long over are looked up no more.
    fn is_over(&mut self, now: i64, call: (Gid, i64)) {
        self.over.push_back((now, call, self.open[&call]));
        while let Some((_, call, index)) = self.over.front().copied().filter(|(since, ..)| now - since > STILL_OPEN_NS)
        {
            self.over.pop_front();
            // Its number may be that of a later call by now.
            if self.open.get(&call) == Some(&index) {
                self.open.remove(&call);
            }
        }
    }

    fn call(&mut self, client: Gid, sequence: i64) -> &mut Call {
        let calls = &mut self.calls;
        let clients = &self.clients;
        let index = *self.open.entry((client, sequence)).or_insert_with(|| {
            let (node, service) = clients.get(&client).copied().unwrap_or((None, Name::from("")));
            let row = ServiceCall {
                service,
                client: node,
                server: None,
                sequence,
                request_ns: None,
                request_taken_ns: None,
                response_ns: None,
                response_taken_ns: None,
                execution: None,
                requested_in: None,
                response_taken_in: None,
            };
            calls.push(Call { row, answered_in: None });
            calls.len() - 1
        });
        &mut self.calls[index]
    }
}
