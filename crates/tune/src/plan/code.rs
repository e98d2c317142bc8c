//! `code.md`: where in the recorded code a plan changes something, and a sketch of the change.

use super::space::callback_groups::{regrouped, Callback};
use super::{Key, Plan, PlanStep, Turned};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use tacho_tables::is_python;
use tacho_tables::summary::{CallbackFigures, Summary};
use tacho_workload::model::{is_called, Node};
use tacho_workload::Workload;

/// Part of a period by which two periods of one timer differ at most.
const SAME_PERIOD: f64 = 0.01;

/// A callback in the recorded code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodePlace {
    /// What calls it, in words: `/image` or `timer 100 ms`.
    pub callback: String,
    /// Its function.
    pub function: String,
    /// Where that is defined, `file:line`; absent if it is not recorded (C++).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub location: Option<String>,
}

/// The recorded callbacks that a change of a key of a node or thread concerns; none if it changes no code, or if the
/// run shows no functions.
pub(super) fn places(turned: &Turned, before: &Workload, after: &Workload, measured: &Summary) -> Vec<CodePlace> {
    let Turned { key, of, .. } = turned;
    let of_nodes: Vec<&Node> = before
        .nodes
        .iter()
        .filter(|node| {
            node.name == *of || matches!(key, Key::Threads | Key::Executor) && node.thread.as_ref() == Some(of)
        })
        .collect();
    let is_meant = |node: &Node, callback: &CallbackFigures| match (key, callback.kind.as_str()) {
        (Key::Thread | Key::Threads | Key::Executor, "subscription" | "timer") => true,
        (Key::Period | Key::Phase, "timer") => true,
        (Key::Fusion, "subscription") => true,
        (Key::Group, "subscription" | "timer") => {
            let changed = after.node(&node.name);
            changed.is_some_and(|changed| regrouped(node, changed).any(|of| is_same(of, node, callback)))
        }
        _ => false,
    };
    let mut places = Vec::new();
    for callback in &measured.callbacks {
        let called = |node: &&&Node| callback.node.as_deref().is_some_and(|name| is_called(name, &node.name));
        let (Some(function), Some(node)) = (&callback.function, of_nodes.iter().find(called)) else { continue };
        if is_meant(node, callback) {
            let timer = || Some(format!("timer {} ms", callback.period_ms?));
            let words = callback.topic.clone().or_else(timer).unwrap_or_else(|| callback.kind.clone());
            let location = callback.location.clone();
            places.push(CodePlace { callback: words, function: function.clone(), location });
        }
    }
    places
}

/// Whether a recorded callback is this one of a node.
fn is_same(of: Callback, node: &Node, recorded: &CallbackFigures) -> bool {
    let is_its_period = |hz: f64| {
        recorded.topic.is_none() && recorded.period_ms.is_some_and(|ms| (ms * hz / 1e3 - 1.0).abs() < SAME_PERIOD)
    };
    match of {
        Callback::Subscription(at) => recorded.topic.as_ref() == Some(&node.subscribes[at].topic),
        Callback::Timer(at) => is_its_period(node.timers[at].hz),
        Callback::Publication(at) => node.publishes[at].rate_hz.is_some_and(is_its_period),
    }
}

/// The page; none if no change has a place in the code.
pub(super) fn page(plan: &Plan) -> Option<String> {
    let steps: Vec<&PlanStep> = plan.steps.iter().filter(|step| !step.code.is_empty()).collect();
    if steps.is_empty() {
        return None;
    }
    let mut text = "# Changes in the code\n\nThe places are those of the recorded callbacks. The sketches show what \
                    changes, and are no whole programs: what is in CAPITALS is yours.\n"
        .to_owned();
    for step in steps {
        let _ = write!(text, "\n## {}\n\n", step.turned);
        for CodePlace { callback, function, location } in &step.code {
            let at = location.as_ref().map_or(String::new(), |at| format!(", {at}"));
            let _ = writeln!(text, "- {callback}: `{function}`{at}");
        }
        let in_python = step.code.iter().any(|place| is_python(place.location.as_deref()));
        if let Some(sketch) = sketch(step.turned.key, in_python) {
            let (workload, of) = (&plan.tuned.workload, &step.turned.of);
            let node = workload.nodes.iter().find(|node| node.name == *of || node.thread.as_ref() == Some(of));
            let threads = node.map_or(1, |node| workload.threads_of(node)).to_string();
            let language = if in_python { "python" } else { "cpp" };
            let _ = write!(text, "\n```{language}\n{}```\n", sketch.replace("THREADS", &threads));
        }
    }
    Some(text)
}

fn sketch(key: Key, in_python: bool) -> Option<&'static str> {
    Some(match (key, in_python) {
        (Key::Group, true) => PYTHON_GROUP,
        (Key::Group, false) => CPP_GROUP,
        (Key::Thread, true) => PYTHON_THREAD,
        (Key::Thread, false) => CPP_THREAD,
        (Key::Threads, true) => PYTHON_THREADS,
        (Key::Threads, false) => CPP_THREADS,
        (Key::Executor, true) => PYTHON_EVENTS,
        (Key::Executor, false) => CPP_EVENTS,
        (Key::Phase, true) => PYTHON_PHASE,
        _ => return None,
    })
}

const PYTHON_GROUP: &str = "\
# The callback hands the message over and returns. A thread does what it did.
self.latest = queue.Queue(maxsize=1)
self.lock = threading.Lock()
threading.Thread(target=self.WORK, daemon=True).start()

def CALLBACK(self, message):
    if not self.latest.full():
        self.latest.put(message)

def WORK(self):
    while rclpy.ok():
        message = self.latest.get()
        with self.lock:  # for what the other callbacks use, too
            ...
";

const CPP_GROUP: &str = "\
// In the constructor of the node.
group_ = create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
rclcpp::SubscriptionOptions options;
options.callback_group = group_;
subscription_ = create_subscription<TYPE>(TOPIC, QOS, CALLBACK, options);
// A timer: create_wall_timer(PERIOD, CALLBACK, group_).

// In main, instead of rclcpp::spin(node). What the callbacks share needs a mutex.
rclcpp::executors::MultiThreadedExecutor executor(rclcpp::ExecutorOptions(), THREADS);
executor.add_node(node);
executor.spin();

// Or a thread for this group alone. Make the group with
// create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false).
rclcpp::executors::SingleThreadedExecutor alone;
alone.add_callback_group(node->group_, node->get_node_base_interface());
std::thread thread([&alone] { alone.spin(); });
rclcpp::spin(node);
";

const PYTHON_THREAD: &str = "\
executor = rclpy.executors.SingleThreadedExecutor()
executor.add_node(NODE)
threading.Thread(target=executor.spin, daemon=True).start()
";

const CPP_THREAD: &str = "\
rclcpp::executors::SingleThreadedExecutor executor;
executor.add_node(NODE);
std::thread thread([&executor] { executor.spin(); });
";

const PYTHON_THREADS: &str = "\
executor = rclpy.executors.MultiThreadedExecutor(num_threads=THREADS)
for node in NODES:
    executor.add_node(node)
executor.spin()
";

const CPP_THREADS: &str = "\
rclcpp::executors::MultiThreadedExecutor executor(rclcpp::ExecutorOptions(), THREADS);
for (const auto &node : NODES) {
  executor.add_node(node);
}
executor.spin();
";

const PYTHON_EVENTS: &str = "\
# rclpy has it from Kilted on, as an experiment.
from rclpy.experimental import EventsExecutor

executor = EventsExecutor()
for node in NODES:
    executor.add_node(node)
executor.spin()
";

const CPP_EVENTS: &str = "\
// #include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
rclcpp::experimental::executors::EventsExecutor executor;
for (const auto &node : NODES) {
  executor.add_node(node);
}
executor.spin();
";

const PYTHON_PHASE: &str = "\
# All timers of the chain count from multiples of the period of one clock.
time.sleep(-time.monotonic() % PERIOD + PHASE)
self.timer = self.create_timer(PERIOD, CALLBACK)
";

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPED: &str = "
nodes:
  camera: {publishes: {/image: {rate: 10 Hz}}}
  detector:
    thread: detector
    threads: 2
    subscribes: {/image: {work: 5 ms, group: GROUP}}
    timers: {report: {rate: 2 Hz, work: 1 ms}, reload: {rate: 1 Hz, work: 80 ms}}
    publishes: {/boxes: {from: /image}}
  planner: {subscribes: [/boxes]}
";

    fn workload(group: &str) -> Workload {
        let text = GROUPED.replace("GROUP", group);
        tacho_workload::parse(&text, "test.yaml").unwrap_or_else(|errors| panic!("{errors}")).0
    }

    fn callback(node: &str, topic: Option<&str>, period_ms: Option<f64>, function: &str) -> CallbackFigures {
        CallbackFigures {
            kind: if topic.is_some() { "subscription" } else { "timer" }.into(),
            node: Some(node.into()),
            topic: topic.map(str::to_owned),
            period_ms,
            function: Some(function.into()),
            location: Some(format!("{}.py:7", function.to_lowercase())),
            ..CallbackFigures::default()
        }
    }

    fn found(key: Key, of: &str, before: &Workload, after: &Workload) -> Vec<String> {
        let callbacks = vec![
            callback("/detector", Some("/image"), None, "Detect"),
            callback("/detector", None, Some(500.0), "Report"),
            callback("/detector", None, Some(1000.0), "Reload"),
            callback("/planner", Some("/boxes"), None, "Plan"),
            CallbackFigures { function: None, ..callback("/detector", Some("/untold"), None, "") },
        ];
        let measured = Summary { callbacks, ..Summary::default() };
        let turned = Turned { key, of: of.into(), changes: vec![] };
        places(&turned, before, after, &measured).into_iter().map(|place| place.function).collect()
    }

    #[test]
    fn a_change_is_where_the_callbacks_are_that_it_concerns() {
        let (before, after) = (workload("one"), workload("other"));
        let places = |key, of| found(key, of, &before, &after);
        assert_eq!(places(Key::Group, "detector"), ["Detect"], "the timers are in the group that they were in");
        assert_eq!(places(Key::Phase, "detector"), ["Report", "Reload"]);
        assert_eq!(places(Key::Thread, "detector"), ["Detect", "Report", "Reload"]);
        assert_eq!(places(Key::Fusion, "planner"), ["Plan"]);
        assert_eq!(places(Key::Priority, "detector"), [""; 0]);
        let mut slow = before.clone();
        slow.nodes[1].timers[1].own.group = Some("slow".into());
        assert_eq!(found(Key::Group, "detector", &before, &slow), ["Reload"]);
    }
}
