//! Publishing: the lent buffer is the chunk that subscriptions will read.

use crate::memory::{chunks, queue};
use crate::topic::{check_depth, Header, Topic};
use crate::wake::Watch;
use crate::Ipc;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::port::publisher::Publisher as Port;
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::port::LoanError;
use iceoryx2::prelude::*;
use iceoryx2::sample_mut::SampleMut;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tacho_seam::{Endpoint, Error, Loan, Result, Say};

/// How long to wait for a chunk that subscriptions have taken.
const GIVEN_BACK: Duration = Duration::from_secs(10);

// Fields in the order in which they must be dropped: the thread that uses the port first, the lent chunk before its
// port.
pub struct Publisher {
    _late_joiners: Option<Watch>,
    lent: Option<SampleMut<Ipc, [u8], Header>>,
    port: Arc<Port<Ipc, [u8], Header>>,
    notifier: Notifier<Ipc>,
    topic: Topic,
    size: usize,
    /// Messages that a subscription's queue may hold without using up the chunks.
    longest: usize,
}

impl Publisher {
    pub fn new(node: &Node<Ipc>, domain: u32, endpoint: &Endpoint) -> Result<Self> {
        check_depth(endpoint)?;
        let topic = Topic::new(node, domain, endpoint, endpoint.qos.reliable)?;
        let (size, wanted) = (endpoint.size, chunks(&endpoint.qos, endpoint.size));
        let port = topic
            .messages
            .publisher_builder()
            .initial_max_slice_len(size + 1)
            .max_loaned_samples(1)
            .override_sample_preallocation(move |_| wanted)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()
            .say(|| {
                format!("{}: a publisher with {wanted} chunks of {size} B (is /dev/shm large enough?)", topic.name)
            })?;
        let port = Arc::new(port);
        let notifier = topic.news.notifier_builder().create().say(|| format!("{}: a notifier", topic.name))?;
        let late_joiners = if endpoint.qos.transient_local {
            let joined = topic.joined(node, domain, endpoint)?;
            let listener = joined.listener_builder().create().say(|| format!("{}: late joiners", topic.name))?;
            // SAFETY: the closure owns the listener, and with it the descriptor; it is dropped when the thread has
            // ended.
            let descriptor = unsafe { listener.file_descriptor().native_handle() };
            let port = port.clone();
            Some(Watch::new("tacho-iox-join", &[descriptor], move || {
                // A connection that failed is tried again with the next message.
                let _ = listener.try_wait_all(|_| ()).map(|()| port.update_connections());
                let _keep = &joined;
            })?)
        } else {
            None
        };
        let longest = queue(&endpoint.qos, size);
        Ok(Self { _late_joiners: late_joiners, lent: None, port, notifier, topic, size, longest })
    }

    fn loan(&self) -> Result<SampleMut<Ipc, [u8], Header>> {
        let begin = Instant::now();
        loop {
            match self.port.loan_slice_uninit(self.size + 1) {
                // SAFETY: bytes of a mapping that iceoryx2 filled with zeros when it made it, so all of them are
                // initialised.
                Ok(chunk) => return Ok(unsafe { chunk.assume_init() }),
                Err(LoanError::OutOfMemory) if begin.elapsed() < GIVEN_BACK => {
                    std::thread::sleep(Duration::from_micros(50))
                }
                Err(error) => {
                    return Err(error).say(|| {
                        format!(
                            "{}: no chunk came back from the subscriptions in {} s",
                            self.topic.name,
                            GIVEN_BACK.as_secs()
                        )
                    })
                }
            }
        }
    }
}

impl tacho_seam::Publisher for Publisher {
    fn matched(&mut self) -> Result<usize> {
        self.topic.forget_the_dead();
        let mut longest = 0;
        let service = self.topic.messages.dynamic_config();
        service.list_subscribers(|subscriber| {
            longest = longest.max(subscriber.buffer_size);
            CallbackProgression::Continue
        });
        if longest > self.longest {
            return Err(Error::new(format!(
                "{}: a subscription keeps {longest} messages, the publisher has memory for {}; give the publisher at \
                 least its depth",
                self.topic.name, self.longest
            )));
        }
        Ok(service.number_of_subscribers())
    }

    fn borrow(&mut self) -> Result<Loan<'_>> {
        let chunk = match self.lent.take() {
            Some(chunk) => chunk,
            None => self.loan()?,
        };
        let chunk = self.lent.insert(chunk);
        let message = chunk.payload().as_ptr().cast();
        // The byte after the data records whether the chunk was filled: it is zero in fresh memory, and only this
        // publisher writes to it.
        let (data, filled) = chunk.payload_mut().split_at_mut(self.size);
        let kept = std::mem::replace(&mut filled[0], 1) == 1;
        Ok(Loan { data, kept, message })
    }

    fn publish(&mut self, header: &tacho_seam::Header) -> Result<()> {
        let Some(mut chunk) = self.lent.take() else {
            return Err(Error::new(format!("{}: nothing was borrowed", self.topic.name)));
        };
        let tacho_seam::Header { sequence, stamp_ns, publisher, reserved } = *header;
        *chunk.user_header_mut() = Header { sequence, stamp_ns, publisher, reserved };
        chunk.send().say(|| format!("{}: send", self.topic.name))?;
        // The message was sent: a failed wake-up makes it late, but does not refuse it.
        if let Err(error) = self.notifier.notify() {
            eprintln!("{}: its subscriptions were not woken for message {sequence}: {error}", self.topic.name);
        }
        Ok(())
    }
}
