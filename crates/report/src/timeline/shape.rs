//! The timeline as the page gets it.

use super::columns::Column;
use super::lit::TimelineChain;
use super::spans::Span;
use serde::Serialize;

/// The timeline of a run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Timeline<'a> {
    /// Begin of the run, ns of the tables, as text: a JSON number holds fewer digits.
    pub begin_ns: String,
    /// From there to the last event of the run, or repeat.
    pub length_ns: i64,
    /// What the page holds of it, from and to.
    pub spans: Vec<Span>,
    /// Rows of what counts of the run, or repeat: executions, messages, intervals off the CPU.
    pub rows: usize,
    /// Of these, on the page.
    pub rows_here: usize,
    /// Repeats of the run, of which the page shows one; 1 if it is none.
    pub repeats: usize,
    /// Processes.
    pub processes: Vec<TimelineProcess<'a>>,
    /// Threads that executed callbacks inside the spans, in the order of their executions below.
    pub threads: Vec<TimelineThread>,
    /// Callbacks, by their `row_id`.
    pub callbacks: Vec<TimelineCallback<'a>>,
    /// Names that rows refer to.
    pub names: Vec<String>,
    /// Executions of callbacks.
    pub executions: Executions,
    /// Publish calls whose message somebody took.
    pub publications: Publications,
    /// Messages, from publish call to callback.
    pub flows: Flows,
    /// When a thread could not go on; absent without scheduler events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off_cpu: Option<OffCpuRows>,
    /// The chain that the page is about; absent without an instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<TimelineChain<'a>>,
}

/// A process.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimelineProcess<'a> {
    /// Its id.
    pub pid: u32,
    /// Its host.
    pub host: &'a str,
    /// Its nodes, or its executable.
    pub name: String,
    /// Its last event, ns since the begin.
    pub last_ns: i64,
}

/// A thread.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimelineThread {
    /// Index into the processes.
    pub process: usize,
    /// Its id.
    pub tid: u32,
    /// Nodes of its callbacks.
    pub name: String,
    /// How many of the executions are its.
    pub executions: usize,
}

/// A callback.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimelineCallback<'a> {
    /// As all ways out name it.
    pub name: String,
    /// The same without its node.
    pub short: String,
    /// Its node, if that is known.
    pub node: Option<&'a str>,
}

/// Columns of executions, thread by thread, each by start.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Executions {
    /// Growing: `callback_start`.
    pub start: Column,
    /// To `callback_end`; optional: absent if its process ended inside.
    pub duration: Column,
    /// Index into the callbacks.
    pub callback: Column,
    /// CPU time; optional.
    pub cpu: Column,
}

/// Columns of publish calls, by time.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Publications {
    /// Growing: just before the publish call.
    pub at: Column,
    /// Index into the names: its topic.
    pub topic: Column,
    /// Index into the processes.
    pub process: Column,
    /// The execution that published; optional.
    pub execution: Column,
}

/// Columns of messages, by publication.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Flows {
    /// Growing: index into the publications.
    pub publication: Column,
    /// The execution that took it.
    pub execution: Column,
    /// When it was taken, ns since its publication; optional.
    pub taken: Column,
}

/// Columns of intervals in which a thread could not go on.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OffCpuRows {
    /// Index into the threads.
    pub thread: Column,
    /// Growing.
    pub from: Column,
    /// How long.
    pub duration: Column,
    /// 0: ready, without a CPU; 1: blocked; 2: interrupted.
    pub state: Column,
    /// Index into the names: why, in words.
    pub words: Column,
    /// The CPU.
    pub cpu: Column,
    /// Index into the names: who had that CPU, if it was ready or interrupted; optional.
    pub by: Column,
}

impl Timeline<'_> {
    /// Bytes of its columns and names.
    pub(super) fn bytes(&self) -> usize {
        let Timeline { executions, publications, flows, .. } = self;
        let Executions { start, duration, callback, cpu } = executions;
        let Publications { at, topic, process, execution } = publications;
        let rows = [start, duration, callback, cpu, at, topic, process, execution];
        let of_flows = [&flows.publication, &flows.execution, &flows.taken];
        let of_off_cpu = self
            .off_cpu
            .iter()
            .flat_map(|of| [&of.thread, &of.from, &of.duration, &of.state, &of.words, &of.cpu, &of.by]);
        let names: usize = self.names.iter().map(String::len).sum();
        let columns: usize = rows.into_iter().chain(of_flows).chain(of_off_cpu).map(Column::bytes).sum();
        columns + names + self.chain.as_ref().map_or(0, TimelineChain::bytes)
    }
}
