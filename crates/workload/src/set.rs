//! Sets single values of a workload from the command line: `ndt.spin=20 Hz`, `/points.depth=1`, `run.cpus.ndt=[1]`.

use crate::diagnostic::Report;
use crate::document::{self, Value, Yaml};
use crate::short::merge;

/// Keys of a node that exclude each other.
const EXCLUSIVE: [&str; 2] = ["on", "spin"];
const EXPECTED: &str =
    "PATH=VALUE: a node and its key (ndt.spin=20 Hz), a topic and its option (/points.depth=1), or a \
                        key of the file (run.seed=2)";

/// Applies `PATH=VALUE`. A path begins with a node, a topic, or a key of the file.
pub(crate) fn apply(root: &mut Yaml, assignment: &str, report: &mut Report) {
    let span = root.span;
    let mut wrong = |message: String, expected: String| {
        report.error("wrong-set", span, message, format!("`--set {assignment}`"), expected);
    };
    let Some((path, text)) = assignment.split_once('=') else {
        return wrong("`--set` needs a value".into(), EXPECTED.into());
    };
    let value = match document::parse(text.trim()) {
        Ok(Some(value)) => value,
        _ => return wrong("`--set` has a value that is not YAML".into(), EXPECTED.into()),
    };
    let path = path.trim();
    if path.starts_with('/') {
        let Some((topic, key)) = path.rsplit_once('.') else {
            return wrong("`--set` names a topic and no option of it".into(), EXPECTED.into());
        };
        if !set_topic(root, topic, key, &value) {
            wrong(format!("no node publishes or takes {topic}"), "a topic of the workload".into());
        }
        return;
    }
    let keys: Vec<&str> = path.split('.').collect();
    if keys.iter().any(|key| key.is_empty()) {
        return wrong("`--set` has an empty name in its path".into(), EXPECTED.into());
    }
    let is_node = keys.len() > 1 && nodes(root).is_some_and(|nodes| nodes.iter().any(|(name, _)| name.is(keys[0])));
    let keys = if is_node { [&["nodes"], keys.as_slice()].concat() } else { keys };
    if let ["nodes", node, key] = keys.as_slice() {
        if EXCLUSIVE.contains(key) {
            remove_others(root, node, key);
        }
    }
    let scalar = |key: &&str| Yaml { span, value: Value::Scalar((*key).to_owned(), true) };
    let wrap = |inner: Yaml, key: &&str| Yaml { span, value: Value::Map(vec![(scalar(key), inner)]) };
    let patch = keys.iter().rev().fold(value, wrap);
    merge(root, &patch);
}

fn nodes(root: &mut Yaml) -> Option<&mut Vec<(Yaml, Yaml)>> {
    let nodes = crate::short::entry(root, "nodes")?;
    match &mut nodes.value {
        Value::Map(entries) => Some(entries),
        _ => None,
    }
}

fn remove_others(root: &mut Yaml, node: &str, key: &str) {
    let Some(nodes) = nodes(root) else { return };
    for (_, of) in nodes.iter_mut().filter(|(name, _)| name.is(node)) {
        if let Value::Map(entries) = &mut of.value {
            entries.retain(|(own, _)| own.is(key) || !EXCLUSIVE.iter().any(|other| own.is(other)));
        }
    }
}

/// Sets an option of a topic wherever it is published or taken and may have that option; returns whether it is there.
fn set_topic(root: &mut Yaml, topic: &str, key: &str, value: &Yaml) -> bool {
    // Options of subscriptions alone and of publications alone; the rest is of both.
    let sides: &[&str] = match key {
        "latest" => &["subscribes"],
        "type" | "size" | "rate" | "deadline" => &["publishes"],
        _ => &["publishes", "subscribes"],
    };
    let mut is_there = false;
    let Some(nodes) = nodes(root) else { return false };
    for (_, node) in nodes {
        for side in sides {
            let Some(topics) = crate::short::entry(node, side) else { continue };
            if let Value::List(names) = &topics.value {
                let nothing = |of: &Yaml| Yaml { span: of.span, value: Value::Map(vec![]) };
                topics.value = Value::Map(names.iter().map(|name| (name.clone(), nothing(name))).collect());
            }
            let Value::Map(entries) = &mut topics.value else { continue };
            for (_, options) in entries.iter_mut().filter(|(name, _)| name.is(topic)) {
                is_there = true;
                let span = options.span;
                let name = Yaml { span, value: Value::Scalar(key.into(), true) };
                merge(options, &Yaml { span, value: Value::Map(vec![(name, value.clone())]) });
            }
        }
    }
    is_there
}

#[cfg(test)]
mod tests {
    use crate::{sweep, Overrides};
    use std::time::Duration;

    const FILE: &str = "
nodes:
  lidar: {publishes: {/points: {rate: 10 Hz}}}
  ndt:   {spin: 20 Hz, subscribes: [/points], work: 2 ms}
";

    fn set(assignments: &[&str]) -> Result<crate::Workload, String> {
        let set = assignments.iter().map(|text| (*text).to_owned()).collect();
        let overrides = Overrides { set, ..Overrides::default() };
        let read = sweep(FILE, "file.yaml", &overrides).map_err(|errors| errors.to_string());
        read.map(|(mut sweep, _)| sweep.points.remove(0).workload)
    }

    #[test]
    fn a_value_of_a_node_a_topic_and_the_run_is_set() {
        let workload = set(&["ndt.on=arrival", "ndt.work=5 ms", "/points.depth=3", "/points.rate=20 Hz", "run.seed=9"]);
        let workload = workload.expect("a workload");
        assert_eq!(workload.nodes[1].executor, crate::model::Executor::Arrival);
        assert_eq!(workload.nodes[1].work.mean(), Duration::from_millis(5));
        assert_eq!((workload.nodes[0].publishes[0].qos.depth, workload.nodes[1].subscribes[0].qos.depth), (3, 3));
        assert_eq!(workload.nodes[0].publishes[0].rate_hz, Some(20.0));
        assert_eq!(workload.run.seed, 9);
    }

    #[test]
    fn what_cannot_be_set_is_an_error_that_quotes_it() {
        for wrong in ["ndt.spin", "/other.depth=1", "/points=1", "ndt.wrok=1 ms", "a..b=1", "ndt.spin=fast"] {
            let error = set(&[wrong]).expect_err(wrong);
            let named = wrong.split(['=', '.']).next().unwrap_or_default();
            assert!(error.contains(named) || error.contains("wrok") || error.contains("fast"), "{wrong}: {error}");
        }
    }
}
