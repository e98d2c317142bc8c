//! The instances of one path.

use super::follow::{Follower, Output, PublishedOutside, Route};
use super::passed::Passed;
use super::ties::{Pair, Tie};
use super::wait::Arrival;
use super::{reaction, told, MadeOf, Traced, Tracer};
use crate::graph::Path;
use crate::observe::PublicationSeen;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::{Chain, ChainInput, Hop, Instance, LinkRule, Node};

/// All instances of these paths, in their order. `many_hops`: those that nobody asked for have them of some instances
/// alone.
pub(super) fn trace(tracer: &Tracer<'_>, paths: &[(Vec<Tie>, Path)], many_hops: bool) -> Vec<OnePath> {
    let mut follower = Follower::new(tracer);
    let mut traced = Vec::new();
    for alike in paths.chunk_by(|one, other| one.0.last() == other.0.last() && one.1.ends_as(&other.1)) {
        let (ties, path) = &alike[0];
        let outputs = tracer.outputs(path, ties[ties.len() - 1].rule).sorted_by(|a, b| a.time.cmp(&b.time));
        let mut following: Vec<Option<Following<'_>>> = alike
            .iter()
            .map(|(ties, path)| {
                let tied = ties.iter().all(|tie| tie.rule != LinkRule::Unrelated);
                tied.then(|| Following::new(path, ties, follower.route(path, ties), path.named || !many_hops))
            })
            .collect();
        let mut followed: Vec<&mut Following<'_>> = following.iter_mut().flatten().collect();
        followed.sort_by(|one, other| one.route.order().cmp(other.route.order()));
        for output in outputs.iter() {
            for path in &mut followed {
                path.take(tracer, &mut follower, *output);
            }
        }
        for ((_, path), following) in alike.iter().zip(following) {
            let of = following.map(|following| following.finish(tracer, &mut follower, &outputs));
            traced.push(OnePath { path: path.clone(), of });
        }
    }
    traced
}

/// A path while the outputs of its last node are followed back, one after the other.
struct Following<'p> {
    path: &'p Path,
    ties: &'p [Tie],
    route: Route<'p>,
    /// Whether hops of all instances are kept; else the outputs they were made from, to follow some again.
    keeps_all: bool,
    followed: Rows<Output>,
    tables: Traced,
    /// Outputs that pass through a publish call outside of any callback.
    outside: u64,
    weakest: Option<Arrival>,
    /// Longest instance, each input's first.
    worst: i64,
    /// Inputs, and when each output of them was made.
    descents: Rows<(Row<PublicationSeen>, i64)>,
    passed: Passed,
}

impl<'p> Following<'p> {
    fn new(path: &'p Path, ties: &'p [Tie], route: Route<'p>, keeps_all: bool) -> Following<'p> {
        Following {
            passed: Passed::of(path.nodes.len()),
            path,
            ties,
            route,
            keeps_all,
            followed: Rows::new(),
            tables: Traced::default(),
            outside: 0,
            weakest: None,
            worst: 0,
            descents: Rows::new(),
        }
    }

    /// Adds the instance that ends with this output, if there is one.
    fn take(&mut self, tracer: &Tracer<'_>, follower: &mut Follower<'_>, output: Output) {
        let seen = tracer.seen;
        let trail = match follower.follow(&self.route, output) {
            Ok(Some(trail)) => trail,
            Ok(None) => return,
            Err(PublishedOutside) => {
                self.outside += 1;
                return;
            }
        };
        let (start_ns, output_ns) = (trail.start_ns(), trail.output_ns());
        // An input may be used again for as long as its node has no other: it was on its way until the first time.
        let is_again = trail.origin.is_some() && trail.origin == self.descents.last().map(|(origin, _)| *origin);
        if !is_again {
            self.worst = self.worst.max(output_ns - start_ns);
        }
        // A node that goes on without its sources uses their last message again and again.
        if is_again && seen.options.sources_end_ns.is_some_and(|sources_end| output_ns >= sources_end) {
            return;
        }
        self.descents.extend(trail.origin.map(|origin| (origin, output.time)));
        if !seen.options.judges(start_ns) {
            return;
        }
        // An input that was not recorded would make it an older one's.
        if seen.lacks(start_ns, output_ns) {
            self.tables.left_out += 1;
            return;
        }
        self.weakest = self.weakest.max(trail.arrival);
        self.passed.add(seen, &trail);
        let instance = Row::behind(self.tables.instances.len());
        self.tables.instances.push(trail.instance(Row::new(0)));
        match self.keeps_all {
            true => self.tables.hops.extend(trail.rows(instance)),
            false => self.followed.push(output),
        }
    }

    /// Its tables. `outputs`: all that it was given.
    fn finish(self, tracer: &Tracer<'_>, follower: &mut Follower<'_>, outputs: &Rows<Output>) -> Traced {
        let (seen, path, chain) = (tracer.seen, self.path, Row::new(0));
        let mut tables = self.tables;
        let told = (!self.keeps_all).then(|| told::told(&tables.instances));
        for instance in told.iter().flatten() {
            // Once more: it leads where it led before.
            if let Ok(Some(trail)) = follower.follow(&self.route, self.followed[instance.index()]) {
                tables.hops.extend(trail.rows(*instance));
            }
        }
        if self.outside > 0 {
            tables.outside.push((path.name.clone(), self.outside));
        }
        let named = |node: Row<Node>| seen.nodes[node].name.clone();
        let mut words = vec![named(path.nodes[0])];
        for (topic, node) in path.topics.iter().zip(&path.nodes[1..]) {
            words.extend([seen.topics.names[*topic].clone(), named(*node)]);
        }
        words.extend(path.output.map(|topic| seen.topics.names[topic].clone()));
        let origins = tracer.origins(path);
        tables.inputs = reaction::inputs(tracer, chain, &origins, &self.descents, outputs);
        let until_ns = tracer.served_until(path);
        let (lost, on_their_way) = tracer.without_descendant(path, &origins, &self.descents, (self.worst, until_ns));
        tables.chains.push(Chain {
            name: path.name.clone(),
            path: words,
            critical: false,
            lost: lost.len() as u64,
            evidence: tracer.evidence(path, self.ties, self.weakest),
            deadline_ns: path.deadline_ns,
            until_ns,
            guessed_at: tracer.guessed_at(path, self.ties),
            callbacks: self.passed.names(seen, path),
        });
        let instances = 0..tables.instances.len() as u32;
        let ties = self.ties.to_vec();
        tables.made_of.push(MadeOf { path: path.clone(), ties, lost, on_their_way, instances, hops_from: 0, told });
        tables
    }
}

/// One path, and what became of it: tables that it has alone; `None` where nothing ties its topics together.
pub(super) struct OnePath {
    pub path: Path,
    of: Option<Traced>,
}

impl OnePath {
    /// The input and the output of the node at a position.
    pub fn pair(&self, position: usize) -> Pair {
        (self.path.nodes[position], self.path.topics[position - 1], self.path.output_of(position))
    }

    /// Whether only some of its instances have hops.
    pub fn is_sampled(&self) -> bool {
        let told = self.of.as_ref().and_then(|of| Some((of, of.made_of[0].told.as_ref()?)));
        told.is_some_and(|(of, told)| told.len() < of.instances.len())
    }

    /// Puts its rows behind those of other paths.
    pub fn append_to(self, tables: &mut Traced) {
        let Some(own) = self.of else { return };
        let (chain, instances, hops) =
            (Row::behind(tables.chains.len()), tables.instances.len() as u32, tables.hops.len());
        tables.chains.extend(own.chains);
        tables.instances.extend(own.instances.into_iter().map(|row| Instance { chain, ..row }));
        tables.hops.extend(own.hops.into_iter().map(|row| Hop { instance: row.instance.moved(instances), ..row }));
        tables.inputs.extend(own.inputs.into_iter().map(|row| ChainInput { chain, ..row }));
        tables.notes.extend(own.notes);
        tables.outside.extend(own.outside);
        tables.left_out += own.left_out;
        let moved = |of: MadeOf| MadeOf {
            instances: of.instances.start + instances..of.instances.end + instances,
            hops_from: of.hops_from + hops,
            ..of
        };
        tables.made_of.extend(own.made_of.into_iter().map(moved));
    }
}
