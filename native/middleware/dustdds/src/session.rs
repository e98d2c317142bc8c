//! A participant of a domain, with the state that all its endpoints share.

use crate::graph::{Graph, Kind};
use crate::messages::Ros;
use crate::notifier::Notifier;
use crate::qos;
use crate::runtime::OnTokio;
use crate::transport::Udp;
use dust_dds::dds_async::configuration::DustDdsConfigurationBuilder;
use dust_dds::dds_async::data_reader::DataReaderAsync;
use dust_dds::dds_async::data_writer::DataWriterAsync;
use dust_dds::dds_async::domain_participant::DomainParticipantAsync;
use dust_dds::dds_async::domain_participant_factory::DomainParticipantFactoryAsync;
use dust_dds::dds_async::publisher::PublisherAsync;
use dust_dds::dds_async::subscriber::SubscriberAsync;
use dust_dds::dds_async::topic::TopicAsync;
use dust_dds::infrastructure::error::DdsError;
use dust_dds::infrastructure::listener::NO_LISTENER;
use dust_dds::infrastructure::qos::{DomainParticipantQos, QosKind};
use dust_dds::infrastructure::qos_policy::UserDataQosPolicy;
use dust_dds::infrastructure::status::{StatusKind, NO_STATUS};
use std::collections::hash_map::RandomState;
use std::collections::hash_map::{Entry, HashMap};
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tacho_seam::{ros_type, Endpoint, Error, OnData, Result, Say, SessionConfig};
use tokio::runtime::{Builder, Handle, Runtime};

/// Time between announcements of the participant: several in its lease (announcements.rs).
const ANNOUNCE_EVERY: Duration = Duration::from_secs(2);

pub fn failed(topic: &str, what: &str, why: &DdsError) -> Error {
    Error::new(format!("{topic}: {what}: {why:?}"))
}

// Fields in the order in which they must be dropped: the runtime ends what the factory runs.
pub struct Session {
    pub graph: Graph,
    topics: Mutex<HashMap<String, TopicAsync>>,
    publisher: PublisherAsync,
    subscriber: SubscriberAsync,
    participant: DomainParticipantAsync,
    factory: DomainParticipantFactoryAsync<Udp>,
    pub tasks: Handle,
    runtime: Option<Runtime>,
}

impl Session {
    pub fn open(config: &SessionConfig) -> Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("dustdds").enable_all().build();
        let runtime = runtime.say(|| "a thread for Dust DDS".into())?;
        let tasks = runtime.handle().clone();
        let transport = Udp::open(config.domain, config.address, tasks.clone())?;
        let settings = DustDdsConfigurationBuilder::new().participant_announcement_interval(ANNOUNCE_EVERY);
        // ROS 2 knows types by name, so descriptions of them would only make announcements longer.
        let settings = settings
            .enable_type_information(false)
            .build()
            .map_err(|why| Error::new(format!("configuration: {why:?}")))?;
        // Dust DDS numbers the participants of a factory, but we must make sure that no two factories are equal.
        let [host @ .., a, b, c, d] = RandomState::new().hash_one(std::process::id()).to_le_bytes();
        let factory =
            DomainParticipantFactoryAsync::new(OnTokio(tasks.clone()), [a, b, c, d], host, transport, settings);
        let qos = DomainParticipantQos {
            user_data: UserDataQosPolicy { value: b"enclave=/;".to_vec() },
            ..Default::default()
        };
        let domain = i32::try_from(config.domain).say(|| format!("domain {}", config.domain))?;
        let made = tasks.block_on(async {
            let participant =
                factory.create_participant(domain, QosKind::Specific(qos), NO_LISTENER, NO_STATUS).await?;
            let publisher = participant.create_publisher(QosKind::Default, NO_LISTENER, NO_STATUS).await?;
            let subscriber = participant.create_subscriber(QosKind::Default, NO_LISTENER, NO_STATUS).await?;
            Ok::<_, DdsError>((participant, publisher, subscriber))
        });
        let (participant, publisher, subscriber) = made.map_err(|why| Error::new(format!("participant: {why:?}")))?;
        let graph = Graph::new(&participant, &publisher, tasks.clone())?;
        let topics = Mutex::default();
        Ok(Self { graph, topics, publisher, subscriber, participant, factory, tasks, runtime: Some(runtime) })
    }

    /// Dust DDS has one topic of each name in a participant.
    fn topic<T: Ros>(&self, endpoint: &Endpoint) -> Result<TopicAsync> {
        let ros = ros_type(endpoint.message_type).name;
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        let topic = match topics.entry(endpoint.topic.into()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                let name = format!("rt{}", endpoint.topic);
                let made = self.participant.create_topic::<T>(&name, ros, QosKind::Default, NO_LISTENER, NO_STATUS);
                free.insert(self.tasks.block_on(made).map_err(|why| failed(endpoint.topic, "topic", &why))?)
            }
        };
        let known = dust_dds::dds_async::topic_description::TopicDescriptionAsync::get_type_name(topic);
        if known != ros {
            let topic = endpoint.topic;
            return Err(Error::new(format!(
                "{topic}: has type {known} in this session; asked for {ros}, and Dust DDS has one type a topic"
            )));
        }
        Ok(topic.clone())
    }

    pub fn writer<T: Ros>(&self, endpoint: &Endpoint) -> Result<DataWriterAsync<T>> {
        let topic = self.topic::<T>(endpoint)?;
        let asked = qos::writer(&endpoint.qos, ros_type(endpoint.message_type).hash)?;
        let made = self.tasks.block_on(async {
            let made = self
                .publisher
                .create_datawriter(&topic, QosKind::Specific(asked.clone()), NO_LISTENER, NO_STATUS)
                .await?;
            let found = made.get_qos().await?;
            Ok((made, found))
        });
        let (made, found) = made.map_err(|why| failed(endpoint.topic, "writer", &why))?;
        qos::honoured(endpoint.topic, &asked, &found)?;
        self.graph.add_endpoint(endpoint.node, Kind::Writer, made.get_instance_handle())?;
        Ok(made)
    }

    pub fn reader<T: Ros>(
        &self,
        endpoint: &Endpoint,
        on_data: Option<OnData>,
    ) -> Result<(DataReaderAsync<T>, Notifier)> {
        let topic = self.topic::<T>(endpoint)?;
        let asked = qos::reader(&endpoint.qos, ros_type(endpoint.message_type).hash)?;
        let notifier = Notifier::new(on_data);
        let made = self.tasks.block_on(async {
            let (listener, qos) = (on_data.map(|_| notifier.clone()), QosKind::Specific(asked.clone()));
            let status: &[StatusKind] = if on_data.is_some() { &[StatusKind::DataAvailable] } else { NO_STATUS };
            let made = self.subscriber.create_datareader::<T>(&topic, qos, listener, status).await?;
            let found = made.get_qos().await?;
            Ok((made, found))
        });
        let (made, found) = made.map_err(|why| failed(endpoint.topic, "reader", &why))?;
        qos::honoured(endpoint.topic, &asked, &found)?;
        self.graph.add_endpoint(endpoint.node, Kind::Reader, made.get_instance_handle())?;
        Ok((made, notifier))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Announces that the participant goes. If that fails, others notice when its lease ends.
        let _ = self.tasks.block_on(async {
            self.participant.delete_contained_entities().await?;
            self.factory.delete_participant(&self.participant).await
        });
        drop(self.runtime.take());
    }
}
