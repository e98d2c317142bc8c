//! Which events are understood: their names and fields in a trace, and the payload that each becomes.
//!
//! Names and fields are those of ros2_tracing from Foxy to Rolling. A field that some release lacks is marked `or 0`, and is 0
//! then, as `events.h` says. CARET repeats the initialisation events under its own provider, so that they are in a trace that
//! began after the nodes; fields that it adds are not needed.

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
}

/// A payload as it stands in the event file.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    pub words: Vec<u64>,
    pub texts: Vec<Text>,
}

impl Encoded {
    fn handle(&mut self, value: Handle) {
        self.words.push(value.0);
    }
    fn signed(&mut self, value: i64) {
        self.words.push(value as u64);
    }
    fn unsigned(&mut self, value: u64) {
        self.words.push(value);
    }
    fn flag(&mut self, value: bool) {
        self.words.push(value.into());
    }
    fn gid(&mut self, value: Gid) {
        self.words.extend(value.0);
    }
    fn text(&mut self, value: Text) {
        self.texts.push(value);
    }
}

/// Payload words that an event can have.
pub(crate) const WORDS: usize = 8;
/// Texts that an event can have.
pub(crate) const TEXTS: usize = 2;

impl Kind {
    /// The kind of an event by its name with provider.
    pub fn named(name: &str) -> Option<&'static Kind> {
        let (provider, name) = name.split_once(':')?;
        KINDS.iter().find(|k| k.name == name && (provider == "ros2" || (provider == "ros2_caret" && k.repeated_by_caret())))
    }

    /// Texts of its payload.
    pub fn texts(&self) -> usize {
        self.fields.iter().filter(|f| f.shape == Shape::text).count()
    }

    /// Whether it says of an entity that it is there.
    pub fn repeated_by_caret(&self) -> bool {
        matches!(self.number, 16 | 17 | 19 | 25..=27 | 31 | 32 | 36 | 39..=42 | 45 | 50..=52)
    }

    /// Word or text of each field, in the order of `fields`.
    pub fn places(&self) -> impl Iterator<Item = (&'static Field, u8)> + use<> {
        let (mut words, mut texts) = (0, 0);
        self.fields.iter().map(move |field| {
            let (next, takes) = match field.shape {
                Shape::text => (&mut texts, 1),
                Shape::gid => (&mut words, 2),
                _ => (&mut words, 1),
            };
            *next += takes;
            (field, *next - takes)
        })
    }
}

struct Fields<'a> {
    words: std::slice::Iter<'a, u64>,
    texts: std::slice::Iter<'a, Text>,
}

impl Fields<'_> {
    #[inline(always)]
    fn word(&mut self) -> u64 {
        self.words.next().copied().unwrap_or(0)
    }
    #[inline(always)]
    fn handle(&mut self) -> Handle {
        Handle(self.word())
    }
    #[inline(always)]
    fn signed(&mut self) -> i64 {
        self.word() as i64
    }
    #[inline(always)]
    fn unsigned(&mut self) -> u64 {
        self.word()
    }
    #[inline(always)]
    fn flag(&mut self) -> bool {
        self.word() != 0
    }
    #[inline(always)]
    fn gid(&mut self) -> Gid {
        Gid([self.word(), self.word()])
    }
    #[inline(always)]
    fn text(&mut self) -> Text {
        self.texts.next().copied().unwrap_or(Text::EMPTY)
    }
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
        pub(crate) fn payload(number: u16, words: &[u64; WORDS], texts: &[Text; TEXTS], into: &mut Payload) -> bool {
            let mut _fields = Fields { words: words.iter(), texts: texts.iter() };
            match number {
                $($number => *into = Payload::$Kind { $($field: _fields.$shape()),* },)*
                _ => return false,
            }
            true
        }

        /// Puts the words and texts of a payload that [`payload`] made into `into`, which is empty.
        pub(crate) fn encode(payload: &Payload, into: &mut Encoded) {
            match *payload {
                $(Payload::$Kind { $($field),* } => { $(into.$shape($field);)* })*
                // Those that are not of ros2_tracing: no trace has them.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_the_number_and_the_words_of_the_event_file() {
        let ros2: Vec<_> = Payload::KINDS.iter().filter(|(number, ..)| (16..=119).contains(number)).collect();
        assert_eq!(KINDS.len(), ros2.len());
        for (kind, (number, name, words)) in KINDS.iter().zip(ros2) {
            let of = |shape: Shape| match shape {
                Shape::text => 0,
                Shape::gid => 2,
                _ => 1,
            };
            assert_eq!((kind.number, kind.name), (*number, *name));
            assert_eq!(kind.fields.iter().map(|f| of(f.shape)).sum::<usize>(), *words, "{name}");
            let texts = kind.fields.iter().filter(|f| f.shape == Shape::text).count();
            assert_eq!(texts, Payload::texts(*number), "{name}");
            assert!(*words <= WORDS && texts <= TEXTS);
            let mut into = Payload::RclcppExecutorGetNextReady {};
            assert!(payload(kind.number, &[0; WORDS], &[Text::EMPTY; TEXTS], &mut into));
            assert_eq!(into.name(), kind.name);
        }
    }

    #[test]
    fn caret_repeats_initialisation_only() {
        assert_eq!(Kind::named("ros2_caret:rcl_node_init"), Kind::named("ros2:rcl_node_init"));
        for not_understood in ["ros2_caret:callback_start", "ros2_caret:dds_write", "dds:write", "sched_switch", "ros2:message_link_partial_sync"] {
            assert_eq!(Kind::named(not_understood), None);
        }
    }
}
