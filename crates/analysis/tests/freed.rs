//! A node that keeps messages for its timer: whether it empties what it keeps shows in the addresses of the messages.

mod system;

use std::collections::VecDeque;
use system::*;
use tacho_tables::{LinkEvidence, LinkRule, Tables};

/// Gives addresses, and takes them back.
struct Heap {
    free: VecDeque<u64>,
    /// Whether what was given back last is given first, as glibc does; else last.
    last_first: bool,
}

impl Heap {
    fn new(last_first: bool) -> Heap {
        Heap { free: (1..=6).map(|k| 0x1_000 * k).collect(), last_first }
    }

    fn allocate(&mut self) -> u64 {
        self.free.pop_front().expect("an address")
    }

    fn free(&mut self, address: Option<u64>) {
        match self.last_first {
            true => address.into_iter().for_each(|a| self.free.push_front(a)),
            false => self.free.extend(address),
        }
    }
}

/// What a node does with a message.
#[derive(Clone, Copy, PartialEq)]
enum Keeping {
    /// Until its timer used it.
    UntilUsed,
    /// Until the next one is there.
    UntilReplaced,
    /// It copies it and frees it at once.
    Copied,
}
use Keeping::*;

const TURNS: i64 = 60;

/// A planner that publishes at each of its timers. In three turns come one image, none and two.
/// The way to that timer is asked for.
fn planner(keeping: Keeping, mut heap: Heap) -> Tables {
    let mut s = System::new().node("camera").publishes("/image").timer(500);
    s = s.node("planner").takes("/image").publishes("/plan").timer(1_000).node("control").takes("/plan");
    let mut kept = None;
    for k in 0..TURNS {
        let t = 1_000 * k;
        for image in 0..[1, 0, 2][k as usize % 3] {
            let at = t + 100 * (image + 1);
            s = s.lying_at(heap.allocate()).fires("camera", 500, (at, at + 5), &[("/image", at + 2)]);
            let taken = s.address();
            s = s.took("planner", ("/image", at + 2), (at + 20, at + 30), &[]);
            match keeping {
                Copied => heap.free(Some(taken)),
                _ => heap.free(kept.replace(taken)),
            }
        }
        s = s.fires("planner", 1_000, (t + 500, t + 550), &[("/plan", t + 540)]);
        if keeping == UntilUsed {
            heap.free(kept.take());
        }
        s = s.lying_at(0x9_000).took("control", ("/plan", t + 540), (t + 560, t + 570), &[]);
    }
    s.tables_with("chains: {to the timer: {from: /image, to: planner on_1000}}")
}

fn tie(tables: &Tables) -> (LinkRule, LinkEvidence, Option<bool>) {
    let link = link(tables, "/planner", "/image", "/plan").expect("a tie");
    (link.rule, link.evidence, link.guess)
}

const PATH: &str = "/camera /image /planner /plan /control";

#[test]
fn a_node_whose_messages_are_freed_with_its_outputs_uses_each_once() {
    let tables = planner(UntilUsed, Heap::new(true));
    assert_eq!(tie(&tables), (LinkRule::LatestOnce, LinkEvidence::Inferred, Some(false)));
    // In two of three turns.
    assert_eq!(instances(&tables, PATH).len(), 40);
    let kept_since: Vec<i64> = instances(&tables, PATH).iter().map(|(start, _)| start % 3_000).collect();
    assert_eq!(kept_since[..4], [100, 2_200, 100, 2_200], "the later of two");
    let to_the_timer = instances(&tables, "/camera /image /planner /plan");
    assert_eq!((to_the_timer.len(), &to_the_timer[..2]), (40, &[(100, 540), (2_200, 2_540)][..]));
}

#[test]
fn a_node_that_keeps_its_messages_until_others_come_uses_them_again() {
    for last_first in [true, false] {
        let tables = planner(UntilReplaced, Heap::new(last_first));
        assert_eq!(tie(&tables), (LinkRule::Latest, LinkEvidence::Inferred, Some(false)));
        assert_eq!(instances(&tables, PATH).len(), 60);
    }
}

#[test]
fn addresses_say_nothing_of_a_node_that_copies_its_messages_however_late_they_are_given_again() {
    for last_first in [true, false] {
        let tables = planner(Copied, Heap::new(last_first));
        assert_eq!(tie(&tables), (LinkRule::Latest, LinkEvidence::Inferred, Some(false)));
    }
}
