//! The kinds of tasks that a workload may name, as libraries of tasks describe them (`native/include/tacho/task.h`).

use crate::diagnostic::did_you_mean;
use crate::model::{Work, Workload};
use std::f64::consts::PI;
use std::path::PathBuf;

/// What a library says of a kind of task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskKind {
    /// Name, unique among all libraries.
    pub name: String,
    /// The library.
    pub library: PathBuf,
    /// Why the library is not here and how to get it. If so, nothing but the name is known.
    pub missing: Option<String>,
    /// What it does.
    pub meaning: String,
    /// Its parameters.
    pub parameters: Vec<TaskParameter>,
    /// The names of texts that it takes, such as a path.
    pub texts: Vec<String>,
    /// Its inputs, in the order in which a node subscribes to them.
    pub inputs: Vec<TaskSlot>,
    /// Its outputs, in the order in which a node publishes them.
    pub outputs: Vec<TaskSlot>,
    /// The signals that it reports over time.
    pub signals: Vec<TaskSignal>,
}

/// A signal of a kind of task: one number at an instant, or one of each entry of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskSignal {
    /// Name.
    pub name: String,
    /// Unit; empty for a count, a ratio, or yes and no.
    pub unit: String,
    /// Meaning.
    pub meaning: String,
    /// Whether it has entries.
    pub is_list: bool,
}

/// A parameter of a kind of task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskParameter {
    /// Name.
    pub name: String,
    /// The unit that the task receives; empty for a number without a unit.
    pub unit: String,
    /// Least value.
    pub least: f64,
    /// Greatest value.
    pub greatest: f64,
    /// The value if a workload gives none.
    pub initial: f64,
    /// What it means.
    pub meaning: String,
}

/// An input or output of a kind of task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskSlot {
    /// What it carries.
    pub name: String,
    /// Least bytes of an output's message; 0 for an input.
    pub size_bytes: u64,
    /// Whether a node may leave it out.
    pub optional: bool,
}

/// Why a parameter cannot be used.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterError {
    /// Its place in the list of parameters as written.
    pub index: usize,
    /// Whether the name is wrong, or else the value.
    pub is_unknown: bool,
    /// What is wrong, in words.
    pub message: String,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

impl std::fmt::Display for ParameterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: found {}, expected {}", self.message, self.found, self.expected)
    }
}

/// The parameter of planning that says at which speed the car aims.
pub const SPEED: &str = "speed";

/// The nodes whose tasks aim at a speed, by their places, and that speed, m/s.
pub fn aimed_speeds<'a>(workload: &'a Workload, kinds: &'a [TaskKind]) -> impl Iterator<Item = (usize, f64)> + 'a {
    workload.nodes.iter().enumerate().filter_map(|(place, node)| {
        let Work::Task { name, parameters } = &node.work else { return None };
        let kind = kinds.iter().find(|kind| kind.name == *name)?;
        let at = kind.parameters.iter().position(|parameter| parameter.name == SPEED)?;
        Some((place, kind.values(parameters).ok()?[at]))
    })
}

/// The units of each quantity, by the unit that tasks receive, with their factors.
const QUANTITIES: &[(&str, &[(&str, f64)])] = &[
    ("m", &[("mm", 1e-3), ("cm", 1e-2), ("m", 1.0), ("km", 1e3)]),
    ("m/s", &[("m/s", 1.0), ("km/h", 1.0 / 3.6)]),
    ("m/s^2", &[("m/s^2", 1.0)]),
    ("rad", &[("rad", 1.0), ("deg", PI / 180.0)]),
    ("rad/s", &[("rad/s", 1.0), ("deg/s", PI / 180.0)]),
    ("s", &[("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0)]),
    ("Hz", &[("Hz", 1.0), ("kHz", 1e3)]),
];

impl TaskKind {
    /// Returns the values of all parameters in their order: those written, and the initial values of the others.
    pub fn values(&self, written: &[(String, String)]) -> Result<Vec<f64>, Vec<ParameterError>> {
        let mut values: Vec<f64> = self.parameters.iter().map(|parameter| parameter.initial).collect();
        let mut errors = Vec::new();
        for (index, (name, text)) in written.iter().enumerate() {
            if self.texts.contains(name) {
                continue;
            }
            let Some(at) = self.parameters.iter().position(|parameter| parameter.name == *name) else {
                errors.push(self.unknown(index, name));
                continue;
            };
            match self.parameters[at].read(text) {
                Some(value) => values[at] = value,
                None => errors.push(ParameterError {
                    index,
                    is_unknown: false,
                    message: format!("task `{}` cannot use this value of `{name}`", self.name),
                    found: format!("`{text}`"),
                    expected: self.parameters[at].expected(),
                }),
            }
        }
        if errors.is_empty() {
            Ok(values)
        } else {
            Err(errors)
        }
    }

    /// Its texts in their order; empty where none is written.
    pub fn texts(&self, written: &[(String, String)]) -> Vec<String> {
        let of = |name: &String| written.iter().find(|(of, _)| of == name).map(|(_, text)| text.clone());
        self.texts.iter().map(|name| of(name).unwrap_or_default()).collect()
    }

    fn unknown(&self, index: usize, name: &str) -> ParameterError {
        let parameters = || self.parameters.iter().map(|parameter| parameter.name.as_str());
        let names = || self.texts.iter().map(String::as_str).chain(parameters());
        let meant = did_you_mean(name, names()).map(|meant| format!("; did you mean `{meant}`?"));
        let expected = match names().collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => "no parameter".to_owned(),
            known => format!("one of {known}{}", meant.unwrap_or_default()),
        };
        let message = format!("task `{}` has no such parameter", self.name);
        ParameterError { index, is_unknown: true, message, found: format!("`{name}`"), expected }
    }
}

impl TaskParameter {
    /// Reads a value with its unit; `None` if it is no such value, or out of range.
    fn read(&self, text: &str) -> Option<f64> {
        let text = text.trim();
        let end = text.rfind(|c: char| c.is_ascii_digit() || c == '.')? + 1;
        // A digit may belong to the unit: m/s^2.
        let end = text[..end].find(|c: char| c.is_alphabetic()).unwrap_or(end);
        let (number, unit) = (text[..end].trim(), text[end..].trim());
        let number_only = number.bytes().all(|b| b.is_ascii_digit() || b"+-.".contains(&b));
        let number: f64 = number.parse().ok().filter(|_| number_only)?;
        let value = number * self.units().iter().find(|(name, _)| *name == unit)?.1;
        (value.is_finite() && (self.least..=self.greatest).contains(&value)).then_some(value)
    }

    fn units(&self) -> &'static [(&'static str, f64)] {
        QUANTITIES.iter().find(|(unit, _)| *unit == self.unit).map_or(&[("", 1.0)], |(_, units)| units)
    }

    /// Describes its values, for `expected:`.
    pub fn expected(&self) -> String {
        let between = format!("from {} to {}", self.least, self.greatest);
        if self.unit.is_empty() {
            return format!("a number {between}");
        }
        let units: Vec<&str> = self.units().iter().map(|(name, _)| *name).collect();
        format!("a number with its unit ({}), {between} {}", units.join(", "), self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, unit: &str, greatest: f64) -> TaskParameter {
        TaskParameter {
            name: name.into(),
            unit: unit.into(),
            least: -1.0,
            greatest,
            initial: 0.5,
            ..Default::default()
        }
    }

    fn kind() -> TaskKind {
        let parameters = vec![
            parameter("speed", "m/s", 20.0),
            parameter("braking", "m/s^2", 10.0),
            parameter("heading", "rad", 4.0),
            parameter("rays", "", 1e6),
        ];
        TaskKind { name: "drive".into(), parameters, ..TaskKind::default() }
    }

    fn values(written: &[(&str, &str)]) -> Result<Vec<f64>, Vec<ParameterError>> {
        kind().values(&written.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect::<Vec<_>>())
    }

    #[test]
    fn values_come_in_the_unit_and_the_order_of_the_task() {
        assert_eq!(values(&[]), Ok(vec![0.5; 4]));
        let written = values(&[("rays", "60000"), ("speed", "36 km/h"), ("braking", "2.5 m/s^2")]).unwrap();
        assert_eq!((written[0], written[1], written[3]), (10.0, 2.5, 60000.0));
        assert_eq!(values(&[("heading", "180 deg")]).unwrap()[2], PI);
        assert_eq!(values(&[("heading", "-0.5rad")]).unwrap()[2], -0.5);
    }

    #[test]
    fn texts_are_no_numbers_and_an_absent_one_is_empty() {
        let kind = TaskKind { texts: vec!["bag".into(), "topic".into()], ..kind() };
        let written = [("topic", "/a b"), ("rays", "3")].map(|(n, v)| (n.to_string(), v.to_string()));
        assert_eq!(kind.texts(&written), ["", "/a b"]);
        assert_eq!(kind.values(&written).unwrap()[3], 3.0);
        let errors = kind.values(&[("bagg".into(), "x".into())]).unwrap_err();
        assert_eq!(errors[0].expected, "one of bag, topic, speed, braking, heading, rays; did you mean `bag`?");
    }

    #[test]
    fn what_a_task_cannot_use_is_named_with_what_it_could() {
        for wrong in ["5", "5 m", "5 furlongs", "fast", "", "21 m/s", "1e1 m/s", "nan m/s", "inf", "- 5 m/s", "5 5 m/s"]
        {
            let errors = values(&[("rays", "1"), ("speed", wrong)]).expect_err(wrong);
            assert_eq!((errors.len(), errors[0].index, errors[0].is_unknown), (1, 1, false), "{wrong}");
            assert_eq!(errors[0].found, format!("`{wrong}`"));
            assert_eq!(errors[0].expected, "a number with its unit (m/s, km/h), from -1 to 20 m/s");
        }
        assert!(values(&[("rays", "10 m")]).unwrap_err()[0].expected.starts_with("a number from"));
        let errors = values(&[("speeed", "5 m/s"), ("colour", "1")]).unwrap_err();
        assert_eq!(errors[0].expected, "one of speed, braking, heading, rays; did you mean `speed`?");
        assert_eq!((errors[1].found.as_str(), errors[1].is_unknown), ("`colour`", true));
    }
}
