//! Overrides parts of a file before it is read: by its own `short:` and by options of the command line.

use crate::diagnostic::Report;
use crate::document::{Value, Yaml};
use crate::set;
use crate::tasks::TaskKind;
use crate::units::format_duration;
use std::time::Duration;

/// Overrides from the command line, and what this machine has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// Whether to apply the file's `short:`, too.
    pub short: bool,
    /// Value of `run: duration:`.
    pub duration: Option<Duration>,
    /// Value of `run: repeats:`.
    pub repeats: Option<u32>,
    /// Value of `run: seed:`.
    pub seed: Option<u64>,
    /// Single values, `PATH=VALUE`.
    pub set: Vec<String>,
    /// The kinds of tasks that nodes may name. If absent, any task with any parameters is accepted.
    pub tasks: Option<Vec<TaskKind>>,
}

/// Merges `patch` into `base`: maps key by key, everything else as a whole. Nothing removes a key (otherwise as RFC
/// 7396, JSON merge patch).
pub(crate) fn merge(base: &mut Yaml, patch: &Yaml) {
    let Value::Map(changes) = &patch.value else {
        *base = patch.clone();
        return;
    };
    if !matches!(base.value, Value::Map(_)) {
        *base = Yaml { span: patch.span, value: Value::Map(vec![]) };
    }
    let Value::Map(entries) = &mut base.value else { return };
    for (key, change) in changes {
        let at = entries.iter().position(|(known, _)| known.value == key.value);
        match (at, change.is_null()) {
            (Some(at), true) => drop(entries.remove(at)),
            (None, true) => {}
            (Some(at), false) => merge(&mut entries[at].1, change),
            (None, false) => {
                let mut value = Yaml { span: change.span, value: Value::Map(vec![]) };
                merge(&mut value, change);
                entries.push((key.clone(), value));
            }
        }
    }
}

/// Applies the overrides, and returns whether they change the document.
pub(crate) fn apply(root: &mut Yaml, overrides: &Overrides, report: &mut Report) -> bool {
    let mut changed = overrides.short;
    if overrides.short {
        match remove(root, "short") {
            Some(short) => {
                remove(root, "short");
                merge(root, &short);
            }
            None => report.error(
                "no-short",
                root.span,
                "this workload has no short form",
                "no key `short`",
                "short: {run: {duration: 1 s}}, or no --short",
            ),
        }
    }
    let options = [
        ("duration", overrides.duration.map(format_duration)),
        ("repeats", overrides.repeats.map(|repeats| repeats.to_string())),
        ("seed", overrides.seed.map(|seed| seed.to_string())),
    ];
    for (key, value) in options {
        let Some(value) = value else { continue };
        changed = true;
        let span = root.span;
        let scalar = |text: &str| Yaml { span, value: Value::Scalar(text.into(), true) };
        let over_run = Yaml { span, value: Value::Map(vec![(scalar(key), scalar(&value))]) };
        match entry(root, "run") {
            Some(run) if matches!(run.value, Value::Scalar(..)) && !run.is_null() => {
                let message = format!("`--{key}` cannot be put over `run`");
                report.error(
                    "wrong-value",
                    run.span,
                    message,
                    run.describe(),
                    "a map of run options, or no such option",
                );
            }
            // If there is a sweep over whole maps, override each of them.
            Some(Yaml { value: Value::List(items), .. }) => items.iter_mut().for_each(|run| merge(run, &over_run)),
            _ => merge(root, &Yaml { span, value: Value::Map(vec![(scalar("run"), over_run)]) }),
        }
    }
    for assignment in &overrides.set {
        changed = true;
        set::apply(root, assignment, report);
    }
    changed
}

pub(crate) fn entry<'y>(root: &'y mut Yaml, name: &str) -> Option<&'y mut Yaml> {
    let Value::Map(entries) = &mut root.value else { return None };
    entries.iter_mut().find(|(key, _)| key.is(name)).map(|(_, value)| value)
}

/// Removes the first entry of this name from a map and returns it.
fn remove(root: &mut Yaml, name: &str) -> Option<Yaml> {
    let Value::Map(entries) = &mut root.value else { return None };
    let at = entries.iter().position(|(key, _)| key.is(name))?;
    Some(entries.remove(at).1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{self, write};

    fn merged(base: &str, patch: &str) -> String {
        let parse = |text| document::parse(text).ok().flatten().unwrap_or_else(|| panic!("{text}"));
        let mut base = parse(base);
        merge(&mut base, &parse(patch));
        write(&base)
    }

    #[test]
    fn maps_are_merged_key_by_key_and_lists_replaced() {
        assert_eq!(
            merged("{a: {b: 1, c: [1, 2]}, d: 3}", "{a: {c: [5], e: 6}}"),
            "a:\n  b: 1\n  c: [5]\n  e: 6\nd: 3\n"
        );
    }

    #[test]
    fn nothing_removes_a_key() {
        assert_eq!(merged("{a: {b: 1, c: 2}}", "{a: {b: }, d: ~}"), "a:\n  c: 2\n");
        // Also where the key is new, and what stands there is a map.
        assert_eq!(merged("{a: 1}", "{b: {c: ~, d: 2}}"), "a: 1\nb:\n  d: 2\n");
    }
}
