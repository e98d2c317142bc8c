//! The task behind its C interface.

use crate::recorded::{Replay, PREFIX_BYTES};
use std::ffi::{c_char, c_int, c_void, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};
use tacho_abi::task::{
    OnFigure, RawTask, TaskCall, TaskConfig, TaskKind, TaskParameter, TaskSlot, TaskText, Tasks, TASK_ABI,
};
use tacho_abi::write_error;

struct Constant<T>(T);
// SAFETY: its pointers lead to constants.
unsafe impl<T> Sync for Constant<T> {}

static TEXTS: Constant<[TaskText; 2]> = Constant([
    TaskText { name: c"bag".as_ptr(), meaning: c"its folder or file (.mcap, .db3), from where tacho runs".as_ptr() },
    TaskText { name: c"topic".as_ptr(), meaning: c"the recorded topic".as_ptr() },
]);
static PARAMETERS: Constant<[TaskParameter; 1]> = Constant([TaskParameter {
    name: c"repeat".as_ptr(),
    unit: c"".as_ptr(),
    least: 0.0,
    greatest: 1.0,
    initial: 0.0,
    meaning: c"1: it begins again after the last message".as_ptr(),
}]);
static OUTPUTS: Constant<[TaskSlot; 1]> =
    Constant([TaskSlot { name: c"recorded message".as_ptr(), size: PREFIX_BYTES, optional: 0, reserved: 0 }]);
static KINDS: Constant<[TaskKind; 1]> = Constant([TaskKind {
    name: c"replay".as_ptr(),
    meaning: c"publishes the recorded messages of a topic at their recorded times".as_ptr(),
    parameters: PARAMETERS.0.as_ptr(),
    parameter_count: 1,
    inputs: std::ptr::null(),
    input_count: 0,
    outputs: OUTPUTS.0.as_ptr(),
    output_count: 1,
    create,
    run,
    figures: Some(figures),
    destroy,
    signals: std::ptr::null(),
    signal_count: 0,
    texts: TEXTS.0.as_ptr(),
    text_count: 2,
}]);
static TASKS: Tasks = Tasks { abi: TASK_ABI, name: c"replay".as_ptr(), kinds: KINDS.0.as_ptr(), kind_count: 1 };

/// The entry of the library.
#[no_mangle]
pub extern "C" fn tacho_tasks() -> *const Tasks {
    &TASKS
}

unsafe extern "C" fn create(config: *const TaskConfig, error: *mut c_char) -> RawTask {
    let made = catch_unwind(|| {
        // SAFETY: the seam gives a configuration with an entry for each parameter, text and output.
        let (texts, repeats, size) = unsafe {
            let config = &*config;
            let texts = [*config.texts, *config.texts.add(1)].map(|text| CStr::from_ptr(text).to_string_lossy());
            (texts, *config.values != 0.0, (*config.outputs).size)
        };
        Replay::read(&texts[0], &texts[1], repeats, size)
    });
    let text = match made {
        Ok(Ok(replay)) => return Box::into_raw(Box::new(replay)).cast(),
        Ok(Err(failed)) => format!("{failed:#}"),
        Err(_) => "reading the bag failed in a way that nobody expected".to_owned(),
    };
    // SAFETY: the seam gives a buffer of that size.
    unsafe { write_error(error, &text) };
    std::ptr::null_mut()
}

unsafe extern "C" fn run(task: RawTask, call: *const TaskCall, error: *mut c_char) -> c_int {
    let filled = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: made by `create`, used by one thread at a time; the call has the one output that the kind has.
        let (replay, call, output) = unsafe {
            let call = &*call;
            (&mut *task.cast::<Replay>(), call, &mut *call.outputs)
        };
        if output.data.is_null() {
            return;
        }
        // SAFETY: the seam gives a buffer of that size.
        let buffer = unsafe { std::slice::from_raw_parts_mut(output.data.cast::<u8>(), output.size) };
        output.publish = replay.fill(call.now_ns, buffer).into();
    }));
    if filled.is_ok() {
        return 0;
    }
    // SAFETY: the seam gives a buffer of that size.
    unsafe { write_error(error, "publishing a message failed in a way that nobody expected") };
    -1
}

unsafe extern "C" fn figures(task: RawTask, figure: OnFigure, context: *mut c_void) {
    // SAFETY: made by `create`.
    let replay = unsafe { &*task.cast::<Replay>() };
    let all = [
        (c"messages", c"", replay.given as f64),
        (c"messages_of_the_bag", c"", replay.len() as f64),
        (c"late_max", c"ms", replay.late_max_ns as f64 / 1e6),
    ];
    for (name, unit, value) in all {
        // SAFETY: the texts live through the call.
        unsafe { figure(context, name.as_ptr(), unit.as_ptr(), value) };
    }
}

unsafe extern "C" fn destroy(task: RawTask) {
    // SAFETY: made by `create`, destroyed once.
    drop(unsafe { Box::from_raw(task.cast::<Replay>()) });
}
