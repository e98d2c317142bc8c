//! The C interface. The header says what each field means.

use crate::node_task::NodeTask;
use std::ffi::{c_char, c_int, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};
use tacho_abi::node_tasks::{NodeTasks, RawLent, RawNodeTask, NODE_TASKS_ABI};
use tacho_abi::task::TaskOutput;
use tacho_abi::write_error;
use tacho_runner::node::computation::Lent;
use tacho_tasks::Output;

static TABLE: NodeTasks = NodeTasks { abi: NODE_TASKS_ABI, reserved: 0, create, hear, run, figures, destroy };

/// The entry of the library.
#[no_mangle]
pub extern "C" fn tacho_node_tasks() -> *const NodeTasks {
    &TABLE
}

/// The message of a call; `None` if there is none.
///
/// # Safety
/// The message lives as long as what is returned.
unsafe fn lent<'a>(message: *const RawLent) -> Option<Lent<'a>> {
    // SAFETY: as the caller guarantees.
    let raw = unsafe { message.as_ref() }?;
    let data = match raw.size {
        0 => &[],
        // SAFETY: as the caller guarantees.
        size => unsafe { std::slice::from_raw_parts(raw.data.cast::<u8>(), size) },
    };
    // SAFETY: as the caller guarantees. The header is part of a message, which may lie at any address.
    let header = unsafe { raw.header.read_unaligned() };
    Some(Lent { input: raw.input, header, data })
}

unsafe extern "C" fn create(plan: *const c_char, node: u64, error: *mut c_char) -> RawNodeTask {
    // SAFETY: node_tasks.h: a text that ends with NUL.
    let plan = unsafe { CStr::from_ptr(plan) };
    let text = match catch_unwind(|| NodeTask::of(&plan.to_string_lossy(), node)) {
        Ok(Ok(task)) => return Box::into_raw(Box::new(task)).cast(),
        Ok(Err(failed)) => format!("{failed:#}"),
        Err(_) => "making the task of a node failed in a way that nobody expected".to_owned(),
    };
    // SAFETY: node_tasks.h: a buffer of that size.
    unsafe { write_error(error, &text) };
    std::ptr::null_mut()
}

unsafe extern "C" fn hear(task: RawNodeTask, message: *const RawLent) {
    // SAFETY: made by `create`, used by one thread at a time; the message lives through the call.
    if let Some(message) = unsafe { lent(message) } {
        // SAFETY: the same.
        unsafe { &mut *task.cast::<NodeTask>() }.hear(message);
    }
}

unsafe extern "C" fn run(
    task: RawNodeTask,
    message: *const RawLent,
    outputs: *mut TaskOutput,
    error: *mut c_char,
) -> c_int {
    let done = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: made by `create`, used by one thread at a time; there is an output for each publication, and the
        // message and the outputs live through the call.
        let (task, message, raw) = unsafe {
            let task = &mut *task.cast::<NodeTask>();
            let raw = match task.outputs() {
                0 => &mut [][..],
                count => std::slice::from_raw_parts_mut(outputs, count),
            };
            (task, lent(message), raw)
        };
        let output = |raw: &TaskOutput| match raw.data {
            none if none.is_null() => Output::none(),
            // SAFETY: a buffer of that size, of its own.
            data => Output::buffer(unsafe { std::slice::from_raw_parts_mut(data.cast::<u8>(), raw.size) }),
        };
        let mut outputs: Vec<Output> = raw.iter().map(output).collect();
        let result = task.run(message, &mut outputs);
        let is_published: Vec<bool> = outputs.iter().map(Output::is_published).collect();
        raw.iter_mut().zip(is_published).for_each(|(raw, is)| raw.publish = is.into());
        result
    }));
    let text = match done {
        Ok(Ok(())) => return 0,
        Ok(Err(failed)) => failed.to_string(),
        Err(_) => "running the task of a node failed in a way that nobody expected".to_owned(),
    };
    // SAFETY: node_tasks.h: a buffer of that size.
    unsafe { write_error(error, &text) };
    -1
}

unsafe extern "C" fn figures(task: RawNodeTask) -> *const c_char {
    // SAFETY: made by `create`, used by one thread at a time.
    let task = unsafe { &mut *task.cast::<NodeTask>() };
    match catch_unwind(AssertUnwindSafe(|| task.figures().map(CStr::as_ptr))) {
        Ok(Ok(text)) => text,
        _ => c"null".as_ptr(),
    }
}

unsafe extern "C" fn destroy(task: RawNodeTask) {
    // SAFETY: made by `create`, destroyed once.
    drop(unsafe { Box::from_raw(task.cast::<NodeTask>()) });
}
