//! Messages handed over inside a process: through ring buffers of rclcpp, one a subscription.

use crate::observe::PublicationSeen;
use rustc_hash::FxHashMap as HashMap;
use tacho_events::Handle;
use tacho_tables::row::Row;

/// What lies in the buffers of one process: by buffer and index, the publication and when it was put there.
#[derive(Default)]
pub(crate) struct Buffers {
    lying: HashMap<(Handle, u64), (Row<PublicationSeen>, i64)>,
}

impl Buffers {
    /// A publication is put into a buffer; gives the one that it overwrites, which nobody will take.
    pub fn enqueue(
        &mut self,
        buffer: Handle,
        index: u64,
        publication: Row<PublicationSeen>,
        now: i64,
    ) -> Option<Row<PublicationSeen>> {
        self.lying.insert((buffer, index), (publication, now)).map(|(overwritten, _)| overwritten)
    }

    /// The publication that is taken out, and when it was put in; `None`: its putting in was not recorded.
    pub fn dequeue(&mut self, buffer: Handle, index: u64) -> Option<(Row<PublicationSeen>, i64)> {
        self.lying.remove(&(buffer, index))
    }

    /// Buffer and publication of all that lies in one.
    pub fn lying(&self) -> impl Iterator<Item = (Handle, Row<PublicationSeen>)> + '_ {
        self.lying.iter().map(|((buffer, _), (publication, _))| (*buffer, *publication))
    }

    /// All that a buffer holds is thrown away.
    pub fn clear(&mut self, buffer: Handle) -> Vec<Row<PublicationSeen>> {
        let mut gone = Vec::new();
        self.lying.retain(|(of, _), (publication, _)| {
            let kept = *of != buffer;
            if !kept {
                gone.push(*publication);
            }
            kept
        });
        gone.sort_unstable();
        gone
    }
}

/// Messages of one process by their address, where buffers tell nothing (rclcpp before its ring buffers had events):
/// the last publication that lay there, itself or a copy of it.
#[derive(Default)]
pub(crate) struct HandedOver {
    at: HashMap<Handle, Row<PublicationSeen>>,
}

impl HandedOver {
    /// A message was published within the process.
    pub fn published(&mut self, message: Handle, publication: Row<PublicationSeen>) {
        self.at.insert(message, publication);
    }

    /// A message was copied, which may not have been published.
    pub fn copied(&mut self, original: Handle, constructed: Handle) {
        match self.at.get(&original).copied() {
            Some(publication) => self.at.insert(constructed, publication),
            None => self.at.remove(&constructed),
        };
    }

    /// The publication that lies at an address.
    pub fn of(&self, message: Handle) -> Option<Row<PublicationSeen>> {
        self.at.get(&message).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_overwrites_its_oldest_and_a_cleared_one_loses_all() {
        let (buffer, other) = (Handle(1), Handle(2));
        let mut buffers = Buffers::default();
        assert_eq!(buffers.enqueue(buffer, 0, Row::new(10), 100), None);
        assert_eq!(buffers.enqueue(buffer, 1, Row::new(11), 110), None);
        assert_eq!(buffers.enqueue(other, 0, Row::new(10), 100), None);
        assert_eq!(buffers.enqueue(buffer, 0, Row::new(12), 120), Some(Row::new(10)));
        assert_eq!(buffers.dequeue(buffer, 1), Some((Row::new(11), 110)));
        assert_eq!(buffers.dequeue(buffer, 1), None);
        assert_eq!(buffers.clear(buffer), [Row::new(12)]);
        assert_eq!(buffers.dequeue(other, 0), Some((Row::new(10), 100)));
    }
}
