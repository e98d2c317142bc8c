//! What a bag tells of time: when its recorder had each message, and how old it was by its stamp.
//!
//! A bag holds messages and no events, so its two tables and their figures are all that there is of its run.
//! docs/figures.md, "bag_topics".

use crate::figures::Repeat;
use std::collections::BTreeMap;
use tacho_events::bag::BagMessage;
use tacho_tables::summary::{BagTopicFigures, Distribution};
use tacho_tables::Note;

/// Stamps further from the log time than this are of another clock, a simulator's mostly. No message is recorded a day
/// after it was stamped.
const SAME_CLOCK_NS: i64 = 24 * 3600 * 1_000_000_000;

/// One topic over all repeats.
#[derive(Default)]
struct Topic {
    messages: u64,
    bytes: u64,
    has_header: Option<bool>,
    stamped: u64,
    gaps_ns: Vec<f64>,
    stamp_gaps_ns: Vec<f64>,
    ages_ns: Vec<f64>,
    publish_to_log_ns: Vec<f64>,
    /// Absent as soon as the numbers of one repeat or stretch are no publisher's.
    missing: Option<u64>,
}

impl Topic {
    /// Adds messages of the topic in the order of their log times.
    fn add(&mut self, messages: &[BagMessage]) {
        self.messages += messages.len() as u64;
        for message in messages {
            self.bytes += message.size_bytes;
            self.stamped += u64::from(message.stamp_ns.is_some());
            self.ages_ns.extend(message.stamp_ns.map(|stamp| since(stamp, message.log_ns)));
            self.publish_to_log_ns.extend(message.publish_ns.map(|published| since(published, message.log_ns)));
        }
        // Between two stretches messages may be missing: what lies there is no gap of the topic.
        for pair in messages.windows(2).filter(|pair| pair[0].stretch == pair[1].stretch) {
            self.gaps_ns.push(since(pair[0].log_ns, pair[1].log_ns));
            self.stamp_gaps_ns
                .extend(pair[0].stamp_ns.zip(pair[1].stamp_ns).map(|(before, after)| since(before, after)));
        }
    }

    fn figures(self, (topic, datatype): (&str, &str), notes: &mut Vec<Note>) -> BagTopicFigures {
        let mut note =
            |name: &str, count: usize, text: String| notes.push(Note { name: name.into(), count: count as u64, text });
        let ages = of_same_clock(self.ages_ns).unwrap_or_else(|count| {
            note(
                "stamps-of-another-clock",
                count,
                format!(
                    "stamps on {topic} are more than a day from the log time: of simulated time, or of a clock that \
                     was not set; no age"
                ),
            );
            Vec::new()
        });
        let ahead = ages.iter().filter(|age| **age < 0.0).count();
        if ahead > 0 {
            note(
                "stamp-after-log",
                ahead,
                format!(
                    "messages on {topic} with a stamp after their log time: the clocks of the two hosts are apart, or \
                     the stamp is of what is to come; ages are wrong by that"
                ),
            );
        }
        let missing = self.missing.filter(|missing| *missing > 0);
        if let Some(missing) = missing {
            note(
                "bag-numbers-missing",
                missing as usize,
                format!(
                    "numbers that no message on {topic} has, among those that have one: lost before the recorder, or \
                     by it, if the numbers are the publisher's"
                ),
            );
        }
        let median = Distribution::of(self.gaps_ns.clone()).map(|gaps| gaps.median);
        let sum: f64 = self.gaps_ns.iter().sum();
        BagTopicFigures {
            topic: topic.into(),
            datatype: datatype.into(),
            messages: self.messages,
            bytes: self.bytes,
            numbers_missing: missing,
            stamped: (self.has_header == Some(true)).then_some(self.stamped),
            rate_hz: (sum > 0.0).then(|| self.gaps_ns.len() as f64 * 1e9 / sum),
            jitter_ms: median.and_then(|median| milliseconds(self.gaps_ns.iter().map(|gap| (gap - median).abs()))),
            gap_ms: milliseconds(self.gaps_ns),
            stamp_gap_ms: milliseconds(self.stamp_gaps_ns),
            age_ms: milliseconds(ages),
            publish_to_log_ms: of_same_clock(self.publish_to_log_ns).ok().and_then(milliseconds),
        }
    }
}

/// The figures of every topic of a bag, by name.
pub(crate) fn figures(repeats: &[Repeat<'_>], notes: &mut Vec<Note>) -> Vec<BagTopicFigures> {
    let mut found: BTreeMap<(&str, &str), Topic> = BTreeMap::new();
    for Repeat { tables, .. } in repeats {
        let mut rest: &[BagMessage] = &tables.bag_messages;
        let of_topics: Vec<(&[BagMessage], Option<u64>)> = (0..tables.bag_topics.len() as u32)
            .map(|number| {
                let (own, others) = rest.split_at(rest.partition_point(|message| message.topic == number));
                rest = others;
                (own, numbers_missing(own))
            })
            .collect();
        let counted = one_counter(&tables.bag_messages, &of_topics);
        for (topic, (own, missing)) in tables.bag_topics.iter().zip(of_topics) {
            let so_far = found.entry((&topic.name, &topic.datatype)).or_default();
            so_far.has_header = topic.has_header;
            let first = so_far.messages == 0;
            so_far.add(own);
            // A publisher numbers in ones.
            let missing = missing.filter(|missing| !counted && *missing <= own.len() as u64);
            so_far.missing =
                if first { missing } else { so_far.missing.zip(missing).map(|(before, more)| before + more) };
        }
    }
    if found.values().any(|topic| topic.stamped > 0) {
        let text = "ages are from a stamp by the clock of whoever stamped to the log time by the recorder's: wrong by \
                    what the two are apart; a step of a wall clock is in gaps and ages";
        notes.push(Note { name: "bag-clocks".into(), count: 1, text: text.into() });
    }
    found.into_iter().map(|(names, topic)| topic.figures(names, notes)).collect()
}

/// Numbers between the least and the greatest of some messages that none of them has, stretch by stretch. `None`: one
/// has no number, or two of a stretch have the same.
fn numbers_missing(messages: &[BagMessage]) -> Option<u64> {
    let mut numbers: Vec<(u32, u32)> =
        messages.iter().map(|message| Some((message.stretch, message.sequence?))).collect::<Option<_>>()?;
    numbers.sort_unstable();
    let distinct = numbers.windows(2).all(|pair| pair[0] != pair[1]);
    let missing = |own: &[(u32, u32)]| u64::from(own[own.len() - 1].1 - own[0].1) + 1 - own.len() as u64;
    distinct.then(|| numbers.chunk_by(|a, b| a.0 == b.0).map(missing).sum())
}

/// Whether the numbers of several topics, each with how many are missing, are the writer's own: no two messages have
/// the same, and all together miss no more than each topic by itself.
fn one_counter(all: &[BagMessage], of_topics: &[(&[BagMessage], Option<u64>)]) -> bool {
    let of_each: Option<u64> = of_topics.iter().map(|of| of.1).sum();
    let several = of_topics.iter().filter(|of| !of.0.is_empty()).count() > 1;
    several && numbers_missing(all).zip(of_each).is_some_and(|(together, of_each)| together <= of_each)
}

fn since(before_ns: i64, after_ns: i64) -> f64 {
    (i128::from(after_ns) - i128::from(before_ns)) as f64
}

/// Differences of two clocks, where all are of clocks that tell the same time; else how many are not.
fn of_same_clock(values: Vec<f64>) -> Result<Vec<f64>, usize> {
    let apart = values.iter().filter(|value| value.abs() > SAME_CLOCK_NS as f64).count();
    if apart == 0 {
        Ok(values)
    } else {
        Err(apart)
    }
}

fn milliseconds(ns: impl IntoIterator<Item = f64>) -> Option<Distribution> {
    Distribution::of(ns.into_iter().map(|ns| ns / 1e6).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_analysis::Options;
    use tacho_events::bag::BagTopic;
    use tacho_tables::Tables;

    const MS: i64 = 1_000_000;
    /// Some day of 2026.
    const DAY: i64 = 1_780_000_000_000_000_000;

    fn topic(name: &str) -> BagTopic {
        BagTopic { name: name.into(), datatype: "a/msg/B".into(), has_header: Some(true) }
    }

    fn message(topic: u32, log_ms: i64, stamp_ms: Option<i64>) -> BagMessage {
        let stamp_ns = stamp_ms.map(|ms| DAY + ms * MS);
        BagMessage {
            topic,
            log_ns: DAY + log_ms * MS,
            publish_ns: None,
            stamp_ns,
            size_bytes: 10,
            sequence: None,
            stretch: 0,
        }
    }

    fn figures_of(topics: Vec<BagTopic>, messages: Vec<BagMessage>) -> (Vec<BagTopicFigures>, Vec<String>) {
        let tables = Tables::of_bag(topics, messages.into());
        let mut notes = Vec::new();
        let found = figures(&[Repeat { tables: &tables, options: Options::default(), info: None }], &mut notes);
        (found, notes.into_iter().map(|note| note.name).collect())
    }

    #[test]
    fn gaps_jitter_and_ages_are_those_of_the_topics_own_messages_in_the_order_of_log_times() {
        let messages = vec![
            message(1, 5, None),
            message(0, 30, Some(22)),
            message(0, 0, Some(-2)),
            message(0, 10, Some(9)),
            message(1, 1, None),
        ];
        let (found, notes) = figures_of(vec![topic("/a"), topic("/b"), topic("/silent")], messages);
        let a = &found[0];
        let gaps = a.gap_ms.as_ref().expect("gaps");
        assert_eq!((a.messages, a.bytes, a.stamped, gaps.count, gaps.min, gaps.max), (3, 30, Some(3), 2, 10.0, 20.0));
        assert_eq!(a.rate_hz, Some(2.0 / 0.03));
        let jitter = a.jitter_ms.as_ref().expect("jitter");
        assert_eq!((jitter.min, jitter.max), (5.0, 5.0), "the median gap is 15 ms");
        let ages = a.age_ms.as_ref().expect("ages");
        assert_eq!((ages.min, ages.median, ages.max), (1.0, 2.0, 8.0));
        let stamps = a.stamp_gap_ms.as_ref().expect("stamps");
        assert_eq!((stamps.min, stamps.max), (11.0, 13.0));
        assert_eq!(
            (found[1].gap_ms.as_ref().map(|d| d.max), found[1].stamped, &found[1].age_ms),
            (Some(4.0), Some(0), &None)
        );
        assert_eq!((found[2].messages, &found[2].rate_hz, &found[2].gap_ms), (0, &None, &None));
        assert_eq!(notes, ["bag-clocks"]);
    }

    #[test]
    fn where_messages_may_be_missing_there_is_no_gap() {
        let mut messages =
            vec![message(0, 0, None), message(0, 10, None), message(0, 500, None), message(0, 510, None)];
        messages[2].stretch = 1;
        messages[3].stretch = 1;
        let (found, _) = figures_of(vec![topic("/a")], messages);
        assert_eq!(found[0].gap_ms.as_ref().map(|gaps| (gaps.count, gaps.max)), Some((2, 10.0)));
        assert_eq!(found[0].rate_hz, Some(100.0));
    }

    #[test]
    fn numbers_that_are_missing_are_told_where_they_are_one_publishers() {
        let numbered = |topic: u32, numbers: &[u32]| -> Vec<BagMessage> {
            let row = |(k, number): (usize, &u32)| BagMessage {
                sequence: Some(*number),
                ..message(topic, 10 * k as i64, None)
            };
            numbers.iter().enumerate().map(row).collect()
        };
        let missing = |of: &[&[u32]]| {
            let topics = (0..of.len()).map(|k| topic(&format!("/{k}"))).collect();
            let (found, notes) =
                figures_of(topics, of.iter().zip(0..).flat_map(|(numbers, k)| numbered(k, numbers)).collect());
            let told = notes.iter().filter(|note| *note == "bag-numbers-missing").count();
            let missing: Vec<Option<u64>> = found.iter().map(|topic| topic.numbers_missing).collect();
            assert_eq!(told, missing.iter().flatten().count());
            missing
        };
        assert_eq!(missing(&[&[7, 8, 11, 12], &[5, 6, 7], &[0, 0, 0]]), [Some(2), None, None]);
        assert_eq!(missing(&[&[1, 3, 2, 5]]), [Some(1)], "in another order");
        assert_eq!(missing(&[&[1, 2, 3, 1_000, 1_001]]), [None], "of two publishers");
        assert_eq!(missing(&[&[0, 1, 3, 4, 6], &[2, 5]]), [None, None], "of the writer");
        assert_eq!(missing(&[&[0, 2, 8, 10], &[1, 3, 9, 11]]), [None, None], "of the writer, and some are lost");
        assert_eq!(
            missing(&[&[1, 2, 4], &[10, 11, 12]]),
            [Some(1), None],
            "of two publishers, one of which began before"
        );
    }

    #[test]
    fn stamps_of_simulated_time_make_no_age_and_stamps_ahead_are_told() {
        let mut simulated = message(0, 10, None);
        simulated.stamp_ns = Some(12_000 * MS);
        let (found, notes) = figures_of(vec![topic("/a"), topic("/b")], vec![simulated, message(1, 10, Some(13))]);
        assert_eq!((&found[0].age_ms, found[0].stamped), (&None, Some(1)));
        assert_eq!(found[1].age_ms.as_ref().map(|age| age.min), Some(-3.0));
        assert_eq!(notes, ["bag-clocks", "stamps-of-another-clock", "stamp-after-log"]);
    }
}
