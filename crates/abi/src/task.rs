//! The C interface of the task seam (`native/include/tacho/task.h`) in Rust. The header says what each field means.

use crate::Header;
use std::ffi::{c_char, c_int, c_void};

/// `TACHO_TASK_ABI`: changes whenever the layout does.
pub const TASK_ABI: u32 = 2;

/// `struct tacho_task *`.
pub type RawTask = *mut c_void;
/// `tacho_task_figure`.
pub type OnFigure = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char, f64);
/// `tacho_task_report`.
pub type OnReport = unsafe extern "C" fn(*mut c_void, u32, u32, i64, f64);
/// `tacho_tasks`, which every library of tasks exports.
pub type TasksEntry = unsafe extern "C" fn() -> *const Tasks;

/// `struct tacho_task_parameter`.
#[repr(C)]
#[allow(missing_docs)]
pub struct TaskParameter {
    pub name: *const c_char,
    pub unit: *const c_char,
    pub least: f64,
    pub greatest: f64,
    pub initial: f64,
    pub meaning: *const c_char,
}

/// `struct tacho_task_text`.
#[repr(C)]
#[allow(missing_docs)]
pub struct TaskText {
    pub name: *const c_char,
    pub meaning: *const c_char,
}

/// `struct tacho_task_slot`.
#[repr(C)]
#[allow(missing_docs)]
pub struct TaskSlot {
    pub name: *const c_char,
    pub size: usize,
    pub optional: u32,
    pub reserved: u32,
}

/// `struct tacho_task_signal`.
#[repr(C)]
#[allow(missing_docs)]
pub struct TaskSignal {
    pub name: *const c_char,
    pub unit: *const c_char,
    pub meaning: *const c_char,
    pub is_list: u32,
    pub reserved: u32,
}

/// `struct tacho_task_endpoint`.
#[repr(C)]
#[allow(missing_docs)]
pub struct TaskEndpoint {
    pub topic: *const c_char,
    pub message_type: *const c_char,
    pub size: usize,
}

/// `struct tacho_task_config`.
#[repr(C)]
#[allow(missing_docs)]
pub struct TaskConfig {
    pub node: *const c_char,
    pub seed: u64,
    pub values: *const f64,
    pub inputs: *const TaskEndpoint,
    pub input_count: usize,
    pub outputs: *const TaskEndpoint,
    pub output_count: usize,
    pub texts: *const *const c_char,
}

/// `struct tacho_task_input`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct TaskInput {
    pub header: Header,
    pub data: *const c_void,
    pub size: usize,
    pub is_new: u32,
    pub reserved: u32,
}

/// `struct tacho_task_output`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct TaskOutput {
    pub data: *mut c_void,
    pub size: usize,
    pub publish: u32,
    pub reserved: u32,
}

/// `struct tacho_task_call`.
#[repr(C)]
#[allow(missing_docs)]
pub struct TaskCall {
    pub now_ns: i64,
    pub inputs: *const TaskInput,
    pub outputs: *mut TaskOutput,
    pub report: Option<OnReport>,
    pub report_context: *mut c_void,
}

/// `struct tacho_task_kind`.
#[repr(C)]
#[allow(missing_docs)]
pub struct TaskKind {
    pub name: *const c_char,
    pub meaning: *const c_char,
    pub parameters: *const TaskParameter,
    pub parameter_count: usize,
    pub inputs: *const TaskSlot,
    pub input_count: usize,
    pub outputs: *const TaskSlot,
    pub output_count: usize,
    pub create: unsafe extern "C" fn(*const TaskConfig, *mut c_char) -> RawTask,
    pub run: unsafe extern "C" fn(RawTask, *const TaskCall, *mut c_char) -> c_int,
    pub figures: Option<unsafe extern "C" fn(RawTask, OnFigure, *mut c_void)>,
    pub destroy: unsafe extern "C" fn(RawTask),
    pub signals: *const TaskSignal,
    pub signal_count: usize,
    pub texts: *const TaskText,
    pub text_count: usize,
}

/// `struct tacho_tasks`.
#[repr(C)]
#[allow(missing_docs)]
pub struct Tasks {
    pub abi: u32,
    pub name: *const c_char,
    pub kinds: *const TaskKind,
    pub kind_count: usize,
}

// SAFETY: task.h: the table is constant, and the entries of a kind may be called from any thread.
unsafe impl Send for Tasks {}
unsafe impl Sync for Tasks {}
unsafe impl Send for TaskKind {}
unsafe impl Sync for TaskKind {}
