//! The ROS graph: a message on `ros_discovery_info` lists the nodes of this participant and the endpoints of each
//! (rmw_dds_common/msg/ParticipantEntitiesInfo, from ROS 2 Iron on, where a GID has 16 bytes).

use crate::qos;
use dust_dds::dds_async::data_writer::DataWriterAsync;
use dust_dds::dds_async::domain_participant::DomainParticipantAsync;
use dust_dds::dds_async::publisher::PublisherAsync;
use dust_dds::infrastructure::instance::InstanceHandle;
use dust_dds::infrastructure::listener::NO_LISTENER;
use dust_dds::infrastructure::qos::QosKind;
use dust_dds::infrastructure::status::NO_STATUS;
use dust_dds::infrastructure::type_support::DdsType;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tacho_seam::{Error, Qos, Result};
use tokio::runtime::Handle;

const TYPE: &str = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";
const HASH: &str = "RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e";
/// ROS 2 keeps the last message, but Dust DDS would wait for every reader before it overwrites that one. The last of
/// several counts as well.
const HISTORY: Qos = Qos { reliable: true, transient_local: true, keep_all: false, depth: 64 };

/// rmw_dds_common/Gid: an endpoint's GUID.
#[derive(Debug, Clone, Copy, PartialEq, DdsType)]
#[dust_dds(extensibility = "final")]
pub struct Gid {
    data: [u8; 16],
}

/// rmw_dds_common/NodeEntitiesInfo.
#[derive(Debug, Clone, PartialEq, DdsType)]
#[dust_dds(extensibility = "final")]
pub struct Node {
    node_namespace: String,
    node_name: String,
    reader_gid_seq: Vec<Gid>,
    writer_gid_seq: Vec<Gid>,
}

/// rmw_dds_common/ParticipantEntitiesInfo.
#[derive(Debug, Clone, PartialEq, DdsType)]
#[dust_dds(extensibility = "final")]
pub struct Participant {
    gid: Gid,
    node_entities_info_seq: Vec<Node>,
}

/// The kind of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Writer,
    Reader,
}

/// The nodes of this session, announced to every listener.
pub struct Graph {
    writer: DataWriterAsync<Participant>,
    told: Mutex<Participant>,
    tasks: Handle,
}

fn gid(handle: InstanceHandle) -> Gid {
    Gid { data: handle.into() }
}

impl Node {
    fn gids(&mut self, kind: Kind) -> &mut Vec<Gid> {
        match kind {
            Kind::Writer => &mut self.writer_gid_seq,
            Kind::Reader => &mut self.reader_gid_seq,
        }
    }
}

impl Graph {
    pub fn new(participant: &DomainParticipantAsync, publisher: &PublisherAsync, tasks: Handle) -> Result<Self> {
        let writer = tasks.block_on(async {
            let topic = participant
                .create_topic::<Participant>("ros_discovery_info", TYPE, QosKind::Default, NO_LISTENER, NO_STATUS)
                .await;
            let topic = topic.map_err(|why| Error::new(format!("ros_discovery_info: topic: {why:?}")))?;
            let qos = QosKind::Specific(qos::writer(&HISTORY, HASH)?);
            let made = publisher.create_datawriter(&topic, qos, NO_LISTENER, NO_STATUS).await;
            made.map_err(|why| Error::new(format!("ros_discovery_info: writer: {why:?}")))
        })?;
        let told = Participant { gid: gid(participant.get_instance_handle()), node_entities_info_seq: vec![] };
        Ok(Self { writer, told: Mutex::new(told), tasks })
    }

    fn told(&self) -> MutexGuard<'_, Participant> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, told: &Participant) -> Result<()> {
        let written = self.tasks.block_on(self.writer.write(told.clone(), None));
        written.map_err(|why| Error::new(format!("ros_discovery_info: {why:?}")))
    }

    pub fn add_node(&self, name: &str) -> Result<()> {
        let (node_namespace, node_name) = ("/".into(), name.into());
        let mut told = self.told();
        told.node_entities_info_seq.push(Node {
            node_namespace,
            node_name,
            reader_gid_seq: vec![],
            writer_gid_seq: vec![],
        });
        self.tell(&told)
    }

    pub fn add_endpoint(&self, node: &str, kind: Kind, endpoint: InstanceHandle) -> Result<()> {
        let mut told = self.told();
        if let Some(node) = told.node_entities_info_seq.iter_mut().find(|known| known.node_name == node) {
            node.gids(kind).push(gid(endpoint));
        }
        self.tell(&told)
    }
}
