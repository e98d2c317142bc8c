//! Compares a chain before and after a tuning, in figures.

use crate::spread::Spread;
use serde::{Deserialize, Serialize};
use tacho_tables::summary::ChainFigures;
use tacho_tables::Parts;

/// `RUN/proof.json`: a chain before and after, over the same random phases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Proof {
    /// The chain's name.
    pub chain: String,
    /// Figures before the change.
    pub before: Side,
    /// Figures after the change.
    pub after: Side,
    /// Mean end-to-end time before / after. Its least and greatest values are those of single repeats.
    pub ratio: Spread,
    /// What was promised of the chain; absent if nothing was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub promise: Option<Promised>,
    /// CPU time of all nodes, percent of one CPU; absent if it was not measured on both sides.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_percent: Option<BeforeAfter>,
    /// Every repeat, including those that do not count.
    pub repeats: Vec<Pair>,
    /// Which repeats do not count, and why. Empty if all count.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A figure before and after the change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct BeforeAfter {
    /// Before the change.
    pub before: f64,
    /// After the change.
    pub after: f64,
}

/// The mean end-to-end time that a simulation predicted, and the one that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Promised {
    /// As simulated with the phases of the proof, ms.
    pub promised_ms: f64,
    /// The same and what the simulation may be off, ms.
    pub at_most_ms: f64,
    /// As measured, ms; absent until it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured_ms: Option<f64>,
    /// Difference of the promised from the measured time, percent of the measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error_percent: Option<f64>,
}

impl Promised {
    /// A promise that nothing was measured of yet.
    pub fn of(promised_ms: f64, at_most_ms: f64) -> Promised {
        Promised { promised_ms, at_most_ms, measured_ms: None, error_percent: None }
    }

    /// The same beside what was measured.
    pub fn kept(self, measured_ms: f64) -> Promised {
        let error_percent = (measured_ms > 0.0).then(|| 100.0 * (self.promised_ms / measured_ms - 1.0));
        Promised { measured_ms: Some(measured_ms), error_percent, ..self }
    }
}

/// One side over all repeats that count: means of the repeats' means.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Side {
    /// Mean end-to-end time, ms.
    pub end_to_end_ms: Spread,
    /// Worst instance of all repeats, ms.
    pub worst_ms: f64,
    /// Parts of the mean.
    #[serde(flatten)]
    pub parts: Option<Parts<f64>>,
    /// Instances that reached the end of the chain.
    pub instances: u64,
    /// Inputs that led to no output.
    pub lost: u64,
}

/// One repeat of both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct Pair {
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Figures before the change.
    pub before: RepeatFigures,
    /// Figures after the change, with the same phases.
    pub after: RepeatFigures,
}

/// Means of one repeat of one side, ms; absent if no instance reached the end of the chain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "shapes", derive(schemars::JsonSchema))]
pub struct RepeatFigures {
    /// Mean end-to-end time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end_to_end_ms: Option<f64>,
    /// Worst instance.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worst_ms: Option<f64>,
    /// Parts of the mean.
    #[serde(flatten)]
    pub parts: Option<Parts<f64>>,
    /// Instances that reached the end of the chain.
    pub instances: u64,
    /// Inputs that led to no output.
    pub lost: u64,
}

impl Proof {
    /// Compares the figures of `chain` in each repeat, before and after. A repeat counts only if the chain came through
    /// on both sides; otherwise its partner would be compared with nothing. `None`: no repeat counts.
    pub fn of(chain: &str, before: &[ChainFigures], after: &[ChainFigures]) -> Option<Proof> {
        let pair = |(repeat, (before, after))| Pair {
            repeat,
            before: RepeatFigures::of(before),
            after: RepeatFigures::of(after),
        };
        let repeats: Vec<Pair> = (0..).zip(before.iter().zip(after)).map(pair).collect();
        let counts = |pair: &&Pair| pair.before.end_to_end_ms.is_some() && pair.after.end_to_end_ms.is_some();
        let counted: Vec<&Pair> = repeats.iter().filter(counts).collect();
        let before = Side::of(counted.iter().map(|pair| &pair.before))?;
        let after = Side::of(counted.iter().map(|pair| &pair.after))?;
        let means = |of: fn(&Pair) -> Option<f64>| counted.iter().filter_map(|pair| of(pair)).collect::<Vec<_>>();
        let ratio =
            Spread::of_ratio(&means(|pair| pair.before.end_to_end_ms), &means(|pair| pair.after.end_to_end_ms))?;
        let mut notes = Vec::new();
        for pair in repeats.iter().filter(|pair| !counts(pair)) {
            let side = if pair.before.end_to_end_ms.is_none() { "before" } else { "after" };
            notes.push(format!(
                "repeat {}: the chain never came through {side} the change; it does not count",
                pair.repeat
            ));
        }
        Some(Proof { chain: chain.to_owned(), before, after, ratio, promise: None, cpu_percent: None, repeats, notes })
    }
}

impl Pair {
    /// Mean before over mean after; absent if the chain did not come through on both sides, or took no time.
    pub fn gain(&self) -> Option<f64> {
        let (before, after) = self.before.end_to_end_ms.zip(self.after.end_to_end_ms)?;
        (after > 0.0).then(|| before / after)
    }
}

impl RepeatFigures {
    fn of(figures: &ChainFigures) -> Self {
        let whole = figures.end_to_end_ms.as_ref().filter(|times| times.count > 0);
        RepeatFigures {
            end_to_end_ms: whole.map(|times| times.mean),
            worst_ms: whole.map(|times| times.max),
            parts: whole.and(figures.parts.as_ref()).map(|parts| parts.map(|times| times.mean)),
            instances: figures.instances,
            lost: figures.lost,
        }
    }
}

impl Side {
    fn of<'r>(repeats: impl Iterator<Item = &'r RepeatFigures>) -> Option<Side> {
        let repeats: Vec<_> = repeats.collect();
        let all = |part: fn(&RepeatFigures) -> Option<f64>| repeats.iter().map(|r| part(r)).collect::<Option<Vec<_>>>();
        Some(Side {
            end_to_end_ms: Spread::of(&all(|r| r.end_to_end_ms)?)?,
            worst_ms: all(|r| r.worst_ms)?.into_iter().fold(f64::NEG_INFINITY, f64::max),
            parts: repeats.iter().map(|r| r.parts).collect::<Option<Vec<_>>>().and_then(|all| Parts::mean(&all)),
            instances: repeats.iter().map(|r| r.instances).sum(),
            lost: repeats.iter().map(|r| r.lost).sum(),
        })
    }
}

/// Figures of a chain, for tests.
#[cfg(test)]
pub mod testing {
    use super::*;
    use tacho_tables::summary::Distribution;

    fn constant(value: f64) -> Distribution {
        Distribution { count: 40, min: value, mean: value, max: value + 5.0, ..Distribution::default() }
    }

    /// Figures of 40 equal instances, ms.
    pub fn figures(computation: f64, alignment: f64) -> ChainFigures {
        ChainFigures {
            name: "localisation".into(),
            instances: 40,
            lost: 1,
            end_to_end_ms: Some(constant(computation + alignment)),
            parts: Some(Parts {
                computation: constant(computation - 2.0),
                off_cpu: None,
                preemption: Some(constant(2.0)),
                transport: constant(0.0),
                alignment: Some(constant(alignment)),
                queueing: constant(0.0),
                kept: None,
            }),
            ..ChainFigures::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::figures;
    use super::*;

    /// Alignment of 400, 410, 420, 430, 440 ms before, and a twentieth of each after.
    fn sides() -> [Vec<ChainFigures>; 2] {
        [1.0, 20.0].map(|gain| (0..5).map(|repeat| figures(25.0, (400.0 + 10.0 * f64::from(repeat)) / gain)).collect())
    }

    #[test]
    fn the_gain_is_the_ratio_of_means_with_its_spread() {
        let [before, after] = sides();
        let proof = Proof::of("localisation", &before, &after).expect("a proof");
        assert_eq!(proof.chain, "localisation");
        assert_eq!((proof.before.end_to_end_ms.mean, proof.after.end_to_end_ms.mean), (445.0, 46.0));
        assert_eq!((proof.before.end_to_end_ms.least, proof.before.end_to_end_ms.greatest), (425.0, 465.0));
        let (parts, tuned) = (proof.before.parts.expect("parts"), proof.after.parts.expect("parts"));
        assert_eq!((parts.alignment, tuned.alignment), (Some(420.0), Some(21.0)));
        assert_eq!((parts.computation, parts.preemption, parts.kept), (23.0, Some(2.0), None));
        assert_eq!((parts.whole_ms(), tuned.whole_ms()), (445.0, 46.0));
        assert_eq!((proof.before.worst_ms, proof.before.instances, proof.before.lost), (470.0, 200, 5));
        assert!((proof.ratio.mean - 445.0 / 46.0).abs() < 1e-12);
        let [low, high] = proof.ratio.interval.expect("five pairs");
        assert!(low < proof.ratio.mean && proof.ratio.mean < high);
        assert_eq!(proof.notes, Vec::<String>::new());

        let json = serde_json::to_string(&proof).expect("JSON");
        assert!(json.contains("preemption_ms") && !json.contains("kept_ms"), "absent means not measured: {json}");
        assert_eq!(serde_json::from_str::<Proof>(&json).expect("the same"), proof);
    }

    #[test]
    fn a_repeat_that_never_came_through_is_named_and_does_not_count() {
        let [before, mut after] = sides();
        let nothing = ChainFigures { name: "localisation".into(), lost: 40, ..ChainFigures::default() };
        after[3] = nothing.clone();
        let proof = Proof::of("localisation", &before, &after).expect("a proof");
        assert_eq!((proof.repeats.len(), proof.before.instances, proof.notes.len()), (5, 160, 1));
        assert!(proof.notes[0].starts_with("repeat 3: the chain never came through after"), "{}", proof.notes[0]);
        assert_eq!(Proof::of("localisation", &before, &vec![nothing; 5]), None);
    }
}
