//! Listens to a board: subscribes to its events, and sends it beacons that bound its clock from the other side.

use super::event_file::{BoardEvents, Message};
use anyhow::{Context, Result};
use std::sync::mpsc::{channel, Receiver};
use std::time::Duration;
use tacho_middleware::{Endpoint, Header, Middleware, Publisher, Session, Subscription};
use tacho_recording::clock::monotonic_ns;
use tacho_workload::model::Qos;

/// Prefix of the board's topic; the node's name follows.
const EVENTS: &str = "/tacho/events/";
const CLOCK: &str = "/tacho/clock/";
/// Largest message of events, which fits a datagram.
const MESSAGE: usize = 1400;
/// Depth of the subscription's queue.
const DEPTH: u32 = 256;

/// How often a beacon is sent.
pub const BEACON: Duration = Duration::from_millis(50);

/// Listens to one board.
pub struct Collector {
    beacon: Publisher,
    events: Subscription,
    arrivals: Receiver<i64>,
    beacons_ns: Vec<i64>,
    into: BoardEvents,
    _session: Session,
}

impl Collector {
    /// Listens to the board of this node, on the interface with this address; an empty address means the loopback.
    pub fn new(
        middleware: &Middleware,
        domain: u32,
        address: &str,
        node: &str,
        into: BoardEvents,
    ) -> Result<Collector> {
        let session = middleware.open(domain, "", address)?;
        let ours = session.node(&format!("tacho_{node}"))?;
        let qos = Qos { reliable: true, transient_local: false, keep_all: false, depth: DEPTH };
        let (clock, events) = (format!("{CLOCK}{node}"), format!("{EVENTS}{node}"));
        let (sender, arrivals) = channel();
        let endpoint = Endpoint { topic: &events, message_type: "", size: MESSAGE, qos };
        let notify = move || {
            let _ = sender.send(monotonic_ns()); // the receiver ends with the run
        };
        let events = session.subscribe(&ours, &endpoint, Some(Box::new(notify)))?;
        let endpoint =
            Endpoint { topic: &clock, message_type: "", size: 0, qos: Qos { reliable: false, depth: 1, ..qos } };
        let mut beacon = session.advertise(&ours, &endpoint)?;
        beacon.borrow()?;
        Ok(Collector { beacon, events, arrivals, beacons_ns: Vec::new(), into, _session: session })
    }

    /// Sends a beacon.
    pub fn send_beacon(&mut self) -> Result<()> {
        let header = Header {
            sequence: self.beacons_ns.len() as u64,
            stamp_ns: monotonic_ns(),
            publisher: u32::MAX,
            reserved: 0,
        };
        self.beacon.borrow()?;
        self.beacons_ns.push(header.stamp_ns);
        Ok(self.beacon.publish(&header)?)
    }

    /// Reads the messages that have come.
    pub fn take_in(&mut self) -> Result<()> {
        while let Some(message) = self.events.take()? {
            // Each message causes one notification, just after it entered the queue.
            let arrival_ns = self
                .arrivals
                .recv_timeout(Duration::from_secs(1))
                .context("a message of events that did not say when it came")?;
            let Header { sequence, stamp_ns, reserved, .. } = message.header();
            let taken = Message { sequence, board_ns: stamp_ns, dropped: reserved, arrival_ns, data: message.data() };
            self.into.take_in(&taken, &self.beacons_ns)?;
        }
        Ok(())
    }

    /// Reads what is left, and returns the board's events.
    pub fn finish(mut self) -> Result<BoardEvents> {
        self.take_in()?;
        Ok(self.into)
    }
}
