//! `native/include/tacho/middleware.h` as a plugin in Rust sees it; its ABI number changes whenever the layout does.
#![allow(missing_docs)] // of each field: the header has them

use std::ffi::{c_char, c_int, c_void};

pub const ABI: u32 = 3;
pub const ERROR_SIZE: usize = 1024;

/// What every message carries inside its payload (`struct tacho_header`).
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
pub struct RawQos {
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
pub struct RawSessionConfig {
    pub domain: u32,
    pub transport: *const c_char,
    pub address: *const c_char,
}

#[repr(C)]
pub struct RawEndpointConfig {
    pub node: *const c_char,
    pub topic: *const c_char,
    pub message_type: *const c_char,
    pub size: usize,
    pub qos: RawQos,
}

pub type RawOnData = Option<unsafe extern "C" fn(*mut c_void)>;

/// `struct tacho_middleware`. Sessions, publishers and subscriptions are addresses of the plugin's own.
#[repr(C)]
pub struct Table {
    pub abi: u32,
    pub name: *const c_char,
    pub transports: *const *const c_char,
    pub types: *const *const c_char,
    pub version: unsafe extern "C" fn(*mut c_char, usize, *mut c_char) -> c_int,
    pub open: unsafe extern "C" fn(*const RawSessionConfig, *mut c_char) -> *mut c_void,
    pub close: unsafe extern "C" fn(*mut c_void),
    pub node: unsafe extern "C" fn(*mut c_void, *const c_char, *mut *const c_void, *mut c_int, *mut c_char) -> c_int,
    pub advertise:
        unsafe extern "C" fn(*mut c_void, *const RawEndpointConfig, *mut *const c_void, *mut c_char) -> *mut c_void,
    pub subscribe: unsafe extern "C" fn(
        *mut c_void,
        *const RawEndpointConfig,
        RawOnData,
        *mut c_void,
        *mut *const c_void,
        *mut c_char,
    ) -> *mut c_void,
    pub publisher_matched: unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_int,
    pub subscription_matched: unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_int,
    pub borrow: unsafe extern "C" fn(*mut c_void, *mut c_int, *mut *const c_void, *mut c_char) -> *mut c_void,
    pub publish: unsafe extern "C" fn(*mut c_void, *const Header, *mut c_char) -> c_int,
    pub take: unsafe extern "C" fn(*mut c_void, *mut RawMessage, *mut c_char) -> c_int,
    pub give_back: unsafe extern "C" fn(*mut c_void, *mut RawMessage),
    pub descriptor: Option<unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_int>,
}

// SAFETY: what it points to is leaked and never changed.
unsafe impl Send for Table {}
unsafe impl Sync for Table {}
