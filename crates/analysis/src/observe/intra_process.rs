//! Messages handed over inside a process: through ring buffers of rclcpp, one a subscription.

use std::collections::HashMap;
use tacho_events::Handle;

/// What lies in the buffers of one process: by buffer and index, the publication and when it was put there.
#[derive(Default)]
pub(crate) struct Buffers {
    lying: HashMap<(Handle, u64), (u32, i64)>,
}

impl Buffers {
    /// A publication is put into a buffer; gives the one that it overwrites, which nobody will take.
    pub fn enqueue(&mut self, buffer: Handle, index: u64, publication: u32, now: i64) -> Option<u32> {
        self.lying.insert((buffer, index), (publication, now)).map(|(overwritten, _)| overwritten)
    }

    /// The publication that is taken out, and when it was put in; `None`: its putting in was not recorded.
    pub fn dequeue(&mut self, buffer: Handle, index: u64) -> Option<(u32, i64)> {
        self.lying.remove(&(buffer, index))
    }

    /// Buffer and publication of all that lies in one.
    pub fn lying(&self) -> impl Iterator<Item = (Handle, u32)> + '_ {
        self.lying.iter().map(|((buffer, _), (publication, _))| (*buffer, *publication))
    }

    /// All that a buffer holds is thrown away.
    pub fn clear(&mut self, buffer: Handle) -> Vec<u32> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_overwrites_its_oldest_and_a_cleared_one_loses_all() {
        let (buffer, other) = (Handle(1), Handle(2));
        let mut buffers = Buffers::default();
        assert_eq!(buffers.enqueue(buffer, 0, 10, 100), None);
        assert_eq!(buffers.enqueue(buffer, 1, 11, 110), None);
        assert_eq!(buffers.enqueue(other, 0, 10, 100), None);
        assert_eq!(buffers.enqueue(buffer, 0, 12, 120), Some(10));
        assert_eq!(buffers.dequeue(buffer, 1), Some((11, 110)));
        assert_eq!(buffers.dequeue(buffer, 1), None);
        assert_eq!(buffers.clear(buffer), [12]);
        assert_eq!(buffers.dequeue(other, 0), Some((10, 100)));
    }
}
