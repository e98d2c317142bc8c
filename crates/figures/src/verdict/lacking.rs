//! Callbacks that lacked a CPU for much of their time, and would keep up if they had one.

use super::callback::{full_name, Named};
use super::ms;
use crate::figures::Repeat;
use std::collections::BTreeMap;
use tacho_tables::row::Row;
use tacho_tables::{Callback, Execution, OffCpu};

/// Part of the calls of which it must be known. Of the first and the last ones scheduler events may not show all.
const KNOWN: f64 = 0.9;
/// Part of its time from which on a callback lacked a CPU for much of it.
const LACKED: f64 = 0.3;

/// What calls took, and for how long they could run and had no CPU.
#[derive(Default)]
pub(super) struct Lacking {
    pub ran_ns: i64,
    pub lacked_ns: i64,
    /// A coroutine of several parts is one.
    pub calls: usize,
}

impl Lacking {
    /// Of those of these executions that ended and of which it is known; `None`: these are not nearly all.
    pub fn of<'e>(executions: impl Iterator<Item = &'e Execution>) -> Option<Lacking> {
        let (mut known, mut calls) = (Lacking::default(), 0);
        for execution in executions {
            let Some(end_ns) = execution.end_ns.get() else { continue };
            let call = usize::from(execution.resumes.is_none());
            calls += call;
            if let Some(lacked_ns) = execution.runnable_ns.get() {
                known.ran_ns += end_ns - execution.start_ns;
                known.lacked_ns += lacked_ns;
                known.calls += call;
            }
        }
        (known.calls > 0 && known.calls as f64 >= KNOWN * calls as f64).then_some(known)
    }

    /// Whether they lacked it for much of their time.
    pub fn is_much(&self) -> bool {
        self.lacked_ns as f64 > LACKED * self.ran_ns as f64
    }

    /// What a call takes, on the average.
    pub fn takes_ms(&self) -> f64 {
        self.ran_ns as f64 / 1e6 / self.calls as f64
    }

    /// What a call would take with a CPU.
    pub fn needs_ms(&self) -> f64 {
        (self.ran_ns - self.lacked_ns) as f64 / 1e6 / self.calls as f64
    }

    /// `80 % of its time, 20.0 ms of 25.0 ms a call`.
    pub fn words(&self) -> String {
        let part = 100.0 * self.lacked_ns as f64 / self.ran_ns as f64;
        let lacked_ms = self.takes_ms() - self.needs_ms();
        format!("{part:.0} % of its time, {} of {} a call", ms(lacked_ms), ms(self.takes_ms()))
    }
}

/// A callback that a CPU alone keeps from being fast enough.
pub(super) struct Lacks {
    pub named: Named,
    pub name: String,
    pub lacking: Lacking,
    /// The program that had the CPU for most of that time. Only scheduler events name it.
    pub by: Option<String>,
}

impl Lacks {
    /// Of some executions of a callback, whose calls may take `most_ms`; `None`: they are no longer, or would be with a
    /// CPU, or that is not known.
    pub fn of(
        repeat: &Repeat<'_>,
        callback: Row<Callback>,
        most_ms: f64,
        is_it: impl Fn(Row<Execution>, &Execution) -> bool,
    ) -> Option<Lacks> {
        let tables = repeat.tables;
        let own = tables.executions.numbered().filter(|(row, execution)| is_it(*row, execution));
        let lacking = Lacking::of(own.map(|(_, execution)| execution))?;
        if !lacking.is_much() || lacking.takes_ms() < most_ms || lacking.needs_ms() >= most_ms {
            return None;
        }
        let mut by: BTreeMap<Option<&str>, i64> = BTreeMap::new();
        for row in tables.preemptions.iter().filter(|row| row.state == OffCpu::Runnable) {
            if row.execution.is_some_and(|execution| is_it(execution, &tables.executions[execution])) {
                *by.entry(row.by_comm.as_deref()).or_default() += row.to_ns - row.from_ns;
            }
        }
        let most = by.into_iter().max_by_key(|(_, ns)| *ns);
        Some(Lacks {
            named: Named::of_callback(repeat, callback),
            name: full_name(repeat, callback),
            lacking,
            by: most.and_then(|(name, _)| name).map(str::to_owned),
        })
    }
}

/// Time between two calls that are asked of a callback, on the average.
pub(super) fn interval_ms(repeat: &Repeat<'_>, callback: Row<Callback>) -> Option<f64> {
    let of = &repeat.tables.callbacks[callback];
    match of.period_ns {
        Some(period_ns) => Some(period_ns as f64 / 1e6),
        None => interval_of_topic_ms(repeat, of.topic.as_ref()?),
    }
}

/// Time between two messages of a topic, on the average.
pub(super) fn interval_of_topic_ms(repeat: &Repeat<'_>, topic: &str) -> Option<f64> {
    let tables = repeat.tables;
    let sent = tables.publications.iter().filter(|sent| tables.endpoints[sent.publisher].topic == *topic);
    let (first, last, count) = sent.fold((i64::MAX, i64::MIN, 0), |(first, last, count), sent| {
        (first.min(sent.publish_ns), last.max(sent.publish_ns), count + 1)
    });
    (count > 1).then(|| (last - first) as f64 / 1e6 / f64::from(count - 1))
}
