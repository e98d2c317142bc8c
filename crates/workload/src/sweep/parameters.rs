//! Named parameters: `sweep: {size: [16 B, 64 KiB]}`, and `$size` where the value goes.
//!
//! A value may have a name of its own, `sweep: {link: {wired: {}, wireless: {delay: 2 ms}}}`, and be a map of which
//! `$link.delay` is a part: several keys then vary together.

use crate::diagnostic::{did_you_mean, Report};
use crate::document::{flow, Value, Yaml};
use crate::grammar::Form;
use crate::names;

/// A parameter with its values.
pub(crate) struct Parameter<'y> {
    pub name: &'y str,
    /// Name of each value, and what replaces `$name`.
    pub values: Vec<(String, &'y Yaml)>,
}

/// The value of a key of a map.
pub(crate) fn entry<'y>(map: &'y Yaml, name: &str) -> Option<&'y Yaml> {
    let Value::Map(entries) = &map.value else { return None };
    entries.iter().find(|(key, _)| key.is(name)).map(|(_, value)| value)
}

/// Reads the parameters of a document, in the order of the file.
pub(crate) fn read<'y>(root: &'y Yaml, report: &mut Report) -> Vec<Parameter<'y>> {
    let parameters = match entry(root, "sweep").filter(|yaml| !yaml.is_null()) {
        None => vec![],
        Some(Yaml { value: Value::Map(entries), .. }) => declared(entries, report),
        Some(yaml) => {
            report.error(
                "wrong-value",
                yaml.span,
                "not what is expected here",
                yaml.describe(),
                Form::Sweep.expected(),
            );
            return vec![];
        }
    };
    uses(root, &parameters, report);
    parameters
}

fn declared<'y>(entries: &'y [(Yaml, Yaml)], report: &mut Report) -> Vec<Parameter<'y>> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for (key, value) in entries {
        let name = match &key.value {
            Value::Scalar(name, _) if names::is_name(name) => name,
            _ => {
                report.error("not-a-name", key.span, "a parameter's name", key.describe(), names::NAME_RULE);
                continue;
            }
        };
        if parameters.iter().any(|parameter| parameter.name == name) {
            let message = format!("parameter `{name}` stands here a second time");
            report.error("duplicate", key.span, message, key.describe(), "each name once");
            continue;
        }
        let values: Vec<(String, &Yaml)> = match &value.value {
            Value::List(items) => items.iter().map(|item| (text(item), item)).collect(),
            Value::Map(entries) => entries.iter().map(|(label, value)| (text(label), value)).collect(),
            Value::Scalar(..) => vec![],
        };
        if values.is_empty() {
            let expected = "a list of values, or a map of names to values";
            report.error(
                "wrong-value",
                value.span,
                format!("parameter `{name}` has no values"),
                value.describe(),
                expected,
            );
        }
        duplicates(values.iter().map(|(label, yaml)| (label.as_str(), *yaml)), report);
        parameters.push(Parameter { name, values });
    }
    parameters
}

/// Rejects equal names, because their points could not be told apart.
pub(crate) fn duplicates<'y>(values: impl Iterator<Item = (&'y str, &'y Yaml)>, report: &mut Report) {
    let mut seen: Vec<&str> = Vec::new();
    for (label, yaml) in values {
        if seen.contains(&label) {
            report.error(
                "duplicate",
                yaml.span,
                "a value stands here a second time",
                format!("`{label}`"),
                "each value once",
            );
        }
        seen.push(label);
    }
}

/// A value as written; a scalar without its quotes.
pub(crate) fn text(yaml: &Yaml) -> String {
    match &yaml.value {
        Value::Scalar(text, _) => text.clone(),
        _ => flow(yaml),
    }
}

/// Parses a reference: `$size`, or `$qos.depth` as `qos` with `depth`.
fn reference(yaml: &Yaml) -> Option<(&str, Vec<&str>)> {
    let Value::Scalar(text, _) = &yaml.value else { return None };
    let mut names = text.strip_prefix('$')?.split('.');
    Some((names.next()?, names.collect()))
}

/// The part of a parameter's value that a reference means.
fn part<'y>(value: &'y Yaml, fields: &[&str]) -> Option<&'y Yaml> {
    fields.iter().try_fold(value, |value, field| entry(value, field))
}

/// Checks that every reference has a parameter, and every parameter a reference.
fn uses(root: &Yaml, parameters: &[Parameter], report: &mut Report) {
    let mut used = vec![false; parameters.len()];
    each_reference(root, true, &mut |yaml, name, fields| {
        let Some(at) = parameters.iter().position(|parameter| parameter.name == name) else {
            let names = || parameters.iter().map(|parameter| parameter.name);
            let expected = match did_you_mean(name, names()) {
                Some(meant) => format!("a parameter of `sweep`; did you mean `${meant}`?"),
                None if parameters.is_empty() => format!("a value, or sweep: {{{name}: [...]}} in the workload"),
                None => format!("one of {}", names().map(|name| format!("${name}")).collect::<Vec<_>>().join(", ")),
            };
            report.error("unknown-parameter", yaml.span, "no such parameter", yaml.describe(), expected);
            return;
        };
        used[at] = true;
        if parameters[at].values.iter().all(|(_, value)| part(value, fields).is_none()) {
            let message = format!("no value of `{name}` has this part");
            let expected = format!("a key of a value of `{name}`");
            report.error("unknown-parameter", yaml.span, message, yaml.describe(), expected);
        }
    });
    let Some(Value::Map(entries)) = entry(root, "sweep").map(|yaml| &yaml.value) else { return };
    for (parameter, _) in parameters.iter().zip(&used).filter(|(_, used)| !**used) {
        let Some((key, _)) = entries.iter().find(|(key, _)| key.is(parameter.name)) else { continue };
        let message = format!("parameter `{}` is never used", parameter.name);
        let expected = format!("`${}` where its values belong", parameter.name);
        report.error("unused-parameter", key.span, message, key.describe(), expected);
    }
}

/// Whether this part of the document is read; the parameters themselves and the short form are not.
fn is_read(key: &Yaml, top: bool) -> bool {
    !(top && (key.is("sweep") || key.is("short")))
}

fn each_reference(yaml: &Yaml, top: bool, each: &mut dyn FnMut(&Yaml, &str, &[&str])) {
    if let Some((name, fields)) = reference(yaml) {
        each(yaml, name, &fields);
    }
    match &yaml.value {
        Value::Scalar(..) => {}
        Value::List(items) => items.iter().for_each(|item| each_reference(item, false, each)),
        Value::Map(entries) => entries
            .iter()
            .filter(|(key, _)| is_read(key, top))
            .for_each(|(_, value)| each_reference(value, false, each)),
    }
}

/// Replaces the parameters by the chosen values. If a value lacks the referenced part, its key is left out.
pub(crate) fn substitute(root: &Yaml, chosen: &[(&str, &Yaml)]) -> Yaml {
    put(root, true, chosen).unwrap_or_else(|| root.clone())
}

fn put(yaml: &Yaml, top: bool, chosen: &[(&str, &Yaml)]) -> Option<Yaml> {
    if let Some((name, fields)) = reference(yaml) {
        let (_, value) = chosen.iter().find(|(known, _)| *known == name)?;
        return part(value, &fields).cloned();
    }
    let value = match &yaml.value {
        Value::Scalar(..) => return Some(yaml.clone()),
        Value::List(items) => Value::List(items.iter().filter_map(|item| put(item, false, chosen)).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .filter_map(|(key, value)| {
                    let value = if is_read(key, top) { put(value, false, chosen)? } else { value.clone() };
                    Some((key.clone(), value))
                })
                .collect(),
        ),
    };
    Some(Yaml { span: yaml.span, value })
}
