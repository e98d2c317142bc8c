//! The zenoh plugin: Eclipse Zenoh with the keys, tokens, attachments and messages of ROS 2, as rmw_zenoh_cpp forms
//! them.
//!
//! A message is filled in as ROS 2's type, serialised as CDR at the publish call, and deserialised at the take. So a
//! run measures what a ROS 2 program would wait for, without rcl and rmw.

mod config;
mod graph;
mod keys;
mod messages;
mod publisher;
mod shared_memory;
mod subscription;

use graph::Graph;
use keys::{Kind, NodeKey};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use tacho_seam::{Endpoint, Error, Middleware, OnData, Result, Say, SessionConfig};
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::Wait;

// Fields in the order in which they must be dropped: declared entities before the session.
struct Zenoh {
    nodes: Mutex<HashMap<String, (usize, LivelinessToken)>>,
    graph: Graph,
    _watching: Subscriber<()>,
    session: zenoh::Session,
    domain: u32,
    shm: bool,
    /// Next identifier of a node, publisher or subscription.
    next: AtomicUsize,
}

/// The identity of a publisher or subscription.
struct Place {
    key: String,
    token: String,
}

impl Zenoh {
    fn place(&self, endpoint: &Endpoint, kind: Kind) -> Result<Place> {
        let session = self.session.zid().to_string();
        let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((node, _)) = nodes.get(endpoint.node) else {
            return Err(Error::new(format!("{}: no node {}", endpoint.topic, endpoint.node)));
        };
        let node = NodeKey { domain: self.domain, session: &session, node: *node, name: endpoint.node };
        let message = tacho_seam::ros_type(endpoint.message_type);
        let token = node.endpoint_token(self.identifier(), kind, endpoint.topic, &message, &endpoint.qos);
        Ok(Place { key: keys::topic(self.domain, endpoint.topic, &message), token })
    }

    fn identifier(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

impl Middleware for Zenoh {
    const NAME: &'static str = "zenoh";
    const TRANSPORTS: &'static [&'static str] = &[config::PEER, config::SHM];
    type Publisher = publisher::Publisher;
    type Subscription = subscription::Subscription;

    fn version() -> Result<String> {
        // "v1.10.2-release"
        Ok(format!("zenoh {}", zenoh::GIT_VERSION.trim_start_matches('v').trim_end_matches("-release")))
    }

    fn open(config: &SessionConfig) -> Result<Self> {
        let shm = config.transport == config::SHM;
        let session = || zenoh::open(config::config(config)?).wait().say(|| "open".into());
        let session = if shm { shared_memory::alone(session)? } else { session()? };
        if shm {
            shared_memory::end_alone();
        }
        let (graph, watching) = Graph::watch(&session, config.domain)?;
        let (nodes, next) = Default::default();
        Ok(Self { nodes, graph, _watching: watching, session, domain: config.domain, shm, next })
    }

    fn node(&self, name: &str) -> Result<()> {
        let node = self.identifier();
        let session = self.session.zid().to_string();
        let token = NodeKey { domain: self.domain, session: &session, node, name }.token();
        let token = self.session.liveliness().declare_token(token).wait().say(|| format!("node {name}"))?;
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner).insert(name.into(), (node, token));
        Ok(())
    }

    /// Chooses as the ros2 plugin does.
    fn type_for(size: usize) -> &'static str {
        if size < 4096 {
            "Bytes"
        } else {
            "PointCloud2"
        }
    }

    fn advertise(&self, endpoint: &Endpoint) -> Result<Self::Publisher> {
        let place = self.place(endpoint, Kind::Publisher)?;
        let make = || Self::Publisher::new(&self.session, self.shm, self.graph.clone(), place, endpoint);
        if self.shm {
            shared_memory::alone(make)
        } else {
            make()
        }
    }

    fn subscribe(&self, endpoint: &Endpoint, on_data: Option<OnData>) -> Result<Self::Subscription> {
        let place = self.place(endpoint, Kind::Subscription)?;
        Self::Subscription::new(&self.session, self.shm, self.graph.clone(), place, endpoint, on_data)
    }
}

impl Drop for Zenoh {
    fn drop(&mut self) {
        // It fails only if it was closed already; then nothing is left to close.
        let _ = self.session.close().wait();
    }
}

tacho_seam::export!(Zenoh);
