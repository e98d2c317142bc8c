//! Finds the execution times for the search: in a run, or, without one, in the workload's own `work`.

use crate::common_rate::{ChainNode, CommonRate, OtherNode};
use std::collections::BTreeSet;
use std::time::Duration;
use tacho_tables::row::numbered;
use tacho_tables::summary::Summary;
use tacho_tables::{Execution, Tables};
use tacho_workload::model::{Node, Workload};
use thiserror::Error;

/// Why there are no execution times, or no input of a search.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MeasureError {
    /// The run or workload has no such chain.
    #[error("no chain `{chain}`: expected one of {}", list(known))]
    UnknownChain {
        /// The requested chain.
        chain: String,
        /// The chains that exist.
        known: Vec<String>,
    },
    /// The chain names a node that the workload does not have.
    #[error("chain `{chain}`: node `{node}` is not in the workload")]
    UnknownNode {
        /// The chain's name.
        chain: String,
        /// The node's name.
        node: String,
    },
    /// Only some of its instances have rows in the table of hops, and these are not an even sample.
    #[error(
        "chain `{chain}`: only {with_hops} of its {instances} instances have hops in this run: name the chain in a \
         workload or links file and analyse it anew"
    )]
    Sampled {
        /// The chain's name.
        chain: String,
        /// Number of instances with rows.
        with_hops: usize,
        /// Number of all instances.
        instances: usize,
    },
    /// No instance has a complete execution of a callback of this node.
    #[error("chain `{chain}`: no execution of `{node}` was measured: record it for longer, or tune without the run")]
    NotMeasured {
        /// The chain's name.
        chain: String,
        /// The node's name.
        node: String,
    },
}

fn list(known: &[String]) -> String {
    if known.is_empty() {
        "none, there are no chains".into()
    } else {
        known.join(", ")
    }
}

/// What the nodes of a system compute.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Computation {
    /// Name and mean execution time in ms of each node of the chain, source first.
    pub chain: Vec<(String, f64)>,
    /// The other nodes that compute; if measured, one entry for each of their callbacks.
    pub others: Vec<OtherNode>,
    /// Number of executions whose CPU time is not known: their wall time stands in for it.
    pub without_cpu_time: u64,
}

/// Number of executions and their total time in ms.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    count: u64,
    total_ms: f64,
}

impl Sum {
    fn add(&mut self, ms: f64) {
        self.count += 1;
        self.total_ms += ms;
    }
}

/// Computes the CPU time of nodes from the start to the end of each execution. Several tables are the repeats of one
/// run; `summary` and `window`, the measured time, cover all of them. A node of the chain counts with the callbacks
/// that the chain's instances went through, any other node with each of its callbacks.
pub fn computation(
    runs: &[&Tables],
    summary: &Summary,
    window: Duration,
    chain: &str,
) -> Result<Computation, MeasureError> {
    let mut nodes: Vec<String> = Vec::new();
    let mut sums: Vec<Sum> = Vec::new();
    let mut without_cpu_time = 0;
    for tables in runs {
        let Some((row, of)) = numbered(&tables.chains).find(|(_, known)| known.name == chain) else { continue };
        if nodes.is_empty() {
            // The path alternates: node, topic, node ... node.
            nodes = of.path.iter().step_by(2).map(|name| plain(name).to_string()).collect();
            sums = vec![Sum::default(); nodes.len()];
        }
        // An execution that is part of several instances counts once.
        let mut seen = BTreeSet::new();
        let instances = tables.instances.iter().filter(|i| i.chain == row).count();
        let mut with_hops = 0;
        for hop in &tables.hops {
            let of_chain = tables.instances.get(hop.instance.index()).is_some_and(|i| i.chain == row);
            with_hops += usize::from(of_chain && hop.position == 0);
            let Some(execution) = hop.execution.filter(|_| of_chain) else { continue };
            if !seen.insert((hop.position, execution)) {
                continue;
            }
            let execution = tables.executions.get(execution.index());
            if let (Some(execution), Some(sum)) = (execution, sums.get_mut(hop.position as usize)) {
                if let Some(ms) = took_ms(execution) {
                    sum.add(ms);
                    without_cpu_time += u64::from(execution.cpu_ns.get().is_none());
                }
            }
        }
        if with_hops < instances {
            return Err(MeasureError::Sampled { chain: chain.into(), with_hops, instances });
        }
    }
    if nodes.is_empty() {
        let known: BTreeSet<_> = runs.iter().flat_map(|tables| &tables.chains).map(|c| c.name.clone()).collect();
        return Err(MeasureError::UnknownChain { chain: chain.into(), known: known.into_iter().collect() });
    }
    let mean = |(node, sum): (String, Sum)| match sum.count {
        0 => Err(MeasureError::NotMeasured { chain: chain.into(), node }),
        count => Ok((node, sum.total_ms / count as f64)),
    };
    let chain: Vec<_> = nodes.into_iter().zip(sums).map(mean).collect::<Result<_, _>>()?;
    let mut others = Vec::new();
    for callback in &summary.callbacks {
        let Some(name) = callback.node.as_deref().map(plain) else { continue };
        let Some(took_us) = callback.cpu_us.as_ref().or(callback.duration_us.as_ref()) else { continue };
        if chain.iter().all(|(of_chain, _)| of_chain != name) {
            let (name, period_ms) = (name.to_owned(), window.as_secs_f64() * 1e3 / callback.count as f64);
            others.push(OtherNode { name, period_ms, computation_ms: took_us.mean / 1e3 });
            without_cpu_time += if callback.cpu_us.is_none() { callback.count } else { 0 };
        }
    }
    Ok(Computation { chain, others, without_cpu_time })
}

/// CPU time of a complete execution; its wall time if the CPU time is not known.
fn took_ms(execution: &Execution) -> Option<f64> {
    let wall_ns = execution.end_ns.get()? - execution.start_ns;
    Some(execution.cpu_ns.get().unwrap_or(wall_ns) as f64 / 1e6)
}

/// The same computed from the mean `work` of the workload's nodes, before anything ran. Leaves out nodes for which the
/// workload does not say how often they compute.
pub fn computation_of_work(workload: &Workload, chain: &str) -> Result<Computation, MeasureError> {
    let names = chain_nodes(workload, chain)?;
    let work_ms = |node: &Node| node.work.mean().as_secs_f64() * 1e3;
    let of_chain = names.iter().map(|name| match workload.node(name) {
        Some(node) => Ok((name.clone(), work_ms(node))),
        None => Err(MeasureError::UnknownNode { chain: chain.into(), node: name.clone() }),
    });
    let rates = tacho_workload::rates(workload).activations_hz;
    let others = workload.nodes.iter().zip(rates).filter(|(node, _)| !names.contains(&node.name));
    let others = others.filter_map(|(node, hz)| {
        let period_ms = 1000.0 / hz.filter(|hz| *hz > 0.0)?;
        Some(OtherNode { name: node.name.clone(), period_ms, computation_ms: work_ms(node) })
    });
    Ok(Computation { chain: of_chain.collect::<Result<_, _>>()?, others: others.collect(), without_cpu_time: 0 })
}

/// Builds the input of study E's search. `check_ms` returns the callback check of a node of the chain.
pub fn common_rate(computation: Computation, check_ms: impl Fn(&str) -> f64, cores: u32) -> CommonRate {
    let node = |(name, execution_ms): (String, f64)| ChainNode { check_ms: check_ms(&name), name, execution_ms };
    CommonRate { chain: computation.chain.into_iter().map(node).collect(), others: computation.others, cores }
}

fn chain_nodes<'w>(workload: &'w Workload, chain: &str) -> Result<&'w [String], MeasureError> {
    let known = || workload.chains.iter().map(|chain| chain.name.clone()).collect();
    match workload.chain(chain) {
        Some(found) => Ok(&found.nodes),
        None => Err(MeasureError::UnknownChain { chain: chain.into(), known: known() }),
    }
}

/// Removes the namespace: tables name nodes with it (`/ndt`), workloads do not.
fn plain(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_tables::row::Row;
    use tacho_tables::summary::{CallbackFigures, Distribution};
    use tacho_tables::MaybeNs;
    use tacho_tables::{Chain, Hop, Instance};

    /// Two nodes with instances of (1 ms, 4 ms) and (3 ms, 4 ms). The second instance shares the first's last
    /// execution.
    fn tables() -> Tables {
        let execution = |start_ns, end_ns| Execution {
            callback: Row::new(0),
            tid: 1,
            queued_ns: MaybeNs::NONE,
            start_ns,
            end_ns,
            cpu_ns: MaybeNs::NONE,
            runnable_ns: MaybeNs::NONE,
            executor_cpu_ns: MaybeNs::NONE,
            executor_runnable_ns: MaybeNs::NONE,
            resumes: None,
        };
        let hop = |instance, position, execution| Hop {
            instance: Row::new(instance),
            position,
            execution: Some(Row::new(execution)),
            published_ns: MaybeNs::NONE,
            arrival_ns: MaybeNs::NONE,
            start_ns: 0,
            output_ns: 0,
            queueing_ns: 0,
            alignment_ns: MaybeNs::NONE,
            kept_ns: MaybeNs::NONE,
            off_cpu_ns: MaybeNs::NONE,
            preemption_ns: MaybeNs::NONE,
        };
        let instance = |chain| Instance {
            chain: Row::new(chain),
            start_ns: 0,
            end_ns: 0,
            end_to_end_ns: 0,
            computation_ns: 0,
            off_cpu_ns: MaybeNs::NONE,
            preemption_ns: MaybeNs::NONE,
            alignment_ns: 0.into(),
            queueing_ns: 0,
            kept_ns: MaybeNs::NONE,
            transport_ns: 0,
        };
        let chain = |name: &str| Chain {
            name: name.into(),
            path: vec!["/a".into(), "/t".into(), "/b".into()],
            critical: true,
            lost: 0,
            evidence: String::new(),
            deadline_ns: None,
            until_ns: None,
            guessed_at: Vec::new(),
            callbacks: Vec::new(),
        };
        Tables {
            executions: vec![
                execution(0, 1_000_000.into()),
                execution(0, 3_000_000.into()),
                execution(0, 4_000_000.into()),
                execution(0, 99_000_000.into()),
                execution(0, MaybeNs::NONE),
            ]
            .into(),
            chains: vec![chain("other"), chain("x")],
            instances: vec![instance(1), instance(1), instance(0), instance(1)].into(),
            hops: vec![hop(0, 0, 0), hop(0, 1, 2), hop(1, 0, 1), hop(1, 1, 2), hop(2, 0, 3), hop(3, 0, 4)].into(),
            ..Tables::default()
        }
    }

    fn of_chain(runs: &[&Tables], chain: &str) -> Result<Computation, MeasureError> {
        computation(runs, &Summary::default(), Duration::from_secs(1), chain)
    }

    #[test]
    fn execution_times_are_those_of_the_chains_own_callbacks() {
        let tables = tables();
        let found = of_chain(&[&tables, &tables], "x").expect("times");
        assert_eq!(found.chain, [("a".to_string(), 2.0), ("b".to_string(), 4.0)]);
        assert_eq!((found.without_cpu_time, found.others), (6, vec![]));
    }

    #[test]
    fn cpu_time_counts_not_the_time_that_others_took() {
        let mut tables = tables();
        for execution in tables.executions.iter_mut() {
            execution.cpu_ns = execution.end_ns.get().map(|end_ns| (end_ns - execution.start_ns) / 2).into();
        }
        let found = of_chain(&[&tables], "x").expect("times");
        assert_eq!((found.chain, found.without_cpu_time), (vec![("a".into(), 1.0), ("b".into(), 2.0)], 0));
    }

    #[test]
    fn other_nodes_count_with_each_of_their_callbacks_however_they_are_woken() {
        let mean = |mean| Some(Distribution { mean, ..Distribution::default() });
        let callback = |node: &str, count, cpu_us| CallbackFigures {
            node: Some(node.into()),
            count,
            duration_us: mean(9_000.0),
            cpu_us,
            ..CallbackFigures::default()
        };
        let callbacks = vec![
            callback("/a", 10, mean(1.0)),
            callback("/other", 100, mean(3_000.0)),
            callback("/other", 20, mean(5_000.0)),
            callback("/busy", 10, None),
        ];
        let summary = Summary { callbacks, ..Summary::default() };
        let found = computation(&[&tables()], &summary, Duration::from_secs(2), "x").expect("times");
        let other = |name: &str, period_ms, computation_ms| OtherNode { name: name.into(), period_ms, computation_ms };
        assert_eq!(found.others, [other("other", 20.0, 3.0), other("other", 100.0, 5.0), other("busy", 200.0, 9.0)]);
        assert_eq!(found.without_cpu_time, 3 + 10);
    }

    #[test]
    fn what_was_not_measured_is_an_error_not_zero() {
        let mut tables = tables();
        tables.hops.retain(|hop| hop.position == 0);
        let error = of_chain(&[&tables], "x");
        assert_eq!(error, Err(MeasureError::NotMeasured { chain: "x".into(), node: "b".into() }));
        tables.hops.retain(|hop| hop.instance.number() != 1);
        let error = of_chain(&[&tables], "x");
        assert_eq!(error, Err(MeasureError::Sampled { chain: "x".into(), with_hops: 2, instances: 3 }));
        let error = of_chain(&[&tables], "y").expect_err("no such chain");
        assert_eq!(error.to_string(), "no chain `y`: expected one of other, x");
    }

    #[test]
    fn the_input_of_the_search_follows_from_the_workload() {
        let text = "nodes:
  a: {spin: 10 Hz, work: 2 ms, publishes: [/t]}
  b: {spin: 10 Hz, work: {uniform: [1 ms, 3 ms]}, subscribes: [/t]}
  c: {spin: 50 Hz, work: 3 ms, subscribes: [/t]}
  d: {on: timer 5 Hz, work: 4 ms, subscribes: {/t: {latest: true}}}
  e: {work: 5 ms, subscribes: [/t]}
chains: {x: [a, b]}
";
        let (workload, _) = tacho_workload::parse(text, "w.yaml").unwrap_or_else(|e| panic!("{e}"));
        let search = common_rate(
            computation_of_work(&workload, "x").expect("times"),
            |node| if node == "b" { 0.5 } else { 0.01 },
            2,
        );
        let chain: Vec<_> = search.chain.iter().map(|n| (n.name.as_str(), n.execution_ms, n.check_ms)).collect();
        assert_eq!(chain, [("a", 2.0, 0.01), ("b", 2.0, 0.5)]);
        let others: Vec<_> = search.others.iter().map(|n| (n.name.as_str(), n.period_ms, n.computation_ms)).collect();
        assert_eq!(others, [("c", 100.0, 3.0), ("d", 200.0, 4.0), ("e", 100.0, 5.0)]);
    }

    /// Figures 12, 13a and 13b: the check unchanged, of 0.5 ms in one node, of 1.0 ms.
    #[test]
    fn the_system_that_we_ship_has_the_published_optima() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/study-e.yaml");
        let text = std::fs::read_to_string(path).expect("the workload");
        let (workload, _) = tacho_workload::parse(&text, path).unwrap_or_else(|e| panic!("{e}"));
        let computation = computation_of_work(&workload, "localisation").expect("times");
        let best = |slow_ms: f64| {
            let check_ms = |node: &str| if node == "ray_ground_filter" { slow_ms } else { 0.05 };
            common_rate(computation.clone(), check_ms, 2).curve().expect("a best rate").best_hz
        };
        assert_eq!([0.05, 0.5, 1.0].map(best), [300.0, 220.0, 180.0]);
    }
}
