//! Checks what single callbacks of a node compute and publish, and threads that nodes share.

use super::Check;
use crate::diagnostic::{Report, Span};
use crate::model::{on_thread_of, threads, Executor, Node, Order, Own, Work};
use std::collections::BTreeMap;

/// Their nodes have executors of their own, periodic timers and one load, and publish the same from all inputs.
const WITHOUT: [&str; 3] = ["rclcpp", "rclpy", ON_BOARDS];
/// The middleware of boards, as messages name it.
const ON_BOARDS: &str = "host: micro";

impl Check<'_> {
    pub(super) fn callbacks(&self, report: &mut Report) {
        for (at, (node, places)) in self.nodes.iter().zip(&self.reading.nodes).enumerate() {
            if !places.whole {
                continue;
            }
            self.causes(at, report);
            self.timers(at, report);
            self.loads(at, report);
            self.load_of_none(at, report);
            self.groups(at, report);
            let plugin = node.plugin(&self.reading.workload.middleware);
            let plugin = if node.is_on_board() { ON_BOARDS } else { plugin };
            if let (true, Some(found)) = (WITHOUT.contains(&plugin), beyond_one_load(node)) {
                report.error(
                    "callbacks-unsupported",
                    places.name,
                    format!("`{}` runs on {plugin}, whose callbacks of a node all do the same", node.name),
                    format!("{found} with {plugin}"),
                    "one `work` a node, or another middleware, such as ros2",
                );
            }
            self.recorded_times(at, plugin, report);
            self.order(at, plugin, report);
            if node.python && ["rclcpp", ON_BOARDS].contains(&plugin) {
                report.error(
                    "python-unsupported",
                    places.name,
                    format!("`{}` runs on {plugin}, whose callbacks are not in Python", node.name),
                    format!("`python: true` with {plugin}"),
                    "no `python`, or another middleware, such as ros2",
                );
            }
            if let (true, Some(thread)) = (WITHOUT.contains(&plugin), &node.thread) {
                report.error(
                    "callbacks-unsupported",
                    places.thread,
                    format!("`{}` runs on {plugin}, whose nodes have executors of their own", node.name),
                    format!("`thread: {thread}` with {plugin}"),
                    "no `thread`, or another middleware, such as ros2",
                );
            }
        }
        self.threads(report);
    }

    /// Recorded times are those of a source that no other clock wakes.
    fn recorded_times(&self, at: usize, plugin: &str, report: &mut Report) {
        let (node, places) = (&self.nodes[at], &self.reading.nodes[at]);
        let recorded = node.publishes.iter().zip(&places.publishes).filter(|(p, _)| !p.sent_at.is_empty());
        for (publication, &span) in recorded {
            let (name, topic) = (&node.name, &publication.topic);
            if node.executor != Executor::Arrival {
                report.error(
                    "rate-beside-times",
                    span,
                    format!("`{name}` publishes `{topic}` at recorded times, and another clock wakes it"),
                    "`sent_at` with `spin` or `on: timer`",
                    "`on: arrival`, or no `sent_at`",
                );
            } else if WITHOUT.contains(&plugin) {
                report.error(
                    "times-unsupported",
                    span,
                    format!("`{name}` runs on {plugin}, whose timers are periodic"),
                    format!("`sent_at` with {plugin}"),
                    "`rate`, or another middleware, such as ros2",
                );
            }
        }
    }

    /// The order of events needs an executor of one thread that waits for them.
    fn order(&self, at: usize, plugin: &str, report: &mut Report) {
        let (node, places) = (&self.nodes[at], &self.reading.nodes[at]);
        if node.order != Some(Order::Events) {
            return;
        }
        let threads = threads(on_thread_of(self.nodes, node));
        let (found, expected) = match (node.executor, plugin) {
            (_, "rclpy") => ("middleware: rclpy".to_owned(), "`middleware: {rclpy: events}`, or another one"),
            (_, "rclcpp" | ON_BOARDS) => (plugin.to_owned(), "another middleware, such as ros2"),
            (Executor::Spin { .. }, _) => ("`spin`".to_owned(), "on: arrival or on: timer"),
            _ if threads > 1 => (format!("`threads: {threads}`"), "one thread"),
            _ => return,
        };
        report.error(
            "order-unsupported",
            places.order,
            format!("the executor of `{}` cannot run what came first", node.name),
            format!("`executor: events` with {found}"),
            expected,
        );
    }

    /// `from` names inputs and timers of the node.
    fn causes(&self, at: usize, report: &mut Report) {
        let (node, places) = (&self.nodes[at], &self.reading.nodes[at]);
        let inputs = node.subscribes.iter().filter(|s| !s.latest).map(|s| s.topic.as_str());
        let known: Vec<&str> = inputs.chain(node.timers.iter().map(|timer| timer.name.as_str())).collect();
        for (publication, &span) in node.publishes.iter().zip(&places.publishes) {
            if publication.from.is_empty() {
                continue;
            }
            let topic = &publication.topic;
            let against = match (publication.rate_hz, node.executor) {
                (Some(_), _) => Some("`rate`"),
                (None, Executor::Timer { .. }) => Some("`on: timer`"),
                _ if node.matching.is_some() => Some("`on: match`"),
                _ if matches!(node.work, Work::Task { .. }) => Some("a task"),
                _ => None,
            };
            if let Some(against) = against {
                let message = format!("`{}` publishes `{topic}` for two reasons", node.name);
                report.error("from-beside", span, message, format!("`from` and {against}"), "one of them");
                continue;
            }
            for cause in publication.from.iter().filter(|cause| !known.contains(&cause.name.as_str())) {
                let expected = match known.join(", ") {
                    none if none.is_empty() => "an input that is not `latest`, or one of `timers`".into(),
                    known => format!("one of {known}"),
                };
                let message = format!("no callback of `{}` is called so", node.name);
                report.error("unknown-input", span, message, format!("from: {}", cause.name), expected);
            }
        }
    }

    fn timers(&self, at: usize, report: &mut Report) {
        let (node, places) = (&self.nodes[at], &self.reading.nodes[at]);
        let Some(&span) = places.timers.first() else { return };
        let against = match node.executor {
            Executor::Spin { .. } => Some("`spin`"),
            Executor::Timer { .. } => Some("`on: timer`"),
            Executor::Arrival => matches!(node.work, Work::Task { .. }).then_some("a task"),
        };
        if let Some(against) = against {
            report.error(
                "two-executors",
                span,
                format!("`{}` has timers of its own", node.name),
                format!("`timers` and {against}"),
                "`timers` with `on: arrival` and a time as `work`",
            );
        }
    }

    /// A load of its own needs a callback of its own.
    fn loads(&self, at: usize, report: &mut Report) {
        let (node, places) = (&self.nodes[at], &self.reading.nodes[at]);
        let mut refuse = |span: Span, what: &str, found: &str, expected: &str| {
            report.error(
                "no-own-callback",
                span,
                format!("{what} of `{}` has no callback", node.name),
                found,
                expected,
            );
        };
        let has_task = matches!(node.work, Work::Task { .. });
        if has_task && !node.sleep.is_none() {
            refuse(places.work, "a sleep", "`sleep` beside a task", "no `sleep`, or a time as `work`");
        }
        for (subscription, &span) in node.subscribes.iter().zip(&places.subscribes) {
            if subscription.own.is_as_node() {
                continue;
            }
            if has_task {
                refuse(span, "work", "`work` of an input beside a task", "no `work` there: the task computes");
            } else if node.matching.is_some() && !subscription.latest {
                let expected = "`work` of the node, which is that of its sets";
                refuse(span, "work", "`work` of an input that is matched", expected);
            }
        }
        for (publication, &span) in node.publishes.iter().zip(&places.publishes) {
            if publication.own.is_as_node() {
                continue;
            }
            if has_task {
                refuse(span, "work", "`work` of a publication beside a task", "no `work` there: the task computes");
            } else if publication.rate_hz.is_none() {
                let expected = "a rate, or `work` on the input or timer that it is `from`";
                refuse(span, "work", "`work` of a publication without a rate", expected);
            } else if node.executor != Executor::Arrival {
                let expected = "`work` of the node: it computes once for all that is due at a wake";
                refuse(span, "work", "`work` of a publication under `spin`", expected);
            }
        }
    }

    /// What a node computes or sleeps is that of one of its callbacks.
    fn load_of_none(&self, at: usize, report: &mut Report) {
        let (node, span) = (&self.nodes[at], self.reading.nodes[at].work);
        if node.executor != Executor::Arrival || node.matching.is_some() {
            return;
        }
        let inputs = node.subscribes.iter().map(|s| (format!("subscribes.{}", s.topic), &s.own, s.latest));
        let rated = node.publishes.iter().filter(|p| p.rate_hz.is_some());
        let rated = rated.map(|p| (format!("publishes.{}", p.topic), &p.own, false));
        let timers = node.timers.iter().map(|timer| (format!("timers.{}", timer.name), &timer.own, false));
        let callbacks: Vec<(String, &Own, bool)> = inputs.chain(rated).chain(timers).collect();
        let mut refuse = |key: &str, of_node: &Work, of: fn(&Own) -> &Option<Work>| {
            // The callback of an input that is `latest` computes nothing but its own.
            let is_of_one = callbacks.iter().any(|(_, own, is_latest)| !is_latest && of(own).is_none());
            let own: Vec<&str> =
                callbacks.iter().filter(|(_, own, _)| of(own).is_some()).map(|(at, ..)| at.as_str()).collect();
            if of_node.is_none() || is_of_one || own.is_empty() {
                return;
            }
            let name = &node.name;
            let paths: Vec<String> = own.iter().map(|path| format!("`{name}.{path}.{key}`")).collect();
            report.error(
                "load-of-none",
                span,
                format!("each callback of `{name}` has a `{key}` of its own"),
                format!("`{key}` of the node, too, which is that of none"),
                format!("no `{key}` of the node, or another value of {}", paths.join(", ")),
            );
        };
        refuse("work", &node.work, |own| &own.work);
        refuse("sleep", &node.sleep, |own| &own.sleep);
    }

    /// Nodes of a thread are of one process and are scheduled alike.
    fn threads(&self, report: &mut Report) {
        let run = &self.reading.workload.run;
        let mut of_threads: BTreeMap<&str, &Node> = BTreeMap::new();
        for (node, places) in self.nodes.iter().zip(&self.reading.nodes) {
            let of_thread = || on_thread_of(self.nodes, node);
            if let Some(threads) = node.threads {
                let mut refuse = |message: String, found: String, expected: &str| {
                    report.error("threads-of-one", places.threads, message, found, expected);
                };
                if of_thread().map(Node::at_once).sum::<usize>() < 2 {
                    let message = format!("`{}` runs its callbacks one at a time", node.name);
                    let found = format!("`threads: {threads}` of a node that shares no thread");
                    let expected = "no `threads`, the same `thread` for several nodes, or a `group` for some of its \
                                    callbacks beside its `thread`";
                    refuse(message, found, expected);
                }
                let other = of_thread().find_map(|of| of.threads.filter(|of| *of != threads));
                if let Some(other) = other {
                    let message = format!("`{}` and another node share a thread name", node.name);
                    refuse(message, format!("`threads: {threads}` and `threads: {other}`"), "one number of threads");
                }
            }
            let Some(thread) = &node.thread else { continue };
            let mut refuse = |message: String, found: String, expected: &str| {
                report.error("split-thread", places.thread, message, found, expected);
            };
            if let Executor::Spin { hz } = node.executor {
                let found = format!("`spin: {}` and `thread: {thread}`", crate::units::format_frequency(hz));
                let message = format!("`{}` sleeps between its wakes", node.name);
                refuse(message, found, "on: arrival or on: timer, or a thread of its own");
            }
            let first = of_threads.entry(thread).or_insert(node);
            let message = || format!("`{}` and `{}` share thread `{thread}`", first.name, node.name);
            let place = |of: &Node| (of.process.clone(), of.host.clone(), of.middleware.clone());
            if place(first) != place(node) {
                let found =
                    format!("processes `{}` and `{}`, or other hosts or middlewares", first.process, node.process);
                refuse(message(), found, "one process, host and middleware a thread");
            }
            let orders = || of_thread().filter_map(|of| of.order);
            if let (Some(order), true) = (node.order, orders().any(|other| Some(other) != node.order)) {
                let found = format!("`executor: {}` and another one", crate::grammar::ORDERS[order as usize]);
                refuse(message(), found, "one `executor` a thread");
            }
            let (cpus, priority) = (|of: &Node| run.cpus_of(&of.name), |of: &Node| run.priority_of(&of.name));
            if cpus(first) != cpus(node) || priority(first) != priority(node) {
                refuse(message(), "other `cpus` or another `priority`".into(), "the same for all nodes of a thread");
            }
        }
    }
}

/// What a node has that needs callbacks of their own.
fn beyond_one_load(node: &Node) -> Option<&'static str> {
    let own = node.subscribes.iter().map(|s| &s.own).chain(node.publishes.iter().map(|p| &p.own));
    let quantiles = |work: &Work| matches!(work, Work::Quantiles { .. });
    if !node.timers.is_empty() {
        Some("`timers`")
    } else if node.publishes.iter().any(|p| !p.from.is_empty()) {
        Some("`from`")
    } else if own.into_iter().any(|own| *own != Own::default()) {
        Some("`work`, `sleep` or `group` of an input or a publication")
    } else if !node.sleep.is_none() {
        Some("`sleep`")
    } else {
        quantiles(&node.work).then_some("`quantiles`")
    }
}

#[cfg(test)]
mod tests {
    use crate::{parse, Diagnostic};

    fn errors(text: &str) -> Vec<Diagnostic> {
        parse(text, "w.yaml").err().map_or(vec![], |found| found.errors)
    }

    #[test]
    fn work_of_a_node_whose_callbacks_have_their_own_is_of_none() {
        let text = "
nodes:
  a: {publishes: {/t: {rate: 10 Hz}}}
  b:
    work: 5 ms
    subscribes: {/t: {work: 1 ms}}
    timers: {tick: {rate: 10 Hz, work: 2 ms}}
";
        let [found] = &errors(text)[..] else { panic!("one error expected") };
        assert_eq!((found.name, found.line, found.column), ("load-of-none", 5, 11));
        let expected = "no `work` of the node, or another value of `b.subscribes./t.work`, `b.timers.tick.work`";
        assert_eq!(found.expected, expected);
        assert_eq!(errors(&text.replace(", work: 2 ms", "")), [], "the timer has that of the node");
        assert_eq!(errors(&text.replace("work: ", "sleep: "))[0].name, "load-of-none");
        let latest = "{work: 1 ms}}\n    timers: {tick: {rate: 10 Hz, work: 2 ms}}";
        assert_eq!(errors(&text.replace(latest, "{latest: true}}\n    on: timer 5 Hz")), []);
    }
}
