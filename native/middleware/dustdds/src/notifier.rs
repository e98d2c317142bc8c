//! Notifies the user of a subscription that a message has come.

use crate::messages::Ros;
use dust_dds::dds_async::data_reader::DataReaderAsync;
use dust_dds::dds_async::data_reader_listener::DataReaderListener;
use std::sync::{Arc, Mutex, PoisonError};
use tacho_seam::OnData;

/// Notifies of messages until the subscription ends.
#[derive(Clone, Default)]
pub struct Notifier(Arc<Mutex<Option<OnData>>>);

impl Notifier {
    pub fn new(on_data: Option<OnData>) -> Self {
        Self(Arc::new(Mutex::new(on_data)))
    }

    /// Ends the notifications. When it returns, none is under way.
    pub fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl<T: Ros> DataReaderListener<T> for Notifier {
    async fn on_data_available(&mut self, _reader: DataReaderAsync<T>) {
        // Held during the call, so that no call is under way once the subscription is dropped.
        if let Some(on_data) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            on_data.call();
        }
    }
}
