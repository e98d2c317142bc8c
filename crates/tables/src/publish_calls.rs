//! What publish calls inside of callbacks take. No event says when one ends.

use crate::row::Row;
use crate::{Callback, Endpoint, Execution, Tables};
use std::collections::HashMap;

/// A callback that usually ends this soon after its last publish call begins does nothing after that call.
const ENDS_WITH_CALL_NS: i64 = 1_000_000;
/// Most that one publish call takes in any other callback, ns.
const PUBLISH_CALL_NS: i64 = 200_000;

/// When a publish call of an execution began, ns, and its publisher.
pub type Call = (i64, Row<Endpoint>);

/// CPU time of the publish calls of a callback; wall time where that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishCalls {
    /// What is left of each execution from its last call on: usually this, ns.
    ToItsEnd(i64),
    /// This, ns.
    Each(i64),
}

impl PublishCalls {
    /// Of each callback that published, by the calls of its executions.
    pub fn of_callbacks(
        tables: &Tables,
        calls: &HashMap<Row<Execution>, Vec<Call>>,
    ) -> HashMap<Row<Callback>, PublishCalls> {
        let mut tails: HashMap<Row<Callback>, Vec<i64>> = HashMap::new();
        for (row, calls) in calls {
            let execution = &tables.executions[*row];
            if let (Some(last_ns), Some(end_ns)) = (calls.iter().map(|(ns, _)| *ns).max(), execution.end_ns.get()) {
                let most_ns = execution.cpu_ns.get().unwrap_or(i64::MAX);
                tails.entry(execution.callback).or_default().push((end_ns - last_ns).min(most_ns));
            }
        }
        tails.into_iter().map(|(row, of)| (row, PublishCalls::of(of))).collect()
    }

    /// By what is left of executions from their last calls on, ns.
    fn of(mut tails: Vec<i64>) -> PublishCalls {
        tails.sort_unstable();
        match tails.get(tails.len() / 2) {
            Some(median) if *median > ENDS_WITH_CALL_NS => PublishCalls::Each(PUBLISH_CALL_NS.min(tails[0])),
            median => PublishCalls::ToItsEnd(median.copied().unwrap_or(0)),
        }
    }

    /// What all calls of an execution took, ns. Where the execution was off the CPU is not known: in calls that took
    /// longer than usual first. 0 for one that has not ended.
    pub fn took_ns(&self, calls: &[Call], execution: &Execution) -> i64 {
        let times = || calls.iter().map(|(ns, _)| *ns);
        let ends = times().min().zip(times().max()).zip(execution.end_ns.get());
        let Some(((first_ns, last_ns), end_ns)) = ends else { return 0 };
        let wall_ns = end_ns - execution.start_ns;
        let cpu_ns = execution.cpu_ns.get().map_or(wall_ns, |ns| ns.clamp(0, wall_ns));
        let count = calls.len() as i64;
        match self {
            PublishCalls::ToItsEnd(usual_ns) => {
                let most_ns = (count * (end_ns - last_ns)).min(end_ns - first_ns);
                (count * usual_ns).clamp((most_ns - (wall_ns - cpu_ns)).max(0), most_ns).min(cpu_ns)
            }
            PublishCalls::Each(ns) => (count * ns).min(cpu_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MaybeNs;

    fn execution(end_ns: i64, off_ns: i64) -> Execution {
        Execution {
            callback: Row::new(0),
            tid: 1,
            queued_ns: MaybeNs::NONE,
            start_ns: 0,
            end_ns: end_ns.into(),
            cpu_ns: (end_ns - off_ns).into(),
            runnable_ns: MaybeNs::NONE,
            executor_cpu_ns: MaybeNs::NONE,
            executor_runnable_ns: MaybeNs::NONE,
            resumes: None,
        }
    }

    #[test]
    fn a_callback_that_ends_with_its_publish_call_works_only_before_it() {
        let calls = PublishCalls::of(vec![30_000, 40_000, 900_000]);
        let publisher = Row::new(0);
        let took_ns = |of: &[Call]| calls.took_ns(of, &execution(1_250_000, 0));
        assert_eq!(took_ns(&[(1_000_000, publisher)]), 250_000);
        assert_eq!(took_ns(&[(1_000_000, publisher), (1_100_000, publisher)]), 250_000);
        assert_eq!(took_ns(&[]), 0);
    }

    #[test]
    fn a_call_in_which_the_thread_had_no_cpu_took_as_long_as_usual() {
        let calls = PublishCalls::of(vec![30_000, 40_000, 900_000]);
        let took_ns = |off_ns| calls.took_ns(&[(1_000_000, Row::new(0))], &execution(1_900_000, off_ns));
        assert_eq!([860_000, 500_000].map(took_ns), [40_000, 400_000]);
        assert_eq!(took_ns(1_880_000), 20_000, "no more than the execution computed");
    }

    #[test]
    fn what_a_callback_computes_after_its_publish_call_is_work() {
        let calls = PublishCalls::of(vec![5_030_000, 5_000_000, 5_100_000]);
        assert_eq!(calls.took_ns(&[(1_000_000, Row::new(0))], &execution(6_000_000, 0)), PUBLISH_CALL_NS);
    }
}
