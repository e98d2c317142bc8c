//! Rows about callbacks, and the words by which people know one.

use crate::function::{is_python, Function};
use crate::row::Row;
use crate::summary::CallbackFigures;
use crate::{Node, Process};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a callback answers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallbackKind {
    /// A message.
    Subscription,
    /// A timer.
    Timer,
    /// A service request.
    Service,
    /// The response to a request. rclcpp has no events of its own for it: there from its take until the executor goes
    /// on.
    Client,
    /// A goal of an action, or what comes back of one; the topic says which. Also the execution of a goal that no
    /// callback is told of.
    Action,
    /// Not linked to an entity: tracing began late, or the entity emits no event.
    Unknown,
}

impl CallbackKind {
    /// As tables and figures have it.
    pub fn word(self) -> &'static str {
        match self {
            CallbackKind::Subscription => "subscription",
            CallbackKind::Timer => "timer",
            CallbackKind::Service => "service",
            CallbackKind::Client => "client",
            CallbackKind::Action => "action",
            CallbackKind::Unknown => "unknown",
        }
    }
}

/// A callback (not one execution of it).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Callback {
    /// Row of [`crate::Tables::processes`].
    pub process: Row<Process>,
    /// Address, as ros2_tracing names it.
    pub address: u64,
    /// What it answers to.
    pub kind: CallbackKind,
    /// Row of [`crate::Tables::nodes`].
    pub node: Option<Row<Node>>,
    /// Topic of its subscription, or service.
    pub topic: Option<String>,
    /// Period of its timer.
    pub period_ns: Option<i64>,
    /// When its timer was made: its period counts from then on, unless it was reset. Timers of nodes that tacho runs
    /// have a phase instead.
    pub armed_ns: Option<i64>,
    /// What it was registered as, word for word.
    pub symbol: Option<String>,
    /// Its function, of the symbol: qualified, without arguments ([`Function`]).
    pub function: Option<String>,
    /// Where that is defined, `file:line`, if the symbol says it (rclpy).
    pub location: Option<String>,
    /// Number of its callback group, from 0 in the run, if it is known.
    pub callback_group: Option<u32>,
    /// Whether callbacks of that group may run beside each other; otherwise they exclude each other.
    pub reentrant: Option<bool>,
}

impl Callback {
    /// One of which nothing else is known yet.
    pub fn new(process: Row<Process>, address: u64, kind: CallbackKind) -> Callback {
        Callback {
            process,
            address,
            kind,
            node: None,
            topic: None,
            period_ns: None,
            armed_ns: None,
            symbol: None,
            function: None,
            location: None,
            callback_group: None,
            reentrant: None,
        }
    }

    /// Sets the symbol, and what it says; an empty one says nothing.
    pub fn register(&mut self, symbol: &str) {
        let said = Function::of(symbol);
        self.symbol = Some(symbol.to_owned()).filter(|symbol| !symbol.is_empty());
        (self.function, self.location) = said.map_or((None, None), |said| (Some(said.name), said.location));
    }

    /// Names the function of one from a run of a time when the symbol alone was stored.
    pub(crate) fn name_function(&mut self) {
        if let (None, Some(symbol)) = (&self.function, self.symbol.clone()) {
            self.register(&symbol);
        }
    }

    /// Whether it is a function in Python: threads of one interpreter compute in turn.
    pub fn is_python(&self) -> bool {
        is_python(self.location.as_deref())
    }

    /// As people know it; `nodes` and `processes` are the tables of its rows.
    pub fn name<'a>(&'a self, nodes: &'a [Node], processes: &[Process]) -> CallbackName<'a> {
        CallbackName {
            node: self.node.map(|node| nodes[node.index()].name.as_str()),
            process_id: processes[self.process.index()].pid,
            kind: self.kind.word(),
            topic: self.topic.as_deref(),
            period_ms: self.period_ns.map(|ns| ns as f64 / 1e6),
            address: format!("{:#x}", self.address),
            symbol: self.symbol.as_deref(),
            function: self.function.as_deref(),
            location: self.location.as_deref(),
        }
    }
}

impl CallbackFigures {
    /// As people know it.
    pub fn name(&self) -> CallbackName<'_> {
        CallbackName {
            node: self.node.as_deref(),
            process_id: self.process_id,
            kind: &self.kind,
            topic: self.topic.as_deref(),
            period_ms: self.period_ms,
            address: self.callback.clone(),
            symbol: self.symbol.as_deref(),
            function: self.function.as_deref(),
            location: self.location.as_deref(),
        }
    }
}

/// The words by which people know a callback: `/planner timer 100 ms Planner.reload_map (planner.py:42)`. All ways out
/// name it so; with its node, because components of one process are told apart by that.
#[derive(Debug, Clone, PartialEq)]
pub struct CallbackName<'a> {
    node: Option<&'a str>,
    process_id: u32,
    kind: &'a str,
    topic: Option<&'a str>,
    period_ms: Option<f64>,
    address: String,
    symbol: Option<&'a str>,
    function: Option<&'a str>,
    location: Option<&'a str>,
}

impl CallbackName<'_> {
    /// `/planner`, or the process if the node is not known.
    pub fn node(&self) -> String {
        self.node.map_or_else(|| format!("process {}", self.process_id), str::to_owned)
    }

    /// `/points`, `timer 100 ms`; without either what it was registered as, if that is no function.
    pub fn what(&self) -> String {
        let kind = if self.kind == CallbackKind::Unknown.word() { "callback" } else { self.kind };
        match (self.topic, self.period_ms, self.symbol) {
            (Some(topic), _, _) => topic.to_owned(),
            (None, Some(period), _) => format!("timer {period} ms"),
            (None, None, Some(_)) if self.function.is_some() => kind.to_owned(),
            (None, None, Some(symbol)) => symbol.to_owned(),
            (None, None, None) => format!("{kind} {}", self.address),
        }
    }

    /// `Planner.reload_map`; absent if it is not recorded.
    pub fn function(&self) -> Option<&str> {
        self.function
    }

    /// `planner.py:42`, without folders; absent if it is not recorded.
    pub fn place(&self) -> Option<&str> {
        self.location.map(|location| location.rsplit('/').next().unwrap_or(location))
    }

    /// `Planner.reload_map (planner.py:42)`; absent if the function is not recorded.
    pub fn function_and_place(&self) -> Option<String> {
        let place = self.place().map_or(String::new(), |place| format!(" ({place})"));
        self.function.map(|function| format!("{function}{place}"))
    }
}

impl fmt::Display for CallbackName<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.node(), self.what())?;
        self.function_and_place().map_or(Ok(()), |function| write!(out, " {function}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(kind: &str, topic: Option<&str>, period_ms: Option<f64>, symbol: &str) -> CallbackFigures {
        let mut row = Callback::new(Row::new(0), 0, CallbackKind::Unknown);
        row.register(symbol);
        CallbackFigures {
            process_id: 7,
            callback: "0x1f".into(),
            kind: kind.into(),
            node: Some("/planner".into()),
            topic: topic.map(String::from),
            period_ms,
            symbol: row.symbol,
            function: row.function,
            location: row.location,
            ..CallbackFigures::default()
        }
    }

    #[test]
    fn a_callback_is_named_by_node_trigger_function_and_line() {
        let name = |of: CallbackFigures| of.name().to_string();
        let symbol = "Planner.reload_map (/opt/stack/planner.py:42)";
        let timer = figures("timer", None, Some(100.0), symbol);
        assert_eq!(name(timer), "/planner timer 100 ms Planner.reload_map (planner.py:42)");
        let bound = "std::_Bind<void (nav::Planner::*(nav::Planner*, std::_Placeholder<1>))(int)>";
        assert_eq!(
            name(figures("subscription", Some("/map"), None, bound)),
            "/planner /map bound method of nav::Planner"
        );
        assert_eq!(name(figures("timer", None, Some(2.5), "")), "/planner timer 2.5 ms");
    }

    #[test]
    fn a_callback_without_an_owner_has_its_function_or_its_address() {
        let name = |of: CallbackFigures| of.name().to_string();
        assert_eq!(name(figures("unknown", None, None, "wake (/a/b.py:3)")), "/planner callback wake (b.py:3)");
        assert_eq!(name(figures("unknown", None, None, "")), "/planner callback 0x1f");
        assert_eq!(name(figures("timer", None, None, "")), "/planner timer 0x1f");
        let nobody = CallbackFigures { node: None, ..figures("service", Some("/add"), None, "") };
        assert_eq!(name(nobody), "process 7 /add");
    }
}
