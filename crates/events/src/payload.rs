//! Declares the kinds of events once: name, layer, and fields in the order of the file. Their numbers are those of
//! `native/include/tacho/events.h` ([`number`]).
//!
//! Names and fields of the ros2_tracing kinds are those of tracetools.

#[doc(hidden)]
pub use crate::fields::Fields;
use crate::number;
use crate::text::Text;

/// A pointer in the process that wrote it: the identity of a node, publisher, callback, message ... until reused. Of
/// files of the present format, its lowest 4 bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(pub u64);

impl Handle {
    /// The null pointer.
    pub const NONE: Handle = Handle(0);
}

/// A pointer in the event that makes what it points to: whole, and as later events have it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MadeHandle {
    /// As later events have it.
    pub handle: Handle,
    /// All its bytes.
    pub address: u64,
}

/// The 16 bytes that identify an endpoint in the middleware.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gid(pub [u64; 2]);

/// Layer of the stack in which an event happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layer {
    /// The program under measurement, and our own nodes.
    Application,
    /// rclcpp, rclpy, roscpp ...
    ClientLibrary,
    /// rcl.
    Rcl,
    /// rmw.
    Rmw,
    /// The middleware's own transport.
    Transport,
    /// The recorder itself.
    Recorder,
    /// The scheduler and the interrupts of the operating system.
    Kernel,
}

/// The action of an event.
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Init,
    Link,
    Publish,
    Take,
    Send,
    Start,
    End,
    Transition,
    Ready,
    Wait,
    Wake,
    Execute,
    Enqueue,
    Dequeue,
    Clear,
    Arrive,
    Skip,
    Due,
    Switch,
    Synchronise,
    Report,
}

/// The entity of an action.
#[allow(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Entity {
    Context,
    Node,
    Publisher,
    Subscription,
    Service,
    Client,
    Request,
    Response,
    Timer,
    Callback,
    Message,
    Executor,
    Buffer,
    StateMachine,
    Goal,
    Thread,
    Interrupt,
    Clock,
    Signal,
}

/// A field type of a payload: how it is stored in words and text.
#[doc(hidden)]
#[allow(missing_docs)]
pub trait Field: Sized {
    /// Payload words it takes.
    const WORDS: usize;
    /// Texts it takes.
    const TEXTS: usize = 0;
    /// The value that a test writes for it.
    type Plain<'a>;
    fn read(fields: &mut Fields<'_>) -> Self;
    fn write(plain: Self::Plain<'_>, words: &mut Vec<u64>, text: &mut Vec<u8>);
}

macro_rules! one_word {
    ($type:ty, $word:ident: $of:ident => $read:expr, $plain:ty, $value:ident => $write:expr) => {
        impl Field for $type {
            const WORDS: usize = 1;
            type Plain<'a> = $plain;
            #[inline(always)]
            fn read(fields: &mut Fields<'_>) -> Self {
                let $word = fields.$of();
                $read
            }
            fn write($value: $plain, words: &mut Vec<u64>, _: &mut Vec<u8>) {
                words.push($write);
            }
        }
    };
}
one_word!(Handle, w: handle => Handle(w), u64, v => v);
one_word!(MadeHandle, w: made_handle => w, u64, v => v);
one_word!(u64, w: word => w, u64, v => v);
one_word!(i64, w: word => w as i64, i64, v => v as u64);
one_word!(bool, w: word => w != 0, bool, v => v.into());

impl Field for Gid {
    const WORDS: usize = 2;
    type Plain<'a> = [u64; 2];
    fn read(fields: &mut Fields<'_>) -> Self {
        Gid(fields.gid())
    }
    fn write(plain: [u64; 2], words: &mut Vec<u64>, _: &mut Vec<u8>) {
        words.extend(plain);
    }
}

impl Field for Text {
    const WORDS: usize = 0;
    const TEXTS: usize = 1;
    type Plain<'a> = &'a str;
    fn read(fields: &mut Fields<'_>) -> Self {
        fields.text()
    }
    fn write(plain: &str, _: &mut Vec<u64>, text: &mut Vec<u8>) {
        text.extend(plain.bytes().filter(|b| *b != 0));
        text.push(0);
    }
}

/// Hands the table of kinds to another macro. `Name name, (Layer, Action, Entity), {fields}`.
macro_rules! with_kinds {
    ($then:ident) => {
        $then! {
            ClockSync clock_sync (Recorder, Synchronise, Clock)
                { monotonic_ns: i64, realtime_ns: i64, bound_ns: u64 },

            RclInit rcl_init (Rcl, Init, Context) { context: Handle },
            RclNodeInit rcl_node_init (Rcl, Init, Node) { node: Handle, rmw: Handle, name: Text, namespace: Text },
            RmwPublisherInit rmw_publisher_init (Rmw, Init, Publisher) { rmw_publisher: Handle, gid: Gid },
            RclPublisherInit rcl_publisher_init (Rcl, Init, Publisher)
                { publisher: Handle, node: Handle, rmw_publisher: Handle, queue_depth: u64, topic: Text },
            RclcppPublish rclcpp_publish (ClientLibrary, Publish, Message) { publisher: Handle, message: Handle },
            RclcppIntraPublish rclcpp_intra_publish (ClientLibrary, Publish, Message)
                { publisher: Handle, message: Handle },
            RclPublish rcl_publish (Rcl, Publish, Message) { publisher: Handle, message: Handle },
            RmwPublish rmw_publish (Rmw, Publish, Message)
                { rmw_publisher: Handle, message: Handle, timestamp: i64 },
            RmwSubscriptionInit rmw_subscription_init (Rmw, Init, Subscription)
                { rmw_subscription: Handle, gid: Gid },
            RclSubscriptionInit rcl_subscription_init (Rcl, Init, Subscription)
                { subscription: Handle, node: Handle, rmw_subscription: Handle, queue_depth: u64, topic: Text },
            RclcppSubscriptionInit rclcpp_subscription_init (ClientLibrary, Init, Subscription)
                { subscription: Handle, object: Handle },
            RclcppSubscriptionCallbackAdded rclcpp_subscription_callback_added (ClientLibrary, Link, Subscription)
                { object: Handle, callback: Handle },
            RmwTake rmw_take (Rmw, Take, Message)
                { rmw_subscription: Handle, message: Handle, source_timestamp: i64, taken: bool },
            RclTake rcl_take (Rcl, Take, Message) { message: Handle },
            RclcppTake rclcpp_take (ClientLibrary, Take, Message) { message: Handle },
            RclServiceInit rcl_service_init (Rcl, Init, Service)
                { service: Handle, node: Handle, rmw_service: Handle, name: Text },
            RclcppServiceCallbackAdded rclcpp_service_callback_added (ClientLibrary, Link, Service)
                { service: Handle, callback: Handle },
            RmwTakeRequest rmw_take_request (Rmw, Take, Request)
                { rmw_service: Handle, request: Handle, client: Gid, sequence: i64, taken: bool },
            RmwSendResponse rmw_send_response (Rmw, Send, Response)
                { rmw_service: Handle, response: Handle, client: Gid, sequence: i64, timestamp: i64 },
            RmwClientInit rmw_client_init (Rmw, Init, Client) { rmw_client: Handle, gid: Gid },
            RclClientInit rcl_client_init (Rcl, Init, Client)
                { client: Handle, node: Handle, rmw_client: Handle, name: Text },
            RmwSendRequest rmw_send_request (Rmw, Send, Request)
                { rmw_client: Handle, request: Handle, sequence: i64 },
            RmwTakeResponse rmw_take_response (Rmw, Take, Response)
                { rmw_client: Handle, response: Handle, sequence: i64, source_timestamp: i64, taken: bool },
            RclTimerInit rcl_timer_init (Rcl, Init, Timer) { timer: Handle, period_ns: i64 },
            RclcppTimerCallbackAdded rclcpp_timer_callback_added (ClientLibrary, Link, Timer)
                { timer: Handle, callback: Handle },
            RclcppTimerLinkNode rclcpp_timer_link_node (ClientLibrary, Link, Timer) { timer: Handle, node: Handle },
            RclcppCallbackRegister rclcpp_callback_register (ClientLibrary, Init, Callback)
                { callback: MadeHandle, symbol: Text },
            CallbackStart callback_start (ClientLibrary, Start, Callback)
                { callback: Handle, is_intra_process: bool },
            CallbackEnd callback_end (ClientLibrary, End, Callback) { callback: Handle },
            RclLifecycleStateMachineInit rcl_lifecycle_state_machine_init (Rcl, Init, StateMachine)
                { node: Handle, state_machine: Handle },
            RclLifecycleTransition rcl_lifecycle_transition (Rcl, Transition, StateMachine)
                { state_machine: Handle, start: Text, goal: Text },
            RclcppExecutorGetNextReady rclcpp_executor_get_next_ready (ClientLibrary, Ready, Executor) {},
            RclcppExecutorWaitForWork rclcpp_executor_wait_for_work (ClientLibrary, Wait, Executor)
                { timeout_ns: i64 },
            RclcppExecutorExecute rclcpp_executor_execute (ClientLibrary, Execute, Executor) { handle: Handle },
            RclcppIpbToSubscription rclcpp_ipb_to_subscription (ClientLibrary, Link, Subscription)
                { ipb: Handle, object: Handle },
            RclcppBufferToIpb rclcpp_buffer_to_ipb (ClientLibrary, Link, Buffer) { buffer: Handle, ipb: Handle },
            RclcppConstructRingBuffer rclcpp_construct_ring_buffer (ClientLibrary, Init, Buffer)
                { buffer: Handle, capacity: u64 },
            RclcppRingBufferEnqueue rclcpp_ring_buffer_enqueue (ClientLibrary, Enqueue, Buffer)
                { buffer: Handle, index: u64, size: u64, overwritten: bool },
            RclcppRingBufferDequeue rclcpp_ring_buffer_dequeue (ClientLibrary, Dequeue, Buffer)
                { buffer: Handle, index: u64, size: u64 },
            RclcppRingBufferClear rclcpp_ring_buffer_clear (ClientLibrary, Clear, Buffer) { buffer: Handle },
            MessageLinkPeriodicAsync message_link_periodic_async (Application, Link, Subscription)
                { subscription: Handle, publisher: Handle },
            MessageLinkPartialSync message_link_partial_sync (Application, Link, Subscription)
                { subscription: Handle, publisher: Handle },
            DdsWrite dds_write (Transport, Publish, Message) { writer: Handle, message: Handle, timestamp: i64 },
            DispatchSubscriptionCallback dispatch_subscription_callback (ClientLibrary, Take, Message)
                { callback: Handle, message: Handle, source_timestamp: i64 },
            DispatchIntraProcessSubscriptionCallback dispatch_intra_process_subscription_callback
                (ClientLibrary, Take, Message)
                { callback: Handle, message: Handle },
            MessageConstruct message_construct (ClientLibrary, Link, Message)
                { original: Handle, constructed: Handle },

            RmwPublishCalled rmw_publish_called (Rmw, Start, Message) { rmw_publisher: Handle, message: Handle },
            RmwTakeCalled rmw_take_called (Rmw, Start, Message) { rmw_subscription: Handle },
            DdsSend dds_send (Transport, Send, Message)
                { writer: Gid, sequence: i64, source_timestamp: i64, first_fragment: u64, fragments: u64,
                  of_fragments: u64, transport: u64 },
            DdsReceive dds_receive (Transport, Arrive, Message)
                { writer: Gid, sequence: i64, source_timestamp: i64, first_fragment: u64, fragments: u64,
                  of_fragments: u64, transport: u64 },
            DdsDataAvailable dds_data_available (Transport, Arrive, Message)
                { reader: Gid, writer: Gid, first_sequence: i64, last_sequence: i64 },

            Ros1NodeInit ros1_node_init (ClientLibrary, Init, Node) { node: Handle, name: Text },
            Ros1PublisherInit ros1_publisher_init (ClientLibrary, Init, Publisher)
                { publisher: Handle, node: Handle, queue_size: u64, latch: bool, topic: Text, datatype: Text },
            Ros1Publish ros1_publish (ClientLibrary, Publish, Message) { publisher: Handle, message: Handle },
            Ros1Serialized ros1_serialized (ClientLibrary, Link, Message)
                { buffer: Handle, size_bytes: u64, message: Handle },
            Ros1SubscriberLinkInit ros1_subscriber_link_init (Transport, Init, Subscription)
                { link: Handle, connection: Handle, transport: u64, local_port: u64, remote_port: u64,
                  topic: Text, subscriber: Text },
            Ros1Enqueue ros1_enqueue (ClientLibrary, Enqueue, Message) { link: Handle, buffer: Handle },
            Ros1Write ros1_write (Transport, Send, Message)
                { connection: Handle, sequence: u64, buffer: Handle, digest: u64 },
            Ros1PublisherLinkInit ros1_publisher_link_init (Transport, Init, Publisher)
                { link: Handle, transport: u64, local_port: u64, remote_port: u64, received_before: u64, topic: Text },
            Ros1Receive ros1_receive (Transport, Arrive, Message)
                { link: Handle, transport: u64, sequence: u64, buffer: Handle, message: Handle, digest: u64 },
            Ros1Received ros1_received (Transport, End, Message) { link: Handle },
            Ros1SubscriptionInit ros1_subscription_init (ClientLibrary, Init, Subscription)
                { callback: Handle, node: Handle, queue_size: u64, topic: Text, datatype: Text },
            Ros1SubscriptionEnd ros1_subscription_end (ClientLibrary, End, Subscription) { callback: Handle },
            Ros1QueuePush ros1_queue_push (ClientLibrary, Enqueue, Message)
                { callback: Handle, queue: Handle, deserializer: Handle },
            Ros1QueueOverflow ros1_queue_overflow (ClientLibrary, Skip, Message) { callback: Handle },
            Ros1Take ros1_take (ClientLibrary, Take, Message) { queue: Handle, deserializer: Handle },
            Ros1TimerInit ros1_timer_init (ClientLibrary, Init, Timer)
                { callback: Handle, node: Handle, period_ns: i64, oneshot: bool, function: Text },
            Ros1TimerPeriod ros1_timer_period (ClientLibrary, Link, Timer) { callback: Handle, period_ns: i64 },
            Ros1ServiceInit ros1_service_init (ClientLibrary, Init, Service)
                { callback: Handle, node: Handle, name: Text, datatype: Text },
            Ros1CallbackQueued ros1_callback_queued (ClientLibrary, Enqueue, Callback) { item: Handle },
            Ros1CallbackCall ros1_callback_call (ClientLibrary, Execute, Callback) { item: Handle },

            CallbackGroupAddTimer callback_group_add_timer (ClientLibrary, Link, Callback)
                { group: Handle, timer: Handle },
            CallbackGroupAddSubscription callback_group_add_subscription (ClientLibrary, Link, Callback)
                { group: Handle, subscription: Handle },
            CallbackGroupAddService callback_group_add_service (ClientLibrary, Link, Callback)
                { group: Handle, service: Handle },
            CallbackGroupAddClient callback_group_add_client (ClientLibrary, Link, Callback)
                { group: Handle, client: Handle },
            AddCallbackGroup add_callback_group (ClientLibrary, Link, Executor)
                { owner: Handle, group: Handle, kind: Text },
            ConstructExecutor construct_executor (ClientLibrary, Init, Executor)
                { executor: Handle, collector: Handle, kind: Text },
            ExecutorEntityCollectorToExecutor executor_entity_collector_to_executor (ClientLibrary, Link, Executor)
                { executor: Handle, collector: Handle },

            RmwPublishOfUnknownRelease rmw_publish_of_unknown_release (Rmw, Publish, Message) { argument: Handle },

            NodePublish node_publish (Application, Publish, Message)
                { publisher: Handle, publisher_id: u64, sequence: u64, size_bytes: u64 },
            NodeTake node_take (Application, Take, Message)
                { subscription: Handle, publisher_id: u64, sequence: u64, stamp_ns: i64 },
            NodeDataAvailable node_data_available (Transport, Arrive, Message) { subscription: Handle },
            NodeSkipped node_skipped (Application, Skip, Message) { publisher: Handle, count: u64 },
            NodeWake node_wake (Application, Wake, Node) { node: Handle },
            NodeDue node_due (Application, Due, Message) { publisher: Handle, sequence: u64, due_ns: i64 },

            CallbackCpu callback_cpu (Recorder, Synchronise, Callback) { cpu_ns: i64, is_end: bool },
            CallbackCpuAndDelay callback_cpu_and_delay (Recorder, Synchronise, Callback)
                { cpu_ns: i64, run_delay_ns: i64, is_end: bool },

            RclpyCallbacks rclpy_callbacks (Recorder, Init, Executor) { not_recorded: Text },
            RclpyCoroutine rclpy_coroutine (ClientLibrary, Execute, Callback) { task: Handle, part: u64 },
            RclpyClientCallbackAdded rclpy_client_callback_added (ClientLibrary, Link, Client)
                { client: Handle, callback: Handle },
            RclpyResponse rclpy_response (ClientLibrary, Take, Response) { client: Handle, sequence: i64 },
            RclpyActionCallback rclpy_action_callback (ClientLibrary, Execute, Callback) { goal: Gid, role: u64 },

            SchedWaitsIn sched_waits_in (Kernel, Wait, Thread) { tid: u64, call: Text },
            KernelEventsLost kernel_events_lost (Kernel, Skip, Thread) { count: u64 },
            SchedSwitch sched_switch (Kernel, Switch, Thread)
                { prev_tid: u64, prev_state: u64, next_tid: u64, prev_comm: Text, next_comm: Text },
            SchedWakeup sched_wakeup (Kernel, Wake, Thread)
                { tid: u64, target_cpu: u64, waker_tid: u64, comm: Text },
            IrqEntry irq_entry (Kernel, Start, Interrupt) { irq: u64, name: Text },
            IrqExit irq_exit (Kernel, End, Interrupt) { irq: u64 },
            SoftirqEntry softirq_entry (Kernel, Start, Interrupt) { vector: u64 },
            SoftirqExit softirq_exit (Kernel, End, Interrupt) { vector: u64 },

            BoardToHost board_to_host (Recorder, Synchronise, Clock) { board_ns: i64, monotonic_ns: i64 },
            HostToBoard host_to_board (Recorder, Synchronise, Clock) { monotonic_ns: i64, board_ns: i64 },
            BoardMatched board_matched (Transport, Link, Node) { endpoint: Handle, peers: u64 },
            BoardTake board_take (Transport, Take, Message) { subscription: Handle, writer: Gid, sequence: u64 },

            NodeRefused node_refused (Application, Skip, Message)
                { publisher: Handle, sequence: u64, code: u64, reason: Text },

            RclcppCallbackGroupAdd rclcpp_callback_group_add (ClientLibrary, Link, Callback)
                { group: Handle, object: Handle, what: u64, is_exclusive: bool },
            RclcppClientExecute rclcpp_client_execute (ClientLibrary, Execute, Client) {},
            RclcppExecuted rclcpp_executed (ClientLibrary, End, Executor) {},

            NodeUses node_uses (Application, Link, Message)
                { subscription: Handle, publisher_id: u64, sequence: u64, stamp_ns: i64 },

            RclActionInit rcl_action_init (Rcl, Init, Goal) { action: Handle },
            RclActionRequest rcl_action_request (Rcl, Send, Goal)
                { action: Handle, service: u64, client: Gid, sequence: i64, goal: Gid, took_ns: i64 },
            RclActionResponse rcl_action_response (Rcl, Send, Goal)
                { action: Handle, service: u64, client: Gid, sequence: i64, says: i64, took_ns: i64 },
            RclActionGoalState rcl_action_goal_state (Rcl, Transition, Goal) { goal: Gid, status: i64 },
            RclActionFeedback rcl_action_feedback (Rcl, Execute, Goal) { goal: Gid },

            HeaderStampSent header_stamp_sent (Rmw, Publish, Message) { rmw_publisher: Handle, stamp_ns: i64 },
            HeaderStampTaken header_stamp_taken (Rmw, Take, Message) { rmw_subscription: Handle, stamp_ns: i64 },

            NodeSignalInit node_signal_init (Application, Init, Signal)
                { node: Handle, signal: u64, is_list: bool, task: Text, name: Text, unit: Text },
            NodeSignal node_signal (Application, Report, Signal)
                { node: Handle, signal: u64, entry: u64, at_ns: i64, value: u64 },

            RmwPublisherQos rmw_publisher_qos (Rmw, Init, Publisher)
                {
                    rmw_publisher: Handle, reliability: u64, durability: u64, history: u64, depth: u64,
                    message_type: Text,
                },
            RmwSubscriptionQos rmw_subscription_qos (Rmw, Init, Subscription)
                {
                    rmw_subscription: Handle, reliability: u64, durability: u64, history: u64, depth: u64,
                    message_type: Text,
                },
            MessageSize message_size (Rmw, Publish, Message) { rmw_publisher: Handle, size_bytes: u64 },
        }
    };
}

macro_rules! declare_payload {
    ($($Kind:ident $name:ident ($Layer:ident, $Action:ident, $Entity:ident)
       { $($field:ident: $type:ty),* $(,)? }),* $(,)?) => {
        /// What happened: one variant a kind, fields as in `events.h`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Payload {
            $($Kind { $($field: $type),* }),*
        }

        impl Payload {
            /// Number, name and payload words of every kind.
            pub const KINDS: &'static [(u16, &'static str, usize)] =
                &[$((number::$name, stringify!($name), 0 $(+ <$type as Field>::WORDS)*)),*];

            /// Its number in the file.
            pub fn kind(&self) -> u16 {
                match self { $(Payload::$Kind { .. } => number::$name),* }
            }

            /// Its name; that of ros2_tracing if it has one.
            pub fn name(&self) -> &'static str {
                match self { $(Payload::$Kind { .. } => stringify!($name)),* }
            }

            /// Layer it happens in.
            pub fn layer(&self) -> Layer {
                match self { $(Payload::$Kind { .. } => Layer::$Layer),* }
            }

            /// What happens.
            pub fn action(&self) -> Action {
                match self { $(Payload::$Kind { .. } => Action::$Action),* }
            }

            /// What it happens to.
            pub fn entity(&self) -> Entity {
                match self { $(Payload::$Kind { .. } => Entity::$Entity),* }
            }

            /// Payload words that a kind needs; `None` for a number that is no kind.
            #[inline(always)]
            pub(crate) fn words(kind: u16) -> Option<usize> {
                match kind { $(number::$name => Some(0 $(+ <$type as Field>::WORDS)*),)* _ => None }
            }

            /// Texts that a kind has.
            pub fn texts(kind: u16) -> usize {
                match kind { $(number::$name => 0 $(+ <$type as Field>::TEXTS)*,)* _ => 0 }
            }

            #[inline(always)]
            pub(crate) fn read(kind: u16, fields: &mut Fields<'_>) -> Option<Payload> {
                let _ = &fields;
                Some(match kind {
                    $(number::$name => Payload::$Kind { $($field: <$type as Field>::read(fields)),* },)*
                    _ => return None,
                })
            }
        }
    };
}
with_kinds!(declare_payload);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_header_is_declared_with_its_number_name_words_and_texts() {
        let header = number::HEADER;
        assert!(header.len() > 40, "{header:?}");
        assert_eq!(header[0].1, "text");
        let events: Vec<_> = header.iter().filter(|(.., comment)| !comment.starts_with("of the format")).collect();
        let short = number::SHORT.iter().filter(|short| **short != 0).count();
        assert_eq!((events.len(), events.len()), (header.len() - 4 - short, Payload::KINDS.len()));
        for ((number, name, comment), (our_number, our_name, our_words)) in events.into_iter().zip(Payload::KINDS) {
            assert_eq!((number, name), (our_number, our_name));
            let (words, texts) = comment.split_once("; text:").unwrap_or((comment, ""));
            let words = words.split([':', ';']).next().unwrap_or("");
            let words = if words == "nothing" || words.is_empty() { 0 } else { words.split(',').count() };
            assert_eq!(words, *our_words, "{name}: {comment}");
            let widths = number::WIDTHS[usize::from(*number)];
            assert_eq!(
                widths.trailing_zeros() as usize,
                if words == 0 { 64 } else { 64 - 4 * words + (widths >> (64 - 4 * words)).trailing_zeros() as usize },
                "{name}: {widths:#x}"
            );
            let texts = if texts.is_empty() { 0 } else { texts.split(',').count() };
            assert_eq!(texts, Payload::texts(*number), "{name}: {comment}");
        }
    }
}
