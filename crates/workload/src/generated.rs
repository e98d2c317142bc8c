//! Writes a workload file for nodes of a topology, from values as a user gives them.

use crate::diagnostic::Span;
use crate::document::{self, Value, Yaml};

/// Keys of a file, each with its values as the file spells them.
pub type Keys<'a> = Vec<(&'a str, Vec<String>)>;

/// A file that describes nodes by a topology; a sweep if a key has several values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Generated<'a> {
    /// Keys of the file itself, such as `middleware`.
    pub top: Keys<'a>,
    /// Keys of its `topology`.
    pub topology: Keys<'a>,
}

impl Generated<'_> {
    /// Writes the file, for [`crate::sweep`] to read. A key without values is left out.
    pub fn write(&self) -> String {
        let mut entries = entries(&self.top);
        entries.push((scalar("topology"), yaml(Value::Map(self::entries(&self.topology)))));
        document::write(&yaml(Value::Map(entries)))
    }
}

fn entries(keys: &Keys<'_>) -> Vec<(Yaml, Yaml)> {
    let of = |(key, values): &(&str, Vec<String>)| {
        let value = match values.as_slice() {
            [] => return None,
            [one] => scalar(one),
            several => yaml(Value::List(several.iter().map(|value| scalar(value)).collect())),
        };
        Some((scalar(key), value))
    };
    keys.iter().filter_map(of).collect()
}

fn scalar(text: &str) -> Yaml {
    yaml(Value::Scalar(text.into(), true))
}

fn yaml(value: Value) -> Yaml {
    Yaml { span: Span::default(), value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_value_whatever_is_in_it() {
        let top = vec![("middleware", vec!["a: b".into(), "[c".into()]), ("transport", vec![])];
        let topology = vec![("kind", vec!["pairs".into()]), ("rate", vec!["10 Hz".into()])];
        let text = Generated { top, topology }.write();
        assert_eq!(text, "middleware: [\"a: b\", \"[c\"]\ntopology:\n  kind: pairs\n  rate: 10 Hz\n");
    }
}
