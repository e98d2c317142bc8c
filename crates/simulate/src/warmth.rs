//! Messages cost less, the shorter ago the system sent one before: caches are warm, and CPUs sleep less deeply.

use crate::transfer::Transfer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What messages and timers take some time after the publish call before, as parts of what they take after the longest
/// time that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Warmth {
    /// Since the publish call before, of whatever node, ns.
    pub pause_ns: i64,
    /// Part of the time from a timer's due time to its callback.
    pub timer: f64,
    /// Part of the publish call.
    pub send: f64,
    /// Part of the transit.
    pub transit: f64,
    /// Part of the time from arrival to callback.
    pub wake_up: f64,
    /// Part of the CPU time outside of callbacks in the process that sends.
    pub send_cpu: f64,
    /// Part of that in a process that receives.
    pub receive_cpu: f64,
}

impl Warmth {
    /// What was measured, in whole.
    pub const WHOLE: Warmth = Warmth {
        pause_ns: i64::MAX,
        timer: 1.0,
        send: 1.0,
        transit: 1.0,
        wake_up: 1.0,
        send_cpu: 1.0,
        receive_cpu: 1.0,
    };

    /// Made of both, number by number.
    fn with(self, other: Warmth, make: impl Fn(f64, f64) -> f64) -> Warmth {
        Warmth {
            pause_ns: make(self.pause_ns as f64, other.pause_ns as f64) as i64,
            timer: make(self.timer, other.timer),
            send: make(self.send, other.send),
            transit: make(self.transit, other.transit),
            wake_up: make(self.wake_up, other.wake_up),
            send_cpu: make(self.send_cpu, other.send_cpu),
            receive_cpu: make(self.receive_cpu, other.receive_cpu),
        }
    }

    /// The parts after these pauses, of which `measured` has the longest last: after their geometric mean, none of them
    /// longer than any that was measured (`None`: there was nothing before), on a logarithmic scale. Before the first
    /// measured one, those of that.
    pub(crate) fn after(measured: &[Warmth], pauses: &[Option<i64>]) -> Warmth {
        let Some(last) = measured.last() else { return Warmth::WHOLE };
        let log = |ns: i64| (ns.max(1) as f64).ln();
        let log_of = |pause: &Option<i64>| log(pause.map_or(last.pause_ns, |ns| ns.min(last.pause_ns)));
        let log_ns = pauses.iter().map(log_of).sum::<f64>() / pauses.len().max(1) as f64;
        let above = measured.partition_point(|of| log(of.pause_ns) < log_ns);
        match (above.checked_sub(1).map(|below| measured[below]), measured.get(above)) {
            (Some(below), Some(above)) => {
                let at = (log_ns - log(below.pause_ns)) / (log(above.pause_ns) - log(below.pause_ns));
                below.with(*above, |below, above| below + at * (above - below))
            }
            (Some(nearest), None) => nearest,
            (None, Some(nearest)) => *nearest,
            (None, None) => Warmth::WHOLE,
        }
    }

    /// What messages of one publisher show that sent nothing else, at several rates; the median lateness of its timer,
    /// by the rate in mHz. Nothing, if there is only one rate.
    pub(crate) fn of(transfers: &BTreeMap<u64, Vec<Transfer>>, timers: &BTreeMap<u64, i64>) -> Vec<Warmth> {
        let Some((seldom, whole)) = transfers.first_key_value() else { return vec![] };
        let timer_of = |rate: &u64| timers.get(rate).copied().unwrap_or(0);
        let part = |ns: i64, whole_ns: i64| if whole_ns > 0 && ns > 0 { ns as f64 / whole_ns as f64 } else { 1.0 };
        let mut all = Vec::new();
        for (rate, of_rate) in transfers {
            let pairs: Vec<Warmth> = of_rate
                .iter()
                .filter_map(|of| Some((of, whole.iter().find(|whole| of.is_like(whole))?)))
                .map(|(of, whole)| Warmth {
                    pause_ns: of.pause_ns,
                    timer: part(timer_of(rate), timer_of(seldom)),
                    send: part(of.send.quantile(0.5), whole.send.quantile(0.5)),
                    transit: part(of.median_transit_ns(), whole.median_transit_ns()),
                    wake_up: part(of.wake_up.quantile(0.5), whole.wake_up.quantile(0.5)),
                    send_cpu: part(of.send_cpu_ns, whole.send_cpu_ns),
                    receive_cpu: part(of.receive_cpu_ns, whole.receive_cpu_ns),
                })
                .collect();
            let count = pairs.len() as f64;
            let sum = pairs.into_iter().reduce(|sum, of| sum.with(of, |sum, of| sum + of));
            all.extend(sum.map(|sum| sum.with(sum, |sum, _| sum / count)));
        }
        all.sort_by_key(|of| of.pause_ns);
        all.dedup_by_key(|of| of.pause_ns);
        if all.len() < 2 {
            all.clear();
        }
        all
    }
}

/// How busy a system or a process has been: of pauses between what it did, the last one counts half, the one before a
/// quarter.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pause {
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    count: i64,
    /// Of the last ones.
    mean_ns: Option<i64>,
}

impl Pause {
    /// The mean pause if it did something now, ns; `None` if it did nothing before.
    pub fn until(&self, now: i64) -> Option<i64> {
        let ns = now - self.last_ns?;
        Some(self.mean_ns.map_or(ns, |mean_ns| (mean_ns + ns) / 2))
    }

    /// Counts what it does now.
    pub fn end(&mut self, now: i64) {
        self.mean_ns = self.until(now);
        self.first_ns = self.first_ns.or(Some(now));
        self.last_ns = Some(now);
        self.count += 1;
    }

    /// The mean of all pauses, ns; `None` if there was none.
    pub fn mean_ns(&self) -> Option<i64> {
        (self.last_ns? - self.first_ns?).checked_div(self.count - 1)
    }
}

/// This part of a duration.
pub(crate) fn part(ns: i64, part: f64) -> i64 {
    (ns as f64 * part).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spread::Spread;

    fn transfer(pause_ms: i64, us: i64) -> Transfer {
        let fixed = |us: i64| Spread::fixed(1_000 * us);
        Transfer {
            topic: "/data".into(),
            size_bytes: 64,
            subscriptions: 1,
            send: fixed(us),
            transit: vec![fixed(2 * us)],
            wake_up: fixed(100),
            send_cpu_ns: 1_000 * us * us,
            pause_ns: 1_000_000 * pause_ms,
            ..Transfer::default()
        }
    }

    #[test]
    fn seldom_messages_are_what_frequent_ones_are_parts_of() {
        let other = Transfer { topic: "/other".into(), ..transfer(4, 1_000) };
        let transfers = BTreeMap::from([(10_000, vec![transfer(100, 40)]), (250_000, vec![transfer(4, 10), other])]);
        let timers = BTreeMap::from([(10_000, 150_000), (250_000, 120_000)]);
        let measured = Warmth::of(&transfers, &timers);
        let frequent = Warmth {
            pause_ns: 4_000_000,
            timer: 0.8,
            send: 0.25,
            transit: 0.25,
            wake_up: 1.0,
            send_cpu: 0.0625,
            receive_cpu: 1.0,
        };
        assert_eq!(measured, [frequent, Warmth { pause_ns: 100_000_000, ..Warmth::WHOLE }]);
        // Half-way on a logarithmic scale, and beyond.
        let send = |pause_ns| Warmth::after(&measured, &[Some(pause_ns)]).send;
        assert!((send(20_000_000) - 0.625).abs() < 1e-9, "{}", send(20_000_000));
        assert_eq!([1, i64::MAX].map(send), [0.25, 1.0]);
        let of_two = Warmth::after(&measured, &[Some(4_000_000), None]).send;
        assert!((of_two - 0.625).abs() < 1e-9, "{of_two}");
        // What a frequent message took is made whole again.
        let whole = transfer(4, 10).at_rest(&measured);
        assert_eq!((whole.send, whole.transit), (transfer(100, 40).send, transfer(100, 40).transit));
        let one_rate = transfers.into_iter().take(1).collect();
        assert_eq!(Warmth::of(&one_rate, &timers), []);
        assert_eq!(Warmth::after(&[], &[Some(5)]), Warmth::WHOLE);
    }

    #[test]
    fn the_last_pause_counts_half() {
        let mut pause = Pause::default();
        assert_eq!((pause.until(7), pause.mean_ns()), (None, None));
        pause.end(100);
        assert_eq!(pause.mean_ns(), None);
        assert_eq!(pause.until(150), Some(50));
        pause.end(150);
        assert_eq!(pause.until(160), Some(30));
        pause.end(160);
        assert_eq!((pause.until(170), pause.mean_ns()), (Some(20), Some(30)));
    }
}
