//! Where the search gets its execution times from: a run, or, without one, the workload's own work.

use crate::common_rate::{ChainNode, CommonRate, OtherNode};
use std::collections::BTreeSet;
use tacho_analysis::tables::Tables;
use tacho_workload::model::{Executor, Workload};
use thiserror::Error;

/// Why execution times or the input of a search cannot be had.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MeasureError {
    /// No such chain in the run or workload.
    #[error("no chain `{chain}`: expected one of {}", list(known))]
    UnknownChain {
        /// Asked for.
        chain: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// A chain node that the workload does not have.
    #[error("chain `{chain}`: node `{node}` is not in the workload")]
    UnknownNode {
        /// Chain.
        chain: String,
        /// Node.
        node: String,
    },
    /// Only some instances of it have rows in the table of hops, and not an even sample.
    #[error("chain `{chain}`: only {with_hops} of its {instances} instances have hops in this run: name the chain in a workload or links file and analyse it anew")]
    Sampled {
        /// Chain.
        chain: String,
        /// Those that have.
        with_hops: usize,
        /// All.
        instances: usize,
    },
    /// No complete execution of a callback of this node in any instance.
    #[error("chain `{chain}`: no execution of `{node}` was measured: record it for longer, or tune without the run")]
    NotMeasured {
        /// Chain.
        chain: String,
        /// Node.
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

/// Mean execution time, ms, of each node of a chain, over the callbacks that its instances went through, from start to
/// end as study D measures them. Several tables are the repeats of one run.
pub fn execution_times(runs: &[&Tables], chain: &str) -> Result<Vec<(String, f64)>, MeasureError> {
    let mut nodes: Vec<String> = Vec::new();
    let mut sums: Vec<(f64, u64)> = Vec::new();
    for tables in runs {
        let Some(index) = tables.chains.iter().position(|known| known.name == chain) else { continue };
        if nodes.is_empty() {
            // Node, topic, node ... node.
            nodes = tables.chains[index].path.iter().step_by(2).map(|name| plain(name).to_string()).collect();
            sums = vec![(0.0, 0); nodes.len()];
        }
        // One execution may be part of several instances, and counts once.
        let mut seen = BTreeSet::new();
        let instances = tables.instances.iter().filter(|i| i.chain as usize == index).count();
        let mut with_hops = 0;
        for hop in &tables.hops {
            let of_chain = tables.instances.get(hop.instance as usize).is_some_and(|i| i.chain as usize == index);
            with_hops += usize::from(of_chain && hop.position == 0);
            let Some(execution) = hop.execution.filter(|_| of_chain) else { continue };
            if !seen.insert((hop.position, execution)) {
                continue;
            }
            let ended = tables.executions.get(execution as usize).and_then(|e| Some((e.start_ns, e.end_ns?)));
            if let (Some((start_ns, end_ns)), Some(sum)) = (ended, sums.get_mut(hop.position as usize)) {
                sum.0 += (end_ns - start_ns) as f64 / 1e6;
                sum.1 += 1;
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
    nodes
        .into_iter()
        .zip(sums)
        .map(|(node, (total_ms, count))| match count {
            0 => Err(MeasureError::NotMeasured { chain: chain.into(), node }),
            _ => Ok((node, total_ms / count as f64)),
        })
        .collect()
}

/// Mean work, ms, of each node of a chain, as the workload says it: what there is before anything ran.
pub fn execution_times_of_work(workload: &Workload, chain: &str) -> Result<Vec<(String, f64)>, MeasureError> {
    chain_nodes(workload, chain)?
        .iter()
        .map(|name| match workload.node(name) {
            Some(node) => Ok((name.clone(), node.work.mean().as_secs_f64() * 1e3)),
            None => Err(MeasureError::UnknownNode { chain: chain.into(), node: name.clone() }),
        })
        .collect()
}

/// The input of study E's search: a workload's chain with its execution times, and the other nodes that wake on their
/// own. `check_ms` is the callback check as measured on this machine, the same for every node.
///
/// Nodes that wait for messages (`on: arrival`) make no checks and are left out, except in the chain, which will spin.
pub fn common_rate(
    workload: &Workload,
    chain: &str,
    execution_ms: &[(String, f64)],
    check_ms: f64,
    cores: u32,
) -> Result<CommonRate, MeasureError> {
    let names = chain_nodes(workload, chain)?;
    let nodes = names.iter().map(|name| {
        let found = execution_ms.iter().find(|(node, _)| plain(node) == name);
        let (_, execution_ms) =
            found.ok_or_else(|| MeasureError::NotMeasured { chain: chain.into(), node: name.clone() })?;
        Ok(ChainNode { name: name.clone(), execution_ms: *execution_ms, check_ms })
    });
    let chain_nodes = nodes.collect::<Result<Vec<_>, _>>()?;
    let others =
        workload.nodes.iter().filter(|node| !names.contains(&node.name)).filter_map(|node| match node.executor {
            Executor::Spin { hz } | Executor::Timer { hz } => {
                Some(OtherNode { name: node.name.clone(), period_ms: 1000.0 / hz, check_ms })
            }
            Executor::Arrival => None,
        });
    Ok(CommonRate { chain: chain_nodes, others: others.collect(), cores })
}

fn chain_nodes<'w>(workload: &'w Workload, chain: &str) -> Result<&'w [String], MeasureError> {
    let known = || workload.chains.iter().map(|chain| chain.name.clone()).collect();
    match workload.chain(chain) {
        Some(found) => Ok(&found.nodes),
        None => Err(MeasureError::UnknownChain { chain: chain.into(), known: known() }),
    }
}

/// Tables name nodes with their namespace, `/ndt`; workloads without.
fn plain(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_analysis::tables::{Chain, Execution, Hop, Instance};

    /// Two nodes; instances of (1 ms, 4 ms) and (3 ms, 4 ms), the second sharing the first's last execution.
    fn tables() -> Tables {
        let execution = |start_ns, end_ns| Execution { callback: 0, tid: 1, queued_ns: None, start_ns, end_ns, cpu_ns: None, resumes: None };
        let hop = |instance, position, execution| Hop {
            instance,
            position,
            execution: Some(execution),
            published_ns: None,
            arrival_ns: None,
            start_ns: 0,
            output_ns: 0,
            queueing_ns: 0,
            alignment_ns: None,
            kept_ns: None,
            preemption_ns: None,
        };
        let instance = |chain| Instance {
            chain,
            start_ns: 0,
            end_ns: 0,
            end_to_end_ns: 0,
            computation_ns: 0,
            preemption_ns: None,
            alignment_ns: Some(0),
            queueing_ns: 0,
            kept_ns: None,
            transport_ns: 0,
        };
        let chain = |name: &str| Chain {
            name: name.into(),
            path: vec!["/a".into(), "/t".into(), "/b".into()],
            critical: true,
            lost: 0,
            evidence: String::new(),
            deadline_ns: None,
        };
        Tables {
            executions: vec![
                execution(0, Some(1_000_000)),
                execution(0, Some(3_000_000)),
                execution(0, Some(4_000_000)),
                execution(0, Some(99_000_000)),
                execution(0, None),
            ]
            .into(),
            chains: vec![chain("other"), chain("x")],
            instances: vec![instance(1), instance(1), instance(0), instance(1)].into(),
            hops: vec![hop(0, 0, 0), hop(0, 1, 2), hop(1, 0, 1), hop(1, 1, 2), hop(2, 0, 3), hop(3, 0, 4)].into(),
            ..Tables::default()
        }
    }

    #[test]
    fn execution_times_are_those_of_the_chains_own_callbacks() {
        let tables = tables();
        let times = execution_times(&[&tables, &tables], "x");
        assert_eq!(times, Ok(vec![("a".into(), 2.0), ("b".into(), 4.0)]));
    }

    #[test]
    fn what_was_not_measured_is_an_error_not_zero() {
        let mut tables = tables();
        tables.hops.retain(|hop| hop.position == 0);
        let error = execution_times(&[&tables], "x");
        assert_eq!(error, Err(MeasureError::NotMeasured { chain: "x".into(), node: "b".into() }));
        tables.hops.retain(|hop| hop.instance != 1);
        let error = execution_times(&[&tables], "x");
        assert_eq!(error, Err(MeasureError::Sampled { chain: "x".into(), with_hops: 2, instances: 3 }));
        let error = execution_times(&[&tables], "y").expect_err("no such chain");
        assert_eq!(error.to_string(), "no chain `y`: expected one of other, x");
    }

    #[test]
    fn the_input_of_the_search_follows_from_the_workload() {
        let text = "nodes:
  a: {spin: 10 Hz, work: 2 ms, publishes: [/t]}
  b: {spin: 10 Hz, work: {uniform: [1 ms, 3 ms]}, subscribes: [/t]}
  c: {spin: 50 Hz, subscribes: [/t]}
  d: {on: timer 5 Hz, subscribes: [/t]}
  e: {subscribes: [/t]}
chains: {x: [a, b]}
";
        let (workload, _) = tacho_workload::parse(text, "w.yaml").unwrap_or_else(|e| panic!("{e}"));
        let times = execution_times_of_work(&workload, "x").expect("times");
        assert_eq!(times, [("a".to_string(), 2.0), ("b".to_string(), 2.0)]);
        let measured = [("/b".to_string(), 2.5), ("/a".to_string(), 2.0)];
        let search = common_rate(&workload, "x", &measured, 0.01, 2).expect("an input");
        assert_eq!(search.chain.iter().map(|n| n.execution_ms).collect::<Vec<_>>(), [2.0, 2.5]);
        let others: Vec<_> = search.others.iter().map(|n| (n.name.as_str(), n.period_ms)).collect();
        assert_eq!(others, [("c", 20.0), ("d", 200.0)]);
        assert!(matches!(common_rate(&workload, "x", &measured[..1], 0.01, 2), Err(MeasureError::NotMeasured { .. })));
    }
}
