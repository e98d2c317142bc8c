//! `native/include/tacho/middleware.h` in Rust; its ABI number changes whenever the layout does.

use std::ffi::{c_char, c_int, c_void};

pub const ABI: u32 = 3;
pub const ERROR_SIZE: usize = 1024;

/// What every message carries inside its payload.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Header {
    /// 0, 1, 2 ... a publisher.
    pub sequence: u64,
    /// CLOCK_MONOTONIC just before the publish call, ns.
    pub stamp_ns: i64,
    /// Unique in a run.
    pub publisher: u32,
    /// Zero.
    pub reserved: u32,
}

#[repr(C)]
pub struct Qos {
    pub reliability: u32,
    pub durability: u32,
    pub history: u32,
    pub depth: u32,
}

#[repr(C)]
pub struct RawMessage {
    pub header: Header,
    pub data: *const c_void,
    pub size: usize,
    pub loan: *mut c_void,
}

#[repr(C)]
pub struct SessionConfig {
    pub domain: u32,
    pub transport: *const c_char,
    pub address: *const c_char,
}

#[repr(C)]
pub struct EndpointConfig {
    pub node: *const c_char,
    pub topic: *const c_char,
    pub message_type: *const c_char,
    pub size: usize,
    pub qos: Qos,
}

pub type OnData = Option<unsafe extern "C" fn(*mut c_void)>;
pub type RawSession = *mut c_void;
pub type RawPublisher = *mut c_void;
pub type RawSubscription = *mut c_void;
pub type Borrow = unsafe extern "C" fn(RawPublisher, *mut c_int, *mut *const c_void, *mut c_char) -> *mut c_void;
pub type Publish = unsafe extern "C" fn(RawPublisher, *const Header, *mut c_char) -> c_int;

#[repr(C)]
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
    pub take: unsafe extern "C" fn(RawSubscription, *mut RawMessage, *mut c_char) -> c_int,
    pub give_back: unsafe extern "C" fn(RawSubscription, *mut RawMessage),
    pub descriptor: Option<unsafe extern "C" fn(RawSubscription, *mut c_char) -> c_int>,
}

pub type OnMessage = unsafe extern "C" fn(*mut c_void, *const RawMessage);
/// `tacho_call_within`, exported beside the table where a plugin has it.
pub type CallWithin = unsafe extern "C" fn(RawSubscription, i64, OnMessage, *mut c_void, *mut c_char) -> c_int;
/// `tacho_wake`, where a plugin has it.
pub type Wake = unsafe extern "C" fn(RawSubscription);
pub type Entry = unsafe extern "C" fn() -> *const Table;
