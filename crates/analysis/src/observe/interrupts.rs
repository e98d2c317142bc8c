//! What interrupts took of a CPU: those that are being served on it, one inside the other, and whose time was whose.
//!
//! Linux serves softirqs when a hardware interrupt ends, or in a thread of their own; a hardware interrupt may come in
//! between. Each instant is the innermost one's. No thread is switched meanwhile, so that a switch says that an end is
//! missing.

use tacho_events::{Text, Texts};

/// What a CPU serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Of a device, by its number and its handler's name.
    Irq { irq: u64, name: Text },
    /// By its vector (include/linux/interrupt.h).
    Softirq { vector: u64 },
}

/// Names of softirqs, as /proc/softirqs has them.
const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];

impl Interrupt {
    /// `eth0 (irq 27)`, `softirq NET_RX`.
    pub fn words(&self, texts: &Texts) -> String {
        match self {
            Interrupt::Irq { irq, name } if texts.get(*name).is_empty() => format!("irq {irq}"),
            Interrupt::Irq { irq, name } => format!("{} (irq {irq})", texts.get(*name)),
            Interrupt::Softirq { vector } => match SOFTIRQS.get(*vector as usize) {
                Some(name) => format!("softirq {name}"),
                None => format!("softirq {vector}"),
            },
        }
    }

    fn is(&self, other: &Interrupt) -> bool {
        match (self, other) {
            (Interrupt::Irq { irq, .. }, Interrupt::Irq { irq: other, .. }) => irq == other,
            (Interrupt::Softirq { vector }, Interrupt::Softirq { vector: other }) => vector == other,
            _ => false,
        }
    }
}

/// Interrupts of one CPU, innermost last.
#[derive(Debug, Default)]
pub(crate) struct Served {
    open: Vec<Interrupt>,
    /// Since when the time is the innermost one's.
    since: i64,
}

/// A stretch of time that one of them took.
pub(crate) type Taken = (Interrupt, i64, i64);

impl Served {
    /// One begins; what that which it interrupts had until now.
    pub fn enter(&mut self, interrupt: Interrupt, now: i64) -> Option<Taken> {
        let taken = self.open.last().map(|before| (*before, self.since, now));
        self.open.push(interrupt);
        self.since = now;
        taken
    }

    /// One ends; what it had since it began, or since one that interrupted it ended. `None`: its begin is not there.
    pub fn exit(&mut self, interrupt: Interrupt, now: i64) -> Option<Taken> {
        match self.open.pop() {
            Some(begun) if begun.is(&interrupt) => {
                let taken = (begun, self.since, now);
                self.since = now;
                Some(taken)
            }
            _ => {
                self.forget();
                None
            }
        }
    }

    /// Events are missing: what is being served is not known.
    pub fn forget(&mut self) {
        self.open.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ETH: Interrupt = Interrupt::Irq { irq: 27, name: Text::EMPTY };
    const NET_RX: Interrupt = Interrupt::Softirq { vector: 3 };

    #[test]
    fn each_instant_is_the_innermost_ones() {
        let mut served = Served::default();
        assert_eq!(served.enter(NET_RX, 100), None);
        assert_eq!(served.enter(ETH, 130), Some((NET_RX, 100, 130)));
        assert_eq!(served.exit(ETH, 150), Some((ETH, 130, 150)));
        assert_eq!(served.exit(NET_RX, 190), Some((NET_RX, 150, 190)));
    }

    #[test]
    fn an_end_without_its_begin_tells_nothing() {
        let mut served = Served::default();
        assert_eq!(served.exit(ETH, 10), None);
        served.enter(ETH, 20);
        assert_eq!(served.exit(NET_RX, 30), None, "another one's");
        assert_eq!(served.exit(ETH, 40), None, "when it began is not known any more");
        served.enter(ETH, 50);
        served.forget();
        assert_eq!(served.exit(ETH, 60), None);
    }
}
