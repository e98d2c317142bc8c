//! Writes a tree as YAML, without the comments of the file.

use super::tree::{Value, Yaml};
use std::fmt::Write;

/// Deeper levels are written in one line.
const BLOCKS: usize = 3;

/// Writes a document that [`super::parse`] reads as the same values.
pub(crate) fn write(root: &Yaml) -> String {
    let mut out = String::new();
    match &root.value {
        Value::Map(entries) if !entries.is_empty() => block(&mut out, entries, 0),
        _ => {
            let _ = writeln!(out, "{}", flow(root));
        }
    }
    out
}

fn block(out: &mut String, entries: &[(Yaml, Yaml)], depth: usize) {
    for (key, value) in entries {
        let _ = write!(out, "{:indent$}{}:", "", flow(key), indent = 2 * depth);
        match &value.value {
            Value::Map(inner) if !inner.is_empty() && depth + 1 < BLOCKS => {
                out.push('\n');
                block(out, inner, depth + 1);
            }
            _ => {
                let _ = writeln!(out, " {}", flow(value));
            }
        }
    }
}

/// Writes a value in one line.
pub(crate) fn flow(yaml: &Yaml) -> String {
    match &yaml.value {
        Value::Scalar(text, true) if text.is_empty() => "~".into(),
        Value::Scalar(text, true) if needs_no_quotes(text) => text.clone(),
        Value::Scalar(text, _) => quoted(text),
        Value::List(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let pairs = entries.iter().map(|(key, value)| format!("{}: {}", flow(key), flow(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Whether YAML reads this text as itself without quotes.
fn needs_no_quotes(text: &str) -> bool {
    let harmless = |c: char| c.is_alphanumeric() || "_./$+~^ ".contains(c);
    let at_either_end = |c: char| c == ' ';
    // `-`, `%` and an inner colon have a meaning only at the start or the end.
    let inside = |c: char| harmless(c) || "-%".contains(c);
    let mut characters = text.chars();
    characters.next().is_some_and(harmless)
        && characters.all(inside)
        && !text.starts_with(at_either_end)
        && !text.ends_with(at_either_end)
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() || c == '\u{feff}' || ('\u{2028}'..='\u{2029}').contains(&c) => {
                let _ = write!(out, "\\U{:08x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Writes names without quotes, except those that YAML readers take for something else (YAML 1.1: `on` and `no`).
pub(crate) fn scalar(text: &str) -> String {
    const TAKEN: [&str; 11] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "inf", "nan"];
    let first = text.chars().next();
    let plain = first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_') && !text.ends_with(':');
    if plain && !TAKEN.contains(&text.to_lowercase().as_str()) {
        text.to_string()
    } else {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn values(yaml: &Yaml) -> String {
        match &yaml.value {
            Value::Scalar(..) if yaml.is_null() => "null".into(),
            Value::Scalar(text, _) => format!("{text:?}"),
            Value::List(items) => format!("{:?}", items.iter().map(values).collect::<Vec<_>>()),
            Value::Map(entries) => {
                format!("{:?}", entries.iter().map(|(k, v)| (values(k), values(v))).collect::<Vec<_>>())
            }
        }
    }

    #[test]
    fn what_is_written_is_read_as_the_same_values() {
        let texts = [
            include_str!("../../../../workloads/autoware-localisation.yaml"),
            "a: {b: ~, 'c, d': [1, \"x: y\", '# no', '%', -5, 0.5 %, \"\", {}, []]}\n\"e\\n\\u2028\": |\n  two\n  \
             lines\n",
            "[[a, b], {c: {d: {e: {f: g}}}}]",
            "scalar",
        ];
        for text in texts {
            let read = |text: &str| match parse(text) {
                Ok(Some(root)) => root,
                other => panic!("{other:?}\n{text}"),
            };
            let root = read(text);
            let written = write(&root);
            assert_eq!(values(&read(&written)), values(&root), "{written}");
        }
    }
}
