//! Instances of chains: each output of the last node followed back to the input it descends from.

mod bounds;
pub(crate) mod busy;
pub(crate) mod causes;
mod edges;
mod follow;
mod inside;
mod one_path;
mod outputs;
mod passed;
mod reaction;
pub(crate) mod states;
mod step;
mod ties;
mod told;
pub(crate) mod usage;
mod wait;

use crate::graph::{End, Path};
use crate::observe::lifecycle::state_at;
use crate::observe::PublicationSeen;
use crate::stages::Ways;
use busy::Busy;
use follow::Output;
use rustc_hash::FxHashSet as HashSet;
use std::ops::Range;
use tacho_tables::in_order::{in_order, threads};
use tacho_tables::near::partition_near;
use tacho_tables::row::{Column, Row};
use tacho_tables::rows::Rows;
use tacho_tables::{named, Chain, ChainInput, Endpoint, Hop, Instance, Link, LinkRule, Node, NodeState, Note};
use tacho_workload::links::Links;
use tacho_workload::model::Workload;
use ties::{Pair, Tie, Ties};
use usage::Usage;
use wait::Arrival;

pub use bounds::bound_paths;

/// Traced that a note names; of more it says how many.
const NAMED: usize = 3;
/// Paths that are followed together at most: they share what they have in common.
const TOGETHER: usize = 16;

/// Rows of the tables of chains.
#[derive(Default)]
pub(crate) struct Traced {
    pub chains: Vec<Chain>,
    pub instances: Rows<Instance>,
    pub hops: Rows<Hop>,
    pub inputs: Rows<ChainInput>,
    pub links: Vec<Link>,
    pub notes: Vec<Note>,
    /// Instances during which events were lost: no rows.
    pub left_out: u64,
    /// What each chain was made of.
    pub made_of: Vec<MadeOf>,
    /// Traced with outputs that pass through a publish call outside of any callback, and how many.
    outside: Vec<(String, u64)>,
}

/// The path of a chain, its ties, and its inputs that led to nothing (publications of its first node).
pub(crate) struct MadeOf {
    pub path: Path,
    pub ties: Vec<Tie>,
    pub lost: Rows<Row<PublicationSeen>>,
    /// Those that do not count as lost, since they may still be on their way.
    pub on_their_way: Vec<Row<PublicationSeen>>,
    /// Rows of its instances.
    pub instances: Range<u32>,
    /// Row of their first hop; each that has hops has one a node.
    hops_from: usize,
    /// Those of its instances that have hops, by their place among them, in order; absent where all have.
    told: Option<Vec<Row<Instance>>>,
}

impl MadeOf {
    /// Row of the last hop of an instance of this chain, one of those that are reported ([`told`]).
    pub fn last_hop(&self, instance: Row<Instance>) -> usize {
        let place = Row::new(instance.number() - self.instances.start);
        let before = match &self.told {
            Some(told) => told.binary_search(&place).expect("an instance that is told has hops"),
            None => place.index(),
        };
        self.hops_from + (before + 1) * self.path.nodes.len() - 1
    }
}

/// Follows links through one run.
pub(crate) struct Tracer<'a> {
    pub seen: &'a Ways,
    pub usage: &'a Usage,
    pub ties: Ties<'a>,
    pub busy: Busy,
}

impl<'a> Tracer<'a> {
    pub fn new(
        seen: &'a Ways,
        usage: &'a Usage,
        busy: Busy,
        workload: Option<&'a Workload>,
        stated: &'a Links,
    ) -> Self {
        Tracer { seen, usage, ties: Ties::new(seen, usage, workload, stated), busy }
    }

    /// All instances of all paths, and the hops of all of them or, where those may be many, of those that are told one
    /// by one.
    pub fn trace(&mut self, paths: Vec<Path>) -> Traced {
        let mut tables = Traced::default();
        let (mut without, mut asked) = (0, HashSet::default());
        self.ties.infer_all(paths.iter().flat_map(pairs));
        let (paths, cut) = bounds::followed(self, paths);
        tables.notes.extend(cut);
        let many_hops = bounds::may_be_many_hops(self, &paths);
        let paths: Vec<(Vec<Tie>, Path)> = paths.into_iter().map(|path| (self.ties_of(&path), path)).collect();
        // Two pieces a thread, so that what one found is put into the tables while others are followed.
        let piece = paths.len().div_ceil(2 * threads()).clamp(1, TOGETHER);
        let this = &*self;
        in_order(
            paths.chunks(piece),
            |paths| one_path::trace(this, paths, many_hops),
            |paths| {
                for traced in paths {
                    without += u64::from(traced.is_sampled());
                    asked.extend((1..traced.path.nodes.len()).map(|i| traced.pair(i)));
                    traced.append_to(&mut tables);
                }
            },
        );
        tables.notes.extend(published_outside(&tables.outside));
        tables.notes.extend(bounds::note(without, tables.hops.len()));
        tables.links = self.ties.links(&asked);
        let mut worst: Column<Chain, _> = Column::of(tables.chains.iter().map(|_| None));
        for instance in &tables.instances {
            let of = &mut worst[instance.chain];
            *of = (*of).max(Some(instance.end_to_end_ns));
        }
        // A chain that rests on a guess is critical only if all do. Of equal chains, the first that somebody named; of
        // others the first by path, because their order depends on that of the event files.
        let rank = |row: Row<Chain>| worst[row].map(|worst| (tables.chains[row].guessed_at.is_empty(), worst));
        if let Some(most) = worst.rows().filter_map(rank).max() {
            let worst = worst.rows().filter(|row| rank(*row) == Some(most));
            let of = |row: Row<Chain>| (&tables.chains[row].path, tables.made_of[row.index()].path.named);
            let first = worst.min_by_key(|row| match of(*row) {
                (_, true) => (0, row.index(), None),
                (path, false) => (1, 0, Some(path)),
            });
            if let Some(first) = first {
                tables.chains[first].critical = true;
            }
        }
        tables
    }

    /// How each node of a path but the first ties its output to its input.
    fn ties_of(&mut self, path: &Path) -> Vec<Tie> {
        let last = path.nodes.len() - 1;
        let tie = |i: usize| match i == last && ends_with_a_callback(path) {
            true => self.ties.of_callback(path.nodes[i], path.topics[i - 1], &path.by[i]),
            false => self.ties.of(path.nodes[i], path.topics[i - 1], path.output_of(i)),
        };
        (1..path.nodes.len()).map(tie).collect()
    }

    /// When the first executor or process on a path had ended, but for those that were killed: what was published from
    /// then on need not reach the end.
    fn served_until(&self, path: &Path) -> Option<i64> {
        let seen = self.seen;
        let ended = |endpoints: &[Row<Endpoint>], node: Row<Node>| {
            let own = endpoints.iter().filter(|e| seen.endpoints[**e].node == node);
            own.filter_map(|e| seen.ended.of(*e)).max()
        };
        let from = |i: usize| &self.seen.by_topic[path.topics[i]];
        let read = ended(&from(0).publishers, path.nodes[0]);
        let taken = (1..path.nodes.len()).map(|i| ended(&from(i - 1).subscriptions, path.nodes[i]));
        let processes = path.nodes.iter().map(|node| seen.nodes[*node].process);
        let in_order = processes.filter(|process| seen.processes[*process].ended != Some(false));
        taken.chain([read]).flatten().chain(in_order.map(|process| seen.alive_until(process))).min()
    }

    /// Publications of the first node that led to nothing: those that count, and those on their way. Those after the
    /// last one that did may still be on their way for as long as the slowest instance took, and are not counted; nor,
    /// in programs that are not ours, those before the first one that the second node took, when the two may not have
    /// found each other yet.
    fn without_descendant(
        &self,
        path: &Path,
        origins: &Rows<Row<PublicationSeen>>,
        descents: &Rows<(Row<PublicationSeen>, i64)>,
        (worst, until_ns): (i64, Option<i64>),
    ) -> (Rows<Row<PublicationSeen>>, Vec<Row<PublicationSeen>>) {
        let seen = self.seen;
        let descended = Publications::of(descents.iter().map(|(origin, _)| *origin));
        let mut near = usize::MAX;
        let last = origins.iter().rposition(|p| descended.has(*p, &mut near));
        let takes = self.usage.takes(path.nodes[1], path.topics[0]);
        let taken = Publications::of(takes.iter().filter_map(|t| seen.takes[*t].publication));
        near = 0;
        let first = origins.iter().position(|p| taken.has(*p, &mut near));
        let ours = seen.ours[seen.nodes[path.nodes[0]].process];
        let matched_from = if ours { 0 } else { first.unwrap_or(origins.len()) };
        let in_flight_from = seen.end_ns().saturating_sub(worst);
        // What a node that was not active had before its executor ended was dropped there, and is on no way.
        let state = |node: &Row<Node>, time: i64| state_at(&seen.lifecycle.states, *node, time);
        let dropped = |time: i64| {
            path.nodes[1..].iter().any(|node| state(node, time).is_some_and(|state| state != NodeState::ACTIVE))
        };
        let cut_off = |time: i64| {
            until_ns.is_some_and(|until| time >= until || time >= until.saturating_sub(worst) && !dropped(time))
        };
        let (mut lost, mut on_their_way) = (Rows::new(), Vec::new());
        near = 0;
        for (position, publication) in origins.iter().enumerate().skip(matched_from) {
            let time = seen.publications[*publication].time;
            let unknown = seen.lacks(time, time.saturating_add(worst));
            if descended.has(*publication, &mut near) || !self.seen.options.judges(time) || unknown {
                continue;
            }
            let on_its_way = last.is_none_or(|l| position > l) && (time >= in_flight_from || cut_off(time));
            match on_its_way {
                true => on_their_way.push(*publication),
                false => lost.push(*publication),
            }
        }
        (lost, on_their_way)
    }

    /// Nodes of a path whose tie is a guess.
    fn guessed_at(&self, path: &Path, ties: &[Tie]) -> Vec<String> {
        let nodes = ties.iter().zip(&path.nodes[1..]).filter(|(tie, _)| tie.guess);
        nodes.map(|(_, node)| self.seen.nodes[*node].name.clone()).collect()
    }

    fn evidence(&self, path: &Path, ties: &[Tie], arrival: Option<Arrival>) -> String {
        let Some(arrival) = arrival else { return "no instance came through".into() };
        let at = |rule: LinkRule| -> Vec<&str> {
            let nodes = ties.iter().zip(&path.nodes[1..]).filter(|(tie, _)| tie.rule == rule);
            nodes.map(|(_, node)| self.seen.nodes[*node].name.as_str()).collect()
        };
        let (latest, once, matched) = (at(LinkRule::Latest), at(LinkRule::LatestOnce), at(LinkRule::Match));
        let stamped = at(LinkRule::HeaderStamp);
        let mut words = Vec::new();
        if latest.len() + once.len() + matched.len() + stamped.len() < ties.len() {
            words.push("published in the callback that took the input".to_string());
        }
        if !stamped.is_empty() {
            words.push(format!("with the stamp of the input in its header, at {}", stamped.join(", ")));
        }
        if !latest.is_empty() {
            words.push(format!("latest message taken before, at {}", latest.join(", ")));
        }
        if !once.is_empty() {
            words.push(format!("latest message taken before, each used once, at {}", once.join(", ")));
        }
        if !matched.is_empty() {
            words.push(format!("matched by a message filter, at {}", matched.join(", ")));
        }
        words.push(arrival.words().to_string());
        words.join("; ")
    }
}

/// Whether the output of a path is the end of a callback, so that its last node ties nothing to its input.
fn ends_with_a_callback(path: &Path) -> bool {
    path.end != End::Output && path.output.is_none()
}

/// The pairs of a path whose ties are inferred.
fn pairs(path: &Path) -> impl Iterator<Item = Pair> + '_ {
    let until = path.nodes.len() - usize::from(ends_with_a_callback(path));
    (1..until).map(|i| (path.nodes[i], path.topics[i - 1], path.output_of(i)))
}

/// One note for all chains that the same stands against.
fn published_outside(chains: &[(String, u64)]) -> Option<Note> {
    let mut names: Vec<&str> = chains.iter().map(|(name, _)| name.as_str()).collect();
    names.dedup(); // several paths have one name
    let of = if names.len() > 1 { "chains" } else { "chain" };
    let named = named(&names, NAMED);
    let text = format!(
        "outputs of {of} {named} that pass through a publish call outside of any callback: their inputs cannot be told"
    );
    (!chains.is_empty()).then(|| Note {
        name: "published-outside-callbacks".into(),
        count: chains.iter().map(|(_, count)| count).sum(),
        text,
    })
}

/// A set of publications in as little memory as they take.
struct Publications(Rows<Row<PublicationSeen>>);

impl Publications {
    fn of(rows: impl Iterator<Item = Row<PublicationSeen>>) -> Publications {
        Publications(rows.collect::<Rows<_>>().sorted_by(Ord::cmp))
    }

    /// `near`: where the look-up before ended.
    fn has(&self, row: Row<PublicationSeen>, near: &mut usize) -> bool {
        self.0.get(partition_near(&self.0, near, |of| *of < row)) == Some(&row)
    }
}
