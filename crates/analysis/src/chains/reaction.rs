//! Reaction time and data age of a chain (Günzel, Chen, Ueter, von der Brüggen, Dürr, Chen, *Timing analysis of
//! asynchronized distributed cause-effect chains*, RTAS 2021). docs/figures-of-chains.md, "chains", has the
//! definitions.

use crate::chains::{Output, Tracer};
use crate::observe::PublicationSeen;
use tacho_tables::near::partition_near;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;
use tacho_tables::{Chain, ChainInput, MaybeNs};

/// One row an input of a chain: a publication in `origins`. `descents`: (publication, when the output was made), in the
/// order of the outputs; `outputs`: all outputs of the last node, those too that descend from elsewhere, since they
/// replace each other.
pub(crate) fn inputs(
    tracer: &Tracer<'_>,
    chain: Row<Chain>,
    origins: &Rows<Row<PublicationSeen>>,
    descents: &Rows<(Row<PublicationSeen>, i64)>,
    outputs: &[Output],
) -> Rows<ChainInput> {
    let seen = tracer.seen;
    let read = |publication: &Row<PublicationSeen>| {
        let row = &seen.publications[*publication];
        row.execution.map_or(row.time, |e| seen.executions[e].start_ns)
    };
    let starts: Rows<i64> = origins.iter().map(read).collect();
    let places = origins.iter().copied().zip(0..).collect::<Rows<(Row<PublicationSeen>, u32)>>().sorted_by(Ord::cmp);
    let mut near = 0;
    let mut position = |publication: Row<PublicationSeen>| {
        let place = partition_near(&places, &mut near, |of| of.0 < publication);
        places.get(place).filter(|of| of.0 == publication).map(|of| of.1 as usize)
    };
    let descents: Rows<(usize, i64)> = descents.iter().filter_map(|(p, t)| Some((position(*p)?, *t))).collect();
    let mut near = 0;
    let mut replaced = |last: i64| outputs.get(partition_near(outputs, &mut near, |o| o.time <= last)).map(|o| o.time);
    let counts = |ns: &i64| tracer.seen.options.judges(*ns);
    let row = |span: Span| ChainInput {
        chain,
        start_ns: starts[span.input],
        previous_ns: span.previous.map(|p| starts[p]).filter(counts).into(),
        reflected_ns: span.reflected,
        last_used_ns: span.last_used,
        replaced_ns: span.last_used.get().and_then(&mut replaced).into(),
    };
    spans(&starts, &descents).filter(|span| counts(&starts[span.input])).map(row).collect()
}

/// What became of one input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    input: usize,
    previous: Option<usize>,
    reflected: MaybeNs,
    last_used: MaybeNs,
}

/// Of each input from the first that anything descends from; what came before is the start of the system. `descents` in
/// the order of the outputs, and an output may descend from an older input than the one before did.
fn spans<'a>(starts: &'a [i64], descents: &[(usize, i64)]) -> impl Iterator<Item = Span> + use<'a> {
    let first = descents.iter().map(|d| d.0).min().unwrap_or(starts.len());
    let none = || std::iter::repeat_n(MaybeNs::NONE, starts.len()).collect::<Rows<MaybeNs>>();
    let (mut reflected, mut last_used) = (none(), none());
    let mut next = first;
    for (input, time) in descents.iter() {
        while next <= *input {
            reflected[next] = (*time).into();
            next += 1;
        }
        last_used[*input] = last_used[*input].get().max(Some(*time)).into();
    }
    // Several publications of one activation are one input: a change is missed by the activation, not by its message.
    let previous = move |k: usize| (first..k).rev().find(|p| starts[*p] < starts[k]);
    (first..starts.len()).map(move |k| Span {
        input: k,
        previous: previous(k),
        reflected: reflected[k],
        last_used: last_used[k],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_was_skipped_is_reflected_by_the_output_of_a_later_one() {
        // Inputs at 0, 10, 20, 30; outputs at 15 (of 0), 25 (of 0 again), 35 (of 20).
        let found: Vec<Span> = spans(&[0, 10, 20, 30], &[(0, 15), (0, 25), (2, 35)]).collect();
        let ns = MaybeNs::from;
        let expected = [
            Span { input: 0, previous: None, reflected: ns(Some(15)), last_used: ns(Some(25)) },
            Span { input: 1, previous: Some(0), reflected: ns(Some(35)), last_used: ns(None) },
            Span { input: 2, previous: Some(1), reflected: ns(Some(35)), last_used: ns(Some(35)) },
            Span { input: 3, previous: Some(2), reflected: ns(None), last_used: ns(None) },
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn inputs_before_the_first_that_was_used_are_the_start_of_the_system() {
        assert_eq!(spans(&[0, 10, 20], &[(1, 25)]).map(|s| s.input).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(spans(&[0, 10], &[]).count(), 0);
    }
}
