//! Coroutines of rclpy: executions that are parts of one call. docs/figures.md, "callbacks".

use rustc_hash::FxHashMap as HashMap;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::Execution;

/// What the parts of a call after its first one took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaterParts {
    pub wall_ns: i64,
    /// Absent where it is not known of one of them.
    pub cpu_ns: Option<i64>,
}

impl LaterParts {
    /// Of a call that has a single part.
    pub const NONE: LaterParts = LaterParts { wall_ns: 0, cpu_ns: Some(0) };
}

/// Of each call in parts, by the row of its first: what the others took, those after the measured window too. `None`
/// where one of them never ended, or where `are_lost` says of a time (from, to) of the call that events are missing,
/// and a part may be.
pub(crate) fn later_parts(
    executions: &Rows<Execution>,
    are_lost: impl Fn(i64, i64) -> bool,
) -> HashMap<Row<Execution>, Option<LaterParts>> {
    let mut later = HashMap::default();
    // The call of each part that nothing has resumed yet, unless it is the first one.
    let mut call_of: HashMap<Row<Execution>, Row<Execution>> = HashMap::default();
    for (row, execution) in executions.numbered() {
        let Some(before) = execution.resumes else { continue };
        let call = call_of.remove(&before).unwrap_or(before);
        call_of.insert(row, call);
        let so_far = later.entry(call).or_insert(Some(LaterParts::NONE));
        let end = execution.end_ns.get().filter(|end| !are_lost(executions[before].start_ns, *end));
        *so_far = so_far.zip(end).map(|(so_far, end)| LaterParts {
            wall_ns: so_far.wall_ns + end - execution.start_ns,
            cpu_ns: so_far.cpu_ns.zip(execution.cpu_ns.get()).map(|(so_far, part)| so_far + part),
        });
    }
    later
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_tables::MaybeNs;

    fn part(start_ns: i64, end_ns: Option<i64>, cpu_ns: Option<i64>, resumes: Option<u32>) -> Execution {
        Execution {
            callback: Row::new(0),
            tid: 1,
            queued_ns: MaybeNs::NONE,
            start_ns,
            end_ns: end_ns.into(),
            cpu_ns: cpu_ns.into(),
            runnable_ns: MaybeNs::NONE,
            executor_cpu_ns: MaybeNs::NONE,
            executor_runnable_ns: MaybeNs::NONE,
            resumes: resumes.map(Row::new),
        }
    }

    #[test]
    fn parts_are_added_to_the_call_that_they_belong_to() {
        // Two calls of three and of two parts, one inside the other, and one of a single part.
        let rows: Rows<Execution> = vec![
            part(0, Some(10), Some(9), None),
            part(20, Some(25), Some(5), None),
            part(30, Some(37), Some(6), Some(0)),
            part(40, Some(43), None, Some(1)),
            part(50, Some(51), Some(1), Some(2)),
            part(60, Some(61), Some(1), None),
        ]
        .into();
        let expected = [
            (Row::new(0), Some(LaterParts { wall_ns: 8, cpu_ns: Some(7) })),
            (Row::new(1), Some(LaterParts { wall_ns: 3, cpu_ns: None })),
        ];
        assert_eq!(later_parts(&rows, |_, _| false), HashMap::from_iter(expected));
        // Events of the time from 26 to 29 are missing: both calls awaited something then, and may lack a part.
        let lost = later_parts(&rows, |from, to| from < 29 && 26 < to);
        assert_eq!(lost, HashMap::from_iter([(Row::new(0), None), (Row::new(1), None)]));
        let late = later_parts(&rows, |from, to| from < 48 && 45 < to);
        assert_eq!(late, HashMap::from_iter([(Row::new(0), None), expected[1]]));
    }

    #[test]
    fn a_call_with_a_part_that_never_ended_took_nobody_knows_how_long() {
        let rows: Rows<Execution> =
            vec![part(0, Some(10), None, None), part(20, None, None, Some(0)), part(30, Some(31), None, Some(1))]
                .into();
        assert_eq!(later_parts(&rows, |_, _| false), HashMap::from_iter([(Row::new(0), None)]));
    }
}
