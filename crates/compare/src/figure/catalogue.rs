//! Which figures of `summary.json` are compared; docs/compare.md, "which figures", lists them.

use super::{Better, Figure, Kind, Subject, Unit};
use tacho_tables::summary::{CallbackFigures, ChainFigures, Distribution, Point, Summary, TopicFigures};

/// More chains than this are compared only if they are critical or have a deadline: the paths that nobody named share
/// most of their nodes, and each further figure makes all others harder to decide.
const MOST_UNNAMED_CHAINS: usize = 16;

/// The figures of one run (one repeat). What was not measured is not there.
pub fn figures(summary: &Summary) -> Vec<Figure> {
    let point = summary.points.first().map(label).unwrap_or_default();
    let mut found = Found { point, figures: Vec::new() };
    if let [point] = summary.points.as_slice() {
        found.run(point);
    }
    let all = summary.chains.len() <= MOST_UNNAMED_CHAINS;
    for chain in &summary.chains {
        found.chain(chain, named(chain, &summary.chains), all || chain.critical || chain.deadline_ms.is_some());
    }
    summary.topics.iter().for_each(|topic| found.topic(topic));
    summary.callbacks.iter().for_each(|callback| found.callback(callback));
    for service in &summary.services {
        let mut of = found.about(Kind::Service, &service.service);
        of.times("round trip", Unit::Us, &service.round_trip_us, false);
        of.times("handling", Unit::Us, &service.handling_us, false);
        if let (Some(unanswered), Some(sent)) = (service.unanswered, service.sent) {
            of.part("unanswered", unanswered, sent);
        }
    }
    for action in &summary.actions {
        let mut of = found.about(Kind::Action, &action.action);
        of.times("acceptance", Unit::Us, &action.acceptance_us, false);
        of.times("result", Unit::Us, &action.result_us, false);
    }
    for quality in &summary.quality {
        // One repeat has one value; several values are no single figure.
        if let [value] = quality.values.as_slice() {
            found.about(Kind::Quality, &quality.node).one(&quality.name, Unit::Named, Better::Neutral, Some(*value));
        }
    }
    found.figures
}

/// What distinguishes a point from others of its sweep.
fn label(point: &Point) -> String {
    point.parameters.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join(", ")
}

/// The name of a chain; with its path, if others have the same name.
fn named(chain: &ChainFigures, all: &[ChainFigures]) -> String {
    match all.iter().filter(|other| other.name == chain.name).count() {
        1 => chain.name.clone(),
        _ => format!("{} [{}]", chain.name, chain.path.join(" ")),
    }
}

struct Found {
    point: String,
    figures: Vec<Figure>,
}

impl Found {
    fn about(&mut self, kind: Kind, name: &str) -> About<'_> {
        let subject = Subject { point: self.point.clone(), kind, name: name.into() };
        About { subject, is_compared: true, figures: &mut self.figures }
    }

    fn run(&mut self, point: &Point) {
        let mut of = self.about(Kind::Run, "");
        of.times("latency", Unit::Us, &point.latency_us, false);
        of.times("send lateness", Unit::Us, &point.send_lateness_us, false);
        of.one("loss", Unit::Percent, Better::Lower, point.loss_percent);
        if let (Some(in_time), Some(late)) = (point.in_time, point.late) {
            of.part("late", late, in_time + late);
        }
        if let (Some(skipped), Some(due)) = (point.skipped, point.due) {
            of.part("skipped", skipped, due);
        }
        of.one("startup mean", Unit::Ms, Better::Lower, point.startup_ms.as_ref().map(|d| d.mean));
        of.one("fairness spread", Unit::Us, Better::Lower, point.fairness.as_ref().map(|of| of.spread_us));
        of.one("cpu", Unit::Percent, Better::Lower, point.cpu_percent);
        of.one("pss", Unit::Bytes, Better::Lower, point.pss_bytes.map(|bytes| bytes as f64));
        of.one("rss", Unit::Bytes, Better::Lower, point.rss_bytes.map(|bytes| bytes as f64));
        of.one("wakeups", Unit::Hz, Better::Neutral, point.wakeups_per_s);
        of.one("preemptions", Unit::Hz, Better::Neutral, point.preemptions_per_s);
        of.one("wire bytes a message", Unit::Bytes, Better::Lower, point.wire_bytes_per_message);
    }

    fn chain(&mut self, chain: &ChainFigures, name: String, is_compared: bool) {
        let mut of = self.about(Kind::Chain, &name);
        of.is_compared = is_compared;
        of.times("end-to-end", Unit::Ms, &chain.end_to_end_ms, true);
        of.times("reaction", Unit::Ms, &chain.reaction_time_ms, false);
        // A change that still waits at the end has a reaction time of at least that.
        let reaction = [chain.reaction_time_ms.as_ref().map(|d| d.max), chain.reaction_pending_ms];
        of.tail("reaction max", Unit::Ms, reaction.into_iter().flatten().reduce(f64::max));
        of.times("age", Unit::Ms, &chain.data_age_ms, false);
        of.times("age-held", Unit::Ms, &chain.data_age_held_ms, false);
        of.part("lost", chain.lost, chain.instances + chain.lost);
        if let Some(late) = chain.late_instances {
            of.part("late", late, chain.instances);
        }
        if let Some(parts) = &chain.parts {
            // They show where a difference comes from. One part may gain what another loses, so none is judged.
            let words = ["computation", "off CPU", "preemption", "transport", "alignment", "queueing", "kept"];
            for (word, part) in words.into_iter().zip(parts.each()) {
                of.one(&format!("{word} mean"), Unit::Ms, Better::Neutral, part.map(|part| part.mean));
            }
        }
    }

    fn topic(&mut self, topic: &TopicFigures) {
        let mut of = self.about(Kind::Topic, &topic.topic);
        of.times("latency", Unit::Us, &topic.latency_us, false);
        if let Some(lost) = topic.lost {
            of.part("loss", lost, topic.received + lost);
        }
        of.one("rate", Unit::Hz, Better::Neutral, topic.rate_hz);
    }

    fn callback(&mut self, callback: &CallbackFigures) {
        // Addresses and process ids change from run to run: a callback known by them alone cannot be found again.
        let Some(node) = &callback.node else { return };
        let trigger = match (&callback.topic, callback.period_ms) {
            (Some(topic), _) if callback.kind == "subscription" => topic.clone(),
            (Some(topic), _) => format!("{} {topic}", callback.kind),
            (None, Some(period)) => format!("timer {period} ms"),
            (None, None) => String::new(),
        };
        let function = callback.function.as_deref().unwrap_or_default();
        if trigger.is_empty() && function.is_empty() {
            return;
        }
        let words = [node.as_str(), &trigger, function];
        let name = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let mut of = self.about(Kind::Callback, &name);
        of.times("duration", Unit::Us, &callback.duration_us, false);
        of.one("cpu mean", Unit::Us, Better::Lower, callback.cpu_us.as_ref().map(|d| d.mean));
        of.times("queue wait", Unit::Us, &callback.queue_wait_us, false);
    }
}

/// The figures of one thing.
struct About<'a> {
    subject: Subject,
    is_compared: bool,
    figures: &'a mut Vec<Figure>,
}

impl About<'_> {
    fn add(&mut self, name: String, unit: Unit, better: Better, is_tail: bool, is_compared: bool, value: Option<f64>) {
        let Some(value) = value.filter(|value| value.is_finite()) else { return };
        let (subject, is_compared) = (self.subject.clone(), is_compared && self.is_compared);
        self.figures.push(Figure { subject, name, unit, better, is_tail, is_compared, value });
    }

    fn one(&mut self, name: &str, unit: Unit, better: Better, value: Option<f64>) {
        self.add(name.into(), unit, better, false, true, value);
    }

    fn tail(&mut self, name: &str, unit: Unit, value: Option<f64>) {
        self.add(name.into(), unit, Better::Lower, true, true, value);
    }

    /// Percent of a whole; absent of nothing.
    fn part(&mut self, name: &str, part: u64, whole: u64) {
        let percent = (whole > 0).then(|| 100.0 * part as f64 / whole as f64);
        self.one(name, Unit::Percent, Better::Lower, percent);
    }

    /// Mean and p99 of times are compared, and the greatest if `worst`. Expectations know the median and the greatest,
    /// too; the greatest reaction counts changes that still wait, and is added elsewhere.
    fn times(&mut self, name: &str, unit: Unit, times: &Option<Distribution>, worst: bool) {
        let Some(times) = times else { return };
        self.one(&format!("{name} mean"), unit, Better::Lower, Some(times.mean));
        self.tail(&format!("{name} p99"), unit, Some(times.p99));
        self.add(format!("{name} median"), unit, Better::Lower, false, false, Some(times.median));
        if name != "reaction" {
            self.add(format!("{name} max"), unit, Better::Lower, true, worst, Some(times.max));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(summary: &Summary, subject: &str, name: &str) -> Option<f64> {
        let found = figures(summary);
        let mut of = found.iter().filter(|figure| figure.subject.to_string() == subject && figure.name == name);
        let value = of.next().map(|figure| figure.value);
        assert!(of.next().is_none(), "{subject} {name} twice");
        value
    }

    fn times(mean: f64, p99: f64, max: f64) -> Option<Distribution> {
        Some(Distribution { count: 9, mean, p99, max, ..Distribution::default() })
    }

    #[test]
    fn what_was_not_measured_is_not_there() {
        let topic = TopicFigures { topic: "/a".into(), received: 3, ..TopicFigures::default() };
        let summary = Summary { topics: vec![topic], ..Summary::default() };
        assert!(figures(&summary).is_empty());
        assert!(figures(&Summary::default()).is_empty());
    }

    #[test]
    fn a_change_that_waits_at_the_end_counts_in_the_worst_reaction() {
        let chain = ChainFigures {
            name: "braking".into(),
            instances: 3,
            lost: 1,
            reaction_time_ms: times(50.0, 80.0, 90.0),
            reaction_pending_ms: Some(4000.0),
            ..ChainFigures::default()
        };
        let summary = Summary { chains: vec![chain], ..Summary::default() };
        assert_eq!(value(&summary, "chain braking", "reaction max"), Some(4000.0));
        assert_eq!(value(&summary, "chain braking", "reaction p99"), Some(80.0));
        assert_eq!(value(&summary, "chain braking", "lost"), Some(25.0));
        assert_eq!(value(&summary, "chain braking", "end-to-end mean"), None);
    }

    #[test]
    fn a_point_of_a_sweep_is_known_by_what_was_varied() {
        let point = Point {
            parameters: [("size".into(), "64 KiB".into())].into(),
            latency_us: times(10.0, 20.0, 30.0),
            in_time: Some(3),
            late: Some(1),
            ..Point::default()
        };
        let summary = Summary { points: vec![point], ..Summary::default() };
        assert_eq!(value(&summary, "run (size: 64 KiB)", "latency p99"), Some(20.0));
        assert_eq!(value(&summary, "run (size: 64 KiB)", "late"), Some(25.0));
    }

    #[test]
    fn callbacks_are_known_by_what_stays_from_run_to_run() {
        let callback = |function: Option<&str>, period_ms| CallbackFigures {
            process_id: 7,
            callback: "0x1f".into(),
            kind: "timer".into(),
            node: Some("/planner".into()),
            function: function.map(String::from),
            period_ms,
            duration_us: times(1.0, 2.0, 3.0),
            ..CallbackFigures::default()
        };
        let summary = |one| Summary { callbacks: vec![one], ..Summary::default() };
        let known = summary(callback(Some("Planner.plan"), Some(100.0)));
        assert_eq!(value(&known, "callback /planner timer 100 ms Planner.plan", "duration mean"), Some(1.0));
        assert!(figures(&summary(callback(None, None))).is_empty(), "known by its address alone");
    }
}
