//! Trace events of our own nodes, written by the preloaded recorder. Without it nothing is written and nothing breaks.

use std::ffi::{c_char, c_void, CStr, CString};
use std::sync::OnceLock;
use tacho_middleware::Handle;

/// Kinds of `native/include/tacho/events.h` that only nodes of ours write.
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
enum NodeKind {
    Publish = 128,
    Take = 129,
    DataAvailable = 130,
    Skipped = 131,
    Wake = 132,
}

type Pointer = *const c_void;
type Record = unsafe extern "C" fn(u32, *const u64, u32);
type One = unsafe extern "C" fn(Pointer);
type Two = unsafe extern "C" fn(Pointer, Pointer);
type WithText = unsafe extern "C" fn(Pointer, *const c_char);
type WithPeriod = unsafe extern "C" fn(Pointer, i64);
type Start = unsafe extern "C" fn(Pointer, bool);
type NodeInit = unsafe extern "C" fn(Pointer, Pointer, *const c_char, *const c_char);
type EndpointInit = unsafe extern "C" fn(Pointer, Pointer, Pointer, *const c_char, usize);

macro_rules! functions {
    ($($field:ident: $type:ty = $symbol:literal,)*) => {
        #[derive(Default)]
        struct Functions { $($field: Option<$type>,)* }

        impl Functions {
            fn find() -> Functions {
                // SAFETY: the types are those of tracetools.h and of events.h, kept by every release since Humble.
                Functions { $($field: unsafe { std::mem::transmute::<*mut c_void, Option<$type>>(look_up($symbol)) },)* }
            }
        }
    };
}

functions! {
    record: Record = c"tacho_record",
    rcl_node_init: NodeInit = c"ros_trace_rcl_node_init",
    rcl_publisher_init: EndpointInit = c"ros_trace_rcl_publisher_init",
    rcl_subscription_init: EndpointInit = c"ros_trace_rcl_subscription_init",
    rcl_publish: Two = c"ros_trace_rcl_publish",
    rclcpp_publish: Two = c"ros_trace_rclcpp_publish",
    rclcpp_subscription_init: Two = c"ros_trace_rclcpp_subscription_init",
    rclcpp_subscription_callback_added: Two = c"ros_trace_rclcpp_subscription_callback_added",
    rclcpp_callback_register: WithText = c"ros_trace_rclcpp_callback_register",
    rcl_timer_init: WithPeriod = c"ros_trace_rcl_timer_init",
    rclcpp_timer_callback_added: Two = c"ros_trace_rclcpp_timer_callback_added",
    rclcpp_timer_link_node: Two = c"ros_trace_rclcpp_timer_link_node",
    rclcpp_executor_execute: One = c"ros_trace_rclcpp_executor_execute",
    rclcpp_take: One = c"ros_trace_rclcpp_take",
    callback_start: Start = c"ros_trace_callback_start",
    callback_end: One = c"ros_trace_callback_end",
}

/// Only preloaded libraries are in the global scope: plugins, and the real tracetools below them, are loaded apart.
fn look_up(symbol: &CStr) -> *mut c_void {
    // SAFETY: a NUL-terminated name.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) }
}

fn functions() -> &'static Functions {
    static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
    FUNCTIONS.get_or_init(|| match look_up(c"tacho_record").is_null() {
        true => Functions::default(),
        false => Functions::find(),
    })
}

fn pointer(handle: Handle) -> Pointer {
    handle.0 as Pointer
}

macro_rules! emit {
    ($function:ident($($argument:expr),*)) => {
        if let Some(function) = functions().$function {
            // SAFETY: the recorder only copies its arguments, and texts live through the call.
            unsafe { function($($argument),*) }
        }
    };
}

fn record<const N: usize>(kind: NodeKind, words: [u64; N]) {
    emit!(record(kind as u32, words.as_ptr(), N as u32));
}

/// An address that is nobody else's as long as the process runs: what rclcpp's objects have, and our nodes need for trace events.
pub fn unique_handle() -> Handle {
    Handle(Box::leak(Box::new(0u64)) as *const u64 as u64)
}

/// A node, for middlewares that do not emit it themselves.
pub fn node_init(node: Handle, name: &str) {
    let (namespace, name) = match name.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some((namespace, name)) => (namespace, name),
        None => ("/", name),
    };
    let (name, namespace) = (text(name), text(namespace));
    emit!(rcl_node_init(pointer(node), pointer(node), name.as_ptr(), namespace.as_ptr()));
}

/// A publisher, for middlewares that do not emit it themselves.
pub fn publisher_init(publisher: Handle, node: Handle, topic: &str, depth: u32) {
    let topic = text(topic);
    emit!(rcl_publisher_init(pointer(publisher), pointer(node), pointer(publisher), topic.as_ptr(), depth as usize));
}

/// A subscription, for middlewares that do not emit it themselves.
pub fn subscription_init(subscription: Handle, node: Handle, topic: &str, depth: u32) {
    let topic = text(topic);
    emit!(rcl_subscription_init(
        pointer(subscription),
        pointer(node),
        pointer(subscription),
        topic.as_ptr(),
        depth as usize
    ));
}

/// A publish call at rcl's depth, for middlewares that do not emit it themselves.
pub fn rcl_publish(publisher: Handle, message: Handle) {
    emit!(rcl_publish(pointer(publisher), pointer(message)));
}

/// What rclcpp says of a subscription, in its order; the callback's address.
pub fn subscription_callback(subscription: Handle, symbol: &str) -> Handle {
    let (object, callback, symbol) = (unique_handle(), unique_handle(), text(symbol));
    emit!(rclcpp_subscription_init(pointer(subscription), pointer(object)));
    emit!(rclcpp_subscription_callback_added(pointer(object), pointer(callback)));
    emit!(rclcpp_callback_register(pointer(callback), symbol.as_ptr()));
    callback
}

/// What rclcpp says of a timer, in its order; the addresses of timer and callback.
pub fn timer_callback(node: Handle, hz: f64, symbol: &str) -> (Handle, Handle) {
    let (timer, callback, symbol) = (unique_handle(), unique_handle(), text(symbol));
    emit!(rcl_timer_init(pointer(timer), (1e9 / hz).round() as i64));
    emit!(rclcpp_timer_callback_added(pointer(timer), pointer(callback)));
    emit!(rclcpp_callback_register(pointer(callback), symbol.as_ptr()));
    emit!(rclcpp_timer_link_node(pointer(timer), pointer(node)));
    (timer, callback)
}

/// The executor turns to a subscription or timer.
pub fn execute(handle: Handle) {
    emit!(rclcpp_executor_execute(pointer(handle)));
}

/// A message was taken.
pub fn rclcpp_take(message: Handle) {
    emit!(rclcpp_take(pointer(message)));
}

/// A callback starts.
pub fn callback_start(callback: Handle) {
    emit!(callback_start(pointer(callback), false));
}

/// A callback ends.
pub fn callback_end(callback: Handle) {
    emit!(callback_end(pointer(callback)));
}

/// Just before the publish call.
pub fn publish(publisher: Handle, id: u32, sequence: u64, size: usize, message: Handle) {
    record(NodeKind::Publish, [publisher.0, id.into(), sequence, size as u64]);
    emit!(rclcpp_publish(pointer(publisher), pointer(message)));
}

/// First line of the callback.
pub fn take(subscription: Handle, id: u32, sequence: u64, stamp_ns: i64) {
    record(NodeKind::Take, [subscription.0, id.into(), sequence, stamp_ns as u64]);
}

/// The middleware says that a message is there.
pub fn data_available(subscription: Handle) {
    record(NodeKind::DataAvailable, [subscription.0]);
}

/// Sends that were due and did not happen.
pub fn skipped(publisher: Handle, count: u64) {
    record(NodeKind::Skipped, [publisher.0, count]);
}

/// A spinning node wakes.
pub fn wake(node: Handle) {
    record(NodeKind::Wake, [node.0]);
}

/// Names come from a plan whose names went to the middleware as C strings before, which refuses NUL.
fn text(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}
