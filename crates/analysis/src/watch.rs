//! Triggers: conditions on a system that goes on, each judged once for each message, soon after it can be told.

use crate::live::LiveWindow;
use crate::tables::Tables;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::str::FromStr;
use tacho_events::RunDirectory;
use tacho_workload::units;

/// Messages are judged when the events that tell of them are this old: by then they are written.
const SETTLED_NS: i64 = 300_000_000;
/// How far a subscription's past is looked at: whether it takes the messages of a publisher at all.
const PAST_NS: i64 = 5_000_000_000;

/// What a trigger waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Condition {
    /// A message has been published, and its callback in a subscription has not begun within the time; where callbacks are not told, it was not
    /// taken. Slow ones, waiting ones and lost ones alike. A subscription that took nothing of the publisher in the last seconds
    /// is not matched with it, as far as can be known: there nothing is late.
    Late,
    /// Nothing was published for longer than the time, after something was.
    Silent,
}

/// `late /points 50ms`, `silent /points 500ms`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trigger {
    condition: Condition,
    topic: String,
    limit_ns: i64,
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.condition == Condition::Late { "late" } else { "silent" };
        write!(f, "{word} {} {}ms", self.topic, self.limit_ns as f64 / 1e6)
    }
}

impl FromStr for Trigger {
    type Err = String;

    fn from_str(text: &str) -> Result<Trigger, String> {
        let expected = || "expected `late TOPIC TIME` or `silent TOPIC TIME`, such as 'late /points 50ms'".to_owned();
        let [word, topic, time] = text.split_whitespace().collect::<Vec<_>>()[..] else { return Err(expected()) };
        let condition = match word {
            "late" => Condition::Late,
            "silent" => Condition::Silent,
            _ => return Err(expected()),
        };
        if !topic.starts_with('/') {
            return Err(format!("topic {topic}: expected its full name, /{topic}"));
        }
        let limit_ns = units::parse_duration(time).map_err(|error| error.to_string())?.as_nanos() as i64;
        Ok(Trigger { condition, topic: topic.to_owned(), limit_ns })
    }
}

/// Watches a run that goes on.
pub struct Watch {
    window: LiveWindow,
    triggers: Vec<Watched>,
}

struct Watched {
    trigger: Trigger,
    /// Messages published before are judged.
    judged_ns: i64,
    /// Last publish call that was seen.
    published_ns: Option<i64>,
}

impl Watch {
    /// For these triggers, from `now` on, ns of CLOCK_MONOTONIC.
    pub fn new(run: &RunDirectory, triggers: Vec<Trigger>, now: i64) -> Watch {
        let longest = triggers.iter().map(|trigger| trigger.limit_ns).max().unwrap_or(0);
        let topics: Vec<String> = triggers.iter().map(|trigger| trigger.topic.clone()).collect();
        let window = LiveWindow::new(run, PAST_NS + 2 * longest).with_topics_only(topics);
        let triggers = triggers.into_iter().map(|trigger| Watched { trigger, judged_ns: now, published_ns: None }).collect();
        Watch { window, triggers }
    }

    /// Judges what happened until `now`; which trigger was met and by what, where one was.
    pub fn look(&mut self, now: i64) -> Result<Option<String>, tacho_events::reader::Error> {
        self.window.read()?;
        let longest = self.triggers.iter().map(|watched| watched.trigger.limit_ns).max().unwrap_or(0);
        let (tables, _) = self.window.tables(now - PAST_NS - 2 * longest, now);
        let met: Vec<String> = self.triggers.iter_mut().filter_map(|watched| watched.judge(&tables, now - SETTLED_NS)).collect();
        Ok(met.into_iter().next())
    }
}

impl Watched {
    fn judge(&mut self, tables: &Tables, to_ns: i64) -> Option<String> {
        let found = match self.trigger.condition {
            Condition::Late => self.late(tables, to_ns),
            Condition::Silent => self.silent(tables, to_ns),
        };
        found.map(|found| format!("{}: {found}", self.trigger))
    }

    /// Publish calls on the topic from one instant to another, with the endpoint.
    fn published<'a>(&'a self, tables: &'a Tables, from: i64, to: i64) -> impl Iterator<Item = (u32, i64)> + 'a {
        let of_topic = |publisher: u32| tables.endpoints[publisher as usize].topic == self.trigger.topic;
        let calls = tables.publications.iter().filter(move |call| (from..to).contains(&call.publish_ns) && of_topic(call.publisher));
        calls.map(|call| (call.publisher, call.publish_ns))
    }

    fn late(&mut self, tables: &Tables, to_ns: i64) -> Option<String> {
        let limit = self.trigger.limit_ns;
        let (from, to) = (self.judged_ns, to_ns - limit);
        if to <= from {
            return None;
        }
        // Subscriptions that take a publisher's messages, and when each message was there.
        let mut takers: HashMap<u32, BTreeSet<u32>> = HashMap::new();
        let mut begun: HashMap<(u32, u32, i64), i64> = HashMap::new();
        for message in &tables.messages {
            if let (Some(publisher), Some(publish_ns), Some(there)) = (message.publisher, message.publish_ns, message.callback_ns.or(message.take_ns)) {
                takers.entry(publisher).or_default().insert(message.subscription);
                begun.insert((publisher, message.subscription, publish_ns), there);
            }
        }
        let mut worst: Option<(i64, String)> = None;
        for (publisher, publish_ns) in self.published(tables, from, to) {
            for subscription in takers.get(&publisher).into_iter().flatten() {
                let there = begun.get(&(publisher, *subscription, publish_ns));
                let late = there.unwrap_or(&to_ns) - publish_ns;
                if late > limit && worst.as_ref().is_none_or(|worst| late > worst.0) {
                    let node = &tables.nodes[tables.endpoints[*subscription as usize].node as usize].name;
                    let how = if there.is_some() { "reached" } else { "has not reached" };
                    worst = Some((late, format!("a message {how} {node} after {:.1} ms", late as f64 / 1e6)));
                }
            }
        }
        self.judged_ns = to;
        worst.map(|worst| worst.1)
    }

    fn silent(&mut self, tables: &Tables, to_ns: i64) -> Option<String> {
        let mut calls: Vec<i64> = self.published(tables, self.judged_ns, to_ns).map(|call| call.1).collect();
        calls.sort_unstable();
        self.judged_ns = to_ns;
        let mut longest = 0;
        for call in calls {
            longest = longest.max(call - self.published_ns.unwrap_or(call));
            self.published_ns = Some(call);
        }
        let since = self.published_ns.map_or(0, |last| to_ns - last);
        if since > self.trigger.limit_ns {
            // Once for each silence.
            self.published_ns = None;
        }
        let longest = longest.max(since);
        (longest > self.trigger.limit_ns).then(|| format!("nothing was published for {:.1} ms", longest as f64 / 1e6))
    }
}
