//! Reaction time and data age of a chain (Günzel, Chen, Ueter, von der Brüggen, Dürr, Chen, *Timing analysis of asynchronized
//! distributed cause-effect chains*, RTAS 2021). docs/figures.md, "chains", has the definitions.

use crate::chains::{Output, Tracer};
use crate::rows::far_apart;
use crate::tables::ChainInput;

/// One row an input of a chain: a publication in `origins`. `descents`: (publication, when the output was made), in the order of the
/// outputs; `outputs`: all outputs of the last node, those too that descend from elsewhere, since they replace each other.
pub(crate) fn inputs(
    tracer: &Tracer<'_>,
    chain: u32,
    origins: &[u32],
    descents: &[(u32, i64)],
    outputs: &[Output],
) -> Vec<ChainInput> {
    let seen = tracer.seen;
    let read = |publication: &u32| {
        let row = &seen.publications[*publication as usize];
        row.execution.map_or(row.time, |e| seen.executions[e as usize].start_ns)
    };
    let starts: Vec<i64> = far_apart(origins.iter()).map(read).collect();
    let mut places: Vec<(u32, u32)> = origins.iter().copied().zip(0..).collect();
    places.sort_unstable();
    let position = |publication: u32| places.binary_search_by_key(&publication, |of| of.0).ok().map(|place| places[place].1 as usize);
    let descents: Vec<(usize, i64)> = descents.iter().filter_map(|(p, t)| Some((position(*p)?, *t))).collect();
    let replaced = |last: i64| outputs.get(outputs.partition_point(|o| o.time <= last)).map(|o| o.time);
    let mut rows: Vec<ChainInput> = spans(&starts, &descents)
        .into_iter()
        .map(|span| ChainInput {
            chain,
            start_ns: starts[span.input],
            previous_ns: span.previous.map(|p| starts[p]),
            reflected_ns: span.reflected,
            last_used_ns: span.last_used,
            replaced_ns: span.last_used.and_then(replaced),
        })
        .collect();
    rows.retain(|row| tracer.options.measures(row.start_ns));
    for row in &mut rows {
        row.previous_ns = row.previous_ns.filter(|previous| tracer.options.measures(*previous));
    }
    rows
}

/// What became of one input.
#[derive(Debug, PartialEq, Eq)]
struct Span {
    input: usize,
    previous: Option<usize>,
    reflected: Option<i64>,
    last_used: Option<i64>,
}

/// Of each input from the first that anything descends from; what came before is the start of the system. `descents` in the order
/// of the outputs, and an output may descend from an older input than the one before did.
fn spans(starts: &[i64], descents: &[(usize, i64)]) -> Vec<Span> {
    let Some(first) = descents.iter().map(|d| d.0).min() else { return Vec::new() };
    let mut reflected = vec![None; starts.len()];
    let mut last_used: Vec<Option<i64>> = vec![None; starts.len()];
    let mut next = first;
    for (input, time) in descents {
        while next <= *input {
            reflected[next] = Some(*time);
            next += 1;
        }
        last_used[*input] = last_used[*input].max(Some(*time));
    }
    // Several publications of one activation are one input: a change is missed by the activation, not by its message.
    let previous = |k: usize| (first..k).rev().find(|p| starts[*p] < starts[k]);
    (first..starts.len())
        .map(|k| Span { input: k, previous: previous(k), reflected: reflected[k], last_used: last_used[k] })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_was_skipped_is_reflected_by_the_output_of_a_later_one() {
        // Inputs at 0, 10, 20, 30; outputs at 15 (of 0), 25 (of 0 again), 35 (of 20).
        let found = spans(&[0, 10, 20, 30], &[(0, 15), (0, 25), (2, 35)]);
        let expected = [
            Span { input: 0, previous: None, reflected: Some(15), last_used: Some(25) },
            Span { input: 1, previous: Some(0), reflected: Some(35), last_used: None },
            Span { input: 2, previous: Some(1), reflected: Some(35), last_used: Some(35) },
            Span { input: 3, previous: Some(2), reflected: None, last_used: None },
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn inputs_before_the_first_that_was_used_are_the_start_of_the_system() {
        assert_eq!(spans(&[0, 10, 20], &[(1, 25)]).iter().map(|s| s.input).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(spans(&[0, 10], &[]), []);
    }
}
