//! What is kept of the paths that nobody asked for, so that a run of hours with hundreds of paths stays within bounds.
//!
//! Every path is followed over the whole run. If these paths may have many hops together, they have them only of the
//! instances that are told one by one. Only where even the instances would be too many are paths left out: those that a
//! sample shows to be the shortest.

use super::follow::Follower;
use super::ties::Tie;
use super::{told, Tracer};
use crate::graph::Path;
use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering};
use tacho_tables::in_order::in_order;
use tacho_tables::{LinkRule, Note};

/// Hops that the paths that nobody asked for may have together, to have them of all instances.
static MOST_HOPS: AtomicUsize = AtomicUsize::new(1_000_000);
/// Instances that the paths that nobody asked for may have together.
static MOST_INSTANCES: AtomicUsize = AtomicUsize::new(16_000_000);

/// Says how many hops, and instances, of paths that nobody asked for there may be. For tests: figures are the same
/// whatever the first is.
pub fn bound_paths(hops: usize, instances: usize) {
    MOST_HOPS.store(hops, Ordering::Relaxed);
    MOST_INSTANCES.store(instances, Ordering::Relaxed);
}

/// Whether the paths that nobody asked for may have so many hops that they have them of some instances alone.
pub(super) fn may_be_many_hops(tracer: &Tracer<'_>, paths: &[Path]) -> bool {
    let unnamed = paths.iter().filter(|path| !path.named);
    let at_most: usize = unnamed.map(|path| tracer.most_outputs(path).saturating_mul(path.nodes.len())).sum();
    at_most > MOST_HOPS.load(Ordering::Relaxed)
}

/// That some paths have hops of some instances alone.
pub(super) fn note(paths: u64, hops: usize) -> Option<Note> {
    let text = format!(
        "paths whose instances are all counted, and of which only some have rows in the table hops: the worst, the \
         median and an even sample. There are {hops} hops; name the chains of which all should be kept"
    );
    (paths > 0).then(|| Note { name: "hops-sampled".into(), count: paths, text })
}

/// What a sample of a path shows.
struct Sampled {
    /// Longest instance.
    worst_ns: Option<i64>,
    /// Instances to be expected.
    instances: usize,
}

/// The paths that are followed, in their order, and a note where those are not all. Of those that nobody asked for, the
/// longest first.
pub(super) fn followed(tracer: &mut Tracer<'_>, paths: Vec<Path>) -> (Vec<Path>, Option<Note>) {
    let most = MOST_INSTANCES.load(Ordering::Relaxed);
    let at_most: usize = paths.iter().filter(|path| !path.named).map(|path| tracer.most_outputs(path)).sum();
    if at_most <= most {
        return (paths, None);
    }
    let ties: Vec<Vec<Tie>> = paths.iter().map(|path| tracer.ties_of(path)).collect();
    let mut sampled: Vec<(usize, Sampled)> = Vec::new();
    let this = &*tracer;
    let unnamed = paths.iter().zip(&ties).enumerate().filter(|(_, (path, _))| !path.named);
    in_order(unnamed, |(place, (path, ties))| (place, this.sampled(path, ties)), |of| sampled.push(of));
    sampled.sort_by_key(|(place, of)| (Reverse(of.worst_ns), *place));
    let (mut instances, mut cut) = (0, vec![false; paths.len()]);
    for (place, of) in sampled {
        instances += of.instances;
        cut[place] = of.instances > 0 && instances > most && instances > of.instances;
    }
    let count = cut.iter().filter(|cut| **cut).count() as u64;
    let text = format!(
        "paths not followed: those of all that nobody named would have {instances} instances, more than {most}; the \
         ones followed took longest in a sample of each. Name the chains that matter"
    );
    let note = (count > 0).then(|| Note { name: "paths-cut".into(), count, text });
    (paths.into_iter().zip(cut).filter(|(_, cut)| !cut).map(|(path, _)| path).collect(), note)
}

impl Tracer<'_> {
    /// More outputs than this a path does not have.
    fn most_outputs(&self, path: &Path) -> usize {
        let (node, topic) = (path.nodes[path.nodes.len() - 1], path.topics[path.topics.len() - 1]);
        self.usage.publishing(node).len().max(self.usage.takes(node, topic).len())
    }

    /// Follows some outputs of a path, evenly spread over the run.
    fn sampled(&self, path: &Path, ties: &[Tie]) -> Sampled {
        let mut sampled = Sampled { worst_ns: None, instances: 0 };
        if ties.iter().any(|tie| tie.rule == LinkRule::Unrelated) {
            return sampled;
        }
        let outputs = self.outputs(path, ties[ties.len() - 1].rule);
        let (mut looked_at, mut led, mut follower) = (0, 0, Follower::new(self));
        let route = follower.route(path, ties);
        for place in told::sample(0..outputs.len() as u32) {
            looked_at += 1;
            if let Ok(Some(trail)) = follower.follow(&route, outputs[place.index()]) {
                led += 1;
                sampled.worst_ns = sampled.worst_ns.max(Some(trail.output_ns() - trail.start_ns()));
            }
        }
        sampled.instances = (outputs.len() * led).div_ceil(looked_at.max(1));
        sampled
    }
}
