//! Publishing: serialises the message, into shared memory if that is the transport, and puts it.

use crate::graph::Graph;
use crate::keys::Entity;
use crate::messages::Ros;
use crate::{shared_memory, Place};
use std::time::{SystemTime, UNIX_EPOCH};
use tacho_seam::{Endpoint, Error, Header, Loan, Result, Say, MIB};
use xxhash_rust::xxh3::xxh3_128;
use zenoh::bytes::ZBytes;
use zenoh::liveliness::LivelinessToken;
use zenoh::qos::{CongestionControl, Reliability};
use zenoh::shm::{BlockOn, GarbageCollect, PosixShmProviderBackend, ShmProvider, ShmProviderBuilder};
use zenoh::{Session, Wait};
use zenoh_ext::{AdvancedPublisher, AdvancedPublisherBuilderExt, CacheConfig, ZSerializer};

/// Messages that subscriptions may hold in shared memory beyond the depth of their queues, and the least number of
/// bytes for these.
const RESERVE: usize = 16;
const LEAST: usize = 16 * MIB;

enum Port {
    Plain(zenoh::pubsub::Publisher<'static>),
    /// Keeps messages for late joiners.
    Cached(AdvancedPublisher<'static>),
}

// Fields in the order in which they must be dropped: the token first, so that no peer sees a publisher that is gone.
pub struct Publisher {
    _token: LivelinessToken,
    port: Port,
    graph: Graph,
    entity: Entity,
    memory: Option<ShmProvider<PosixShmProviderBackend>>,
    /// The session, if messages go by shared memory.
    shared: Option<Session>,
    message: Ros,
    filled: bool,
    /// Sequence number in the attachment, from 1 as rmw_zenoh_cpp counts.
    sequence: i64,
    gid: [u8; 16],
}

impl Publisher {
    pub fn new(session: &Session, shm: bool, graph: Graph, place: Place, endpoint: &Endpoint) -> Result<Self> {
        let (topic, qos) = (endpoint.topic, &endpoint.qos);
        if qos.transient_local && qos.keep_all {
            return Err(Error::new(format!(
                "{topic}: transient local with keep all would keep without end; expected keep last"
            )));
        }
        let (reliability, congestion) = if qos.reliable {
            (Reliability::Reliable, CongestionControl::Block)
        } else {
            (Reliability::BestEffort, CongestionControl::Drop)
        };
        let builder = session.declare_publisher(place.key).reliability(reliability).congestion_control(congestion);
        let port = if qos.transient_local {
            let builder = builder.cache(CacheConfig::default().max_samples(qos.depth)).publisher_detection();
            Port::Cached(builder.wait().say(|| format!("{topic}: publisher with a cache"))?)
        } else {
            Port::Plain(builder.wait().say(|| format!("{topic}: publisher"))?)
        };
        let message = Ros::new(endpoint.message_type, endpoint.size);
        let memory = shm.then(|| {
            let bytes = (message.serialized_size() * (qos.depth + RESERVE)).max(LEAST);
            ShmProviderBuilder::default_backend(bytes).wait().say(|| format!("{topic}: {bytes} B of shared memory"))
        });
        let entity =
            Entity::parse(&place.token).ok_or_else(|| Error::new(format!("{topic}: token {}", place.token)))?;
        // rmw_zenoh_cpp identifies an endpoint by the hash of its token's key.
        let gid = xxh3_128(place.token.as_bytes()).to_le_bytes();
        // The token comes last: a peer that sees it finds all the rest.
        let token = session.liveliness().declare_token(place.token).wait().say(|| format!("{topic}: token"))?;
        let memory = memory.transpose()?;
        let shared = shm.then(|| session.clone());
        Ok(Self { _token: token, port, graph, entity, memory, shared, message, filled: false, sequence: 1, gid })
    }

    fn serialised(&self) -> Result<ZBytes> {
        let size = self.message.serialized_size();
        let Some(memory) = &self.memory else {
            let mut bytes = Vec::with_capacity(size);
            self.message.serialize_into(&mut bytes)?;
            return Ok(bytes.into());
        };
        let chunk = memory.alloc(size).with_policy::<BlockOn<GarbageCollect>>().wait();
        let mut chunk = chunk.say(|| format!("{}: {size} B of shared memory", self.entity.topic))?;
        self.message.serialize_into(&mut chunk[..])?;
        Ok(chunk.into())
    }

    /// The attachment of rmw_zenoh_cpp: a sequence number, CLOCK_REALTIME in ns, and the sender.
    fn attachment(&mut self) -> Result<ZBytes> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).say(|| "the clock of this machine".into())?;
        let mut attachment = ZSerializer::new();
        attachment.serialize(self.sequence);
        attachment.serialize(now.as_nanos() as i64);
        attachment.serialize(self.gid);
        self.sequence += 1;
        Ok(attachment.finish())
    }
}

impl tacho_seam::Publisher for Publisher {
    fn matched(&mut self) -> Result<usize> {
        if let Some(session) = &self.shared {
            shared_memory::check(session).say(|| self.entity.topic.clone())?;
        }
        Ok(self.graph.matched(&self.entity))
    }

    fn borrow(&mut self) -> Result<Loan<'_>> {
        let kept = std::mem::replace(&mut self.filled, true);
        let data = self.message.data_mut();
        let message = data.as_ptr().cast();
        Ok(Loan { data, kept, message })
    }

    fn publish(&mut self, header: &Header) -> Result<()> {
        self.message.set_header(header)?;
        let (payload, attachment) = (self.serialised()?, self.attachment()?);
        let put = match &self.port {
            Port::Plain(port) => port.put(payload).attachment(attachment).wait(),
            Port::Cached(port) => port.put(payload).attachment(attachment).wait(),
        };
        put.say(|| format!("{}: put", self.entity.topic))
    }
}
