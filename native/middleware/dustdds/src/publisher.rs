//! Publishing. Dust DDS takes the message away from its user and serialises it, so each message is made anew, outside
//! of publish().

use crate::messages::Ros;
use crate::session::{failed, Session};
use dust_dds::dds_async::data_writer::DataWriterAsync;
use std::sync::Arc;
use tacho_seam::{Error, Header, Loan, Result};

pub struct Publisher<T: Ros> {
    writer: DataWriterAsync<T>,
    session: Arc<Session>,
    topic: String,
    size: usize,
    /// The borrowed message.
    message: Option<T>,
}

impl<T: Ros> Publisher<T> {
    pub fn new(session: Arc<Session>, writer: DataWriterAsync<T>, topic: &str, size: usize) -> Self {
        Self { writer, session, topic: topic.into(), size, message: None }
    }
}

impl<T: Ros> tacho_seam::Publisher for Publisher<T> {
    fn matched(&mut self) -> Result<usize> {
        let status = self.session.tasks.block_on(self.writer.get_publication_matched_status());
        Ok(status.map_err(|why| failed(&self.topic, "matched status", &why))?.current_count as usize)
    }

    fn borrow(&mut self) -> Result<Loan<'_>> {
        let kept = self.message.is_some();
        let data = self.message.get_or_insert_with(|| T::with_room(self.size)).data_mut();
        let message = data.as_ptr().cast();
        Ok(Loan { data, kept, message })
    }

    fn publish(&mut self, header: &Header) -> Result<()> {
        let mut message =
            self.message.take().ok_or_else(|| Error::new(format!("{}: no message was borrowed", self.topic)))?;
        message.set_header(header)?;
        let written = self.session.tasks.block_on(self.writer.write(message, None));
        written.map_err(|why| failed(&self.topic, "write", &why))
    }
}
