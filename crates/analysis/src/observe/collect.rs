//! What threads do, one event after the other: publish, take, call back, wait.
//!
//! On one thread the events of one publication, and of one take with its callback, follow each other; that order is the
//! link.

mod callbacks;
mod publishing;
mod responses;
mod taking;

use crate::observe::actions::{self, Actions};
use crate::observe::cpu::{is_reading, CpuClock, Reading};
use crate::observe::dds::{is_below_rmw, Context};
use crate::observe::handles::Handles;
use crate::observe::preemption::Scheduler;
use crate::observe::ros1::{self, Ros1};
use crate::observe::services::{Place, Services};
use crate::observe::signals;
use crate::observe::{PublicationSeen, Seen, SkipSeen, StreamSeen, TakeSeen, UseSeen, INTERNAL};
use crate::Options;
use callbacks::Beginning;
pub(crate) use responses::is_of_executor;
use rustc_hash::FxHashMap as HashMap;
use std::collections::VecDeque;
use tacho_events::layout::TickSource;
use tacho_events::{Event, Gid, Handle, Payload, ProcessFacts, Texts};
use tacho_tables::row::{Column, Row};
use tacho_tables::{Callback, Execution, LinkRule, Process};

/// Feedback that a thread may have taken and not handed on yet.
const MOST_FEEDBACK: usize = 1_000;

/// State of the events so far, one process and one thread at a time.
#[derive(Default)]
pub(crate) struct Collector {
    pub options: Options,
    pub seen: Seen,
    pub scheduler: Scheduler,
    pub ros1: Ros1,
    pub services: Services,
    pub actions: Actions,
    handles: Column<Process, Handles>,
    threads: Vec<Thread>,
    /// Threads that take turns in waiting for work, by process.
    turns: HashMap<Row<Process>, u32>,
    /// Whether ends of a callback are reported, by callback; absent where that is not known yet.
    ends_told: Column<Callback, Option<bool>>,
    /// The last part of each coroutine, by process and task.
    coroutines: HashMap<(Row<Process>, Handle), Row<Execution>>,
}

/// What one thread is in the middle of.
#[derive(Default)]
struct Thread {
    running: Vec<Row<Execution>>,
    publishing: Option<Publishing>,
    executing: Option<Handle>,
    taking: Option<Taking>,
    /// Feedback on goals that it took since it last waited, not yet handed to a callback.
    feedback: VecDeque<(Row<TakeSeen>, Gid)>,
    /// Last take that belongs to the running callback.
    in_callback: Option<Row<TakeSeen>>,
    waiting_since: Option<i64>,
    cpu: CpuClock,
    executing_since: i64,
    /// rmw was entered to take for this subscription.
    take_called: Option<(Handle, i64)>,
    /// It is an executor of rclcpp's.
    executes: bool,
    /// It waits for work itself, or for its turn.
    takes_turns: bool,
    /// The callback before has ended.
    idle_since: Option<i64>,
    /// Execution that handles a response to a request.
    responding: Option<Row<Execution>>,
    /// Execution inside of which it went on as an executor does, and when it first did.
    went_on: Option<(Row<Execution>, i64)>,
    /// Client whose response it took just now, and when, while nothing told that it is an executor.
    responded: Option<(Handle, i64)>,
    /// What was said of the callback that starts next.
    beginning: Beginning,
    /// What it published or took last.
    last: Option<Last>,
    /// Publication whose rmw_publish was the last event of this thread: what the DDS does now, it does for that.
    written: Option<Row<PublicationSeen>>,
}

/// How deep in the stack a publish call has been seen. One call descends; it never climbs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Depth {
    Node,
    IntraProcess,
    ClientLibrary,
    Rcl,
    Rmw,
}

#[derive(Clone, Copy)]
struct Publishing {
    publication: Row<PublicationSeen>,
    depth: Depth,
    publisher: Handle,
    message: Handle,
}

/// What a thread did with a topic.
#[derive(Clone, Copy)]
enum Last {
    Published(Row<PublicationSeen>),
    Took(Option<Row<TakeSeen>>),
}

/// A message taken, not yet handed to a callback. `take` is absent for what nobody is interested in.
#[derive(Clone, Copy)]
struct Taking {
    take: Option<Row<TakeSeen>>,
    depth: Depth,
}

impl Collector {
    pub fn new(options: Options) -> Collector {
        Collector { options, scheduler: Scheduler::new(options), ..Collector::default() }
    }

    pub fn add_process(&mut self, facts: &ProcessFacts) {
        self.seen.processes.push(Process {
            pid: facts.header.pid,
            executable: facts.header.executable.clone(),
            command: facts.header.command.clone(),
            host: facts.header.host.clone(),
            clock: None,
            events: 0,
            dropped_events: facts.header.dropped,
            ended: facts.header.closed,
            first_ns: 0,
            last_ns: 0,
            board: (facts.header.ticks == TickSource::Board).then(|| facts.header.command.clone()),
            clock_error_ns: None,
        });
        self.scheduler.add_process(facts);
        self.seen.ours.push(false);
        self.seen.ends_with_reading.push(false);
        self.seen.clock_group.push(0);
        self.handles.push(Handles::default());
    }

    /// No more events come.
    pub fn finish(&mut self) {
        self.leave_refused_by_rcl();
        let handles = self.handles.iter();
        let lying = handles.flat_map(|of| {
            of.buffers.lying().filter_map(|(buffer, publication)| Some((publication, of.endpoint_of_buffer(buffer)?)))
        });
        self.seen.lying = lying.collect();
        self.seen.steps.finish();
    }

    pub fn push(&mut self, event: &Event, texts: &Texts) {
        let (process, stream, now) = (Row::new(event.process.0), event.stream.0 as usize, event.time.as_ns());
        let Some(row) = self.seen.processes.get_mut(event.process.0 as usize) else {
            self.seen.counters.unknown_process += 1;
            return;
        };
        if row.events == 0 {
            row.first_ns = now;
        }
        row.events += 1;
        row.last_ns = now;
        self.seen.ends_with_reading[process] = matches!(event.payload, Payload::ClockSync { .. });
        if self.scheduler.is_kernel(process) {
            let running =
                |stream: u32| self.threads.get(stream as usize).map_or(&[][..], |thread| thread.running.as_slice());
            self.scheduler.push(process, event.thread.0, now, &event.payload, texts, running, &self.seen.executions);
            return;
        }
        if self.threads.len() <= stream {
            self.threads.resize_with(stream + 1, Thread::default);
            self.seen.streams.resize_with(stream + 1, StreamSeen::default);
        }
        let of_thread = &mut self.seen.streams[stream];
        if of_thread.tid == 0 {
            (of_thread.process, of_thread.tid, of_thread.first_ns) = (process, event.thread.0, now);
        }
        of_thread.last_ns = now;
        of_thread.receives |= brings_messages(&event.payload);
        self.scheduler.acts(process, stream as u32, event.thread.0, now);
        if !matches!(event.payload, Payload::CallbackStart { .. }) && !is_reading(&event.payload) {
            self.threads[stream].cpu.forget();
        }
        if let Payload::NodeSignal { .. } = event.payload {
            let execution = self.threads[stream].running.last().copied();
            self.seen.signals.sample(signals::Place { process, execution, now }, &event.payload);
            return;
        }
        if is_below_rmw(&event.payload) {
            let thread = &self.threads[stream];
            let publication = thread.written.or(thread.publishing.map(|p| p.publication));
            self.seen.below_rmw(Context { process, publication, now }, &event.payload);
            return;
        }
        if let Payload::DdsWrite { message, timestamp, .. } = event.payload {
            self.dds_write(stream, message, timestamp);
            return;
        }
        self.threads[stream].written = None;
        // Whatever a thread does after rclcpp_executor_wait_for_work, it does awake.
        if let Some(since) = self.threads[stream].waiting_since.take() {
            self.seen.streams[stream].waits.push((since, now));
        }
        let handles = &self.handles[process];
        let running = self.threads[stream].running.last().copied();
        self.services.push(
            &Place { process, stream, now, running, node: &|node| handles.node(node) },
            &event.payload,
            texts,
        );
        let at = actions::At { process, stream, tid: event.thread.0, now, running };
        self.actions.push(at, &event.payload, texts, |node| handles.node(node));
        if let Payload::RclpyCallbacks { not_recorded } = event.payload {
            self.seen.rclpy.hooked(process, texts.get(not_recorded));
        }
        let known = self.handles[process].init(&mut self.seen, process, &event.payload, texts, now);
        if ros1::is_of_roscpp(&event.payload) {
            self.roscpp(event, texts, process, stream, now);
        } else if !known {
            self.run(event, texts, process, stream, now);
        }
        let calls_back = !self.threads[stream].running.is_empty();
        self.seen.streams[stream].executes(&event.payload, calls_back, now);
    }

    fn roscpp(&mut self, event: &Event, texts: &Texts, process: Row<Process>, stream: usize, now: i64) {
        let running = self.threads[stream].running.last().copied();
        let (seen, handles) = (&mut self.seen, &mut self.handles[process]);
        let take = self.ros1.push(ros1::At { seen, handles, process, stream, running, now }, &event.payload, texts);
        if let Payload::Ros1Take { .. } = event.payload {
            self.threads[stream].taking = Some(Taking { take, depth: Depth::ClientLibrary });
        }
    }

    /// What a thread does again and again: wait, take, call back, publish.
    fn run(&mut self, event: &Event, texts: &Texts, process: Row<Process>, stream: usize, now: i64) {
        if is_of_executor(&event.payload) {
            self.end_response(stream, now);
            self.end_untold(stream, now);
            let thread = &mut self.threads[stream];
            thread.executes = true;
            let turns = self.turns.entry(process).or_default();
            *turns += u32::from(!std::mem::replace(&mut thread.takes_turns, true));
            if let Some(since) = thread.idle_since.take().filter(|_| *turns > 1) {
                self.seen.streams[stream].standbys.push((since, now));
            }
        }
        let responded = self.threads[stream].responded.take();
        self.seen.steps.push(stream, &event.payload, now);
        match event.payload {
            Payload::RclcppExecutorWaitForWork { .. } => {
                let thread = &mut self.threads[stream];
                thread.waiting_since = Some(now);
                thread.feedback.clear();
                thread.executing = None;
                thread.taking = None;
            }
            Payload::RclcppExecutorExecute { handle } => {
                let thread = &mut self.threads[stream];
                thread.executing = Some(handle);
                thread.executing_since = now;
                thread.taking = None;
            }
            Payload::RclcppClientExecute {} => self.execute_client(event, process, stream, responded),
            Payload::RclActionResponse { .. } => self.threads[stream].responded = responded,
            Payload::RclcppExecuted {} => self.end_response(stream, now),
            Payload::RmwTakeResponse { rmw_client, taken: true, .. } => {
                self.start_response(event, process, stream, rmw_client, now)
            }
            Payload::CallbackStart { callback, .. } => self.start(event, process, stream, callback, now),
            Payload::CallbackEnd { callback } => self.end(process, stream, callback, now),
            Payload::RclpyCoroutine { task, part } => self.threads[stream].beginning.part = Some((task, part)),
            Payload::RclpyResponse { client, sequence } => {
                self.threads[stream].beginning.response = self.services.of_client(process, client, sequence);
            }
            Payload::RclpyActionCallback { goal, role } => {
                self.threads[stream].beginning.action = actions::Role::of(role).map(|role| (goal, role));
            }
            Payload::RclActionFeedback { goal } => {
                match self.threads[stream].last.take() {
                    Some(Last::Published(publication)) => self.actions.feedback(goal, publication, &self.seen),
                    Some(Last::Took(Some(take))) => {
                        let kept = &mut self.threads[stream].feedback;
                        // Some executors never say that they wait, and some client libraries not which callback gets
                        // it.
                        if kept.len() == MOST_FEEDBACK {
                            kept.pop_front();
                        }
                        kept.push_back((take, goal));
                    }
                    _ => {}
                }
            }
            Payload::CallbackCpu { cpu_ns, is_end } => self.times(stream, Reading::of(cpu_ns, None), is_end),
            Payload::CallbackCpuAndDelay { cpu_ns, run_delay_ns, is_end } => {
                self.times(stream, Reading::of(cpu_ns, Some(run_delay_ns)), is_end);
            }

            Payload::NodePublish { publisher, publisher_id, sequence, size_bytes } => {
                self.seen.ours[process] = true;
                let id = Some((publisher_id, sequence));
                let publication = self.publish(process, stream, Depth::Node, publisher, Handle::NONE, now);
                let due = self.handles[process].due.remove(&publisher).filter(|due| due.0 == sequence);
                let row = &mut self.seen.publications[publication];
                row.id = id;
                row.size_bytes = Some(size_bytes);
                row.due_ns = due.map(|due| due.1).into();
            }
            Payload::RclcppIntraPublish { publisher, message } => {
                let publication = self.publish(process, stream, Depth::IntraProcess, publisher, message, now);
                self.seen.publications[publication].is_within = true;
                self.handles[process].handed_over.published(message, publication);
            }
            Payload::RclcppPublish { publisher, message } => {
                self.publish(process, stream, Depth::ClientLibrary, publisher, message, now);
            }
            Payload::RclPublish { publisher, message } => {
                let before = Row::behind(self.seen.publications.len());
                let publication = self.publish(process, stream, Depth::Rcl, publisher, message, now);
                self.seen.publications[publication].rcl_ns = (publication < before).then_some(now).into();
            }
            Payload::RmwPublish { rmw_publisher, message, timestamp } => {
                self.rmw_publish(process, stream, rmw_publisher, message, timestamp, now);
            }
            // Its one argument may be the publisher: it tells no more than that the call went this deep.
            Payload::RmwPublishOfUnknownRelease { .. } if self.threads[stream].publishing.is_some() => {
                self.rmw_publish(process, stream, Handle::NONE, Handle::NONE, 0, now);
            }

            Payload::RmwPublishCalled { message, .. } => {
                if let Some(publishing) = self.threads[stream].publishing.filter(|p| p.message == message) {
                    self.seen.publications[publishing.publication].rmw_called_ns = now.into();
                }
            }
            Payload::RmwTakeCalled { rmw_subscription } => {
                self.threads[stream].take_called = Some((rmw_subscription, now));
            }
            Payload::RmwTake { rmw_subscription, message, source_timestamp, taken } => {
                let called = self.threads[stream].take_called.take().filter(|called| called.0 == rmw_subscription);
                let handles = &self.handles[process];
                let endpoint = handles.rmw_subscriptions.get(&rmw_subscription).copied();
                if endpoint.is_none() && taken && !handles.rmw_only.contains_key(&rmw_subscription) {
                    self.seen.counters.unknown_subscription += 1;
                }
                let take = endpoint.filter(|e| taken && *e != INTERNAL).map(|e| self.take(stream, e, now));
                if let Some(take) = take {
                    let row = &mut self.seen.takes[take];
                    row.source_timestamp = source_timestamp;
                    row.message = message.0;
                    row.called_ns = called.map(|called| called.1).or(row.called_ns.get()).into();
                }
                // Feedback goes to a callback that says so.
                let feedback =
                    take.is_some_and(|t| self.seen.topics.is_feedback(self.seen.topic_of(self.seen.takes[t].endpoint)));
                self.threads[stream].taking = Some(Taking { take: take.filter(|_| !feedback), depth: Depth::Rmw });
                self.threads[stream].last = Some(Last::Took(take.filter(|_| feedback)));
            }
            Payload::MessageSize { size_bytes, .. } => {
                if let Some(publishing) = self.threads[stream].publishing {
                    let known = &mut self.seen.publications[publishing.publication].size_bytes;
                    *known = known.or(Some(size_bytes));
                }
            }
            Payload::HeaderStampSent { stamp_ns, .. } => {
                if let Some(publishing) = self.threads[stream].publishing {
                    self.seen.publications[publishing.publication].header_stamp = stamp_ns;
                }
            }
            Payload::HeaderStampTaken { stamp_ns, .. } => {
                if let Some(Taking { take: Some(take), depth: Depth::Rmw }) = self.threads[stream].taking {
                    self.seen.takes[take].header_stamp = stamp_ns;
                }
            }
            Payload::RclTake { .. } => self.take_above(process, stream, Depth::Rcl, now),
            Payload::DispatchSubscriptionCallback { callback, source_timestamp, .. } => {
                self.dispatch(process, stream, callback, source_timestamp, now);
            }
            Payload::MessageConstruct { original, constructed } => {
                self.handles[process].handed_over.copied(original, constructed)
            }
            Payload::DispatchIntraProcessSubscriptionCallback { callback, message } => {
                self.dispatch_within(process, stream, callback, message, now);
            }
            Payload::RclcppTake { .. } => self.take_above(process, stream, Depth::ClientLibrary, now),
            Payload::NodeTake { subscription, publisher_id, sequence, .. } => {
                self.seen.ours[process] = true;
                self.node_take(process, stream, subscription, (publisher_id, sequence), now);
            }
            Payload::RclcppRingBufferEnqueue { buffer, index, .. } => {
                if let Some(publishing) = self.threads[stream].publishing {
                    let handles = &mut self.handles[process];
                    let gone = handles.buffers.enqueue(buffer, index, publishing.publication, now);
                    if let Some(endpoint) = handles.endpoint_of_buffer(buffer).filter(|e| *e != INTERNAL) {
                        self.seen.endpoints[endpoint].is_buffered = true;
                        self.seen.overwritten.extend(gone.map(|publication| (publication, endpoint)));
                    }
                }
            }
            Payload::RclcppRingBufferClear { buffer } => {
                let handles = &mut self.handles[process];
                let endpoint = handles.endpoint_of_buffer(buffer);
                let gone = handles.buffers.clear(buffer);
                self.seen.overwritten.extend(gone.into_iter().filter_map(|publication| Some((publication, endpoint?))));
            }
            Payload::RclcppRingBufferDequeue { buffer, index, .. } => self.dequeue(process, stream, buffer, index, now),
            Payload::NodeSkipped { publisher, count } => {
                self.seen.ours[process] = true;
                if let Some(endpoint) = self.handles[process].publishers.get(&publisher) {
                    let publications_before = self.seen.publications.len() as u32;
                    let (noticed_ns, endpoint) = (now, *endpoint);
                    self.seen.skips.push(SkipSeen { noticed_ns, endpoint, count, publications_before });
                }
            }
            Payload::NodeRefused { publisher, sequence, code, reason } => {
                self.refused(process, publisher, sequence, code, texts.get(reason));
            }
            Payload::NodeUses { subscription, publisher_id, sequence, .. } => {
                let endpoint = self.handles[process].subscriptions.get(&subscription).filter(|e| **e != INTERNAL);
                if let (Some(execution), Some(endpoint)) = (self.threads[stream].running.last(), endpoint) {
                    let (execution, endpoint, id) = (*execution, *endpoint, (publisher_id, sequence));
                    self.seen.uses.push(UseSeen { execution, time: now, endpoint, id });
                }
            }
            Payload::NodeDue { publisher, sequence, due_ns } => {
                self.handles[process].due.insert(publisher, (sequence, due_ns));
            }
            Payload::NodeDataAvailable { subscription } => {
                self.seen.ours[process] = true;
                let endpoint = self.handles[process].subscriptions.get(&subscription);
                if let Some(endpoint) = endpoint.filter(|e| **e != INTERNAL) {
                    self.seen.endpoints[*endpoint].arrivals.push(now);
                }
            }
            Payload::MessageLinkPeriodicAsync { subscription, publisher } => {
                self.annotate(process, subscription, publisher, LinkRule::Latest);
            }
            Payload::MessageLinkPartialSync { subscription, publisher } => {
                self.annotate(process, subscription, publisher, LinkRule::Match);
            }
            Payload::BoardToHost { board_ns, monotonic_ns } => {
                let clock = self.seen.board_clocks.entry(process).or_default();
                clock.rough_ns = now - board_ns;
                clock.bounds.above.push((board_ns, monotonic_ns - board_ns));
            }
            Payload::HostToBoard { monotonic_ns, board_ns } => {
                let clock = self.seen.board_clocks.entry(process).or_default();
                clock.rough_ns = now - board_ns;
                clock.bounds.below.push((board_ns, monotonic_ns - board_ns));
            }
            Payload::NodeWake { .. } => self.seen.ours[process] = true,
            Payload::NodeSignalInit { node, .. } => {
                let node = self.handles[process].node(node);
                self.seen.signals.announce(process, node, &event.payload, texts);
            }
            _ => {}
        }
    }

    fn times(&mut self, stream: usize, read: Reading, is_end: bool) {
        let cpu = &mut self.threads[stream].cpu;
        if !is_end {
            cpu.read_before(read);
        } else if let Some((execution, used)) = cpu.read_after(read) {
            let execution = &mut self.seen.executions[execution];
            (execution.cpu_ns, execution.runnable_ns) = (used.cpu_ns.into(), used.run_delay_ns.into());
        }
    }

    fn annotate(&mut self, process: Row<Process>, subscription: Handle, publisher: Handle, rule: LinkRule) {
        let handles = &self.handles[process];
        let (from, to) = (handles.subscriptions.get(&subscription), handles.publishers.get(&publisher));
        match (from.filter(|e| **e != INTERNAL), to.filter(|e| **e != INTERNAL)) {
            (Some(from), Some(to)) => {
                let link = (*from, *to, rule);
                if !self.seen.annotations.contains(&link) {
                    self.seen.annotations.push(link);
                }
            }
            _ => self.seen.counters.unknown_annotation += 1,
        }
    }
}

/// Whether a message comes in on the thread of an event.
fn brings_messages(payload: &Payload) -> bool {
    matches!(
        payload,
        Payload::DdsReceive { .. }
            | Payload::DdsDataAvailable { .. }
            | Payload::NodeDataAvailable { .. }
            | Payload::Ros1Receive { .. }
    )
}
