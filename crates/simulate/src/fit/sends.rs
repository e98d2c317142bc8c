//! CPU time of publish calls.

use super::{Run, Samples};
use crate::spread::Spread;
use crate::warmth::Pause;
use std::collections::HashMap;
use tacho_tables::publish_calls::{Call, PublishCalls};
use tacho_tables::row::Row;
use tacho_tables::{Endpoint, EndpointKind, Execution, Process};

/// A publish call and what it took, ns.
type Took = (Row<Endpoint>, i64);

impl Run<'_> {
    /// How long the system had sent nothing before each publish call, and its process had sent and taken nothing: their
    /// geometric mean.
    pub(super) fn pauses(&self, samples: &mut Samples) {
        let sent = self.tables.publications.iter().map(|p| (p.publish_ns, p.publisher));
        let taken = self.tables.messages.iter().filter_map(|m| Some((m.take_ns.get()?, m.subscription)));
        let mut all: Vec<Call> = sent.chain(taken).collect();
        all.sort_unstable();
        let mut of_system = Pause::default();
        let mut of_processes: HashMap<Row<Process>, Pause> = HashMap::new();
        for (at_ns, endpoint) in all {
            let of = &self.tables.endpoints[endpoint];
            let of_process = of_processes.entry(self.tables.nodes[of.node].process).or_default();
            if of.kind == EndpointKind::Publisher {
                let pauses = of_system.until(at_ns).zip(of_process.until(at_ns));
                if let (Some(topic), Some((one, two))) = (self.topics[endpoint].first(), pauses) {
                    let mean_ns = (one as f64 * two as f64).sqrt() as i64;
                    samples.of_topic(topic, self.alone_mhz).pauses.push(mean_ns);
                }
                of_system.end(at_ns);
            }
            of_process.end(at_ns);
        }
        samples.pauses.extend(of_system.mean_ns());
    }

    /// Of each publish call inside of a callback.
    pub(super) fn sends(&self, samples: &mut Samples) {
        let mut calls: HashMap<Row<Execution>, Vec<Call>> = HashMap::new();
        for publication in &self.tables.publications {
            let Some(row) = publication.execution else { continue };
            calls.entry(row).or_default().push((publication.publish_ns, publication.publisher));
        }
        let took = match self.info.is_recording() {
            true => self.as_work_is_without(&calls),
            false => self.until_the_next(calls),
        };
        for (publisher, ns) in took {
            if let Some(topic) = self.topics[publisher].first() {
                samples.of_topic(topic, self.alone_mhz).send.push(ns);
            }
        }
    }

    /// Callbacks of a recording may compute between calls: calls take what the work of their twin is without.
    fn as_work_is_without(&self, calls: &HashMap<Row<Execution>, Vec<Call>>) -> Vec<Took> {
        let of_callbacks = PublishCalls::of_callbacks(self.tables, calls);
        let each = |(row, calls): (&Row<Execution>, &Vec<Call>)| {
            let execution = &self.tables.executions[*row];
            let all_ns = of_callbacks.get(&execution.callback)?.took_ns(calls, execution);
            Some(calls.iter().map(|(_, publisher)| (*publisher, all_ns / calls.len() as i64)).collect::<Vec<_>>())
        };
        calls.iter().filter_map(each).flatten().collect()
    }

    /// Our own nodes publish last: until the next call, or the end of the callback. Calls that took longer than usual
    /// while the thread was off the CPU were off it themselves.
    fn until_the_next(&self, calls: HashMap<Row<Execution>, Vec<Call>>) -> Vec<Took> {
        let mut of_publishers: HashMap<Row<Endpoint>, Vec<i64>> = HashMap::new();
        let mut executions = Vec::new();
        for (row, mut calls) in calls {
            let execution = &self.tables.executions[row];
            let Some(end_ns) = execution.end_ns.get() else { continue };
            calls.sort_unstable_by_key(|(publish_ns, _)| *publish_ns);
            let next = calls.iter().skip(1).map(|(publish_ns, _)| *publish_ns).chain([end_ns]);
            let took = calls.iter().zip(next).map(|((from_ns, publisher), to_ns)| (*publisher, to_ns - from_ns));
            let took: Vec<Took> = took.collect();
            took.iter().for_each(|(publisher, ns)| of_publishers.entry(*publisher).or_default().push(*ns));
            executions.push((took, execution.cpu_ns.get().map_or(0, |cpu_ns| end_ns - execution.start_ns - cpu_ns)));
        }
        let usual: HashMap<Row<Endpoint>, i64> =
            of_publishers.into_iter().map(|(publisher, of)| (publisher, Spread::of(of).quantile(0.5))).collect();
        executions.into_iter().flat_map(|(took, off_ns)| on_the_cpu(took, &usual, off_ns)).collect()
    }
}

/// Calls of one execution without the time in which it was off the CPU, as far as they took longer than usual.
fn on_the_cpu(mut took: Vec<Took>, usual: &HashMap<Row<Endpoint>, i64>, off_ns: i64) -> Vec<Took> {
    let excess_ns = |(publisher, ns): &Took| (ns - usual[publisher]).max(0);
    let all_ns: i64 = took.iter().map(excess_ns).sum();
    let part = off_ns.clamp(0, all_ns) as f64 / all_ns.max(1) as f64;
    for call in &mut took {
        call.1 -= (part * excess_ns(call) as f64) as i64;
    }
    took
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_took_longer_than_usual_share_the_time_off_the_cpu() {
        let (one, other) = (Row::new(0), Row::new(1));
        let usual = HashMap::from([(one, 100), (other, 50)]);
        let took = |off_ns| on_the_cpu(vec![(one, 300), (other, 40), (other, 150)], &usual, off_ns);
        assert_eq!(took(0), [(one, 300), (other, 40), (other, 150)]);
        assert_eq!(took(150), [(one, 200), (other, 40), (other, 100)]);
        assert_eq!(took(9_000), [(one, 100), (other, 40), (other, 50)]);
    }
}
