//! The C interfaces of the middleware seam (`native/include/tacho/middleware.h`), of the task seam (`task.h`) and of
//! the tasks of nodes on client libraries (`node_tasks.h`) in Rust.
//!
//! Both sides of the middleware seam use it: `tacho-middleware`, which calls plugins, and `tacho-seam`, on which
//! plugins in Rust stand. The headers are the specification and say what each field means; a test compares this crate
//! with them.

mod facts;
mod header;
pub mod node_tasks;
pub mod task;

pub use facts::Facts;
pub use header::{Header, HEADER_SIZE};

use std::ffi::{c_char, c_int, c_void};

/// `TACHO_MIDDLEWARE_ABI`: changes whenever the layout does.
pub const ABI: u32 = 3;
/// `TACHO_ERROR_SIZE`: bytes of the buffer that takes a failure's cause.
pub const ERROR_SIZE: usize = 1024;

/// `struct tacho_qos`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Qos {
    /// 0: best effort; 1: reliable.
    pub reliability: u32,
    /// 0: volatile; 1: transient local.
    pub durability: u32,
    /// 0: keep last; 1: keep all.
    pub history: u32,
    /// Messages, of keep last; at least 1.
    pub depth: u32,
}

/// `struct tacho_message`.
#[repr(C)]
pub struct Message {
    /// It came under this one.
    pub header: Header,
    /// Its data.
    pub data: *const c_void,
    /// Bytes of data, without the header.
    pub size: usize,
    /// The plugin's own; what the layer below calls the message in its trace events.
    pub loan: *mut c_void,
}

/// `struct tacho_session_config`.
#[repr(C)]
pub struct SessionConfig {
    /// Keeps runs on one machine apart.
    pub domain: u32,
    /// Empty for the default one.
    pub transport: *const c_char,
    /// IPv4 address of the one interface to use; empty keeps all traffic on this machine.
    pub address: *const c_char,
}

/// `struct tacho_endpoint_config`.
#[repr(C)]
pub struct EndpointConfig {
    /// Made before in the session.
    pub node: *const c_char,
    /// Fully qualified.
    pub topic: *const c_char,
    /// `type` of the header; empty lets the plugin choose by size.
    pub message_type: *const c_char,
    /// Bytes of data that a message carries, or at most carries (subscriptions).
    pub size: usize,
    /// Asked for.
    pub qos: Qos,
}

/// `tacho_on_data`, which may be NULL.
pub type OnData = Option<unsafe extern "C" fn(*mut c_void)>;
/// `struct tacho_session *`.
pub type RawSession = *mut c_void;
/// `struct tacho_publisher *`.
pub type RawPublisher = *mut c_void;
/// `struct tacho_subscription *`.
pub type RawSubscription = *mut c_void;
/// `borrow` of the table.
pub type Borrow = unsafe extern "C" fn(RawPublisher, *mut c_int, *mut *const c_void, *mut c_char) -> *mut c_void;
/// `publish` of the table.
pub type Publish = unsafe extern "C" fn(RawPublisher, *const Header, *mut c_char) -> c_int;

/// `struct tacho_middleware`, whose fields the header describes.
#[repr(C)]
#[allow(missing_docs)]
pub struct Table {
    pub abi: u32,
    pub name: *const c_char,
    pub transports: *const *const c_char,
    pub types: *const *const c_char,
    pub version: unsafe extern "C" fn(*mut c_char, usize, *mut c_char) -> c_int,
    pub open: unsafe extern "C" fn(*const SessionConfig, *mut c_char) -> RawSession,
    pub close: unsafe extern "C" fn(RawSession),
    pub node: unsafe extern "C" fn(RawSession, *const c_char, *mut *const c_void, *mut c_int, *mut c_char) -> c_int,
    pub advertise:
        unsafe extern "C" fn(RawSession, *const EndpointConfig, *mut *const c_void, *mut c_char) -> RawPublisher,
    pub subscribe: unsafe extern "C" fn(
        RawSession,
        *const EndpointConfig,
        OnData,
        *mut c_void,
        *mut *const c_void,
        *mut c_char,
    ) -> RawSubscription,
    pub publisher_matched: unsafe extern "C" fn(RawPublisher, *mut c_char) -> c_int,
    pub subscription_matched: unsafe extern "C" fn(RawSubscription, *mut c_char) -> c_int,
    pub borrow: Borrow,
    pub publish: Publish,
    pub take: unsafe extern "C" fn(RawSubscription, *mut Message, *mut c_char) -> c_int,
    pub give_back: unsafe extern "C" fn(RawSubscription, *mut Message),
    pub descriptor: Option<unsafe extern "C" fn(RawSubscription, *mut c_char) -> c_int>,
}

// SAFETY: middleware.h: the table is constant, and a session may be used from several threads.
unsafe impl Send for Table {}
unsafe impl Sync for Table {}

/// `tacho_on_message`.
pub type OnMessage = unsafe extern "C" fn(*mut c_void, *const Message);
/// `tacho_call_within`, exported beside the table where a plugin has it.
pub type CallWithin = unsafe extern "C" fn(RawSubscription, i64, OnMessage, *mut c_void, *mut c_char) -> c_int;
/// `tacho_wake`, where a plugin has it.
pub type Wake = unsafe extern "C" fn(RawSubscription);
/// `tacho_middleware`, which every plugin exports.
pub type Entry = unsafe extern "C" fn() -> *const Table;

/// Writes an error into the caller's buffer, cut to fit.
///
/// # Safety
/// `error` has [`ERROR_SIZE`] bytes.
pub unsafe fn write_error(error: *mut c_char, text: &str) {
    let bytes = text.bytes().filter(|byte| *byte != 0).take(ERROR_SIZE - 1);
    for (at, byte) in bytes.chain([0]).enumerate() {
        // SAFETY: within the buffer, as the caller guarantees.
        unsafe { *error.add(at) = byte as c_char };
    }
}
