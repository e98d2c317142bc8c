//! What the studies published, beside which the page shows ours. Only facts that the papers state; `published/*.json`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// One published experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// As `study:` in a workload names it.
    pub id: String,
    /// What it asks.
    pub title: String,
    /// Where it was published.
    pub citation: String,
    /// How it was measured there.
    pub setting: String,
    /// What it found.
    pub statements: Vec<Statement>,
}

/// One finding, and what of our points stands beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// Figure, table or finding.
    pub source: String,
    /// In words.
    pub says: String,
    /// Ours.
    pub measure: Measure,
}

/// What is made of the points of a sweep. Names of figures and of the points that are meant are those of
/// [`tacho_analysis::summary::Point`], of the sweep's parameters, and `many` (the greater of publishers and subscribers),
/// `not_sent_percent` (of due) and `publish_dds_percent` (of the publishing side's layers), computed by the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Measure {
    /// Points whose figure lies below a bound, of those that have it.
    Count {
        /// Of a point.
        figure: String,
        /// In words.
        title: String,
        /// In the unit of the figure.
        below: f64,
    },
    /// The figure of each group of points.
    Values {
        /// Of a point.
        figure: String,
        /// In words.
        title: String,
        /// After scaling.
        unit: String,
        /// From the unit of the figure.
        #[serde(default = "one")]
        scale: f64,
        /// `greatest`: of a group the greatest; else least to greatest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pick: Option<String>,
        /// Points that are meant: a value, `{least, most}`, `{not}`, or "greatest".
        #[serde(default, rename = "where")]
        which: BTreeMap<String, Value>,
        /// Groups: points that agree in these.
        by: Vec<String>,
    },
    /// Mean, worst, best and standard deviation, as study C's table.
    Summary {
        /// A distribution of a point.
        figure: String,
        /// In words.
        title: String,
        /// Of the distribution.
        unit: String,
        /// See [`Measure::Values`].
        #[serde(rename = "where")]
        which: BTreeMap<String, Value>,
        /// See [`Measure::Values`].
        by: Vec<String>,
    },
    /// A figure of the callback of a node, of a run that is no sweep.
    Callback {
        /// With namespace.
        node: String,
        /// Of its figures, or `in_node_clock_ms`, or `duration_of_period_percent`, which the page computes.
        figure: String,
        /// In words.
        title: String,
        /// After scaling.
        unit: String,
        /// From the unit of the figure.
        #[serde(default = "one")]
        scale: f64,
    },
    /// A figure of a chain, of each run on the page.
    Chain {
        /// As the workload names it.
        chain: String,
        /// Of its figures.
        figure: String,
        /// In words.
        title: String,
        /// Of the figure.
        unit: String,
    },
    /// The best rate of study E's search, and what it was searched with.
    Objective {
        /// In words.
        title: String,
        /// What was published, for the figure.
        published_hz: Vec<PublishedRate>,
    },
    /// Quotient between two points that agree in `by`.
    Ratio {
        /// Of a point.
        figure: String,
        /// In words.
        title: String,
        /// The dividend; see [`Measure::Values`].
        of: BTreeMap<String, Value>,
        /// The divisor.
        to: BTreeMap<String, Value>,
        /// What both must agree in.
        by: Vec<String>,
        /// What groups the quotients besides.
        #[serde(default)]
        each: Vec<String>,
    },
}

/// A best rate that study E published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRate {
    /// The rate.
    pub hz: f64,
    /// Time of the callback check of one node, where it was made longer than the others'.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_check_ms: Option<f64>,
}

fn one() -> f64 {
    1.0
}

static STUDIES: LazyLock<Vec<Study>> = LazyLock::new(|| {
    let files = [
        include_str!("../published/a.json"),
        include_str!("../published/b.json"),
        include_str!("../published/c.json"),
        include_str!("../published/d.json"),
        include_str!("../published/e.json"),
    ];
    let read = |text| serde_json::from_str::<Vec<Study>>(text).expect("files of this crate, read by its tests");
    files.into_iter().flat_map(read).collect()
});

/// The experiment that a workload names; absent where it is not one of a study.
pub fn study(id: &str) -> Option<&'static Study> {
    STUDIES.iter().find(|study| study.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_is_read_and_has_a_name_of_its_own() {
        let ids: Vec<&str> = STUDIES.iter().map(|study| study.id.as_str()).collect();
        for (index, id) in ids.iter().enumerate() {
            assert!(!ids[..index].contains(id), "{id} twice");
        }
        assert_eq!(study("a-dds").unwrap().statements.len(), 6);
        assert_eq!(study("unknown"), None);
        let asks = |id: &str, what: fn(&Measure) -> bool| study(id).unwrap().statements.iter().filter(|s| what(&s.measure)).count();
        assert_eq!(asks("d", |measure| matches!(measure, Measure::Callback { .. })), 4);
        assert_eq!((asks("e", |m| matches!(m, Measure::Chain { .. })), asks("e", |m| matches!(m, Measure::Objective { .. }))), (3, 1));
    }
}
