//! The one loop of campaigns: in order, one run at a time, or as many at once as runs do not disturb each other.

use crate::campaign::{Books, Done, Step};
use crate::order::Item;
use anyhow::Result;
use std::collections::BTreeMap;
use std::sync::mpsc;

/// What a run reports.
enum Told {
    Progress(String, f64),
    Done(Box<Result<Done>>),
}

/// Progress over all items.
struct Whole {
    of: usize,
    all_s: f64,
    done_s: f64,
    /// What is done of the items that run, s.
    running_s: BTreeMap<usize, f64>,
    /// The item that began last: the one that is shown.
    newest: usize,
}

impl Whole {
    fn done(&self) -> f64 {
        (self.done_s + self.running_s.values().sum::<f64>()) / self.all_s
    }
}

/// Runs numbered items, up to `at_once` at a time.
pub(crate) fn run(
    books: &mut Books<'_, '_>,
    items: Vec<(usize, Item)>,
    at_once: usize,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<()> {
    let campaign = books.campaign;
    let takes_s = |item: Item| campaign.subjects[item.subject].takes_s();
    let all_s = items.iter().map(|(_, item)| takes_s(*item)).sum();
    let mut whole = Whole { of: campaign.order.len(), all_s, done_s: 0.0, running_s: BTreeMap::new(), newest: 0 };
    let mut show = |whole: &mut Whole, number: usize, item: Item, what: &str, part: f64| {
        whole.running_s.insert(number, part * takes_s(item));
        if number < whole.newest {
            return;
        }
        whole.newest = number;
        let (subject, repeat) = (&campaign.subjects[item.subject], Some(item.repeat));
        progress(Step { subject, repeat, number, of: whole.of, what, done: whole.done() });
    };
    let ended = |whole: &mut Whole, number: usize, item: Item| {
        whole.running_s.remove(&number);
        whole.done_s += takes_s(item);
    };
    if at_once < 2 {
        for (number, item) in items {
            if books.begin(item) {
                let done = campaign.run_one(item, &mut |what, part| show(&mut whole, number, item, what, part))?;
                books.end(item, done)?;
            }
            ended(&mut whole, number, item);
            if books.is_over() {
                break;
            }
        }
        return Ok(());
    }
    let (sender, receiver) = mpsc::channel();
    let mut items = items.into_iter();
    std::thread::scope(|scope| {
        let mut running = 0;
        loop {
            while running < at_once && !books.is_over() {
                let Some((number, item)) = items.next() else { break };
                if !books.begin(item) {
                    ended(&mut whole, number, item);
                    continue;
                }
                let sender = sender.clone();
                scope.spawn(move || {
                    // The receiver lives until all runs have ended.
                    let tell = |told| sender.send((number, item, told)).unwrap_or_default();
                    let done = campaign.run_one(item, &mut |what, part| tell(Told::Progress(what.to_owned(), part)));
                    tell(Told::Done(Box::new(done)));
                });
                running += 1;
            }
            if running == 0 {
                return Ok(());
            }
            let Ok((number, item, told)) = receiver.recv() else { return Ok(()) };
            match told {
                Told::Progress(what, part) => show(&mut whole, number, item, &what, part),
                Told::Done(done) => {
                    running -= 1;
                    ended(&mut whole, number, item);
                    books.end(item, (*done)?)?;
                }
            }
        }
    })
}
