//! A topic is two services of iceoryx2: one for the messages and one that notifies of them. A third one gives late
//! joiners the history.
//!
//! DDS compares QoS when it matches, but in iceoryx2 the first end of a service fixes it. So the offered reliability is
//! part of the service's name (a best-effort subscription joins both, a reliable one only the reliable one). If
//! durability, history or type differ, the second end is refused.

use crate::memory::{queue, LONGEST_QUEUE, PEERS};
use crate::Ipc;
use iceoryx2::prelude::*;
use iceoryx2::service::builder::event::{EventCreateError, EventOpenError, EventOpenOrCreateError};
use iceoryx2::service::builder::publish_subscribe::{
    PublishSubscribeCreateError as CreateError, PublishSubscribeOpenError as OpenError,
    PublishSubscribeOpenOrCreateError as MessagesError,
};
use iceoryx2::service::port_factory::{event, publish_subscribe};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tacho_seam::{Endpoint, Error, Result, Say};

/// How long to wait for a service that another process is making or removing at this moment.
const SETTLED: Duration = Duration::from_secs(5);

/// How often to look for peers that were killed, which lists a folder.
const CLEANED: Duration = Duration::from_millis(100);

/// The `tacho_header` of middleware.h, in iceoryx2's user header: in the same chunk, ahead of the data.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, ZeroCopySend)]
#[type_name("tacho_header")]
pub struct Header {
    pub sequence: u64,
    pub stamp_ns: i64,
    pub publisher: u32,
    pub reserved: u32,
}

pub type Messages = publish_subscribe::PortFactory<Ipc, [u8], Header>;
pub type Event = event::PortFactory<Ipc>;

/// The services of a topic with one reliability.
pub struct Topic {
    pub name: String,
    pub messages: Messages,
    /// Publishers notify it of each message.
    pub news: Event,
    cleaned: Mutex<Instant>,
}

impl Topic {
    /// Opens or makes them.
    pub fn new(node: &Node<Ipc>, domain: u32, endpoint: &Endpoint, reliable: bool) -> Result<Self> {
        let name = endpoint.topic;
        let service = service_name(domain, endpoint, if reliable { "reliable" } else { "best_effort" })?;
        let messages = settled(|| messages(node, &service, endpoint), in_flux)
            .map_err(|error| Error::new(format!("{name}: {}", refusal(error, endpoint))))?;
        let history = if endpoint.qos.transient_local { endpoint.qos.depth } else { 0 };
        let found = messages.static_config().history_size();
        if found != history {
            let said =
                |history| if history == 0 { "volatile".into() } else { format!("transient local of depth {history}") };
            return Err(Error::new(format!(
                "{name}: another end of the topic is {}, this one {}; iceoryx2 has one durability a topic: give all \
                 its ends the same",
                said(found),
                said(history)
            )));
        }
        let news = event(node, &service).say(|| format!("{name}: notifications"))?;
        Ok(Self { name: name.into(), messages, news, cleaned: Mutex::new(Instant::now()) })
    }

    /// The event by which a late joiner of a transient-local topic requests its history, because publishers of iceoryx2
    /// send it only when they check for late joiners.
    pub fn joined(&self, node: &Node<Ipc>, domain: u32, endpoint: &Endpoint) -> Result<Event> {
        event(node, &service_name(domain, endpoint, "joined")?).say(|| format!("{}: late joiners", self.name))
    }

    /// Forgets peers whose process is gone, from time to time.
    pub fn forget_the_dead(&self) {
        let mut cleaned = self.cleaned.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if cleaned.elapsed() >= CLEANED {
            // If another process is removing it at this moment, it will be gone the next time.
            let _ = self.messages.try_cleanup_dead_nodes();
            *cleaned = Instant::now();
        }
    }
}

fn service_name(domain: u32, endpoint: &Endpoint, kind: &str) -> Result<ServiceName> {
    let name = format!("{domain}/{kind}{}", endpoint.topic);
    ServiceName::new(&name)
        .say(|| format!("{}: {} bytes of name, of at most {}", endpoint.topic, name.len(), ServiceName::max_len()))
}

fn messages(node: &Node<Ipc>, name: &ServiceName, endpoint: &Endpoint) -> std::result::Result<Messages, MessagesError> {
    let qos = &endpoint.qos;
    let key = "type".try_into().expect("a short key");
    let value = endpoint.message_type.try_into().expect("a short name");
    let of_this_type = AttributeVerifier::new().require(&key, &value).expect("room for one attribute");
    node.service_builder(name)
        .publish_subscribe::<[u8]>()
        .user_header::<Header>()
        .enable_safe_overflow(!qos.keep_all)
        .history_size(if qos.transient_local { qos.depth } else { 0 })
        .subscriber_max_buffer_size(LONGEST_QUEUE)
        .subscriber_max_borrowed_samples(1)
        .max_publishers(PEERS)
        .max_subscribers(PEERS)
        .max_nodes(2 * PEERS)
        .open_or_create_with_attributes(&of_this_type)
}

fn event(node: &Node<Ipc>, name: &ServiceName) -> std::result::Result<Event, EventOpenOrCreateError> {
    let make = || {
        node.service_builder(name)
            .event()
            .max_listeners(PEERS)
            .max_notifiers(PEERS)
            .max_nodes(2 * PEERS)
            .event_id_max_value(0)
            .open_or_create()
    };
    settled(make, |error| {
        matches!(
            error,
            EventOpenOrCreateError::SystemInFlux
                | EventOpenOrCreateError::EventOpenError(
                    EventOpenError::DoesNotExist
                        | EventOpenError::IsMarkedForDestruction
                        | EventOpenError::HangsInCreation
                )
                | EventOpenOrCreateError::EventCreateError(
                    EventCreateError::AlreadyExists
                        | EventCreateError::IsBeingCreatedByAnotherInstance
                        | EventCreateError::HangsInCreation
                )
        )
    })
}

fn in_flux(error: &MessagesError) -> bool {
    matches!(
        error,
        MessagesError::SystemInFlux
            | MessagesError::PublishSubscribeOpenError(
                OpenError::DoesNotExist | OpenError::IsMarkedForDestruction | OpenError::HangsInCreation
            )
            | MessagesError::PublishSubscribeCreateError(
                CreateError::AlreadyExists
                    | CreateError::IsBeingCreatedByAnotherInstance
                    | CreateError::HangsInCreation
            )
    )
}

/// Tries again while others are about to make or remove the same service.
fn settled<T, E>(
    make: impl Fn() -> std::result::Result<T, E>,
    in_flux: impl Fn(&E) -> bool,
) -> std::result::Result<T, E> {
    let begin = Instant::now();
    loop {
        match make() {
            Err(error) if in_flux(&error) && begin.elapsed() < SETTLED => std::thread::sleep(Duration::from_millis(1)),
            result => return result,
        }
    }
}

/// Describes how an end of a topic differs from the end that made the topic.
fn refusal(error: MessagesError, endpoint: &Endpoint) -> String {
    let MessagesError::PublishSubscribeOpenError(open) = error else { return error.to_string() };
    match open {
        OpenError::IncompatibleAttributes => {
            format!(
                "another end of the topic has another type than {}; give all its ends the same",
                endpoint.message_type
            )
        }
        OpenError::IncompatibleOverflowBehavior => {
            "one end of the topic keeps all, another keeps last; iceoryx2 has one \
            history a topic: give all its ends the same"
                .into()
        }
        OpenError::DoesNotSupportRequestedMinHistorySize => {
            "another end of the topic is volatile or keeps fewer; give all \
            its ends the same durability and depth"
                .into()
        }
        OpenError::ExceedsMaxNumberOfNodes => format!("more than {} processes at one topic", 2 * PEERS),
        _ => error.to_string(),
    }
}

/// Refuses depths that no queue has.
pub fn check_depth(endpoint: &Endpoint) -> Result<()> {
    let Endpoint { topic, qos, size, .. } = endpoint;
    if qos.transient_local && qos.keep_all {
        return Err(Error::new(format!(
            "{topic}: transient local with keep all needs endless memory; expected keep last"
        )));
    }
    if queue(qos, *size) > LONGEST_QUEUE {
        return Err(Error::new(format!(
            "{topic}: keep last with depth {}; expected at most {LONGEST_QUEUE}",
            qos.depth
        )));
    }
    Ok(())
}
