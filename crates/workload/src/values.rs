//! Reads single values and maps of the tree, and reports those that are wrong.

use crate::diagnostic::{did_you_mean, Report, Span};
use crate::document::{Value, Yaml};
use crate::grammar::{Form, Place};
use crate::names;
use std::collections::HashMap;
use std::time::Duration;

/// Most data in one message: DDS implementations refuse more, or fragment it without end.
const MAX_SIZE: u64 = 1 << 30;
/// Highest rate: its period is about as long as a system call.
pub(crate) const MAX_HZ: f64 = 1e6;
/// Known keys of a map and their values.
#[derive(Default)]
pub(crate) struct Fields<'y>(Vec<(&'static str, &'y Yaml, &'y Yaml)>);

impl<'y> Fields<'y> {
    pub fn get(&self, name: &str) -> Option<&'y Yaml> {
        self.0.iter().find(|(key, ..)| *key == name).map(|(_, _, value)| *value)
    }

    pub fn key_span(&self, name: &str) -> Option<Span> {
        self.0.iter().find(|(key, ..)| *key == name).map(|(_, key, _)| key.span)
    }
}

/// Reads values and reports those that are not as expected.
pub(crate) struct Reader<'r, 'a> {
    pub report: &'r mut Report<'a>,
    /// See `Reading::whole`.
    pub whole: bool,
}

impl Reader<'_, '_> {
    /// Reads the entries of a map whose keys are names that the user gives. Reports duplicates and leaves them out.
    pub fn entries<'y>(
        &mut self,
        yaml: &'y Yaml,
        form: Form,
        what: &str,
    ) -> Option<Vec<(&'y str, &'y Yaml, &'y Yaml)>> {
        let Value::Map(entries) = &yaml.value else {
            self.wrong(yaml, form);
            self.whole = false;
            return None;
        };
        let mut found: Vec<(&str, &Yaml, &Yaml)> = Vec::new();
        let mut lines: HashMap<&str, usize> = HashMap::new();
        for (key, value) in entries {
            let Value::Scalar(name, _) = &key.value else {
                self.report.error(
                    "not-a-name",
                    key.span,
                    format!("{what} without a name"),
                    key.describe(),
                    form.expected(),
                );
                self.whole = false;
                continue;
            };
            if let Some(first) = lines.get(name.as_str()) {
                self.report.error(
                    "duplicate",
                    key.span,
                    format!("{what} `{name}` stands here a second time"),
                    format!("`{name}`, first in line {first}"),
                    "each name once",
                );
                self.whole &= !value.holds_values();
                continue;
            }
            lines.insert(name, key.span.line);
            found.push((name, key, value));
        }
        Some(found)
    }

    /// Reads the known keys of a map and reports others.
    pub fn fields<'y>(&mut self, yaml: &'y Yaml, place: &'static Place) -> Option<Fields<'y>> {
        if yaml.is_null() {
            return Some(Fields::default());
        }
        let names = || place.keys.iter().map(|key| key.name);
        let known = || names().collect::<Vec<_>>().join(", ");
        if !matches!(yaml.value, Value::Map(_)) {
            let expected = format!("a map with keys of {}", known());
            self.report.error("not-a-map", yaml.span, format!("{} is a map", place.what), yaml.describe(), expected);
            self.whole = false;
            return None;
        }
        let mut fields = Fields::default();
        // `entries` cannot fail on a map.
        for (name, key, value) in self.entries(yaml, Form::Run, "key")? {
            if let Some(known) = names().find(|known| *known == name) {
                fields.0.push((known, key, value));
            } else {
                let mut expected = format!("one of {}", known());
                if let Some(meant) = did_you_mean(name, names()) {
                    expected.push_str(&format!("; did you mean `{meant}`?"));
                }
                self.report.error(
                    "unknown-key",
                    key.span,
                    format!("unknown key in {}", place.what),
                    key.describe(),
                    expected,
                );
                self.whole &= !value.holds_values();
            }
        }
        Some(fields)
    }

    pub fn wrong(&mut self, yaml: &Yaml, form: Form) {
        let name = if yaml.is_null() { "missing-value" } else { "wrong-value" };
        let message = if yaml.is_null() { "a value is missing" } else { "not what is expected here" };
        self.report.error(name, yaml.span, message, yaml.describe(), form.expected());
    }

    pub fn text<'y>(&mut self, yaml: &'y Yaml, form: Form) -> Option<&'y str> {
        match &yaml.value {
            Value::Scalar(text, _) if !yaml.is_null() => Some(text),
            _ => {
                self.wrong(yaml, form);
                None
            }
        }
    }

    pub fn quantity<T>(
        &mut self,
        yaml: &Yaml,
        form: Form,
        parse: fn(&str) -> Result<T, crate::units::QuantityError>,
    ) -> Option<T> {
        use crate::units::QuantityError::*;
        let text = self.text(yaml, form)?;
        match parse(text) {
            Ok(value) => Some(value),
            Err(error) => {
                let name = match error {
                    MissingUnit => "missing-unit",
                    UnknownUnit(_) => "unknown-unit",
                    NotAQuantity | NotWhole(_) | TooLarge => "wrong-value",
                };
                self.report.error(name, yaml.span, error.to_string(), yaml.describe(), form.expected());
                None
            }
        }
    }

    pub fn bounded<T>(&mut self, yaml: &Yaml, value: T, fits: bool, expected: String) -> Option<T> {
        if !fits {
            self.report.error("out-of-range", yaml.span, "out of range", yaml.describe(), expected);
            return None;
        }
        Some(value)
    }

    pub fn frequency(&mut self, yaml: &Yaml) -> Option<f64> {
        let hz = self.quantity(yaml, Form::Frequency, crate::units::parse_frequency)?;
        self.bounded(yaml, hz, hz > 0.0 && hz <= MAX_HZ, "a frequency above 0 Hz, at most 1000 kHz".into())
    }

    pub fn size(&mut self, yaml: &Yaml) -> Option<u64> {
        let bytes = self.quantity(yaml, Form::Size, crate::units::parse_size)?;
        self.bounded(yaml, bytes, (1..=MAX_SIZE).contains(&bytes), "a size from 1 B to 1 GiB".into())
    }

    pub fn duration(&mut self, yaml: &Yaml, most: Duration) -> Option<Duration> {
        let duration = self.quantity(yaml, Form::Duration, crate::units::parse_duration)?;
        let expected = format!("a time of at most {}", crate::units::format_duration(most));
        self.bounded(yaml, duration, duration <= most, expected)
    }

    /// Reads a duration above zero.
    pub fn positive(&mut self, yaml: &Yaml, most: Duration) -> Option<Duration> {
        let duration = self.duration(yaml, most)?;
        self.bounded(yaml, duration, !duration.is_zero(), "a time above 0 s".into())
    }

    pub fn bit_rate(&mut self, yaml: &Yaml) -> Option<u64> {
        let rate = self.quantity(yaml, Form::BitRate, crate::units::parse_bit_rate)?;
        self.bounded(yaml, rate, rate > 0, "a bit rate above 0 bit/s".into())
    }

    pub fn percent(&mut self, yaml: &Yaml) -> Option<f64> {
        let percent = self.quantity(yaml, Form::Percent, crate::units::parse_percent)?;
        self.bounded(yaml, percent, percent <= 100.0, "a percentage of at most 100 %".into())
    }

    pub fn whole_number(&mut self, yaml: &Yaml, min: u64, max: u64) -> Option<u64> {
        let form = Form::Whole(min, max);
        let text = self.text(yaml, form)?;
        let digits = yaml.is_plain() && text.bytes().all(|b| b.is_ascii_digit());
        match text.parse::<u64>().ok().filter(|n| digits && (min..=max).contains(n)) {
            Some(number) => Some(number),
            None => {
                self.wrong(yaml, form);
                None
            }
        }
    }

    pub fn flag(&mut self, yaml: &Yaml) -> Option<bool> {
        match self.text(yaml, Form::Flag)? {
            "true" if yaml.is_plain() => Some(true),
            "false" if yaml.is_plain() => Some(false),
            _ => {
                self.wrong(yaml, Form::Flag);
                None
            }
        }
    }

    /// Reads one of two words; `false` for the first.
    pub fn second_of(&mut self, yaml: &Yaml, words: &'static [&'static str; 2]) -> Option<bool> {
        self.one_of(yaml, words, Form::OneOf(words)).map(|index| index == 1)
    }

    /// Reads one of some words, as its index.
    pub fn one_of(&mut self, yaml: &Yaml, words: &'static [&'static str], form: Form) -> Option<usize> {
        let text = self.text(yaml, form)?;
        let index = words.iter().position(|word| *word == text);
        if index.is_none() {
            let meant = did_you_mean(text, words.iter().copied());
            let hint = meant.map(|word| format!("; did you mean `{word}`?")).unwrap_or_default();
            let expected = Form::OneOf(words).expected() + &hint;
            self.report.error("wrong-value", yaml.span, "unknown word", yaml.describe(), expected);
        }
        index
    }

    pub fn named(
        &mut self,
        yaml: &Yaml,
        name: &'static str,
        form: Form,
        rule: &str,
        is: fn(&str) -> bool,
    ) -> Option<String> {
        let text = self.text(yaml, form)?;
        if !is(text) {
            self.report.error(name, yaml.span, "a name that cannot be used", yaml.describe(), rule);
            self.whole = false;
            return None;
        }
        Some(text.to_string())
    }

    pub fn word(&mut self, yaml: &Yaml) -> Option<String> {
        self.named_in(yaml, Form::Word)
    }

    /// Reads a plugin, transport or type; `form` is what a message says was expected.
    pub fn named_in(&mut self, yaml: &Yaml, form: Form) -> Option<String> {
        self.named(yaml, "not-a-name", form, "a name of letters, digits and _ . / : -", names::is_word)
    }

    pub fn name(&mut self, yaml: &Yaml) -> Option<String> {
        self.named(yaml, "not-a-name", Form::Name, names::NAME_RULE, names::is_name)
    }

    pub fn topic(&mut self, yaml: &Yaml) -> Option<String> {
        self.named(yaml, "not-a-topic", Form::Subscriptions, names::TOPIC_RULE, names::is_topic)
    }
}
