//! What the studies published, beside which the page shows ours. Only facts that the papers state; `published/*.json`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// One published experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Its figures, drawn from our points in its own arrangement.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// What it found.
    pub statements: Vec<Statement>,
}

/// One of its figures. Values are drawn in `unit`; boxes, courses and subscribers are latencies in us.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its number there.
    pub source: String,
    /// What it shows.
    pub title: String,
    /// How.
    pub draw: Draw,
    /// Of [`Draw::Values`]: figures of a point, a shape each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<String>,
    /// Of [`Draw::Values`]: after scaling.
    #[serde(default)]
    pub unit: String,
    /// From the unit of the figures.
    #[serde(default = "one")]
    pub scale: f64,
    /// See [`Measure::Values`].
    #[serde(default, rename = "where")]
    pub which: BTreeMap<String, Condition>,
    /// Columns, the outermost first.
    #[serde(default)]
    pub across: Vec<String>,
    /// What colours stand for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
    /// A panel for each combination.
    #[serde(default)]
    pub panels: Vec<String>,
    /// What was published, in the unit of the drawing.
    #[serde(default)]
    pub published: Vec<Mark>,
    /// Why there is nothing of it, where no point fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<String>,
}

/// The form of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Draw {
    /// Quartiles and whiskers of latencies.
    Boxes,
    /// Single figures as symbols.
    Values,
    /// Latency over the run.
    Course,
    /// Messages in time, late and lost, sent and not.
    Deliveries,
    /// The layers of the publishing side.
    PublishingLayers,
    /// Latency to each subscription.
    Subscribers,
}

/// A published value or range, drawn where the points that are meant stand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// In words.
    pub says: String,
    /// See [`Measure::Values`].
    #[serde(default, rename = "where")]
    pub which: BTreeMap<String, Condition>,
    /// Which of the figures it is a value of; the first, if it says none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// Values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
    /// Least of a range; absent where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// Greatest of a range; absent where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    /// Bounds are multiples of our own figure of another point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
}

/// What a figure or a parameter of a point must be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Condition {
    /// This value; `greatest`: the greatest there is.
    Is(Word),
    /// All that is said here.
    Of(Bounds),
}

/// See [`Condition::Of`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// This or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    /// This or less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not: Option<Word>,
    /// One of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_of: Option<Vec<Word>>,
}

/// A value of a figure or of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Word {
    /// Of a figure.
    Number(f64),
    /// Of a parameter, as written.
    Text(String),
}

/// The point whose figure a bound is a multiple of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// Which points; see [`Measure::Values`].
    pub of: BTreeMap<String, Condition>,
    /// What it must agree in with the point that is meant.
    pub by: Vec<String>,
}

/// One finding, and what of our points stands beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
/// [`tacho_tables::summary::Point`], of the sweep's parameters, and `many` (the greater of publishers and subscribers),
/// `middleware/transport`, `not_sent_percent` (of due), `publish_dds_percent` (of the publishing side's layers),
/// `rom_bytes` and `ram_bytes` (of the boards, the greatest), and `run` (of several on one page), computed by the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
        /// Points that are meant: a value, `{least, most}`, `{not}`, `{one_of}`, or "greatest".
        #[serde(default, rename = "where")]
        which: BTreeMap<String, Condition>,
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
        which: BTreeMap<String, Condition>,
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
        /// What was published.
        #[serde(default)]
        published: Vec<PublishedValue>,
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
        /// What was published.
        #[serde(default)]
        published: Vec<PublishedValue>,
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
        of: BTreeMap<String, Condition>,
        /// The divisor.
        to: BTreeMap<String, Condition>,
        /// What both must agree in.
        by: Vec<String>,
        /// What groups the quotients besides.
        #[serde(default)]
        each: Vec<String>,
    },
}

/// A published value that stands beside ours of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PublishedValue {
    /// What of.
    pub of: String,
    /// In the unit of the measure.
    pub value: f64,
}

/// A best rate that study E published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

    /// What a measure asks of points, and what it groups them by.
    fn asked(measure: &Measure) -> (Vec<(&String, &Condition)>, Vec<&String>) {
        match measure {
            Measure::Values { which, by, .. } | Measure::Summary { which, by, .. } => {
                (which.iter().collect(), by.iter().collect())
            }
            Measure::Ratio { of, to, by, each, .. } => (of.iter().chain(to).collect(), by.iter().chain(each).collect()),
            _ => (vec![], vec![]),
        }
    }

    /// Whether a workload has the texts that a condition names, if the condition is of one of these parameters.
    fn meets(values: &BTreeMap<String, Vec<String>>, name: &str, condition: &Condition) -> bool {
        let Some(values) = values.get(name) else { return true };
        let words: Vec<&Word> = match condition {
            Condition::Is(word) => vec![word],
            Condition::Of(bounds) => bounds.not.iter().chain(bounds.one_of.iter().flatten()).collect(),
        };
        let is_known = |word: &Word| match word {
            Word::Text(text) => text == "greatest" || values.contains(text),
            Word::Number(_) => true,
        };
        words.into_iter().all(is_known)
    }

    #[test]
    fn statements_and_figures_ask_for_what_their_workload_varies() {
        const OF_POINTS: [&str; 8] = [
            "size_bytes",
            "rate_hz",
            "publishers",
            "subscribers",
            "many",
            "not_sent_percent",
            "middleware/transport",
            "run",
        ];
        let workloads = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
        let mut sweeps = 0;
        for study in STUDIES.iter() {
            let text = std::fs::read_to_string(workloads.join(format!("study-{}.yaml", study.id))).unwrap();
            let (sweep, _) = tacho_workload::sweep(&text, &study.id, &Default::default()).unwrap();
            sweeps += usize::from(sweep.points.len() > 1);
            let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for point in sweep.points {
                let workload = point.workload;
                let transport = if workload.transport.is_empty() { "default".into() } else { workload.transport };
                let identity = [
                    ("middleware", workload.middleware),
                    ("transport", transport),
                    ("topology", workload.topology.unwrap_or_default()),
                ];
                let identity = identity.into_iter().map(|(name, value)| (name.to_string(), value));
                point
                    .parameters
                    .into_iter()
                    .chain(identity)
                    .for_each(|(name, value)| values.entry(name).or_default().push(value));
            }
            for statement in &study.statements {
                let (conditions, groups) = asked(&statement.measure);
                for name in groups.iter().copied().chain(conditions.iter().map(|(name, _)| *name)) {
                    assert!(
                        values.contains_key(name) || OF_POINTS.contains(&name.as_str()),
                        "{}: {}: {name}",
                        study.id,
                        statement.says
                    );
                }
                for (name, condition) in conditions {
                    assert!(meets(&values, name, condition), "{}: {}: {name} {condition:?}", study.id, statement.says);
                }
            }
            for figure in &study.figures {
                for name in figure.across.iter().chain(&figure.colour).chain(&figure.panels) {
                    assert!(
                        values.contains_key(name) || OF_POINTS.contains(&name.as_str()),
                        "{}: {}: {name}",
                        study.id,
                        figure.title
                    );
                }
                for (name, condition) in figure.which.iter().chain(figure.published.iter().flat_map(|mark| &mark.which))
                {
                    assert!(meets(&values, name, condition), "{}: {}: {name} {condition:?}", study.id, figure.title);
                }
            }
        }
        assert_eq!(sweeps, 16);
    }

    #[test]
    fn every_study_is_read_and_has_a_name_of_its_own() {
        let ids: Vec<&str> = STUDIES.iter().map(|study| study.id.as_str()).collect();
        for (index, id) in ids.iter().enumerate() {
            assert!(!ids[..index].contains(id), "{id} twice");
        }
        assert_eq!(study("a-dds").unwrap().statements.len(), 6);
        assert_eq!(study("unknown"), None);
        let asks = |id: &str, what: fn(&Measure) -> bool| {
            study(id).unwrap().statements.iter().filter(|s| what(&s.measure)).count()
        };
        assert_eq!(asks("d", |measure| matches!(measure, Measure::Callback { .. })), 4);
        assert_eq!(
            (asks("e", |m| matches!(m, Measure::Chain { .. })), asks("e", |m| matches!(m, Measure::Objective { .. }))),
            (3, 1)
        );
    }
}
