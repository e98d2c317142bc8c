//! The chain that several runs are compared by, and what became of it in each: once for the text and the page.

use serde::Serialize;
use tacho_tables::summary::Summary;

/// One run beside the first. Chains are indices into [`Summary::chains`] of their run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Compared {
    /// The chain that was tuned, else the one that is critical in the first run, followed by its path; absent where
    /// this run does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<usize>,
    /// Mean end-to-end time of the first run over that of this one; absent where one of them has none, and where this
    /// one took no time at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// Another chain, which is critical here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_critical: Option<usize>,
}

/// Each run beside the first, by the chain that was tuned, else by the first run's critical one; none where the first
/// has neither.
pub fn compare(runs: &[&Summary], tuned: Option<&str>) -> Vec<Compared> {
    let Some(first) = runs.first() else { return vec![] };
    let of_name = first.chains.iter().find(|chain| tuned == Some(&chain.name) && chain.end_to_end_ms.is_some());
    let Some(chain) = of_name.or_else(|| first.chains.iter().find(|chain| chain.critical)) else {
        return vec![];
    };
    let mean = |summary: &Summary, chain: usize| summary.chains[chain].end_to_end_ms.as_ref().map(|times| times.mean);
    let before = chain.end_to_end_ms.as_ref().map(|times| times.mean);
    runs.iter()
        .map(|run| {
            let same = run.chains.iter().position(|other| other.path == chain.path);
            let after = same.and_then(|chain| mean(run, chain)).filter(|after| *after > 0.0);
            Compared {
                chain: same,
                gain: before.zip(after).map(|(before, after)| before / after),
                other_critical: run.chains.iter().position(|other| other.critical && other.path != chain.path),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacho_tables::summary::{ChainFigures, Distribution};

    fn chain(path: &str, critical: bool, mean: Option<f64>) -> ChainFigures {
        ChainFigures {
            path: path.split(' ').map(String::from).collect(),
            critical,
            end_to_end_ms: mean.map(|mean| Distribution { count: 2, mean, ..Distribution::default() }),
            ..ChainFigures::default()
        }
    }

    fn run(chains: Vec<ChainFigures>) -> Summary {
        Summary { chains, ..Summary::default() }
    }

    #[test]
    fn a_chain_is_followed_by_its_path_and_the_gain_is_that_of_the_means() {
        let before = run(vec![chain("a /t b", true, Some(200.0))]);
        let after = run(vec![chain("x /y z", true, Some(50.0)), chain("a /t b", false, Some(20.0))]);
        let found = compare(&[&before, &after], None);
        assert_eq!(found[0], Compared { chain: Some(0), gain: Some(1.0), other_critical: None });
        assert_eq!(found[1], Compared { chain: Some(1), gain: Some(10.0), other_critical: Some(0) });
    }

    #[test]
    fn a_chain_that_was_tuned_is_compared_though_another_is_critical() {
        let named = |mean| ChainFigures { name: "hot".into(), ..chain("a /t b", false, Some(mean)) };
        let before = run(vec![chain("x /y z", true, Some(200.0)), named(80.0)]);
        let after = run(vec![chain("x /y z", true, Some(190.0)), named(40.0)]);
        let found = compare(&[&before, &after], Some("hot"));
        assert_eq!((found[1].chain, found[1].gain), (Some(1), Some(2.0)));
        assert_eq!(compare(&[&before, &after], Some("gone"))[1].chain, Some(0));
    }

    #[test]
    fn a_run_without_the_chain_or_without_its_time_has_no_gain() {
        let before = run(vec![chain("a /t b", true, Some(100.0))]);
        let other = run(vec![chain("a /other b", true, Some(10.0))]);
        let [none, no_time, unmeasured] =
            [&other, &run(vec![chain("a /t b", true, Some(0.0))]), &run(vec![chain("a /t b", true, None)])]
                .map(|after| compare(&[&before, after], None)[1]);
        assert_eq!(none, Compared { chain: None, gain: None, other_critical: Some(0) });
        assert_eq!((no_time.chain, no_time.gain), (Some(0), None));
        assert_eq!((unmeasured.chain, unmeasured.gain), (Some(0), None));
    }

    #[test]
    fn without_a_critical_chain_there_is_nothing_to_compare() {
        assert_eq!(compare(&[&run(vec![chain("a /t b", false, Some(1.0))])], None), []);
        assert_eq!(compare(&[], None), []);
    }
}
