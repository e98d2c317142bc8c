//! Limits the wait for endpoints: it lasts as long as peers are still being found, but not for ever.

use std::time::{Duration, Instant};

/// Longest time without progress of any process. Discovery of many nodes on few cores has long pauses.
const BETWEEN_STEPS: Duration = Duration::from_secs(90);
/// Longest time in all: on an overloaded machine, leases may expire and peers come and go for ever.
pub const IN_ALL: Duration = Duration::from_secs(600);

/// The wait for all processes of a run to be ready, or matched.
pub struct Patience {
    began: Instant,
    stepped: Instant,
}

impl Patience {
    /// Begins to wait now.
    pub fn new(now: Instant) -> Patience {
        Patience { began: now, stepped: now }
    }

    /// Notes progress: a process became ready, or one of its endpoints found or lost a peer.
    pub fn step(&mut self, now: Instant) {
        self.stepped = now;
    }

    /// Why the wait has ended; `None` while it continues.
    pub fn ended(&self, now: Instant) -> Option<String> {
        if now - self.stepped > BETWEEN_STEPS {
            return Some(format!("for {} s no endpoint found another peer", BETWEEN_STEPS.as_secs()));
        }
        (now - self.began > IN_ALL).then(|| format!("after {} s peers are still being looked for", IN_ALL.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn slow_discovery_is_waited_for_and_none_is_not() {
        let begin = Instant::now();
        let mut patience = Patience::new(begin);
        assert_eq!(patience.ended(begin + 89 * SECOND), None);
        assert!(patience.ended(begin + 91 * SECOND).is_some_and(|why| why.contains("90 s")));
        patience.step(begin + 80 * SECOND);
        assert_eq!(patience.ended(begin + 169 * SECOND), None);
        assert!(patience.ended(begin + 171 * SECOND).is_some());
    }

    #[test]
    fn peers_that_come_and_go_are_not_waited_for_without_end() {
        let begin = Instant::now();
        let mut patience = Patience::new(begin);
        (1..=600).for_each(|second| patience.step(begin + second * SECOND));
        assert_eq!(patience.ended(begin + 600 * SECOND), None);
        assert!(patience.ended(begin + 601 * SECOND).is_some_and(|why| why.contains("600 s")));
    }
}
