//! What paths share: the edges between their nodes, each once, with what was found on it last.

use crate::graph::Path;
use crate::observe::Topic;
use rustc_hash::FxHashMap as HashMap;
use tacho_tables::row::Row;
use tacho_tables::{LinkRule, Node};

/// Answers that an edge remembers: paths that meet again lead over a few messages at a time.
const REMEMBERED: usize = 8;

/// From the node that publishes an input to the node that takes it and makes an output of it, and by which rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Tied {
    pub from: Row<Node>,
    pub input: Row<Topic>,
    pub node: Row<Node>,
    pub output: Option<Row<Topic>>,
    pub rule: LinkRule,
}

impl Tied {
    /// The one that leads to the node at a position of a path.
    pub fn of(path: &Path, position: usize, rule: LinkRule) -> Tied {
        let (from, input) = (path.nodes[position - 1], path.topics[position - 1]);
        Tied { from, input, node: path.nodes[position], output: path.output_of(position), rule }
    }
}

/// Edges by their places.
pub(super) struct Edges<E> {
    all: Vec<E>,
    places: HashMap<Tied, usize>,
}

impl<E> Edges<E> {
    /// The place of the edge between these, which is made if there is none.
    pub fn place_of(&mut self, tied: Tied, make: impl FnOnce(Tied) -> E) -> usize {
        *self.places.entry(tied).or_insert_with(|| {
            self.all.push(make(tied));
            self.all.len() - 1
        })
    }

    pub fn at(&mut self, place: usize) -> &mut E {
        &mut self.all[place]
    }
}

impl<E> Default for Edges<E> {
    fn default() -> Edges<E> {
        Edges { all: Vec::new(), places: HashMap::default() }
    }
}

/// The last answers, by what was asked.
pub(super) struct Remembered<Q, A>([Option<(Q, A)>; REMEMBERED]);

impl<Q: Copy + PartialEq, A: Copy> Remembered<Q, A> {
    /// `number`: of what was asked; those that are near each other are kept beside each other.
    pub fn get(&self, number: usize, asked: Q) -> Option<A> {
        self.0[number % REMEMBERED].filter(|(of, _)| *of == asked).map(|(_, answer)| answer)
    }

    /// Gives the answer back.
    pub fn put(&mut self, number: usize, asked: Q, answer: A) -> A {
        self.0[number % REMEMBERED] = Some((asked, answer));
        answer
    }
}

impl<Q: Copy, A: Copy> Default for Remembered<Q, A> {
    fn default() -> Remembered<Q, A> {
        Remembered([None; REMEMBERED])
    }
}
