//! Triggers: conditions on a system that goes on, each judged once for each message, soon after that is possible.

use crate::live::LiveWindow;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use tacho_events::RunDirectory;
use tacho_tables::row::{rows_of, Row};
use tacho_tables::{Endpoint, Process, Tables};
use tacho_workload::units;

/// Messages are judged when the events that tell of them are this old: by then they are written.
const SETTLED_NS: i64 = 300_000_000;
/// How far a subscription's past is looked at: whether it takes the messages of a publisher at all.
const PAST_NS: i64 = 5_000_000_000;
/// What was judged is analysed again with what follows for so long, and for longer where messages take longer: a
/// message links only to a publish call that is still there.
const AGAIN_NS: i64 = 200_000_000;

/// What a trigger waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Condition {
    /// A message has been published, and its callback in a subscription has not begun within the time; where callbacks
    /// are not told, it was not taken. Slow ones, waiting ones and lost ones alike. A subscription that took nothing of
    /// the publisher in the last seconds is not matched with it, as far as can be known: there nothing is late.
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
        let limit_ns = units::parse_duration(time).map_err(|error| format!("{time}: {error}"))?.as_nanos() as i64;
        Ok(Trigger { condition, topic: topic.to_owned(), limit_ns })
    }
}

/// Watches a run that goes on. An event is analysed with those of a look or two, not with those of seconds: watching
/// costs what happens.
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
    /// When a subscription last had a message of a publisher.
    took: HashMap<(Known, Known), i64>,
    /// The longest that messages of the last look took, or have not come for.
    slowest_ns: i64,
}

/// An endpoint from look to look: its process, and when it was made.
type Known = (Row<Process>, i64);

fn known(tables: &Tables, endpoint: Row<Endpoint>) -> Known {
    let endpoint = &tables.endpoints[endpoint];
    (tables.nodes[endpoint.node].process, endpoint.created_ns)
}

impl Watch {
    /// For these triggers, from `now` on, ns of CLOCK_MONOTONIC.
    pub fn new(run: &RunDirectory, triggers: Vec<Trigger>, now: i64) -> Watch {
        let topics: Vec<String> = triggers.iter().map(|trigger| trigger.topic.clone()).collect();
        let window = LiveWindow::new(run, i64::MAX).with_topics_only(topics);
        let watched =
            |trigger| Watched { trigger, judged_ns: now, published_ns: None, took: HashMap::default(), slowest_ns: 0 };
        let triggers = triggers.into_iter().map(watched).collect();
        Watch { window, triggers }
    }

    /// Judges what happened until `now`; which trigger was met and by what, where one was.
    pub fn look(&mut self, now: i64) -> Result<Option<String>, tacho_events::reader::Error> {
        self.window.read_once()?;
        let tables = self.window.messages(i64::MIN, now);
        let met: Vec<String> =
            self.triggers.iter_mut().filter_map(|watched| watched.judge(&tables, now - SETTLED_NS)).collect();
        let of_all = |of: fn(&Watched) -> i64| self.triggers.iter().map(of);
        let again = (2 * of_all(|watched| watched.slowest_ns).max().unwrap_or(0)).clamp(AGAIN_NS, PAST_NS);
        self.window.forget_before(of_all(|watched| watched.judged_ns).min().unwrap_or(now) - again);
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
    fn published<'a>(
        &'a self,
        tables: &'a Tables,
        from: i64,
        to: i64,
    ) -> impl Iterator<Item = (Row<Endpoint>, i64)> + 'a {
        let of_topic = |publisher: Row<Endpoint>| tables.endpoints[publisher].topic == self.trigger.topic;
        let calls = tables
            .publications
            .iter()
            .filter(move |call| (from..to).contains(&call.publish_ns) && of_topic(call.publisher));
        calls.map(|call| (call.publisher, call.publish_ns))
    }

    fn late(&mut self, tables: &Tables, to_ns: i64) -> Option<String> {
        let limit = self.trigger.limit_ns;
        let (from, to) = (self.judged_ns, to_ns - limit);
        if to <= from {
            return None;
        }
        // When each message was there.
        let mut begun: HashMap<(Row<Endpoint>, Row<Endpoint>, i64), i64> = HashMap::default();
        let mut slowest_ns = 0;
        for message in &tables.messages {
            if let (Some(publisher), Some(publish_ns), Some(there)) =
                (message.publisher, message.publish_ns.get(), message.callback_ns.get().or(message.take_ns.get()))
            {
                let took =
                    self.took.entry((known(tables, publisher), known(tables, message.subscription))).or_insert(there);
                *took = there.max(*took);
                slowest_ns = slowest_ns.max(there - publish_ns);
                begun.insert((publisher, message.subscription, publish_ns), there);
            }
        }
        self.took.retain(|_, there| *there >= to_ns - PAST_NS - 2 * limit);
        // Subscriptions that take a publisher's messages.
        let rows: HashMap<Known, Row<Endpoint>> =
            rows_of(&tables.endpoints).map(|endpoint| (known(tables, endpoint), endpoint)).collect();
        let mut takers: HashMap<Row<Endpoint>, BTreeSet<Row<Endpoint>>> = HashMap::default();
        for (publisher, subscription) in self.took.keys() {
            if let (Some(publisher), Some(subscription)) = (rows.get(publisher), rows.get(subscription)) {
                takers.entry(*publisher).or_default().insert(*subscription);
            }
        }
        let mut worst: Option<(i64, String)> = None;
        for (publisher, publish_ns) in self.published(tables, from, to) {
            for subscription in takers.get(&publisher).into_iter().flatten() {
                let there = begun.get(&(publisher, *subscription, publish_ns));
                let late = there.unwrap_or(&to_ns) - publish_ns;
                slowest_ns = slowest_ns.max(late);
                if late > limit && worst.as_ref().is_none_or(|worst| late > worst.0) {
                    let node = &tables.nodes[tables.endpoints[*subscription].node].name;
                    let how = if there.is_some() { "reached" } else { "has not reached" };
                    worst = Some((late, format!("a message {how} {node} after {:.1} ms", late as f64 / 1e6)));
                }
            }
        }
        (self.judged_ns, self.slowest_ns) = (to, slowest_ns);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::tests::talker_and_listener;

    const MS: i64 = 1_000_000;

    #[test]
    fn triggers_are_read_as_they_are_written_and_what_is_none_is_said() {
        for text in ["late /points 50ms", "silent /a/b 1500ms"] {
            assert_eq!(text.parse::<Trigger>().expect(text).to_string(), text);
        }
        assert_eq!("late /points 2s".parse::<Trigger>().expect("trigger").limit_ns, 2_000 * MS);
        for (text, said) in [
            ("late /points", "late TOPIC TIME"),
            ("slow /points 5ms", "late TOPIC TIME"),
            ("late points 5ms", "/points"),
            ("late /points 5", "5"),
        ] {
            let error = text.parse::<Trigger>().expect_err(text);
            assert!(error.contains(said), "{error}");
        }
    }

    /// A talker whose messages are published at times and taken so much later, ms; `None`: never.
    fn run(messages: &[(i64, Option<i64>)]) -> (tempfile::TempDir, RunDirectory) {
        let (folder, run, mut file) = talker_and_listener();
        for (at, after) in messages {
            let (time, stamp) = ((at * MS) as u64, *at as u64);
            file.put(1, time, 22, &[20, stamp], &[]).expect("rcl_publish");
            file.put(1, time + 10, 23, &[21, stamp, stamp], &[]).expect("rmw_publish");
            if let Some(after) = after {
                let taken = ((at + after) * MS) as u64;
                file.put(2, taken - 20, 49, &[30], &[]).expect("executor_execute");
                file.put(2, taken - 10, 28, &[31, stamp, stamp, 1], &[]).expect("rmw_take");
                file.put(2, taken, 43, &[33, 0], &[]).expect("callback_start");
                file.put(2, taken + 10, 44, &[33], &[]).expect("callback_end");
            }
        }
        file.flush().expect("flush");
        (folder, run)
    }

    fn met(messages: &[(i64, Option<i64>)], trigger: &str, looks: &[i64]) -> Vec<Option<String>> {
        let (_folder, run) = run(messages);
        let mut watch = Watch::new(&run, vec![trigger.parse().expect("trigger")], 0);
        looks.iter().map(|now| watch.look(now * MS).expect("look")).collect()
    }

    #[test]
    fn slow_and_waiting_messages_are_late_once() {
        let in_time: Vec<_> = (0..20).map(|i| (1000 + i * 50, Some(1))).collect();
        assert_eq!(met(&in_time, "late /points 10ms", &[1500, 3000]), [None, None]);
        let mut slow = in_time.clone();
        slow[10].1 = Some(30);
        let found = met(&slow, "late /points 10ms", &[3000, 3500]);
        assert_eq!(found, [Some("late /points 10ms: a message reached /demo after 30.0 ms".into()), None]);
        assert_eq!(met(&slow, "late /points 40ms", &[3000]), [None]);
        let mut waiting = in_time.clone();
        waiting[19].1 = None;
        let found = met(&waiting, "late /points 10ms", &[3000]);
        assert!(found[0].as_ref().is_some_and(|text| text.contains("has not reached /demo")), "{found:?}");
        // Before it can be judged, it is not.
        assert_eq!(met(&waiting, "late /points 500ms", &[2200, 3000]).iter().filter(|met| met.is_some()).count(), 1);
        assert_eq!(met(&[(1000, None), (1050, None)], "late /points 10ms", &[3000]), [None], "not known to match");
    }

    #[test]
    fn a_subscription_that_lags_by_seconds_goes_on_being_late() {
        let behind: Vec<_> =
            (0..200).map(|i| (1000 + i * 50, Some(if i < 20 { 1 } else { (i - 20).min(60) * 50 }))).collect();
        let looks: Vec<i64> = (4..28).map(|half| half * 500).collect();
        let found = met(&behind, "late /points 60ms", &looks);
        // From the third late message on until all are judged, each look finds some.
        let late: Vec<bool> = found.iter().map(Option::is_some).collect();
        let first = late.iter().position(|met| *met).expect("met");
        let last = late.iter().rposition(|met| *met).expect("met");
        assert!(late[first..=last].iter().all(|met| *met) && looks[first] <= 3000 && looks[last] >= 11_000, "{late:?}");
    }

    #[test]
    fn watching_costs_what_happens_and_not_how_long_was_watched() {
        let messages: Vec<_> = (0..1200).map(|i| (1000 + i * 50, Some(1))).collect();
        let (_folder, run) = run(&messages);
        let mut watch = Watch::new(&run, vec!["late /points 50ms".parse().expect("trigger")], 0);
        watch.look(61_000 * MS).expect("look"); // the file is whole from the beginning, and read here
        assert!(watch.window.events >= 1200 * 6);
        assert!(
            watch.window.recent.len() <= 15 * 6,
            "{} events are analysed again at the next look",
            watch.window.recent.len()
        );
    }

    #[test]
    fn a_silence_is_met_once_while_it_lasts_and_when_it_is_over() {
        let messages: Vec<_> = (0..10).chain(20..30).map(|i| (1000 + i * 50, Some(1))).collect();
        assert_eq!(met(&messages, "silent /points 600ms", &[2900]), [None]);
        let found = met(&messages, "silent /points 300ms", &[2100, 2500, 2790, 3600, 4000]);
        assert!(found[0].is_some(), "{found:?}");
        assert!(found[1].is_none() && found[2].is_none(), "{found:?}");
        assert!(found[3].is_some() && found[4].is_none(), "{found:?}");
        let late = met(&messages, "silent /points 300ms", &[2700]);
        assert!(late[0].as_ref().is_some_and(|text| text.contains("550.0 ms")), "{late:?}");
    }
}
