//! Computes how many messages fit. iceoryx2 reserves all shared memory of a publisher when it is made, and writes zeros
//! to it.

use tacho_seam::{Qos, MIB};

/// Most publishers, and most subscriptions, of a topic; study A has 64 nodes.
pub const PEERS: usize = 128;

/// Most messages in the queue of a subscription.
pub const LONGEST_QUEUE: usize = 1024;

/// Most bytes of chunks beyond the depth of the queues.
const RESERVE: usize = 32 * MIB;

/// Most bytes of the messages in the queue of a keep-all subscription.
const KEEP_ALL: usize = 256 * MIB;

/// Messages that the queue of a subscription holds: its depth, or the resource limit of keep all, because shared memory
/// is not endless. A reliable publisher waits if a queue that keeps all is full.
pub fn queue(qos: &Qos, size: usize) -> usize {
    if qos.keep_all {
        (KEEP_ALL / size.max(1)).clamp(16, LONGEST_QUEUE)
    } else {
        qos.depth
    }
}

/// Chunks of a publisher: those in the queues, which hold the same newest messages; the one that is being filled; and
/// those that subscriptions have taken and not given back, as far as memory allows. A publisher waits if there are more
/// of these.
pub fn chunks(qos: &Qos, size: usize) -> usize {
    queue(qos, size) + 1 + (RESERVE / size.max(1)).clamp(8, PEERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_publisher_of_large_messages_reserves_no_more_than_it_needs() {
        let last = |depth| Qos { reliable: true, transient_local: false, keep_all: false, depth };
        let all = Qos { keep_all: true, ..last(1) };
        assert_eq!(chunks(&last(10), 16), 10 + 1 + 128);
        assert_eq!(chunks(&last(10), 2 * MIB), 10 + 1 + 16);
        assert_eq!(chunks(&last(10), 64 * MIB), 10 + 1 + 8);
        assert_eq!((queue(&all, 16), queue(&all, MIB), queue(&all, 64 * MIB)), (1024, 256, 16));
    }
}
