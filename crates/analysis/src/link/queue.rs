//! Whether a message that was never taken was overwritten in its subscription's queue.

/// What a subscription of a topic took, and what was published there.
pub struct Traffic<'a> {
    /// Publish time and take time of each message that the subscription took, by publish time.
    pub taken: &'a [(i64, i64)],
    /// Publish times of all messages of the topic, in order.
    pub published: &'a [i64],
}

/// Messages published after a lost one and before the subscription next took one that is younger. KEEP_LAST of depth N
/// keeps N: if N or more came, the lost one was overwritten (DDS 1.4, 2.2.3.18, HISTORY); if fewer came, it never was
/// in the queue. `None`: nothing was taken after it.
pub fn published_before_next_take(traffic: &Traffic<'_>, lost_ns: i64) -> Option<u64> {
    let younger = &traffic.taken[traffic.taken.partition_point(|(published, _)| *published <= lost_ns)..];
    // Of one subscription takes follow publish times but for messages of several publishers that overtake each other.
    let next_take = younger.iter().take(64).map(|(_, taken)| *taken).min()?;
    let after = traffic.published.partition_point(|p| *p <= lost_ns);
    let before = traffic.published.partition_point(|p| *p < next_take);
    Some(before.saturating_sub(after) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_of_depth_one_overwrites_what_one_later_message_follows() {
        let traffic = Traffic { taken: &[(10, 15), (30, 100)], published: &[10, 20, 25, 30, 110] };
        assert_eq!(published_before_next_take(&traffic, 20), Some(2));
        assert_eq!(published_before_next_take(&traffic, 25), Some(1));
        assert_eq!(published_before_next_take(&traffic, 110), None);
    }

    #[test]
    fn what_nothing_followed_was_not_overwritten() {
        let traffic = Traffic { taken: &[(10, 15), (30, 35)], published: &[10, 20, 30] };
        assert_eq!(published_before_next_take(&traffic, 20), Some(1));
        let soon = Traffic { taken: &[(10, 15), (21, 22)], published: &[10, 20, 21] };
        assert_eq!(published_before_next_take(&soon, 20), Some(1));
    }
}
