//! Taking: zenoh's thread puts messages into a queue, and the taker deserialises them.

use crate::graph::Graph;
use crate::keys::Entity;
use crate::messages::Ros;
use crate::{shared_memory, Place};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tacho_seam::{Endpoint, Error, Message, OnData, Result, Say};
use zenoh::liveliness::LivelinessToken;
use zenoh::qos::Reliability;
use zenoh::sample::Sample;
use zenoh::shm::ShmBuf;
use zenoh::{Session, Wait};
use zenoh_ext::{AdvancedSubscriberBuilderExt, HistoryConfig};

/// The state that zenoh's threads and the taker share.
struct Queue {
    samples: Mutex<VecDeque<Sample>>,
    /// Held during the call, so that closing waits for it and no call follows.
    on_data: Mutex<Option<OnData>>,
    /// Depth of keep last.
    depth: Option<usize>,
    reliable: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    fn put(&self, sample: Sample) {
        // DDS 1.4, 2.2.3: best effort does not satisfy reliable, but zenoh itself delivers it all the same.
        if self.reliable && sample.reliability() == Reliability::BestEffort {
            return;
        }
        let mut samples = locked(&self.samples);
        if self.depth.is_some_and(|depth| samples.len() >= depth) {
            samples.pop_front();
        }
        samples.push_back(sample);
        drop(samples);
        if let Some(on_data) = &*locked(&self.on_data) {
            on_data.call();
        }
    }
}

// Fields in the order in which they must be dropped: the token first, so that no peer sees a subscription that is gone.
pub struct Subscription {
    _token: LivelinessToken,
    /// A subscriber of zenoh's, plain or with history; dropping it undeclares it.
    _port: Box<dyn Any>,
    queue: Arc<Queue>,
    graph: Graph,
    entity: Entity,
    message_type: &'static str,
    /// The session, if messages come by shared memory.
    shared: Option<Session>,
    lent: Option<Ros>,
}

impl Subscription {
    pub fn new(
        session: &Session,
        shm: bool,
        graph: Graph,
        place: Place,
        endpoint: &Endpoint,
        on_data: Option<OnData>,
    ) -> Result<Self> {
        let (topic, qos) = (endpoint.topic, &endpoint.qos);
        let queue = Arc::new(Queue {
            samples: Mutex::default(),
            on_data: Mutex::new(on_data),
            depth: (!qos.keep_all).then_some(qos.depth),
            reliable: qos.reliable,
        });
        let filled = queue.clone();
        let builder = session.declare_subscriber(place.key).callback(move |sample| filled.put(sample));
        let port: Box<dyn Any> = if qos.transient_local {
            let mut history = HistoryConfig::default().detect_late_publishers();
            if !qos.keep_all {
                history = history.max_samples(qos.depth);
            }
            Box::new(builder.history(history).wait().say(|| format!("{topic}: subscriber with history"))?)
        } else {
            Box::new(builder.wait().say(|| format!("{topic}: subscriber"))?)
        };
        let entity =
            Entity::parse(&place.token).ok_or_else(|| Error::new(format!("{topic}: token {}", place.token)))?;
        // The token comes last: a peer that sees it knows of the subscriber.
        let token = session.liveliness().declare_token(place.token).wait().say(|| format!("{topic}: token"))?;
        let message_type = endpoint.message_type;
        Ok(Self {
            _token: token,
            _port: port,
            queue,
            graph,
            entity,
            message_type,
            shared: shm.then(|| session.clone()),
            lent: None,
        })
    }

    fn deserialised(&self, sample: &Sample) -> Result<Option<Ros>> {
        let topic = &self.entity.topic;
        let memory = sample.payload().as_shm();
        if self.shared.is_some() && memory.is_none() {
            return Err(Error::new(format!(
                "{topic}: a message came by TCP, not in shared memory; give its publisher transport: shm, too"
            )));
        }
        let message = Ros::deserialize(self.message_type, sample.payload().reader()).say(|| topic.clone());
        // Zenoh reclaims memory from a reader that does not report in time that it lives. Then the bytes that were read
        // may belong to another message.
        if memory.is_some_and(|memory| !memory.is_valid()) {
            return Ok(None);
        }
        message.map(Some)
    }
}

impl tacho_seam::Subscription for Subscription {
    fn matched(&mut self) -> Result<usize> {
        if let Some(session) = &self.shared {
            shared_memory::check(session).say(|| self.entity.topic.clone())?;
        }
        Ok(self.graph.matched(&self.entity))
    }

    fn take(&mut self) -> Result<Option<Message<'_>>> {
        loop {
            let Some(sample) = locked(&self.queue.samples).pop_front() else { return Ok(None) };
            if let Some(message) = self.deserialised(&sample)? {
                self.lent = Some(message);
                break;
            }
        }
        let Some(lent) = &self.lent else { return Ok(None) };
        let header = lent.header().ok_or_else(|| Error::new("a message without a header of ours"))?;
        Ok(Some(Message { header, data: lent.data(), message: lent.data().as_ptr().cast() }))
    }

    fn give_back(&mut self) {
        self.lent = None;
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        *locked(&self.queue.on_data) = None;
    }
}
