//! The values of a document.

use crate::diagnostic::Span;

/// A value of the document, with its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Yaml {
    pub span: Span,
    pub value: Value,
}

/// The content of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Text as written, and whether it had no quotes.
    Scalar(String, bool),
    List(Vec<Yaml>),
    /// Entries in the order of the file, including duplicates.
    Map(Vec<(Yaml, Yaml)>),
}

impl Yaml {
    /// Whether it is `null`, `~` or empty.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(text, true) if matches!(text.as_str(), "" | "~" | "null"))
    }

    /// Whether it is a scalar without quotes, which YAML may read as another type than text.
    pub fn is_plain(&self) -> bool {
        matches!(self.value, Value::Scalar(_, true))
    }

    /// Whether it is exactly this text.
    pub fn is(&self, text: &str) -> bool {
        matches!(&self.value, Value::Scalar(found, _) if found == text)
    }

    /// Whether it is a non-empty list or map.
    pub fn holds_values(&self) -> bool {
        match &self.value {
            Value::Scalar(..) => false,
            Value::List(items) => !items.is_empty(),
            Value::Map(entries) => !entries.is_empty(),
        }
    }

    /// Describes the value in words, for `found:`.
    pub fn describe(&self) -> String {
        match &self.value {
            _ if self.is_null() => "nothing".into(),
            Value::Scalar(text, _) if text.chars().count() > 60 => {
                format!("`{}...`", text.chars().take(60).collect::<String>())
            }
            Value::Scalar(text, _) => format!("`{text}`"),
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Map(entries) => format!("a map of {}", entries.len()),
        }
    }

    /// Number of levels below it.
    pub fn depth(&self) -> usize {
        match &self.value {
            Value::Scalar(..) => 0,
            Value::List(items) => 1 + items.iter().map(Yaml::depth).max().unwrap_or(0),
            Value::Map(entries) => 1 + entries.iter().flat_map(|(k, v)| [k.depth(), v.depth()]).max().unwrap_or(0),
        }
    }

    /// Number of values, including itself.
    pub fn values(&self) -> usize {
        match &self.value {
            Value::Scalar(..) => 1,
            Value::List(items) => 1 + items.iter().map(Yaml::values).sum::<usize>(),
            Value::Map(entries) => 1 + entries.iter().map(|(k, v)| k.values() + v.values()).sum::<usize>(),
        }
    }
}
