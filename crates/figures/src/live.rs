//! The figures of the last seconds of a run that is going on.
//!
//! What was made (nodes, publishers, callbacks ...) is kept for good, what happens for as long as the window; both
//! together are analysed as any run is, so that a figure means the same here as there.

mod standing;
pub mod watch;

use crate::figures::Repeat;
use crate::summarise::{of_what_is_shown, summarise};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use standing::Standing;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use tacho_analysis::{Analysis, Options};
use tacho_events::follow::Follower;
use tacho_events::kept::LINKED_BEFORE_NS;
use tacho_events::run::RunInfo;
use tacho_events::{Event, Lasting, Payload, ProcessIndex, RunDirectory, Texts};
use tacho_tables::summary::Summary;
use tacho_tables::Tables;
use tacho_workload::model::Workload;

/// The newest events are left out for so long: those of other threads may not be written yet.
const SETTLED_NS: i64 = 200_000_000;

/// A window over a growing run.
pub struct LiveWindow {
    follower: Follower,
    span_ns: i64,
    /// In the order of time.
    lasting: Vec<Event>,
    /// Where the last of each stands: rclpy tells a timer anew at each spin_once, a roscpp node its links at each
    /// connection.
    lasting_of: HashMap<(ProcessIndex, Lasting), usize>,
    recent: VecDeque<Event>,
    standing: Standing,
    events: u64,
    /// The newest event of the last reading but one: of what is older, every file was read since.
    read_up_to_ns: Option<i64>,
    only: Option<Only>,
}

/// What of a system is looked at.
struct Only {
    topics: HashSet<String>,
    /// Those that have an endpoint of them.
    processes: HashSet<ProcessIndex>,
}

impl Only {
    fn wants(&mut self, event: &Event, texts: &Texts) -> bool {
        use Payload as P;
        let topic = match event.payload {
            P::RclPublisherInit { topic, .. } | P::RclSubscriptionInit { topic, .. } => Some(topic),
            P::Ros1PublisherInit { topic, .. } | P::Ros1SubscriptionInit { topic, .. } => Some(topic),
            P::DdsSend { .. } | P::DdsReceive { .. } | P::DdsDataAvailable { .. } => return false,
            _ => None,
        };
        if topic.is_some_and(|topic| self.topics.contains(texts.get(topic))) {
            self.processes.insert(event.process);
        }
        event.payload.lasting().is_some() || self.processes.contains(&event.process)
    }
}

/// The state of the recording itself.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LiveFacts {
    /// Processes that have written.
    pub processes: usize,
    /// Events since the following began.
    pub events: u64,
    /// Events in the window, a second.
    pub events_per_s: f64,
    /// Events that could not be recorded, all processes.
    pub dropped_events: u64,
    /// How much of the window is filled, ns.
    pub filled_ns: i64,
}

impl LiveWindow {
    /// Over the last `span_ns` of a run, which need not have begun.
    pub fn new(run: &RunDirectory, span_ns: i64) -> LiveWindow {
        LiveWindow {
            follower: Follower::new(run),
            span_ns,
            lasting: Vec::new(),
            lasting_of: HashMap::default(),
            recent: VecDeque::new(),
            standing: Standing::default(),
            events: 0,
            read_up_to_ns: None,
            only: None,
        }
    }

    /// With the processes alone that publish or subscribe to one of these topics, and nothing of what happens below
    /// rmw.
    pub fn with_topics_only(self, topics: impl IntoIterator<Item = String>) -> LiveWindow {
        let only = Only { topics: topics.into_iter().collect(), processes: HashSet::default() };
        LiveWindow { only: Some(only), ..self }
    }

    /// Takes in what was written since the last call, in two readings: one file is read after the other, and where this
    /// thread has no CPU in between, the second one has events of a time that was not written yet when the first was
    /// read.
    pub fn read(&mut self) -> Result<(), tacho_events::reader::Error> {
        self.read_once()?;
        self.read_up_to_ns = self.newest_ns();
        self.read_once()
    }

    /// The same in one reading, for those who know the time before it.
    fn read_once(&mut self) -> Result<(), tacho_events::reader::Error> {
        let LiveWindow { follower, lasting, lasting_of, recent, events, only, .. } = self;
        let known = recent.len();
        let read = follower.read(|event, texts| {
            *events += 1;
            if !only.as_mut().is_none_or(|only| only.wants(&event, texts)) {
                return;
            }
            match event.payload.lasting().map(|of| (event.process, of)) {
                Some(of) => match lasting_of.get(&of) {
                    Some(at) => lasting[*at] = event,
                    None => {
                        lasting_of.insert(of, lasting.len());
                        lasting.push(event);
                    }
                },
                None => recent.push_back(event),
            }
        });
        put_in_order(self.recent.make_contiguous(), known);
        read?;
        if let Some(up_to) = self.read_up_to_ns.or(self.newest_ns()) {
            self.forget_before(up_to.saturating_sub(self.span_ns).saturating_sub(LINKED_BEFORE_NS));
        }
        Ok(())
    }

    /// Lets go of what happened before an instant.
    fn forget_before(&mut self, ns: i64) {
        while self.recent.front().is_some_and(|event| event.time.as_ns() < ns) {
            self.recent.pop_front().into_iter().for_each(|event| self.standing.add(event));
        }
    }

    fn newest_ns(&self) -> Option<i64> {
        self.recent.back().map(|event| event.time.as_ns())
    }

    /// From when to when the window reaches; `None` before the first event.
    fn window_ns(&self) -> Option<(i64, i64)> {
        let to = self.read_up_to_ns? - SETTLED_NS;
        let first = self.recent.front().map_or(to, |event| event.time.as_ns());
        Some(((to - self.span_ns).max(first), to))
    }

    /// How the recording is doing.
    pub fn facts(&self) -> LiveFacts {
        let (from, to) = self.window_ns().unwrap_or((0, 0));
        let filled_ns = (to - from).max(0);
        let before = |ns: i64| self.recent.partition_point(|event| event.time.as_ns() < ns);
        let inside = before(to).saturating_sub(before(from));
        LiveFacts {
            processes: self.follower.processes().len(),
            events: self.events,
            events_per_s: if filled_ns > 0 { inside as f64 * 1e9 / filled_ns as f64 } else { 0.0 },
            dropped_events: self.follower.processes().iter().map(|process| process.header.dropped).sum(),
            filled_ns,
        }
    }

    /// The figures of the topics and callbacks of the window, and of its chains if they are wanted: in a large system,
    /// following all chains takes most of the time.
    pub fn summary(&self, with_chains: bool) -> Summary {
        let Some((from, to)) = self.window_ns() else { return Summary::default() };
        let (analysis, options) = self.analysis(from, to);
        let tables = if with_chains { analysis.finish(None) } else { analysis.finish_messages() };
        of_what_is_shown(&[Repeat { tables: &tables, options, info: None }])
    }

    /// Ids of the processes that have written.
    pub fn pids(&self) -> Vec<u32> {
        self.follower.processes().iter().map(|process| process.header.pid).collect()
    }

    /// All figures and findings of the window, and its tables, as a report shows them. `info` has what the machine did
    /// meanwhile.
    pub fn whole(&self, workload: Option<&Workload>, info: &RunInfo) -> (Summary, Tables) {
        let Some((from, to)) = self.window_ns() else { return Default::default() };
        let (analysis, options) = self.analysis(from, to);
        let mut tables = analysis.finish(workload);
        // Of a run that goes on, that is no news.
        tables.notes.retain(|note| note.name != "process-did-not-end-in-order");
        let summary = summarise(&[Repeat { tables: &tables, options, info: Some(info) }], workload);
        (summary, tables)
    }

    /// What became of messages from one instant to another, which lie in the window.
    pub(crate) fn messages(&self, from: i64, to: i64) -> Tables {
        self.analysis(from, to).0.finish_messages()
    }

    fn analysis(&self, from: i64, to: i64) -> (Analysis, Options) {
        let wanted = |event: &&Event| self.only.as_ref().is_none_or(|only| only.processes.contains(&event.process));
        let mut lasting: Vec<&Event> = self.lasting.iter().filter(wanted).chain(self.standing.events()).collect();
        lasting.sort_by_key(|event| event.time);
        let earliest = lasting.first().copied().into_iter().chain(self.recent.front()).map(|event| event.time).min();
        let clock = self.follower.processes().first().map(|process| process.header.start);
        let options = Options {
            begin_ns: earliest.map(|time| time.as_ns()),
            measured_from_ns: Some(from),
            measured_to_ns: Some(to),
            realtime_offset_ns: clock.map(|start| start.realtime_ns - start.monotonic_ns),
            ..Options::default()
        };
        let mut analysis = Analysis::new(options);
        self.follower.processes().iter().for_each(|process| analysis.add_process(process));
        let texts = self.follower.texts();
        let mut lasting = lasting.into_iter().peekable();
        for event in &self.recent {
            while let Some(earlier) = lasting.next_if(|lasting| lasting.time <= event.time) {
                analysis.push(earlier, texts);
            }
            analysis.push(event, texts);
        }
        lasting.for_each(|event| analysis.push(event, texts));
        (analysis, options)
    }
}

/// When an analysis that began then, and ends now, is due again: that of a large system takes long, and then uses at
/// most a quarter of a CPU.
pub fn due_again(begun: Instant, interval: Duration) -> Instant {
    begun + interval.max(begun.elapsed() * 4)
}

/// Sorts by time events of which the first `known` are in order. It is stable: each stream stays in its order. It looks
/// only at those from the earliest new one on, because a window has far more events than a reading brings.
fn put_in_order(events: &mut [Event], known: usize) {
    let Some(earliest) = events[known..].iter().map(|event| event.time).min() else { return };
    let settled = events[..known].partition_point(|event| event.time <= earliest);
    events[settled..].sort_by_key(|event| event.time);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tacho_events::layout::FileHeader;
    use tacho_events::writer::EventFile;
    use tacho_events::{StreamIndex, ThreadId, Time};

    const MS: u64 = 1_000_000;

    /// A run that goes on: a node /demo (process 5) with a publisher, a subscription and its callback on /points.
    pub(crate) fn talker_and_listener() -> (tempfile::TempDir, RunDirectory, EventFile) {
        let folder = tempfile::tempdir().expect("folder");
        let run = RunDirectory::new(folder.path());
        std::fs::create_dir(run.events()).expect("events");
        let mut file =
            EventFile::create(&run.events().join("5-0.events"), FileHeader { pid: 5, ..FileHeader::default() })
                .expect("file");
        file.put(1, 1, 17, &[10, 11], &["demo", "/"]).expect("node");
        file.put(1, 2, 19, &[20, 10, 21, 10], &["/points"]).expect("publisher");
        file.put(1, 3, 25, &[30, 10, 31, 10], &["/points"]).expect("subscription");
        file.put(1, 4, 26, &[30, 32], &[]).expect("subscription");
        file.put(1, 5, 27, &[32, 33], &[]).expect("callback");
        (folder, run, file)
    }

    /// A talker at 100 Hz whose messages take 1 ms in the first minute and 3 ms later; writes from one time to another,
    /// ms.
    fn write(file: &mut EventFile, from: u64, to: u64) {
        for at in (from..to).step_by(10) {
            let (time, stamp) = (at * MS, at * MS);
            let latency = if at < 60_000 { MS } else { 3 * MS };
            file.put(1, time, 22, &[20, at], &[]).expect("rcl_publish");
            file.put(1, time + 1000, 23, &[21, at, stamp], &[]).expect("rmw_publish");
            file.put(2, time + latency, 49, &[30], &[]).expect("executor_execute");
            file.put(2, time + latency + 1, 28, &[31, at, stamp, 1], &[]).expect("rmw_take");
            file.put(2, time + latency + 2, 29, &[at], &[]).expect("rcl_take");
            file.put(2, time + latency + 3, 30, &[at], &[]).expect("rclcpp_take");
            file.put(2, time + latency + 4, 43, &[33, 0], &[]).expect("callback_start");
            file.put(2, time + latency + 4 + MS / 2, 44, &[33], &[]).expect("callback_end");
        }
        file.flush().expect("flush");
    }

    #[test]
    fn new_events_come_to_their_places_among_those_that_are_in_order() {
        let event = |(number, time): (usize, i64)| Event {
            time: Time::from_monotonic_ns(time),
            process: ProcessIndex(0),
            thread: ThreadId(number as u32),
            stream: StreamIndex(number as u32),
            payload: Payload::RclcppExecutorGetNextReady {},
        };
        for new in [&[9, 12, 7, 9, 7, 30][..], &[30, 40], &[0, 9, 1], &[]] {
            let known = [1, 3, 7, 7, 9, 9, 20];
            let mut events: Vec<Event> = known.iter().chain(new).copied().enumerate().map(event).collect();
            let mut sorted = events.clone();
            sorted.sort_by_key(|event| event.time);
            put_in_order(&mut events, known.len());
            assert_eq!(events, sorted);
        }
    }

    #[test]
    fn the_figures_are_those_of_the_last_seconds_and_old_events_are_let_go() {
        let (_folder, run, mut file) = talker_and_listener();
        let mut window = LiveWindow::new(&run, 10_000 * MS as i64);
        assert_eq!(window.facts(), LiveFacts::default());

        write(&mut file, 1000, 50_000);
        window.read().expect("read");
        let summary = window.summary(true);
        let without = window.summary(false);
        assert_eq!(without.topics, summary.topics);
        assert_eq!(without.callbacks, summary.callbacks);
        assert!(without.chains.is_empty() && !summary.chains.is_empty());
        let latency = |summary: &Summary| {
            summary.topics[0].latency_us.as_ref().map(|latency| (latency.median, latency.count)).expect("latency")
        };
        let (median, count) = latency(&summary);
        assert!((median - 1000.0).abs() < 1.0, "{median}");
        assert!((990..=1000).contains(&count), "ten seconds at 100 Hz: {count}");
        assert!((summary.topics[0].rate_hz.expect("rate") - 100.0).abs() < 0.01);
        assert_eq!(summary.topics[0].lost, Some(0));

        write(&mut file, 50_000, 60_000);
        let before = window.window_ns();
        window.read_once().expect("read");
        assert_eq!(window.window_ns(), before, "of other files these events may not be there yet");

        write(&mut file, 60_000, 100_000);
        window.read().expect("read");
        assert!((latency(&window.summary(true)).0 - 3000.0).abs() < 1.0);
        assert!(window.recent.len() < 13 * 100 * 8, "{}", window.recent.len());
        let facts = window.facts();
        assert!((facts.events_per_s - 800.0).abs() < 10.0, "{facts:?}");
        assert_eq!((facts.processes, facts.dropped_events), (1, 0));
    }
}
