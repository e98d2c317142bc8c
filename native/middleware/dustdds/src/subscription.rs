//! Taking. Dust DDS keeps received messages, and deserialises each in the thread that takes it.

use crate::messages::Ros;
use crate::notifier::Notifier;
use crate::session::{failed, Session};
use dust_dds::dds_async::data_reader::DataReaderAsync;
use dust_dds::infrastructure::error::DdsError;
use std::sync::Arc;
use tacho_seam::{Error, Message, Result};

pub struct Subscription<T: Ros> {
    reader: DataReaderAsync<T>,
    session: Arc<Session>,
    topic: String,
    notifier: Notifier,
    /// The lent message.
    message: Option<T>,
}

impl<T: Ros> Subscription<T> {
    pub fn new(session: Arc<Session>, reader: DataReaderAsync<T>, topic: &str, notifier: Notifier) -> Self {
        Self { reader, session, topic: topic.into(), notifier, message: None }
    }
}

impl<T: Ros> Drop for Subscription<T> {
    fn drop(&mut self) {
        self.notifier.end();
    }
}

impl<T: Ros> tacho_seam::Subscription for Subscription<T> {
    fn matched(&mut self) -> Result<usize> {
        let status = self.session.tasks.block_on(self.reader.get_subscription_matched_status());
        Ok(status.map_err(|why| failed(&self.topic, "matched status", &why))?.current_count as usize)
    }

    fn take(&mut self) -> Result<Option<Message<'_>>> {
        // The sample that reports the end of a writer has no data.
        let message = loop {
            match self.session.tasks.block_on(self.reader.take_next_sample()) {
                Ok(sample) if !sample.sample_info.valid_data => continue,
                Ok(sample) => {
                    break sample
                        .data
                        .ok_or_else(|| Error::new(format!("{}: a message of another type", self.topic)))?
                }
                Err(DdsError::NoData) => return Ok(None),
                Err(why) => return Err(failed(&self.topic, "take", &why)),
            }
        };
        let message = self.message.insert(message);
        let header = message
            .header()
            .ok_or_else(|| Error::new(format!("{}: a message without a header of ours", self.topic)))?;
        let data = message.data();
        Ok(Some(Message { header, data, message: data.as_ptr().cast() }))
    }

    fn give_back(&mut self) {
        self.message = None;
    }
}
