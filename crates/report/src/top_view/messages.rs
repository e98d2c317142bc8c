//! The instances of the chains that end at the car: which one its commands rest on at each moment, and what the longest
//! ones waited for.

use super::shape::{Explained, ViewChain};
use crate::timeline::columns::Column;
use std::cmp::Reverse;
use std::collections::HashMap;
use tacho_tables::row::{numbered, Row};
use tacho_tables::{Cause, Chain, Instance, Node, Tables};

/// Late instances of a chain that a page lists.
const MOST_LATE: usize = 20;
/// An instance is late if it is longer than the median of its chain by more than a tenth.
const LATE: f64 = 1.1;
/// Chains without a name of their own that a page shows if there are no others.
const MOST_UNNAMED: usize = 3;

/// Chains whose last node is this one, with their instances inside the timeline.
pub(super) fn chains<'a>(tables: &'a Tables, vehicle: Row<Node>, begin_ns: i64, length_ns: i64) -> Vec<ViewChain<'a>> {
    let name = &tables.nodes[vehicle].name;
    let ends_there = |chain: &Chain| chain.path.len() % 2 == 1 && chain.path.last() == Some(name);
    let mut causes: HashMap<Row<Instance>, Vec<&Cause>> = HashMap::new();
    for cause in &tables.causes {
        cause.instance.iter().for_each(|instance| causes.entry(*instance).or_default().push(cause));
    }
    let of_chain = |(row, chain): (Row<Chain>, &'a Chain)| {
        let inside = |ns: i64| (0..=length_ns).contains(&(ns - begin_ns));
        let mut instances: Vec<(Row<Instance>, &Instance)> =
            numbered(&tables.instances).filter(|(_, one)| one.chain == row && inside(one.end_ns)).collect();
        instances.sort_by_key(|(row, one)| (one.end_ns, *row));
        let greatest = |one: &Instance| {
            let parts = one.parts();
            let parts = parts.each().into_iter().enumerate();
            parts.filter_map(|(i, part)| Some((i, *part?))).max_by_key(|(i, ns)| (*ns, Reverse(*i))).unwrap_or_default()
        };
        let mut times: Vec<i64> = instances.iter().map(|(_, one)| one.end_to_end_ns).collect();
        times.sort_unstable();
        let median = times.get(times.len().saturating_sub(1) / 2).copied().unwrap_or(0);
        let is_late = |one: &Instance| one.end_to_end_ns as f64 > LATE * median as f64;
        let mut worst: Vec<(i64, Explained<'a>)> = instances
            .iter()
            .enumerate()
            .filter(|(_, (_, one))| is_late(one))
            .filter_map(|(number, (row, one))| Some((one.end_to_end_ns, explained(chain, causes.get(row)?, number)?)))
            .collect();
        worst.sort_by_key(|(ns, one)| (Reverse(*ns), one.instance));
        worst.truncate(MOST_LATE);
        ViewChain {
            name: &chain.name,
            path: &chain.path,
            end: Column::growing(instances.iter().map(|(_, one)| one.end_ns - begin_ns)),
            duration: Column::of(instances.iter().map(|(_, one)| one.end_to_end_ns)),
            part: Column::of(instances.iter().map(|(_, one)| greatest(one).0 as i64)),
            took: Column::of(instances.iter().map(|(_, one)| greatest(one).1)),
            worst: worst.into_iter().map(|(_, one)| one).collect(),
        }
    };
    let chains: Vec<_> = numbered(&tables.chains).filter(|(_, chain)| ends_there(chain)).collect();
    let named: Vec<_> = chains.iter().copied().filter(|(_, chain)| has_own_name(chain)).collect();
    let shown = if named.is_empty() { chains.into_iter().take(MOST_UNNAMED).collect() } else { named };
    shown.into_iter().map(of_chain).filter(|chain| chain.end.bytes() > 0).collect()
}

/// Whether somebody named it: names that analysis makes begin with its first node.
fn has_own_name(chain: &Chain) -> bool {
    let first = chain.path.first().map_or("", |first| first.trim_start_matches('/'));
    !chain.name.starts_with(&format!("{first} to "))
}

/// The cause that makes an instance longer than usual.
fn explained<'a>(chain: &'a Chain, causes: &[&'a Cause], instance: usize) -> Option<Explained<'a>> {
    let beyond = |cause: &&&Cause| {
        let took = cause.duration_ns.get().unwrap_or(0);
        (took - cause.usual_ns.get().unwrap_or(0), took)
    };
    let cause = causes.iter().max_by_key(beyond)?;
    Some(Explained {
        instance,
        kind: cause.kind,
        by: &cause.by,
        node: chain.path.get(2 * cause.position as usize).map_or("", String::as_str),
        took_ns: cause.duration_ns.get()?,
        usual_ns: cause.usual_ns.get(),
    })
}
