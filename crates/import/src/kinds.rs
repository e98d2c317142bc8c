//! Lists the events that are understood: their names and fields in a trace, and the payload that each becomes.
//!
//! Names and fields are those of ros2_tracing from Foxy to Rolling, and of lttng-modules for the kernel. A field that
//! some release lacks is marked `or 0`, and is 0 then, as `events.h` defines. CARET repeats the initialisation events
//! under its own provider, so that a trace that began after the nodes contains them; of the fields that it adds,
//! `init_timestamp` distinguishes repetitions. [`EVENT_ALIASES`] and [`FIELD_ALIASES`] list the names that other
//! tracers use for the same.

use tacho_events::{number, Gid, Handle, MadeHandle, Payload, Text};

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
    /// Words or texts of the payload that it fills.
    pub shape: Shape,
    /// Whether an event without this field is left out.
    pub required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub(crate) enum Shape {
    handle,
    made_handle,
    signed,
    unsigned,
    flag,
    /// 16 bytes: two words. Up to Jazzy the array has 24 bytes, of which the last 8 are 0.
    gid,
    text,
    /// An array of handles. The payload has one handle of each array; each pair makes a record.
    handles,
}

/// A payload in the form of the event file.
#[derive(Debug)]
pub(crate) struct Encoded {
    words: [u64; WORDS],
    word_count: usize,
    texts: [Text; TEXTS],
    text_count: usize,
}

impl Encoded {
    /// No word or text yet.
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
    fn made_handle(&mut self, value: MadeHandle) {
        self.unsigned(value.address);
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

/// Most payload words of an event.
pub(crate) const WORDS: usize = 8;
/// Most texts of an event.
pub(crate) const TEXTS: usize = 2;

impl Kind {
    /// Looks up the kind of an event by its name with provider; names of the kernel's events have no provider.
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

    /// Whether it is an event of the scheduler or an interrupt, which belongs to a CPU, not to a process.
    pub fn of_kernel(&self) -> bool {
        (number::kernel_events_lost..=number::softirq_exit).contains(&self.number)
    }

    /// Whether only CARET writes it.
    fn of_caret(&self) -> bool {
        (number::callback_group_add_timer..=number::executor_entity_collector_to_executor).contains(&self.number)
    }

    /// Whether its events have arrays of handles.
    pub fn of_pairs(&self) -> bool {
        self.fields.iter().any(|f| f.shape == Shape::handles)
    }

    /// Number of texts of its payload.
    pub fn texts(&self) -> usize {
        self.fields.iter().filter(|f| f.shape == Shape::text).count()
    }

    /// Number of words of its payload.
    pub fn words(&self) -> usize {
        let of = |field: &Field| match field.shape {
            Shape::text | Shape::handles => 0,
            Shape::gid => 2,
            _ => 1,
        };
        self.fields.iter().map(of).sum()
    }

    /// Whether it announces an entity that exists.
    pub fn repeated_by_caret(&self) -> bool {
        let repeated = matches!(
            self.number,
            number::rcl_init
                | number::rcl_node_init
                | number::rcl_publisher_init
                | number::rcl_subscription_init
                | number::rclcpp_subscription_init
                | number::rclcpp_subscription_callback_added
                | number::rcl_service_init
                | number::rclcpp_service_callback_added
                | number::rcl_client_init
                | number::rcl_timer_init
                | number::rclcpp_timer_callback_added
                | number::rclcpp_timer_link_node
                | number::rclcpp_callback_register
                | number::rcl_lifecycle_state_machine_init
                | number::rclcpp_ipb_to_subscription
                | number::rclcpp_buffer_to_ipb
                | number::rclcpp_construct_ring_buffer
        );
        repeated || self.of_caret()
    }

    /// The first word or text of each field, in the order of `fields`.
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

/// The words and texts of an event, one after the other; payloads are made of them.
pub(crate) trait Words {
    fn word(&mut self) -> u64;
    fn text(&mut self) -> Text;
}

/// Words and texts that were read already.
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
    fn made_handle(&mut self) -> MadeHandle {
        let address = self.0.word();
        MadeHandle { handle: Handle(address), address }
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

/// Other names of events. The kernel reports a wake-up when it is requested, when it is done, and once for a new
/// thread; soft interrupts had no prefix before lttng-modules 2.7. CARET links the address of a message to its source
/// timestamp if ros2_tracing has no timestamp yet (before Jazzy), and fires an event of its own in place of
/// rmw_publish. Cyclone DDS and Fast DDS with their own trace points report the stamp of what they write.
const EVENT_ALIASES: [(&str, &str); 10] = [
    ("dds:write", "ros2:dds_write"),
    ("sched_waking", "sched_wakeup"),
    ("softirq_entry", "irq_softirq_entry"),
    ("softirq_exit", "irq_softirq_exit"),
    ("sched_wakeup_new", "sched_wakeup"),
    ("ros2_caret:dds_bind_addr_to_stamp", "ros2:rmw_publish"),
    ("ros2_caret:dds_write", "ros2:rmw_publish"),
    // Each release of rclcpp has its own: it reports the executor of a group, or the object that collects groups for
    // the executor.
    ("ros2_caret:add_callback_group_static_executor", "ros2_caret:add_callback_group"),
    ("ros2_caret:callback_group_to_executor_entity_collector", "ros2_caret:add_callback_group"),
    ("ros2_caret:construct_static_executor", "ros2_caret:construct_executor"),
];

/// Other names of fields: those of CARET, and those of link annotations before ros2_tracing included them.
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

/// Whether a trace's field is the field that a kind calls `own`.
pub(crate) fn is_field(own: &str, name: &str) -> bool {
    own == name || FIELD_ALIASES.contains(&(name, own))
}

macro_rules! required {
    () => {
        true
    };
    ($or:literal) => {
        false
    };
}

/// Whether a trace's event, under the event file's name or an alias, is of this kind.
macro_rules! number {
    ($name:ident) => {
        number::$name
    };
    ($name:ident $own:ident) => {
        number::$own
    };
}

macro_rules! kinds {
    ($($name:ident $(= $own:ident)? $Kind:ident {
        $($field:ident: $shape:ident $ctf:ident $(or $or:literal)?),* $(,)?
    })*) => {
        static KINDS: &[Kind] = &[$(Kind {
            number: number!($name $($own)?),
            name: stringify!($name),
            fields: &[$(Field { name: stringify!($ctf), shape: Shape::$shape, required: required!($($or)?) }),*],
        }),*];

        /// Writes the payload of an event of the kind `number` in place, because it is too large to be copied around.
        /// Returns false if there is no such kind.
        #[inline(always)]
        pub(crate) fn payload(number: u16, words: impl Words, into: &mut Payload) -> bool {
            let mut _fields = Fields(words);
            match number {
                $(number!($name $($own)?) => *into = Payload::$Kind { $($field: _fields.$shape()),* },)*
                _ => return false,
            }
            true
        }

        /// Splits a payload that [`payload`] made into its words and texts.
        pub(crate) fn encode(payload: &Payload, into: &mut Encoded) {
            (into.word_count, into.text_count) = (0, 0);
            match *payload {
                $(Payload::$Kind { $($field),* } => { $(into.$shape($field);)* })*
                // Only our own nodes and recorder write these; no trace has them.
                _ => {}
            }
        }
    };
}

kinds! {
    rcl_init RclInit { context: handle context_handle }
    rcl_node_init RclNodeInit {
        node: handle node_handle, rmw: handle rmw_handle, name: text node_name, namespace: text namespace,
    }
    rmw_publisher_init RmwPublisherInit { rmw_publisher: handle rmw_publisher_handle, gid: gid gid }
    rcl_publisher_init RclPublisherInit {
        publisher: handle publisher_handle, node: handle node_handle, rmw_publisher: handle rmw_publisher_handle,
        queue_depth: unsigned queue_depth, topic: text topic_name,
    }
    rclcpp_publish RclcppPublish { publisher: handle publisher_handle or 0, message: handle message }
    rclcpp_intra_publish RclcppIntraPublish { publisher: handle publisher_handle, message: handle message }
    rcl_publish RclPublish { publisher: handle publisher_handle, message: handle message }
    rmw_publish RmwPublish {
        rmw_publisher: handle rmw_publisher_handle or 0, message: handle message, timestamp: signed timestamp or 0,
    }
    rmw_subscription_init RmwSubscriptionInit { rmw_subscription: handle rmw_subscription_handle, gid: gid gid }
    rcl_subscription_init RclSubscriptionInit {
        subscription: handle subscription_handle, node: handle node_handle,
        rmw_subscription: handle rmw_subscription_handle,
        queue_depth: unsigned queue_depth, topic: text topic_name,
    }
    rclcpp_subscription_init RclcppSubscriptionInit {
        subscription: handle subscription_handle, object: handle subscription,
    }
    rclcpp_subscription_callback_added RclcppSubscriptionCallbackAdded {
        object: handle subscription, callback: handle callback,
    }
    rmw_take RmwTake {
        rmw_subscription: handle rmw_subscription_handle, message: handle message,
        source_timestamp: signed source_timestamp, taken: flag taken,
    }
    rcl_take RclTake { message: handle message }
    rclcpp_take RclcppTake { message: handle message }
    rcl_service_init RclServiceInit {
        service: handle service_handle, node: handle node_handle, rmw_service: handle rmw_service_handle,
        name: text service_name,
    }
    rclcpp_service_callback_added RclcppServiceCallbackAdded {
        service: handle service_handle, callback: handle callback,
    }
    rmw_take_request RmwTakeRequest {
        rmw_service: handle rmw_service_handle, request: handle request, client: gid client_gid,
        sequence: signed sequence_number, taken: flag taken,
    }
    rmw_send_response RmwSendResponse {
        rmw_service: handle rmw_service_handle, response: handle response, client: gid client_gid,
        sequence: signed sequence_number, timestamp: signed timestamp,
    }
    rmw_client_init RmwClientInit { rmw_client: handle rmw_client_handle, gid: gid gid }
    rcl_client_init RclClientInit {
        client: handle client_handle, node: handle node_handle, rmw_client: handle rmw_client_handle,
        name: text service_name,
    }
    rmw_send_request RmwSendRequest {
        rmw_client: handle rmw_client_handle, request: handle request, sequence: signed sequence_number,
    }
    rmw_take_response RmwTakeResponse {
        rmw_client: handle rmw_client_handle, response: handle response, sequence: signed sequence_number,
        source_timestamp: signed source_timestamp, taken: flag taken,
    }
    rcl_timer_init RclTimerInit { timer: handle timer_handle, period_ns: signed period }
    rclcpp_timer_callback_added RclcppTimerCallbackAdded { timer: handle timer_handle, callback: handle callback }
    rclcpp_timer_link_node RclcppTimerLinkNode { timer: handle timer_handle, node: handle node_handle }
    rclcpp_callback_register RclcppCallbackRegister { callback: made_handle callback, symbol: text symbol }
    callback_start CallbackStart { callback: handle callback, is_intra_process: flag is_intra_process }
    callback_end CallbackEnd { callback: handle callback }
    rcl_lifecycle_state_machine_init RclLifecycleStateMachineInit {
        node: handle node_handle, state_machine: handle state_machine,
    }
    rcl_lifecycle_transition RclLifecycleTransition {
        state_machine: handle state_machine, start: text start_label, goal: text goal_label,
    }
    rclcpp_executor_get_next_ready RclcppExecutorGetNextReady {}
    rclcpp_executor_wait_for_work RclcppExecutorWaitForWork { timeout_ns: signed timeout }
    rclcpp_executor_execute RclcppExecutorExecute { handle: handle handle }
    rclcpp_ipb_to_subscription RclcppIpbToSubscription { ipb: handle ipb, object: handle subscription }
    rclcpp_buffer_to_ipb RclcppBufferToIpb { buffer: handle buffer, ipb: handle ipb }
    rclcpp_construct_ring_buffer RclcppConstructRingBuffer { buffer: handle buffer, capacity: unsigned capacity }
    rclcpp_ring_buffer_enqueue RclcppRingBufferEnqueue {
        buffer: handle buffer, index: unsigned index, size: unsigned size, overwritten: flag overwritten,
    }
    rclcpp_ring_buffer_dequeue RclcppRingBufferDequeue {
        buffer: handle buffer, index: unsigned index, size: unsigned size,
    }
    rclcpp_ring_buffer_clear RclcppRingBufferClear { buffer: handle buffer }
    message_link_periodic_async MessageLinkPeriodicAsync {
        subscription: handles subscription_handles, publisher: handles publisher_handles,
    }
    message_link_partial_sync MessageLinkPartialSync {
        subscription: handles subscription_handles, publisher: handles publisher_handles,
    }
    dds_write DdsWrite { writer: handle writer or 0, message: handle data or 0, timestamp: signed timestamp or 0 }
    dispatch_subscription_callback DispatchSubscriptionCallback {
        callback: handle callback, message: handle message or 0, source_timestamp: signed timestamp or 0,
    }
    dispatch_intra_process_subscription_callback DispatchIntraProcessSubscriptionCallback {
        callback: handle callback, message: handle message,
    }
    message_construct MessageConstruct { original: handle original_message, constructed: handle constructed_message }
    callback_group_add_timer CallbackGroupAddTimer { group: handle callback_group_addr, timer: handle timer_handle }
    callback_group_add_subscription CallbackGroupAddSubscription {
        group: handle callback_group_addr, subscription: handle subscription_handle,
    }
    callback_group_add_service CallbackGroupAddService {
        group: handle callback_group_addr, service: handle service_handle,
    }
    callback_group_add_client CallbackGroupAddClient {
        group: handle callback_group_addr, client: handle client_handle,
    }
    add_callback_group AddCallbackGroup {
        owner: handle owner, group: handle callback_group_addr, kind: text group_type_name,
    }
    construct_executor ConstructExecutor {
        executor: handle executor_addr, collector: handle entities_collector_addr or 0, kind: text executor_type_name,
    }
    executor_entity_collector_to_executor ExecutorEntityCollectorToExecutor {
        executor: handle executor_addr, collector: handle entities_collector_addr,
    }
    kernel_events_lost KernelEventsLost { count: unsigned count }
    sched_switch SchedSwitch {
        prev_tid: unsigned prev_tid, prev_state: unsigned prev_state, next_tid: unsigned next_tid,
        prev_comm: text prev_comm, next_comm: text next_comm,
    }
    sched_wakeup SchedWakeup {
        tid: unsigned tid, target_cpu: unsigned target_cpu, waker_tid: unsigned waker_tid or 0, comm: text comm,
    }
    irq_handler_entry = irq_entry IrqEntry { irq: unsigned irq, name: text name }
    irq_handler_exit = irq_exit IrqExit { irq: unsigned irq }
    irq_softirq_entry = softirq_entry SoftirqEntry { vector: unsigned vec }
    irq_softirq_exit = softirq_exit SoftirqExit { vector: unsigned vec }
}

#[cfg(test)]
mod tests;
