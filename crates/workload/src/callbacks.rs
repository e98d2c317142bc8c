//! The callbacks of a node: what each computes, and what it publishes.

use crate::model::{Cause, Executor, Node, NodeTimer, Own, Publication, Subscription, Work};
use crate::random::Draws;
use std::time::Duration;

/// What a callback does before it publishes: it computes, then it sleeps.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Load {
    /// CPU time of its thread.
    pub work: Work,
    /// Time in which the thread is blocked.
    pub sleep: Work,
}

impl Load {
    /// Greatest time of one activation on a free CPU.
    pub fn longest(&self) -> Duration {
        self.work.longest() + self.sleep.longest()
    }

    /// Time that activations on a free CPU may take again and again: what a node must have time for.
    pub fn sustained(&self) -> Duration {
        self.work.sustained() + self.sleep.sustained()
    }

    /// Mean time of one activation on a free CPU.
    pub fn mean(&self) -> Duration {
        self.work.mean() + self.sleep.mean()
    }

    /// That of a callback, if it has its own.
    fn or_own(self, own: &Own) -> Load {
        Load { work: own.work.clone().unwrap_or(self.work), sleep: own.sleep.clone().unwrap_or(self.sleep) }
    }
}

/// The times of a callback's activations, drawn one after the other.
#[derive(Debug)]
pub struct Drawing {
    load: Load,
    work_before_ns: Option<u64>,
    sleep_before_ns: Option<u64>,
}

impl Drawing {
    /// Before the first activation.
    pub fn of(load: Load) -> Drawing {
        Drawing { load, work_before_ns: None, sleep_before_ns: None }
    }

    /// What the next activation computes and then sleeps, ns.
    pub fn next_ns(&mut self, draws: &mut Draws) -> (u64, u64) {
        let Drawing { load, work_before_ns, sleep_before_ns } = self;
        (draws.work_ns(&load.work, work_before_ns), draws.work_ns(&load.sleep, sleep_before_ns))
    }
}

/// A publication that a callback makes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// Index among those of its node.
    pub publication: usize,
    /// Which of the activations make it.
    pub turns: Turns,
}

impl Node {
    /// What an activation does unless its callback has a load of its own.
    pub fn load(&self) -> Load {
        Load { work: self.work.clone(), sleep: self.sleep.clone() }
    }

    /// Whether the callback of an input only keeps the message as the latest.
    pub fn only_keeps(&self, input: &Subscription) -> bool {
        input.latest || matches!(self.executor, Executor::Timer { .. })
    }

    /// What the callback of an input does.
    pub fn load_of_input(&self, input: &Subscription) -> Load {
        let load = if self.only_keeps(input) { Load::default() } else { self.load() };
        load.or_own(&input.own)
    }

    /// What the timer of a publication with a rate does.
    pub fn load_of_publication(&self, publication: &Publication) -> Load {
        self.load().or_own(&publication.own)
    }

    /// What a timer does.
    pub fn load_of_timer(&self, timer: &NodeTimer) -> Load {
        self.load().or_own(&timer.own)
    }

    /// Every load of its callbacks.
    pub fn loads(&self) -> Vec<Load> {
        let inputs = self.subscribes.iter().map(|s| self.load_of_input(s));
        let rated = self.publishes.iter().filter(|p| p.rate_hz.is_some());
        let timers = self.timers.iter().map(|t| self.load_of_timer(t));
        let own = matches!(self.executor, Executor::Timer { .. } | Executor::Spin { .. }).then(|| self.load());
        inputs.chain(rated.map(|p| self.load_of_publication(p))).chain(timers).chain(own).collect()
    }

    /// What the callback of an input publishes.
    pub fn answers_to_input(&self, input: &Subscription) -> Vec<Answer> {
        if self.only_keeps(input) {
            return Vec::new();
        }
        self.answers(|from| match from {
            [] => Some(Turns::all()),
            from => turns(from, &input.topic),
        })
    }

    /// What a timer publishes.
    pub fn answers_to_timer(&self, timer: &NodeTimer) -> Vec<Answer> {
        self.answers(|from| turns(from, &timer.name))
    }

    fn answers(&self, share_of: impl Fn(&[Cause]) -> Option<Turns>) -> Vec<Answer> {
        let without = self.publishes.iter().enumerate().filter(|(_, p)| p.rate_hz.is_none());
        let answer = |(publication, p): (usize, &Publication)| Some(Answer { publication, turns: share_of(&p.from)? });
        without.filter_map(answer).collect()
    }

    /// Sends a second that are due by the clock: its rate, or that of the timer which alone publishes it each time.
    /// `None` of what answers inputs, and of nodes that spin or have one timer.
    pub fn clocked_hz(&self, publication: &Publication) -> Option<f64> {
        let timer = || match publication.from.as_slice() {
            [only] if only.share_percent >= 100.0 && only.times == 1 => {
                self.timers.iter().find(|timer| timer.name == only.name)
            }
            _ => None,
        };
        publication.rate_hz.or_else(|| Some(timer()?.hz))
    }
}

fn turns(from: &[Cause], name: &str) -> Option<Turns> {
    from.iter()
        .find(|cause| cause.name == name)
        .map(|cause| Turns { times: cause.times, ..Turns::of(cause.share_percent, cause.burst) })
}

/// Spreads a share evenly over activations, in bursts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turns {
    share_percent: f64,
    burst: u32,
    owed_percent: f64,
    /// Of the burst that goes on.
    left: u32,
    /// Messages of an activation that publishes.
    times: u32,
}

impl Turns {
    /// Of this share, in bursts of so many. The first burst comes in the middle of its turn, so that a run that is as
    /// long as one turn has it.
    pub fn of(share_percent: f64, burst: u32) -> Turns {
        Turns { share_percent, burst, owed_percent: 50.0 * f64::from(burst.saturating_sub(1)), left: 0, times: 1 }
    }

    /// Each activation.
    pub fn all() -> Turns {
        Turns::of(100.0, 1)
    }

    /// How many messages this activation publishes.
    pub fn due(&mut self) -> u32 {
        if self.is_due() {
            self.times
        } else {
            0
        }
    }

    /// Whether this activation is one of the share.
    fn is_due(&mut self) -> bool {
        self.owed_percent += self.share_percent;
        // Sums of a share such as 33.3 % are not exact.
        if self.left == 0 && self.owed_percent >= 100.0 * f64::from(self.burst) - 1e-6 {
            self.left = self.burst;
        }
        let is_due = self.left > 0;
        if is_due {
            self.owed_percent -= 100.0;
            self.left -= 1;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_spread_evenly_and_is_exact_in_the_long_run() {
        let count = |share: f64, of: usize| {
            let mut turns = Turns::of(share, 1);
            (0..of).filter(|_| turns.is_due()).count()
        };
        assert_eq!((count(100.0, 7), count(0.0, 7), count(50.0, 8), count(30.0, 1000)), (7, 0, 4, 300));
        let mut turns = Turns::of(25.0, 1);
        let published: Vec<bool> = (0..8).map(|_| turns.is_due()).collect();
        assert_eq!(published, [false, false, false, true, false, false, false, true]);
    }

    #[test]
    fn an_activation_may_publish_several_messages() {
        let cause = Cause { share_percent: 50.0, times: 3, ..Cause::always("/a") };
        let mut turns = turns(&[cause], "/a").unwrap();
        assert_eq!((0..6).map(|_| turns.due()).collect::<Vec<_>>(), [0, 3, 0, 3, 0, 3]);
    }

    #[test]
    fn bursts_are_as_long_as_stated_and_evenly_spread_and_the_share_is_kept() {
        // Of the second, the last of 100 bursts ends with the last activation.
        for (share, burst, of, expected) in [(10.0, 70, 7_000, 700), (90.0, 45, 5_020, 4_500), (0.5, 70, 14_000, 70)] {
            let mut turns = Turns::of(share, burst);
            let published: Vec<bool> = (0..of).map(|_| turns.is_due()).collect();
            assert_eq!(published.iter().filter(|due| **due).count(), expected, "{share} % by {burst}");
            let bursts: Vec<usize> =
                published.chunk_by(|a, b| a == b).filter(|run| run[0]).map(<[bool]>::len).collect();
            assert!(bursts.iter().all(|long| *long == burst as usize), "{share} % by {burst}: {bursts:?}");
        }
    }
}
