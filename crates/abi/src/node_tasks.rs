//! The C interface of tasks of nodes on client libraries (`native/include/tacho/node_tasks.h`) in Rust. The header says
//! what each field means.

use crate::task::TaskOutput;
use crate::Header;
use std::ffi::{c_char, c_int, c_void};

/// `TACHO_NODE_TASKS_ABI`: changes whenever the layout does.
pub const NODE_TASKS_ABI: u32 = 1;

/// `struct tacho_node_task *`.
pub type RawNodeTask = *mut c_void;

/// `struct tacho_lent`.
#[repr(C)]
#[allow(missing_docs)]
pub struct RawLent {
    pub header: *const Header,
    pub data: *const c_void,
    pub size: usize,
    pub input: usize,
}

/// `struct tacho_node_tasks`.
#[repr(C)]
#[allow(missing_docs)]
pub struct NodeTasks {
    pub abi: u32,
    pub reserved: u32,
    pub create: unsafe extern "C" fn(*const c_char, u64, *mut c_char) -> RawNodeTask,
    pub hear: unsafe extern "C" fn(RawNodeTask, *const RawLent),
    pub run: unsafe extern "C" fn(RawNodeTask, *const RawLent, *mut TaskOutput, *mut c_char) -> c_int,
    pub figures: unsafe extern "C" fn(RawNodeTask) -> *const c_char,
    pub destroy: unsafe extern "C" fn(RawNodeTask),
}
