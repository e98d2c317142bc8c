//! Which events are understood: their names and fields in a trace, and the payload that each becomes.
//!
//! Names and fields are those of ros2_tracing from Foxy to Rolling, and of lttng-modules for the kernel. A field that some release
//! lacks is marked `or 0`, and is 0 then, as `events.h` says. CARET repeats the initialisation events under its own provider, so that
//! they are in a trace that began after the nodes; of the fields that it adds, `init_timestamp` tells repetitions apart. Names that others use for the same are in
//! [`EVENT_ALIASES`] and [`FIELD_ALIASES`].

use tacho_events::{Gid, Handle, Payload, Text};

/// An event that is understood.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// Number in the event file.
    pub number: u16,
    /// Name without provider.
    pub name: &'static str,
    /// Fields in the order of the payload.
    pub fields: &'static [Field],
}

/// A field that a payload is made of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Name in the metadata, without the leading underscore.
    pub name: &'static str,
    /// What it takes.
    pub shape: Shape,
    /// Whether an event without it is not understood.
    pub required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub(crate) enum Shape {
    handle,
    signed,
    unsigned,
    flag,
    /// 16 bytes: two words. Up to Jazzy it has 24, of which the last 8 are 0.
    gid,
    text,
    /// An array of handles; the payload is one of each, a record a pair.
    handles,
}

/// A payload as it stands in the event file.
#[derive(Debug)]
pub(crate) struct Encoded {
    words: [u64; WORDS],
    word_count: usize,
    texts: [Text; TEXTS],
    text_count: usize,
}

impl Encoded {
    /// None yet.
    pub fn new() -> Encoded {
        Encoded { words: [0; WORDS], word_count: 0, texts: [Text::EMPTY; TEXTS], text_count: 0 }
    }

    pub fn words(&self) -> &[u64] {
        &self.words[..self.word_count]
    }

    pub fn texts(&self) -> &[Text] {
        &self.texts[..self.text_count]
    }

    #[inline(always)]
    fn unsigned(&mut self, value: u64) {
        self.words[self.word_count] = value;
        self.word_count += 1;
    }
    #[inline(always)]
    fn handle(&mut self, value: Handle) {
        self.unsigned(value.0);
    }
    #[inline(always)]
    fn signed(&mut self, value: i64) {
        self.unsigned(value as u64);
    }
    #[inline(always)]
    fn flag(&mut self, value: bool) {
        self.unsigned(value.into());
    }
    #[inline(always)]
    fn gid(&mut self, value: Gid) {
        value.0.into_iter().for_each(|word| self.unsigned(word));
    }
    #[inline(always)]
    fn handles(&mut self, value: Handle) {
        self.unsigned(value.0);
    }
    #[inline(always)]
    fn text(&mut self, value: Text) {
        self.texts[self.text_count] = value;
        self.text_count += 1;
    }
}

/// Payload words that an event can have.
pub(crate) const WORDS: usize = 8;
/// Texts that an event can have.
pub(crate) const TEXTS: usize = 2;

impl Kind {
    /// The kind of an event by its name with provider; those of the kernel have none.
    pub fn named(name: &str) -> Option<&'static Kind> {
        let own = EVENT_ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, own)| own);
        let (provider, name) = own.split_once(':').unwrap_or(("", own));
        KINDS.iter().find(|k| {
            k.name == name
                && match provider {
                    "ros2" => !k.of_kernel() && !k.of_caret(),
                    "ros2_caret" => k.repeated_by_caret(),
                    "" => k.of_kernel(),
                    _ => false,
                }
        })
    }

    /// Whether it is of the scheduler or an interrupt: of a CPU, not of a process.
    pub fn of_kernel(&self) -> bool {
        (143..=149).contains(&self.number)
    }

    /// Whether CARET alone has it.
    fn of_caret(&self) -> bool {
        (110..=116).contains(&self.number)
    }

    /// Whether its events have arrays of handles.
    pub fn of_pairs(&self) -> bool {
        self.fields.iter().any(|f| f.shape == Shape::handles)
    }

    /// Texts of its payload.
    pub fn texts(&self) -> usize {
        self.fields.iter().filter(|f| f.shape == Shape::text).count()
    }

    /// Words of its payload.
    pub fn words(&self) -> usize {
        let of = |field: &Field| match field.shape {
            Shape::text | Shape::handles => 0,
            Shape::gid => 2,
            _ => 1,
        };
        self.fields.iter().map(of).sum()
    }

    /// Whether it says of an entity that it is there.
    pub fn repeated_by_caret(&self) -> bool {
        matches!(self.number, 16 | 17 | 19 | 25..=27 | 31 | 32 | 36 | 39..=42 | 45 | 50..=52) || self.of_caret()
    }

    /// Word or text of each field, in the order of `fields`.
    pub fn places(&self) -> impl Iterator<Item = (&'static Field, u8)> + use<> {
        let (mut words, mut texts) = (0, 0);
        self.fields.iter().map(move |field| {
            let (next, takes) = match field.shape {
                Shape::text | Shape::handles => (&mut texts, 1),
                Shape::gid => (&mut words, 2),
                _ => (&mut words, 1),
            };
            *next += takes;
            (field, *next - takes)
        })
    }
}

/// What payloads are made of: the words and texts of an event, one after the other.
pub(crate) trait Words {
    fn word(&mut self) -> u64;
    fn text(&mut self) -> Text;
}

/// Words and texts that were read before.
pub(crate) struct Listed<'a> {
    pub words: std::slice::Iter<'a, u64>,
    pub texts: std::slice::Iter<'a, Text>,
}

impl Words for Listed<'_> {
    #[inline(always)]
    fn word(&mut self) -> u64 {
        self.words.next().copied().unwrap_or(0)
    }
    #[inline(always)]
    fn text(&mut self) -> Text {
        self.texts.next().copied().unwrap_or(Text::EMPTY)
    }
}

struct Fields<W>(W);

impl<W: Words> Fields<W> {
    #[inline(always)]
    fn handle(&mut self) -> Handle {
        Handle(self.0.word())
    }
    #[inline(always)]
    fn signed(&mut self) -> i64 {
        self.0.word() as i64
    }
    #[inline(always)]
    fn unsigned(&mut self) -> u64 {
        self.0.word()
    }
    #[inline(always)]
    fn flag(&mut self) -> bool {
        self.0.word() != 0
    }
    #[inline(always)]
    fn gid(&mut self) -> Gid {
        Gid([self.0.word(), self.0.word()])
    }
    #[inline(always)]
    fn text(&mut self) -> Text {
        self.0.text()
    }
    #[inline(always)]
    fn handles(&mut self) -> Handle {
        self.handle()
    }
}

/// Other names of events. The kernel tells of a wake-up when it is asked for, when it is done, and once for a new thread; soft interrupts
/// had no prefix before lttng-modules 2.7. CARET ties
/// the address of a message to its source timestamp where ros2_tracing has no timestamp yet (before Jazzy), and fires an event of its own
/// in the place of rmw_publish. Cyclone DDS and Fast DDS with trace points of their own tell the stamp of what they write.
const EVENT_ALIASES: [(&str, &str); 10] = [
    ("dds:write", "ros2:dds_write"),
    ("sched_waking", "sched_wakeup"),
    ("softirq_entry", "irq_softirq_entry"),
    ("softirq_exit", "irq_softirq_exit"),
    ("sched_wakeup_new", "sched_wakeup"),
    ("ros2_caret:dds_bind_addr_to_stamp", "ros2:rmw_publish"),
    ("ros2_caret:dds_write", "ros2:rmw_publish"),
    // Of each release of rclcpp its own: groups are told of the executor, or of what collects them for it.
    ("ros2_caret:add_callback_group_static_executor", "ros2_caret:add_callback_group"),
    ("ros2_caret:callback_group_to_executor_entity_collector", "ros2_caret:add_callback_group"),
    ("ros2_caret:construct_static_executor", "ros2_caret:construct_executor"),
];

/// Other names of fields: of CARET, and of link annotations before they were part of ros2_tracing.
const FIELD_ALIASES: [(&str, &str); 8] = [
    ("executor_addr", "owner"),
    ("entities_collector_addr", "owner"),
    ("addr", "message"),
    ("source_stamp", "timestamp"),
    ("source_timestamp", "timestamp"),
    ("callback_object", "callback"),
    ("subs", "subscription_handles"),
    ("pubs", "publisher_handles"),
];

/// Whether a trace's field is the one that a kind calls `own`.
pub(crate) fn is_field(own: &str, name: &str) -> bool {
    own == name || FIELD_ALIASES.contains(&(name, own))
}

macro_rules! required {
    () => { true };
    ($or:literal) => { false };
}

macro_rules! kinds {
    ($($number:literal $name:ident $Kind:ident { $($field:ident: $shape:ident $ctf:ident $(or $or:literal)?),* $(,)? })*) => {
        static KINDS: &[Kind] = &[$(Kind {
            number: $number,
            name: stringify!($name),
            fields: &[$(Field { name: stringify!($ctf), shape: Shape::$shape, required: required!($($or)?) }),*],
        }),*];

        /// Writes the payload of an event of the kind `number`, in place: it is too large to be handed about. False: there is no
        /// such kind.
        #[inline(always)]
        pub(crate) fn payload(number: u16, words: impl Words, into: &mut Payload) -> bool {
            let mut _fields = Fields(words);
            match number {
                $($number => *into = Payload::$Kind { $($field: _fields.$shape()),* },)*
                _ => return false,
            }
            true
        }

        /// Words and texts of a payload that [`payload`] made.
        pub(crate) fn encode(payload: &Payload, into: &mut Encoded) {
            (into.word_count, into.text_count) = (0, 0);
            match *payload {
                $(Payload::$Kind { $($field),* } => { $(into.$shape($field);)* })*
                // Those of our own nodes and recorder: no trace has them.
                _ => {}
            }
        }
    };
}

kinds! {
    16 rcl_init RclInit { context: handle context_handle }
    17 rcl_node_init RclNodeInit { node: handle node_handle, rmw: handle rmw_handle, name: text node_name, namespace: text namespace }
    18 rmw_publisher_init RmwPublisherInit { rmw_publisher: handle rmw_publisher_handle, gid: gid gid }
    19 rcl_publisher_init RclPublisherInit {
        publisher: handle publisher_handle, node: handle node_handle, rmw_publisher: handle rmw_publisher_handle,
        queue_depth: unsigned queue_depth, topic: text topic_name,
    }
    20 rclcpp_publish RclcppPublish { publisher: handle publisher_handle or 0, message: handle message }
    21 rclcpp_intra_publish RclcppIntraPublish { publisher: handle publisher_handle, message: handle message }
    22 rcl_publish RclPublish { publisher: handle publisher_handle, message: handle message }
    23 rmw_publish RmwPublish { rmw_publisher: handle rmw_publisher_handle or 0, message: handle message, timestamp: signed timestamp or 0 }
    24 rmw_subscription_init RmwSubscriptionInit { rmw_subscription: handle rmw_subscription_handle, gid: gid gid }
    25 rcl_subscription_init RclSubscriptionInit {
        subscription: handle subscription_handle, node: handle node_handle, rmw_subscription: handle rmw_subscription_handle,
        queue_depth: unsigned queue_depth, topic: text topic_name,
    }
    26 rclcpp_subscription_init RclcppSubscriptionInit { subscription: handle subscription_handle, object: handle subscription }
    27 rclcpp_subscription_callback_added RclcppSubscriptionCallbackAdded { object: handle subscription, callback: handle callback }
    28 rmw_take RmwTake {
        rmw_subscription: handle rmw_subscription_handle, message: handle message, source_timestamp: signed source_timestamp,
        taken: flag taken,
    }
    29 rcl_take RclTake { message: handle message }
    30 rclcpp_take RclcppTake { message: handle message }
    31 rcl_service_init RclServiceInit {
        service: handle service_handle, node: handle node_handle, rmw_service: handle rmw_service_handle, name: text service_name,
    }
    32 rclcpp_service_callback_added RclcppServiceCallbackAdded { service: handle service_handle, callback: handle callback }
    33 rmw_take_request RmwTakeRequest {
        rmw_service: handle rmw_service_handle, request: handle request, client: gid client_gid, sequence: signed sequence_number,
        taken: flag taken,
    }
    34 rmw_send_response RmwSendResponse {
        rmw_service: handle rmw_service_handle, response: handle response, client: gid client_gid, sequence: signed sequence_number,
        timestamp: signed timestamp,
    }
    35 rmw_client_init RmwClientInit { rmw_client: handle rmw_client_handle, gid: gid gid }
    36 rcl_client_init RclClientInit {
        client: handle client_handle, node: handle node_handle, rmw_client: handle rmw_client_handle, name: text service_name,
    }
    37 rmw_send_request RmwSendRequest {
        rmw_client: handle rmw_client_handle, request: handle request, sequence: signed sequence_number,
    }
    38 rmw_take_response RmwTakeResponse {
        rmw_client: handle rmw_client_handle, response: handle response, sequence: signed sequence_number,
        source_timestamp: signed source_timestamp, taken: flag taken,
    }
    39 rcl_timer_init RclTimerInit { timer: handle timer_handle, period_ns: signed period }
    40 rclcpp_timer_callback_added RclcppTimerCallbackAdded { timer: handle timer_handle, callback: handle callback }
    41 rclcpp_timer_link_node RclcppTimerLinkNode { timer: handle timer_handle, node: handle node_handle }
    42 rclcpp_callback_register RclcppCallbackRegister { callback: handle callback, symbol: text symbol }
    43 callback_start CallbackStart { callback: handle callback, is_intra_process: flag is_intra_process }
    44 callback_end CallbackEnd { callback: handle callback }
    45 rcl_lifecycle_state_machine_init RclLifecycleStateMachineInit { node: handle node_handle, state_machine: handle state_machine }
    46 rcl_lifecycle_transition RclLifecycleTransition { state_machine: handle state_machine, start: text start_label, goal: text goal_label }
    47 rclcpp_executor_get_next_ready RclcppExecutorGetNextReady {}
    48 rclcpp_executor_wait_for_work RclcppExecutorWaitForWork { timeout_ns: signed timeout }
    49 rclcpp_executor_execute RclcppExecutorExecute { handle: handle handle }
    50 rclcpp_ipb_to_subscription RclcppIpbToSubscription { ipb: handle ipb, object: handle subscription }
    51 rclcpp_buffer_to_ipb RclcppBufferToIpb { buffer: handle buffer, ipb: handle ipb }
    52 rclcpp_construct_ring_buffer RclcppConstructRingBuffer { buffer: handle buffer, capacity: unsigned capacity }
    53 rclcpp_ring_buffer_enqueue RclcppRingBufferEnqueue {
        buffer: handle buffer, index: unsigned index, size: unsigned size, overwritten: flag overwritten,
    }
    54 rclcpp_ring_buffer_dequeue RclcppRingBufferDequeue { buffer: handle buffer, index: unsigned index, size: unsigned size }
    55 rclcpp_ring_buffer_clear RclcppRingBufferClear { buffer: handle buffer }
    56 message_link_periodic_async MessageLinkPeriodicAsync {
        subscription: handles subscription_handles, publisher: handles publisher_handles,
    }
    57 message_link_partial_sync MessageLinkPartialSync {
        subscription: handles subscription_handles, publisher: handles publisher_handles,
    }
    58 dds_write DdsWrite { writer: handle writer or 0, message: handle data or 0, timestamp: signed timestamp or 0 }
    59 dispatch_subscription_callback DispatchSubscriptionCallback {
        callback: handle callback, message: handle message or 0, source_timestamp: signed timestamp or 0,
    }
    110 callback_group_add_timer CallbackGroupAddTimer { group: handle callback_group_addr, timer: handle timer_handle }
    111 callback_group_add_subscription CallbackGroupAddSubscription {
        group: handle callback_group_addr, subscription: handle subscription_handle,
    }
    112 callback_group_add_service CallbackGroupAddService {
        group: handle callback_group_addr, service: handle service_handle,
    }
    113 callback_group_add_client CallbackGroupAddClient {
        group: handle callback_group_addr, client: handle client_handle,
    }
    114 add_callback_group AddCallbackGroup {
        owner: handle owner, group: handle callback_group_addr, kind: text group_type_name,
    }
    115 construct_executor ConstructExecutor {
        executor: handle executor_addr, collector: handle entities_collector_addr or 0, kind: text executor_type_name,
    }
    116 executor_entity_collector_to_executor ExecutorEntityCollectorToExecutor {
        executor: handle executor_addr, collector: handle entities_collector_addr,
    }
    143 kernel_events_lost KernelEventsLost { count: unsigned count }
    144 sched_switch SchedSwitch {
        prev_tid: unsigned prev_tid, prev_state: unsigned prev_state, next_tid: unsigned next_tid, prev_comm: text prev_comm,
        next_comm: text next_comm,
    }
    145 sched_wakeup SchedWakeup {
        tid: unsigned tid, target_cpu: unsigned target_cpu, waker_tid: unsigned waker_tid or 0, comm: text comm,
    }
    146 irq_handler_entry IrqEntry { irq: unsigned irq, name: text name }
    147 irq_handler_exit IrqExit { irq: unsigned irq }
    148 irq_softirq_entry SoftirqEntry { vector: unsigned vec }
    149 irq_softirq_exit SoftirqExit { vector: unsigned vec }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_the_number_and_the_words_of_the_event_file() {
        let here = |number: &u16| [16..=63, 110..=116, 143..=149].iter().any(|numbers| numbers.contains(number));
        let expected: Vec<_> = Payload::KINDS.iter().filter(|(number, ..)| here(number)).collect();
        assert_eq!(KINDS.len(), expected.len());
        for (kind, (number, name, words)) in KINDS.iter().zip(expected) {
            let own = kind.name.strip_prefix("irq_").map_or(kind.name.into(), |rest| rest.replace("handler", "irq"));
            assert_eq!((kind.number, own.as_str()), (*number, *name));
            let of_pairs = kind.fields.iter().filter(|f| f.shape == Shape::handles).count();
            assert_eq!(kind.words() + of_pairs, *words, "{name}");
            let texts = kind.fields.iter().filter(|f| f.shape == Shape::text).count();
            assert_eq!(texts, Payload::texts(*number), "{name}");
            assert!(*words <= WORDS && texts <= TEXTS);
            let mut into = Payload::RclcppExecutorGetNextReady {};
            assert!(payload(kind.number, Listed { words: [].iter(), texts: [].iter() }, &mut into));
            assert_eq!(into.name(), own);
        }
    }

    #[test]
    fn caret_repeats_initialisation_and_stamps_messages() {
        assert_eq!(Kind::named("ros2_caret:rcl_node_init"), Kind::named("ros2:rcl_node_init"));
        assert_eq!(Kind::named("ros2_caret:dds_bind_addr_to_stamp").map(|k| k.number), Some(23));
        assert_eq!(Kind::named("ros2_caret:dds_write").map(|k| k.number), Some(23));
        for kind in KINDS.iter().filter(|kind| kind.repeated_by_caret()) {
            assert!(kind.words() <= usize::from(crate::layout::word::SINCE), "{}: its last word is when it came to be", kind.name);
        }
        for not_understood in ["ros2_caret:callback_start", "dds:read", "ros2:sched_switch", "callback_start"] {
            assert_eq!(Kind::named(not_understood), None, "{not_understood}");
        }
    }

    #[test]
    fn the_kernel_has_no_provider_and_three_events_for_a_wake_up() {
        for name in ["sched_waking", "sched_wakeup", "sched_wakeup_new"] {
            assert_eq!(Kind::named(name).map(|k| k.number), Some(145), "{name}");
        }
        assert!(KINDS.iter().all(|k| k.of_kernel() == (Kind::named(k.name) == Some(k))));
    }
}
