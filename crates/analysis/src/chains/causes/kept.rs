//! What a message waited for that one callback took and a later one used: the due time of its timer, what made the
//! timer late, and, if the message was used before, what kept the next one away.

use super::{by_busy, Explainer, Who};
use crate::chains::follow::Wait;
use crate::observe::{PublicationSeen, Topic};
use tacho_tables::row::Row;
use tacho_tables::{Callback, CauseKind, Endpoint, Execution, Hop, OffCpu};

/// Messages before and after one that tell how often they come.
const INTERVALS: usize = 16;

/// A stretch of the time of an instance, and what it waited for.
pub(super) struct Piece {
    pub position: usize,
    pub kind: CauseKind,
    pub who: Who,
    pub from: i64,
    pub to: i64,
    pub execution: Option<Row<Execution>>,
}

/// What an execution took on a topic: what it used, and the first message since what its node took before. If they
/// differ, those in between were not taken.
struct Inputs {
    first: Row<PublicationSeen>,
    used: Row<PublicationSeen>,
    subscription: Row<Endpoint>,
}

/// Stretches that follow each other without a gap.
struct Pieces {
    pieces: Vec<Piece>,
    until: i64,
}

impl Pieces {
    /// From where the last one ended until an instant, if that is later.
    fn until(&mut self, to: i64, position: usize, kind: CauseKind, who: Who, execution: Option<Row<Execution>>) {
        if to > self.until {
            self.pieces.push(Piece { position, kind, who, from: self.until, to, execution });
            self.until = to;
        }
    }
}

/// Stretches in which a newer message was missing: what kept it away is set as their execution.
fn without_newer(pieces: &mut [Piece]) -> impl Iterator<Item = &mut Piece> {
    pieces.iter_mut().filter(|piece| piece.kind == CauseKind::NoNewer)
}

impl Explainer<'_> {
    /// The time from the callback that took the input of a hop to the one that used it, end to end.
    pub(super) fn kept(&self, wait: &Wait, hop: &Hop) -> Vec<Piece> {
        let seen = self.tracer.seen;
        let position = hop.position as usize;
        let mut pieces = Pieces { pieces: Vec::new(), until: wait.began };
        let Some(execution) = hop.execution else {
            pieces.until(wait.start, position, CauseKind::Kept, Who::Node(self.made_of.path.nodes[position]), None);
            return pieces.pieces;
        };
        let callback = seen.executions[execution].callback;
        if wait.start > wait.began {
            self.kept_for_timer(&mut pieces, wait, position, execution);
        }
        pieces.until(wait.start, position, CauseKind::Kept, Who::Callback(callback), None);
        pieces.pieces
    }

    /// Nothing, if the one that used it is no timer, or its due time is not known.
    fn kept_for_timer(
        &self,
        pieces: &mut Pieces,
        wait: &Wait,
        position: usize,
        execution: Row<Execution>,
    ) -> Option<()> {
        let seen = self.tracer.seen;
        let callback = seen.executions[execution].callback;
        let due = self.ticks.due(seen, execution)?;
        let first = self.ticks.first_after(callback, wait.began)?.min(wait.start);
        let first_due = if first < wait.start { self.ticks.due_at(seen, callback, first)? } else { due };
        let until = first_due.min(first);
        let not_due = (CauseKind::NotDue, Who::Callback(callback));
        if let Some(newer) = self.newer(wait, position).filter(|sent| *sent < first_due) {
            // It came in time, and its callback could not run.
            pieces.until(newer, position, not_due.0, not_due.1.clone(), None);
            let could_run = (wait.stream?, wait.callback);
            self.busy(pieces, position, could_run, until, (not_due.0, &not_due.1));
        } else if let Some(interval) = self.interval(wait.input).filter(|interval| wait.began + interval < until) {
            // The next one should have come before, and would have been used.
            pieces.until(wait.began + interval, position, not_due.0, not_due.1.clone(), None);
            self.missing(pieces, wait, position, until);
        }
        pieces.until(until, position, not_due.0, not_due.1, None);
        self.late(pieces, position, execution, first);
        if first < wait.start {
            let period = seen.callbacks[callback].period_ns?;
            self.again(pieces, wait, position, period, due);
            self.late(pieces, position, execution, wait.start);
        }
        Some(())
    }

    /// What the executor of a callback did until an instant, from when on the callback could have run.
    fn late(&self, pieces: &mut Pieces, position: usize, execution: Row<Execution>, until: i64) {
        let seen = self.tracer.seen;
        let callback = seen.executions[execution].callback;
        let rest = Who::Callback(callback);
        let could_run = (seen.stream_of(execution), Some(callback));
        self.busy(pieces, position, could_run, until, (CauseKind::TickLate, &rest));
        pieces.until(until, position, CauseKind::TickLate, rest, Some(execution));
    }

    /// What kept a callback from running in the thread of a stream, until an instant. What lies between two such
    /// stretches had another reason.
    fn busy(
        &self,
        pieces: &mut Pieces,
        position: usize,
        (stream, callback): (u32, Option<Row<Callback>>),
        until: i64,
        (kind_between, between): (CauseKind, &Who),
    ) {
        let seen = self.tracer.seen;
        for held in self.tracer.busy.held(seen, stream, callback, pieces.until, until) {
            pieces.until(held.from, position, kind_between, between.clone(), None);
            let (kind, who, by) = by_busy(seen, held.by);
            pieces.until(held.to, position, kind, who, Some(by));
        }
    }

    /// Why there was no newer message for a timer that had used this one before.
    fn again(&self, pieces: &mut Pieces, wait: &Wait, position: usize, period: i64, until: i64) {
        let topic = self.made_of.path.topics[position - 1];
        // Sent more seldom than used: until the next one is expected, that is so by design.
        let interval = self.interval(wait.input).filter(|interval| *interval > period);
        if let Some(interval) = interval {
            pieces.until(until.min(wait.began + interval), position, CauseKind::UsedAgain, Who::Topic(topic), None);
        }
        self.missing(pieces, wait, position, until);
    }

    /// Why the message after the one that was used was not there at an instant.
    fn missing(&self, pieces: &mut Pieces, wait: &Wait, position: usize, until: i64) {
        let seen = self.tracer.seen;
        let topic = self.made_of.path.topics[position - 1];
        let next = self.next(wait, position);
        let without = pieces.pieces.len();
        self.not_sent(pieces, position, next, until);
        if let Some(late) = next.map(|next| seen.publications[next].time - until).filter(|late| *late > 0) {
            let made =
                pieces.pieces[without..].iter().filter_map(|piece| Some((piece.execution?, self.lacked_by(piece))));
            let longest = made.max_by_key(|(_, lacked_ns)| *lacked_ns).filter(|(_, lacked_ns)| *lacked_ns > late);
            let longest = longest.map(|(execution, _)| execution);
            without_newer(&mut pieces.pieces[without..]).for_each(|piece| piece.execution = longest);
        }
        let Some(next) = next.filter(|_| pieces.until < until) else { return };
        // It was sent in time, and the timer ran without it.
        let takes = self.tracer.usage.takes(self.made_of.path.nodes[position], topic);
        let take = takes.iter().map(|take| &seen.takes[*take]).find(|take| take.publication == Some(next));
        if let Some(taken) = take.and_then(|take| take.execution) {
            let (start, callback) = (seen.executions[taken].start_ns, seen.executions[taken].callback);
            let could_run = (seen.stream_of(taken), Some(callback));
            let sent = pieces.pieces.len();
            let between = (CauseKind::Transport, &Who::Topic(topic));
            self.busy(pieces, position, could_run, start.min(until), between);
            let (before, held) = pieces.pieces.split_at_mut(sent);
            let longest =
                held.iter().filter(|piece| piece.execution.is_some()).max_by_key(|piece| piece.to - piece.from);
            let longest = longest.and_then(|piece| piece.execution);
            without_newer(&mut before[without..]).for_each(|piece| piece.execution = longest);
            pieces.until(start.min(until), position, CauseKind::Transport, Who::Topic(topic), None);
        }
        pieces.until(until, position, CauseKind::NoNewer, Who::Topic(topic), None);
    }

    /// How long the execution of a stretch had no CPU, or waited, until its end: inside it, and before if it was late.
    fn lacked_by(&self, piece: &Piece) -> i64 {
        let start_ns = |execution: Row<Execution>| self.tracer.seen.executions[execution].start_ns;
        match (piece.kind, piece.execution) {
            (CauseKind::Computation, Some(execution)) => self.lacked_ns(execution),
            (CauseKind::TickLate, Some(execution)) => {
                let had = self.had_cpu_before(execution, piece.from, start_ns(execution));
                had.iter().map(|(_, from, to)| to - from).sum::<i64>() + self.lacked_ns(execution)
            }
            _ => 0,
        }
    }

    /// How long an execution had no CPU, or waited.
    fn lacked_ns(&self, execution: Row<Execution>) -> i64 {
        let rows = self.off_cpu.of(execution).iter().map(|index| &self.preemptions[*index as usize]);
        let by_events = rows.filter(|row| row.state != OffCpu::Interrupted).map(|row| row.to_ns - row.from_ns).sum();
        let Execution { start_ns, end_ns, cpu_ns, .. } = self.tracer.seen.executions[execution];
        end_ns.get().zip(cpu_ns.get()).map_or(by_events, |(end_ns, cpu_ns)| by_events.max(end_ns - start_ns - cpu_ns))
    }

    /// The message after the input, of the same publisher.
    fn next(&self, wait: &Wait, position: usize) -> Option<Row<PublicationSeen>> {
        self.after(wait.input, self.made_of.path.topics[position - 1])
    }

    /// The message after another on its topic, of the same publisher.
    fn after(&self, publication: Row<PublicationSeen>, topic: Row<Topic>) -> Option<Row<PublicationSeen>> {
        let seen = self.tracer.seen;
        let endpoint = seen.publications[publication].endpoint;
        let of_topic = &seen.by_topic[topic].publications;
        let later = &of_topic[of_topic.partition_point(|p| *p <= publication)..];
        later.iter().copied().find(|p| seen.publications[*p].endpoint == endpoint)
    }

    /// When that was published, if that was after the input was taken.
    fn newer(&self, wait: &Wait, position: usize) -> Option<i64> {
        let sent = self.tracer.seen.publications[self.next(wait, position)?].time;
        (sent > wait.began).then_some(sent)
    }

    /// What went on before a publish call on the topic into a node of the path, up to it or an instant.
    fn not_sent(&self, pieces: &mut Pieces, position: usize, sent: Option<Row<PublicationSeen>>, until: i64) {
        let seen = self.tracer.seen;
        let path = &self.made_of.path;
        let topic = path.topics[position - 1];
        let until = sent.map_or(until, |sent| until.min(seen.publications[sent].time));
        if let Some(by) = sent.and_then(|sent| seen.publications[sent].execution) {
            let start = seen.executions[by].start_ns;
            let callback = seen.executions[by].callback;
            let began = start.min(until);
            if let Some(due) = self.ticks.due(seen, by) {
                pieces.until(due.min(began), position, CauseKind::NoNewer, Who::Topic(topic), None);
                self.late(pieces, position - 1, by, began);
            } else if let Some(inputs) = self.inputs_of(by, position - 1) {
                self.not_sent(pieces, position - 1, Some(inputs.first), began);
                if inputs.first != inputs.used {
                    self.passed_over(pieces, position - 1, by, &inputs, began);
                }
                self.late(pieces, position - 1, by, began);
            }
            pieces.until(began, position, CauseKind::NoNewer, Who::Topic(topic), None);
            pieces.until(until, position - 1, CauseKind::Computation, Who::Callback(callback), Some(by));
        }
        pieces.until(until, position, CauseKind::NoNewer, Who::Topic(topic), None);
    }

    /// What an execution of a node of the path took on the path's topic into that node.
    fn inputs_of(&self, execution: Row<Execution>, position: usize) -> Option<Inputs> {
        let (seen, path) = (self.tracer.seen, &self.made_of.path);
        let (topic, node) = (path.topics[position.checked_sub(1)?], path.nodes[position]);
        let take = self.tracer.usage.taken_in(seen, execution, node, topic, i64::MAX)?;
        let input = seen.takes[take].publication?;
        let takes = self.tracer.usage.takes(node, topic);
        let before = takes[..takes.partition_point(|other| *other < take)].iter().rev();
        let endpoint = seen.publications[input].endpoint;
        let mut before = before.filter_map(|take| seen.takes[*take].publication);
        let before = before.find(|publication| seen.publications[*publication].endpoint == endpoint);
        let first = before.and_then(|before| self.after(before, topic)).filter(|first| *first < input);
        let in_time = seen.publications[input].time <= seen.executions[execution].start_ns;
        let subscription = seen.takes[take].endpoint;
        in_time.then_some(Inputs { first: first.unwrap_or(input), used: input, subscription })
    }

    /// The time until the message came that an execution used, while those before it were not taken: its callback could
    /// not run, or its node slept though they filled its queue, or another reason kept them from it.
    fn passed_over(&self, pieces: &mut Pieces, position: usize, by: Row<Execution>, inputs: &Inputs, until: i64) {
        let seen = self.tracer.seen;
        let until = seen.publications[inputs.used].time.min(until);
        let could_run = (seen.stream_of(by), Some(seen.executions[by].callback));
        let path = &self.made_of.path;
        let (kind, who) = if self.filled_its_queue(inputs, path.topics[position - 1]) {
            (CauseKind::WakeUp, Who::Node(path.nodes[position]))
        } else {
            (CauseKind::NoNewer, Who::Topic(path.topics[position - 1]))
        };
        self.busy(pieces, position, could_run, until, (kind, &who));
        pieces.until(until, position, kind, who, None);
    }

    /// Whether as many messages were not taken as the subscription keeps.
    fn filled_its_queue(&self, inputs: &Inputs, topic: Row<Topic>) -> bool {
        let seen = self.tracer.seen;
        let Some(depth) = seen.endpoints[inputs.subscription].depth else { return false };
        let endpoint = seen.publications[inputs.used].endpoint;
        let all = &seen.by_topic[topic].publications;
        let between = all.partition_point(|p| *p < inputs.first)..all.partition_point(|p| *p < inputs.used);
        let of_publisher = all[between].iter().filter(|p| seen.publications[**p].endpoint == endpoint);
        depth > 0 && of_publisher.count() as u64 >= depth
    }

    /// Time between two messages of a publisher around one of them: the median or the mean, whichever is shorter. What
    /// stalls now and then makes the mean long, and what alternates between two intervals may make the median long.
    fn interval(&self, publication: Row<PublicationSeen>) -> Option<i64> {
        let seen = self.tracer.seen;
        let endpoint = seen.publications[publication].endpoint?;
        let all = &seen.by_topic[seen.topic_of(endpoint)].publications;
        let place = all.partition_point(|p| *p < publication);
        let around = &all[place.saturating_sub(INTERVALS)..(place + INTERVALS).min(all.len())];
        let own = around.iter().map(|p| &seen.publications[*p]).filter(|p| p.endpoint == Some(endpoint));
        let times: Vec<i64> = own.map(|p| p.time).collect();
        let mut intervals: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        intervals.sort_unstable();
        let mean = intervals.iter().sum::<i64>().checked_div(intervals.len() as i64)?;
        intervals.get(intervals.len() / 2).map(|median| mean.min(*median))
    }
}
