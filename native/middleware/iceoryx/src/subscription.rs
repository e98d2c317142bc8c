//! Taking: the subscription sees the publisher's chunk itself.

use crate::memory::queue;
use crate::topic::{check_depth, Header, Topic};
use crate::wake::{raised, Poll, Watch};
use crate::Ipc;
use iceoryx2::port::listener::Listener;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;
use iceoryx2::sample::Sample;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use tacho_seam::{Endpoint, Error, Message, OnData, Result, Say};

/// One service that the subscription listens to.
struct Joined {
    subscriber: Subscriber<Ipc, [u8], Header>,
    topic: Topic,
}

/// The descriptor that `descriptor` returns.
struct WaitedOn {
    poll: Poll,
    /// Readable until the queues were first seen empty, because nobody was notified of messages that came before the
    /// listeners.
    first: Option<OwnedFd>,
    listeners: Vec<Arc<Listener<Ipc>>>,
}

// Fields in the order in which they must be dropped: the thread that calls on_data first.
pub struct Subscription {
    _on_data: Option<Watch>,
    waited_on: Option<WaitedOn>,
    lent: Option<Sample<Ipc, [u8], Header>>,
    joined: Vec<Joined>,
    /// The service to look at first, so that none starves.
    next: usize,
}

fn descriptors(listeners: &[Arc<Listener<Ipc>>]) -> Vec<RawFd> {
    // SAFETY: callers keep the listeners, and with them the descriptors.
    listeners.iter().map(|listener| unsafe { listener.file_descriptor().native_handle() }).collect()
}

fn read_empty(listeners: &[Arc<Listener<Ipc>>]) {
    for listener in listeners {
        // Only an interrupt makes it fail; the descriptor is then still readable.
        let _ = listener.try_wait_all(|_| ());
    }
}

impl Subscription {
    pub fn new(node: &Node<Ipc>, domain: u32, endpoint: &Endpoint, on_data: Option<OnData>) -> Result<Self> {
        check_depth(endpoint)?;
        let mut made = Self { _on_data: None, waited_on: None, lent: None, joined: Vec::new(), next: 0 };
        // DDS 1.4, 2.2.3: reliable satisfies best effort, but not the reverse.
        let offered: &[bool] = if endpoint.qos.reliable { &[true] } else { &[true, false] };
        let topics =
            offered.iter().map(|reliable| Topic::new(node, domain, endpoint, *reliable)).collect::<Result<Vec<_>>>()?;
        // Listeners are made before the ports, so that every message in a queue was notified.
        if let Some(on_data) = on_data {
            let listeners = topics.iter().map(listener).collect::<Result<Vec<_>>>()?;
            let waited_on = descriptors(&listeners);
            made._on_data = Some(Watch::new("tacho-iox-data", &waited_on, move || {
                read_empty(&listeners);
                on_data.call();
            })?);
        }
        for topic in topics {
            let depth = queue(&endpoint.qos, endpoint.size);
            let subscriber = topic.messages.subscriber_builder().buffer_size(depth).create();
            let subscriber = subscriber.say(|| format!("{}: a subscriber with a queue of {depth}", topic.name))?;
            if endpoint.qos.transient_local {
                let event = topic.joined(node, domain, endpoint)?;
                let told = event.notifier_builder().create().say(|| format!("{}: late joiners", topic.name))?;
                told.notify().say(|| format!("{}: late joiners", topic.name))?;
            }
            made.joined.push(Joined { subscriber, topic });
        }
        Ok(made)
    }

    fn receive(&mut self) -> Result<bool> {
        for _ in 0..self.joined.len() {
            let joined = &self.joined[self.next];
            self.next = (self.next + 1) % self.joined.len();
            let sample = joined.subscriber.receive().say(|| format!("{}: receive", joined.topic.name))?;
            if sample.is_some() {
                self.lent = sample;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn listener(topic: &Topic) -> Result<Arc<Listener<Ipc>>> {
    topic.news.listener_builder().create().map(Arc::new).say(|| format!("{}: a listener", topic.name))
}

impl tacho_seam::Subscription for Subscription {
    fn matched(&mut self) -> Result<usize> {
        let publishers = self.joined.iter().map(|joined| {
            joined.topic.forget_the_dead();
            joined.topic.messages.dynamic_config().number_of_publishers()
        });
        Ok(publishers.sum())
    }

    fn take(&mut self) -> Result<Option<Message<'_>>> {
        if !self.receive()? {
            // Notifications are read only if the queues are empty, and then the queues are checked again; a descriptor
            // that is readable afterwards announces a later message.
            let Some(waited_on) = &mut self.waited_on else { return Ok(None) };
            waited_on.first = None;
            read_empty(&waited_on.listeners);
            if !self.receive()? {
                return Ok(None);
            }
        }
        let Some(sample) = &self.lent else { return Ok(None) };
        let Header { sequence, stamp_ns, publisher, reserved } = *sample.user_header();
        let header = tacho_seam::Header { sequence, stamp_ns, publisher, reserved };
        let message = sample.payload().as_ptr().cast();
        // The byte of Publisher::borrow follows the data.
        let Some((_, data)) = sample.payload().split_last() else {
            return Err(Error::new("a message without a byte, which no publisher of this plugin sends"));
        };
        Ok(Some(Message { header, data, message }))
    }

    fn give_back(&mut self) {
        self.lent = None;
    }

    fn descriptor(&mut self) -> Result<RawFd> {
        if let Some(WaitedOn { poll, .. }) = &self.waited_on {
            return Ok(poll.descriptor());
        }
        let listeners = self.joined.iter().map(|joined| listener(&joined.topic)).collect::<Result<Vec<_>>>()?;
        let first = raised()?;
        let poll = Poll::new(&[&descriptors(&listeners)[..], &[first.as_raw_fd()]].concat())?;
        let descriptor = poll.descriptor();
        self.waited_on = Some(WaitedOn { poll, first: Some(first), listeners });
        Ok(descriptor)
    }
}
