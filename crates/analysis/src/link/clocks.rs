//! Clocks of several hosts related by the messages between them.
//!
//! A message cannot arrive before it was sent: each from A to B bounds the offset between the two from one side, each
//! from B to A from the other. [`crate::link::clock_offset`] makes lines of that.

use crate::link::clock_offset::Relation;
use crate::observe::board_clock::Bounds;
use tacho_tables::row::{Column, Row};
use tacho_tables::{HostClock, Process};

/// A message between two processes, on the clocks of both.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sighting {
    pub from: Row<Process>,
    pub to: Row<Process>,
    pub sent_ns: i64,
    pub received_ns: i64,
}

/// Messages each way that relate two clocks.
const LEAST_MESSAGES: usize = 2;

/// The clocks of a run: which process is on which, and how to bring each to that of the first.
#[derive(Default)]
pub(crate) struct Clocks {
    /// Clock of each process.
    pub of_process: Column<Process, u32>,
    /// By clock.
    pub rows: Vec<HostClock>,
    /// By clock: how it is brought to the first; absent for that, and where nothing relates the two.
    relations: Vec<Option<Relation>>,
}

impl Clocks {
    /// Clocks of processes with these names of boots and hosts, related by messages.
    pub fn relate(processes: &[(String, String)], sightings: &[Sighting]) -> Clocks {
        let mut boots: Vec<&str> = Vec::new();
        let mut hosts: Vec<String> = Vec::new();
        let mut of_process = Column::default();
        for (boot, host) in processes {
            let clock = boots.iter().position(|known| known == boot).unwrap_or_else(|| {
                boots.push(boot);
                hosts.push(host.clone());
                boots.len() - 1
            });
            of_process.push(clock as u32);
        }
        // Bounds of what brings a clock's times to the first. Only clocks that talk to the first directly are related:
        // every step between would add its uncertainty.
        let mut bounds = vec![Bounds::default(); boots.len()];
        let mut counts = vec![(0u64, 0u64); boots.len()];
        for s in sightings {
            let (from, to) = (of_process[s.from] as usize, of_process[s.to] as usize);
            counts[from].0 += u64::from(from != to);
            counts[to].1 += u64::from(from != to);
            match (from, to) {
                (0, other) if other != 0 => bounds[other].below.push((s.received_ns, s.sent_ns - s.received_ns)),
                (other, 0) if other != 0 => bounds[other].above.push((s.sent_ns, s.received_ns - s.sent_ns)),
                _ => {}
            }
        }
        let relation = |bounds: &Bounds| {
            let enough = bounds.above.len().min(bounds.below.len()) >= LEAST_MESSAGES;
            Relation::of(bounds).filter(|_| enough)
        };
        let relations: Vec<Option<Relation>> = bounds.iter().map(relation).collect();
        let row = |clock: usize| {
            let relation = relations[clock].as_ref();
            let first = (clock == 0).then_some(0);
            HostClock {
                host: hosts[clock].clone(),
                offset_ns: relation.map(|r| -r.first_offset_ns()).or(first),
                drift_ppm: relation.map(|r| -r.first_drift() * 1e6).or(first.map(|_| 0.0)),
                uncertainty_ns: relation.map(|r| r.error_ns).or(first),
                spans: relation.map_or(0, |r| r.spans() as u32),
                sent: counts[clock].0,
                received: counts[clock].1,
            }
        };
        let rows = if boots.len() > 1 { (0..boots.len()).map(row).collect() } else { Vec::new() };
        Clocks { of_process, rows, relations }
    }

    /// An instant of a process on the first clock.
    pub fn on_first(&self, process: Row<Process>, instant: i64) -> i64 {
        let clock = self.of_process.get(process).copied().unwrap_or(0);
        match self.relations.get(clock as usize) {
            Some(Some(relation)) => relation.monotonic_ns(instant),
            _ => instant,
        }
    }

    /// Group of clocks that a process belongs to: times of two groups do not compare.
    pub fn group(&self, process: Row<Process>) -> u32 {
        match self.of_process.get(process) {
            Some(clock) if self.relations[*clock as usize].is_none() => *clock,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Draw(u64);

    impl Draw {
        fn below(&mut self, bound: u64) -> i64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) % bound) as i64
        }
    }

    /// Host 1 is ahead by `offset + drift t`; both send each 10 ms, and delays are at least 50 us one way and 80 us the
    /// other.
    fn exchange(offset: i64, drift: impl Fn(i64) -> f64, seconds: i64, draw: &mut Draw) -> Vec<Sighting> {
        let ahead = |t: i64| t + offset + drift(t).round() as i64;
        (0..seconds * 100)
            .flat_map(|k| {
                let t = k * 10_000_000;
                let (there, back) = (50_000 + draw.below(400_000), 80_000 + draw.below(900_000));
                [
                    Sighting { from: Row::new(0), to: Row::new(1), sent_ns: t, received_ns: ahead(t + there) },
                    Sighting {
                        from: Row::new(1),
                        to: Row::new(0),
                        sent_ns: ahead(t + 5_000_000),
                        received_ns: t + 5_000_000 + back,
                    },
                ]
            })
            .collect()
    }

    fn two(sightings: &[Sighting]) -> Clocks {
        Clocks::relate(&[("a".into(), "car".into()), ("b".into(), "roadside".into())], sightings)
    }

    /// Time of host 1 at a true instant, corrected, less that instant.
    fn error(clocks: &Clocks, offset: i64, drift: impl Fn(i64) -> f64, t: i64) -> i64 {
        clocks.on_first(Row::new(1), t + offset + drift(t).round() as i64) - t
    }

    #[test]
    fn the_true_clock_lies_within_the_uncertainty_and_no_latency_is_negative() {
        for seed in 0..20 {
            let mut draw = Draw(seed);
            let (offset, ppm) = (draw.below(20_000_000_000_000) - 10_000_000_000_000, (draw.below(200) - 100) as f64);
            let drift = |t: i64| ppm * 1e-6 * t as f64;
            let sightings = exchange(offset, drift, 60, &mut draw);
            let clocks = two(&sightings);
            let row = &clocks.rows[1];
            let uncertainty = row.uncertainty_ns.expect("related");
            assert!(uncertainty < 200_000, "{uncertainty}: of delays of at least 130 us there and back");
            assert!((row.drift_ppm.expect("related") - ppm).abs() < 5.0, "{row:?}, {ppm}");
            for t in (0..60).map(|s| s * 1_000_000_000) {
                assert!(error(&clocks, offset, drift, t).abs() <= uncertainty + 1, "seed {seed} at {t}");
            }
            for s in &sightings {
                let latency = clocks.on_first(s.to, s.received_ns) - clocks.on_first(s.from, s.sent_ns);
                assert!(latency >= 0, "seed {seed}: {s:?} {latency}");
            }
        }
    }

    #[test]
    fn a_clock_that_was_slewed_is_followed_in_spans() {
        // 400 ppm for 20 s, then back: no line fits delays of less than a millisecond.
        let drift = |t: i64| 400e-6 * if t < 20_000_000_000 { t as f64 } else { 40e9 - t as f64 };
        let clocks = two(&exchange(5_000_000, drift, 40, &mut Draw(3)));
        assert!(clocks.rows[1].spans > 1, "{:?}", clocks.rows[1]);
        let uncertainty = clocks.rows[1].uncertainty_ns.expect("related");
        for t in (0..40).map(|s| s * 1_000_000_000) {
            assert!(error(&clocks, 5_000_000, drift, t).abs() <= uncertainty + 1, "at {t}");
        }
    }

    #[test]
    fn messages_one_way_relate_nothing() {
        let mut sightings = exchange(0, |_| 0.0, 10, &mut Draw(1));
        sightings.retain(|s| s.from == Row::new(0));
        let clocks = two(&sightings);
        assert_eq!((clocks.rows[1].offset_ns, clocks.rows[1].uncertainty_ns), (None, None));
        assert_ne!(clocks.group(Row::new(0)), clocks.group(Row::new(1)));
        assert_eq!(clocks.on_first(Row::new(1), 77), 77);
    }

    #[test]
    fn one_host_has_one_clock_and_no_rows() {
        let clocks = Clocks::relate(&[("a".into(), "car".into()), ("a".into(), "car".into())], &[]);
        assert_eq!((clocks.rows.len(), clocks.group(Row::new(0)), clocks.group(Row::new(1))), (0, 0, 0));
    }
}
