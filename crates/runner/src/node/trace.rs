//! Emits the trace events of a node in rclcpp's order, through the functions of tracetools that the preloaded recorder
//! defines. Without a recorder, it emits nothing.

use std::ffi::{c_char, c_void, CStr, CString};
use std::mem::transmute;
use tacho_events::number;
use tacho_tasks::Sample;
use tacho_workload::tasks::TaskSignal;

/// The C form of an argument: an address is a pointer that is never followed, and text ends with NUL.
trait InC {
    type Type;
    fn in_c(self) -> Self::Type;
}

macro_rules! in_c {
    ($($rust:ty => $c:ty, |$value:ident| $expression:expr;)*) => {
        $(impl InC for $rust {
            type Type = $c;
            #[inline]
            fn in_c(self) -> $c {
                let $value = self;
                $expression
            }
        })*
    };
}

in_c! {
    u64 => *const c_void, |address| address as *const c_void;
    &CStr => *const c_char, |text| text.as_ptr();
    i64 => i64, |ns| ns;
    usize => usize, |count| count;
    bool => bool, |whether| whether;
}

/// `tacho_record` and `tacho_record_texts` of events.h.
type Record = Option<unsafe extern "C" fn(u32, *const u64, u32)>;
type RecordTexts = Option<unsafe extern "C" fn(u32, *const u64, u32, *const *const c_char, u32)>;

macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        /// The functions; `None` if no loaded library defines one.
        struct Functions {
            record: Record,
            record_texts: RecordTexts,
            $($name: Option<unsafe extern "C" fn($(<$type as InC>::Type),*)>,)*
        }

        impl Functions {
            fn find() -> Functions {
                // SAFETY: names and signatures are those of tracetools.h and events.h.
                unsafe {
                    Functions {
                        record: transmute::<*mut c_void, Record>(symbol("tacho_record")),
                        record_texts: transmute::<*mut c_void, RecordTexts>(symbol("tacho_record_texts")),
                        $($name: transmute::<*mut c_void, Option<unsafe extern "C" fn($(<$type as InC>::Type),*)>>(
                            symbol(concat!("ros_trace_", stringify!($name))),
                        ),)*
                    }
                }
            }
        }

        impl Trace {
            $(
                #[doc = concat!("`", stringify!($name), "` of ros2_tracing.")]
                #[inline]
                pub fn $name(&self $(, $argument: $type)*) {
                    if let Some(function) = self.0.and_then(|functions| functions.$name) {
                        // SAFETY: addresses are only recorded, never followed; text lives through the call.
                        unsafe { function($($argument.in_c()),*) }
                    }
                }
            )*
        }
    };
}

/// What belongs to a callback group, as rclcpp adds it.
#[derive(Debug, Clone, Copy)]
pub enum Member {
    /// A subscription, by the address of its object.
    Subscription = 1,
    /// A timer, by an address before that of its callback.
    Timer = 2,
}

/// Emits events. Without a recorder, it emits nothing and checks no single function, because each message passes many.
#[derive(Clone, Copy)]
pub struct Trace(Option<&'static Functions>);

functions! {
    rcl_node_init(node: u64, rmw_node: u64, name: &CStr, namespace: &CStr);
    rcl_publisher_init(publisher: u64, node: u64, rmw_publisher: u64, topic: &CStr, depth: usize);
    rcl_subscription_init(subscription: u64, node: u64, rmw_subscription: u64, topic: &CStr, depth: usize);
    rclcpp_subscription_init(subscription_handle: u64, subscription: u64);
    rclcpp_subscription_callback_added(subscription: u64, callback: u64);
    rclcpp_callback_register(callback: u64, symbol: &CStr);
    rcl_timer_init(timer: u64, period_ns: i64);
    rclcpp_timer_callback_added(timer: u64, callback: u64);
    rclcpp_timer_link_node(timer: u64, node: u64);
    rclcpp_executor_wait_for_work(timeout_ns: i64);
    rclcpp_executor_get_next_ready();
    rclcpp_executor_execute(handle: u64);
    rclcpp_take(message: u64);
    callback_start(callback: u64, is_intra_process: bool);
    callback_end(callback: u64);
    rclcpp_publish(publisher: u64, message: u64);
    rcl_publish(publisher: u64, message: u64);
}

/// The words of a `node_signal` event.
pub fn signal_words(node: u64, sample: Sample) -> [u64; 5] {
    let Sample { signal, entry, at_ns, value } = sample;
    [node, signal.into(), entry.into(), at_ns as u64, value.to_bits()]
}

/// Address of a symbol that some loaded library exports; null if none does.
fn symbol(name: &str) -> *mut c_void {
    let name = CString::new(name).expect("names of functions hold no NUL");
    // SAFETY: the name is NUL-terminated.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

impl Trace {
    /// Looks up the functions, once in each process.
    pub fn find() -> Trace {
        let functions = Functions::find();
        Trace(functions.record.is_some().then(|| &*Box::leak(Box::new(functions))))
    }

    #[inline]
    fn record(&self, kind: u16, words: &[u64]) {
        if let Some(record) = self.0.and_then(|functions| functions.record) {
            // SAFETY: the words live through the call.
            unsafe { record(kind.into(), words.as_ptr(), words.len() as u32) }
        }
    }

    /// Immediately before the publish call.
    #[inline]
    pub fn node_publish(&self, publisher: u64, publisher_id: u32, sequence: u64, size: u64) {
        self.record(number::node_publish, &[publisher, publisher_id.into(), sequence, size]);
    }

    /// First line of the callback.
    #[inline]
    pub fn node_take(&self, subscription: u64, publisher_id: u32, sequence: u64, stamp_ns: i64) {
        self.record(number::node_take, &[subscription, publisher_id.into(), sequence, stamp_ns as u64]);
    }

    /// A message that the next activation of this callback computes on.
    #[inline]
    pub fn node_uses(&self, subscription: u64, publisher_id: u32, sequence: u64, stamp_ns: i64) {
        self.record(number::node_uses, &[subscription, publisher_id.into(), sequence, stamp_ns as u64]);
    }

    /// The middleware announces a message.
    #[inline]
    pub fn node_data_available(&self, subscription: u64) {
        self.record(number::node_data_available, &[subscription]);
    }

    /// Sends were due but did not happen.
    pub fn node_skipped(&self, publisher: u64, count: u64) {
        self.record(number::node_skipped, &[publisher, count]);
    }

    /// The publish call failed.
    pub fn node_refused(&self, publisher: u64, sequence: u64, code: u32, reason: &CStr) {
        if let Some(record) = self.0.and_then(|functions| functions.record_texts) {
            let words = [publisher, sequence, code.into()];
            // SAFETY: the words and the text live through the call.
            unsafe { record(number::node_refused.into(), words.as_ptr(), words.len() as u32, &reason.as_ptr(), 1) }
        }
    }

    /// When the next published message was due by the clock.
    #[inline]
    pub fn node_due(&self, publisher: u64, sequence: u64, due_ns: i64) {
        self.record(number::node_due, &[publisher, sequence, due_ns as u64]);
    }

    /// The callback of an object belongs to a group: one whose callbacks exclude each other, or a reentrant one.
    pub fn in_group(&self, group: u64, object: u64, what: Member, is_exclusive: bool) {
        self.record(number::rclcpp_callback_group_add, &[group, object, what as u64, is_exclusive.into()]);
    }

    /// A signal that the task of a node reports.
    pub fn node_signal_init(&self, node: u64, signal: usize, task: &str, of: &TaskSignal) {
        let Some(record) = self.0.and_then(|functions| functions.record_texts) else { return };
        let texts = [task, &of.name, &of.unit].map(|text| CString::new(text).unwrap_or_default());
        let (words, texts) = ([node, signal as u64, of.is_list.into()], texts.each_ref().map(|text| text.as_ptr()));
        // SAFETY: the words and the texts live through the call.
        unsafe { record(number::node_signal_init.into(), words.as_ptr(), words.len() as u32, texts.as_ptr(), 3) }
    }

    /// A value of such a signal.
    #[inline]
    pub fn node_signal(&self, node: u64, sample: Sample) {
        self.record(number::node_signal, &signal_words(node, sample));
    }

    /// Whether events go anywhere.
    #[inline]
    pub fn is_recording(&self) -> bool {
        self.0.is_some()
    }

    /// A spinning node woke.
    #[inline]
    pub fn node_wake(&self, node: u64) {
        self.record(number::node_wake, &[node]);
    }
}
