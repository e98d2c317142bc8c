//! Finds the libraries of tasks in a folder and loads them.

use crate::Error;
use std::ffi::{c_char, CStr};
use std::path::{Path, PathBuf};
use tacho_abi::task as abi;
use tacho_workload::tasks::{TaskKind, TaskParameter, TaskSignal, TaskSlot};

const PREFIX: &str = "libtacho_tasks_";
/// Ending of a file that the build writes if it leaves a library out.
const MISSING: &str = ".missing";

/// A kind of task of a loaded library.
///
/// The library stays loaded until the process ends, because its threads and thread-local destructors may outlive a
/// task.
#[derive(Clone)]
pub struct Kind {
    pub(crate) table: &'static abi::TaskKind,
    /// Its description.
    pub of: TaskKind,
}

/// Loads every library of tasks in the folder and describes their kinds of tasks, in the order of their names. Those of
/// libraries that could not be built are [missing](TaskKind::missing).
pub fn kinds(folder: &Path) -> Result<Vec<TaskKind>, Error> {
    let mut all: Vec<TaskKind> = Vec::new();
    for path in libraries(folder, ".so")? {
        for kind in read(&path)? {
            if let Some(first) = all.iter().find(|known| known.name == kind.of.name) {
                return Err(Error::Twice { name: kind.of.name, first: first.library.clone(), second: path });
            }
            all.push(kind.of);
        }
    }
    for path in libraries(folder, MISSING)? {
        for kind in missing(&path)? {
            if all.iter().all(|known| known.name != kind.name) {
                all.push(kind);
            }
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// Loads the task of this name from a library.
pub fn load(path: &Path, name: &str) -> Result<Kind, Error> {
    let mut kinds = read(path)?;
    match kinds.iter().position(|kind| kind.of.name == name) {
        Some(at) => Ok(kinds.swap_remove(at)),
        None => {
            let found = kinds.into_iter().map(|kind| kind.of.name).collect();
            Err(Error::Unknown { path: path.into(), name: name.into(), found })
        }
    }
}

/// Reads what the build wrote instead of a library: the reason in the first line, then its tasks.
fn missing(path: &Path) -> Result<Vec<TaskKind>, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Missing { path: path.into(), source })?;
    let mut lines = text.lines();
    let reason = lines.next().unwrap_or_default();
    let one = |name: &str| TaskKind {
        name: name.into(),
        library: path.with_extension("so"),
        missing: Some(reason.into()),
        ..TaskKind::default()
    };
    Ok(lines.filter(|name| !name.is_empty()).map(one).collect())
}

fn libraries(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::Folder { folder: folder.into(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(PREFIX) && name.ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<Vec<Kind>, Error> {
    let failed = |source| Error::Load { path: path.into(), source };
    // SAFETY: libraries run code when they are loaded; the caller chooses a folder that it trusts, as for any program
    // in it.
    let library = unsafe { libloading::Library::new(path) }.map_err(failed)?;
    // SAFETY: the symbol is part of the seam, and the ABI of its table is checked before anything else of it is read.
    let table = unsafe {
        let entry = library.get::<abi::TasksEntry>(b"tacho_tasks\0").map_err(failed)?;
        entry().as_ref()
    };
    std::mem::forget(library);
    let Some(table) = table.filter(|table| table.abi == abi::TASK_ABI) else {
        return Err(Error::Abi { path: path.into(), found: table.map_or(0, |t| t.abi), expected: abi::TASK_ABI });
    };
    // SAFETY: the seam promises static arrays of these lengths, with static NUL-terminated texts.
    let kinds = unsafe { slice(table.kinds, table.kind_count) };
    Ok(kinds.iter().map(|table| Kind { table, of: unsafe { describe(table, path) } }).collect())
}

unsafe fn describe(kind: &'static abi::TaskKind, path: &Path) -> TaskKind {
    let slot = |slot: &abi::TaskSlot| TaskSlot {
        // SAFETY: as the caller guarantees.
        name: unsafe { text(slot.name) },
        size_bytes: slot.size as u64,
        optional: slot.optional != 0,
    };
    let parameter = |p: &abi::TaskParameter| TaskParameter {
        // SAFETY: as the caller guarantees.
        name: unsafe { text(p.name) },
        unit: unsafe { text(p.unit) },
        least: p.least,
        greatest: p.greatest,
        initial: p.initial,
        meaning: unsafe { text(p.meaning) },
    };
    let signal = |signal: &abi::TaskSignal| TaskSignal {
        // SAFETY: as the caller guarantees.
        name: unsafe { text(signal.name) },
        unit: unsafe { text(signal.unit) },
        meaning: unsafe { text(signal.meaning) },
        is_list: signal.is_list != 0,
    };
    // SAFETY: as the caller guarantees.
    unsafe {
        TaskKind {
            name: text(kind.name),
            library: path.into(),
            missing: None,
            meaning: text(kind.meaning),
            parameters: slice(kind.parameters, kind.parameter_count).iter().map(parameter).collect(),
            texts: slice(kind.texts, kind.text_count).iter().map(|of| text(of.name)).collect(),
            inputs: slice(kind.inputs, kind.input_count).iter().map(slot).collect(),
            outputs: slice(kind.outputs, kind.output_count).iter().map(slot).collect(),
            signals: slice(kind.signals, kind.signal_count).iter().map(signal).collect(),
        }
    }
}

unsafe fn slice<T>(first: *const T, count: usize) -> &'static [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: as the caller guarantees.
    unsafe { std::slice::from_raw_parts(first, count) }
}

unsafe fn text(text: *const c_char) -> String {
    // SAFETY: as the caller guarantees.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
