//! What the node processes used, and how long they took to start. Each figure is the mean of the repeats in which it
//! was measured of every node process.

use crate::figures::Repeat;
use tacho_events::run::{ProcessExit, Resources, StartUp};
use tacho_tables::summary::Distribution;

const NS_PER_S: f64 = 1e9;
const NS_PER_MS: f64 = 1e6;

/// Entering main to the first message in a callback, of every process that got one.
pub(super) fn startup_ms(repeats: &[Repeat<'_>]) -> Option<Distribution> {
    let took = |s: &StartUp| Some((s.first_message_ns? - s.main_ns) as f64 / NS_PER_MS);
    Distribution::of(processes(repeats).flat_map(|p| p.iter()).filter_map(|p| took(p.startup.as_ref()?)).collect())
}

/// Percent of one CPU, all processes together.
pub(super) fn cpu_percent(repeats: &[Repeat<'_>]) -> Option<f64> {
    sum(repeats, |r| a_second(r, r.cpu_ns).map(|ns| 100.0 * ns / NS_PER_S))
}

/// All processes together.
pub(super) fn pss_bytes(repeats: &[Repeat<'_>]) -> Option<u64> {
    sum(repeats, |r| Some(r.pss_bytes? as f64)).map(|bytes| bytes.round() as u64)
}

/// The greatest process of any repeat.
pub(super) fn rss_bytes(repeats: &[Repeat<'_>]) -> Option<u64> {
    used(repeats).flatten().map(|r| r.rss_bytes).max()
}

/// The process with the most, of any repeat.
pub(super) fn shared_bytes(repeats: &[Repeat<'_>]) -> Option<u64> {
    used(repeats).flatten().map(|r| r.shared_bytes).max()
}

/// All processes together.
pub(super) fn wakeups_per_s(repeats: &[Repeat<'_>]) -> Option<f64> {
    sum(repeats, |r| a_second(r, r.voluntary_switches))
}

/// All processes together.
pub(super) fn preemptions_per_s(repeats: &[Repeat<'_>]) -> Option<f64> {
    sum(repeats, |r| a_second(r, r.involuntary_switches))
}

fn a_second(resources: &Resources, count: u64) -> Option<f64> {
    (resources.over_ns > 0).then(|| count as f64 * NS_PER_S / resources.over_ns as f64)
}

fn processes<'a>(repeats: &'a [Repeat<'_>]) -> impl Iterator<Item = &'a [ProcessExit]> {
    repeats.iter().filter_map(|r| Some(r.info?.processes.as_slice()))
}

/// Of each repeat what its nodes used, where that is known of all of them: without one that died, a sum would look like
/// less work. A process that says nothing of its start is no node, but one that the middleware or the experiment needs
/// beside them.
fn used<'a>(repeats: &'a [Repeat<'_>]) -> impl Iterator<Item = Vec<&'a Resources>> {
    let of_run = |processes: &'a [ProcessExit]| -> Option<Vec<&'a Resources>> {
        let nodes = processes.iter().filter(|p| p.startup.is_some() || p.resources.is_some());
        nodes.map(|p| p.resources.as_ref()).collect::<Option<Vec<_>>>().filter(|used| !used.is_empty())
    };
    processes(repeats).filter_map(of_run)
}

/// Mean over repeats of the sum over processes; absent where it is not known of every process of any repeat.
fn sum(repeats: &[Repeat<'_>], of: impl Fn(&Resources) -> Option<f64>) -> Option<f64> {
    let sums: Vec<f64> = used(repeats).filter_map(|used| used.into_iter().map(&of).sum::<Option<f64>>()).collect();
    (!sums.is_empty()).then(|| sums.iter().sum::<f64>() / sums.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_analysis::Options;
    use tacho_events::run::RunInfo;
    use tacho_tables::Tables;

    fn process(cpu_ns: u64, voluntary_switches: u64, rss_bytes: u64) -> ProcessExit {
        let resources = Resources {
            over_ns: 2_000_000_000,
            cpu_ns,
            voluntary_switches,
            rss_bytes,
            pss_bytes: Some(rss_bytes / 2),
            ..Resources::default()
        };
        let startup = StartUp { main_ns: 1_000_000, first_message_ns: Some(3_500_000), ..StartUp::default() };
        ProcessExit { startup: Some(startup), resources: Some(resources), ..ProcessExit::default() }
    }

    fn with<T>(infos: &[RunInfo], of: impl Fn(&[Repeat<'_>]) -> T) -> T {
        let tables = Tables::default();
        let repeats: Vec<_> = infos
            .iter()
            .map(|info| Repeat { tables: &tables, options: Options::default(), info: Some(info) })
            .collect();
        of(&repeats)
    }

    fn run(processes: Vec<ProcessExit>) -> RunInfo {
        RunInfo { processes, ..RunInfo::default() }
    }

    #[test]
    fn processes_add_up_and_repeats_are_averaged() {
        let infos = [
            run(vec![process(1_000_000_000, 20, 100), process(2_000_000_000, 40, 300), ProcessExit::default()]),
            run(vec![process(500_000_000, 0, 200), process(500_000_000, 0, 200)]),
        ];
        assert_eq!(with(&infos, cpu_percent), Some((150.0 + 50.0) / 2.0));
        assert_eq!(with(&infos, wakeups_per_s), Some((30.0 + 0.0) / 2.0));
        assert_eq!(with(&infos, preemptions_per_s), Some(0.0));
        assert_eq!((with(&infos, rss_bytes), with(&infos, pss_bytes)), (Some(300), Some(200)));
        assert_eq!(with(&infos, startup_ms).map(|d| (d.count, d.min, d.max)), Some((4, 2.5, 2.5)));
    }

    #[test]
    fn what_is_not_known_of_every_node_is_absent() {
        let dead = ProcessExit { resources: None, ..process(0, 0, 0) };
        let infos = [run(vec![process(1_000_000_000, 20, 100), dead])];
        assert_eq!((with(&infos, cpu_percent), with(&infos, rss_bytes)), (None, None));
        let mut without = process(1_000_000_000, 20, 100);
        without.resources.as_mut().expect("resources").pss_bytes = None;
        let infos = [run(vec![process(1_000_000_000, 20, 100), without])];
        assert_eq!((with(&infos, cpu_percent), with(&infos, pss_bytes)), (Some(100.0), None));
        assert_eq!(with(&[], cpu_percent), None);
        assert_eq!(with(&[run(vec![])], rss_bytes), None);
    }
}
