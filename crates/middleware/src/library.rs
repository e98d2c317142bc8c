//! Finds the plugins of a folder and loads them.

use crate::words::checked;
use crate::Error;
use std::ffi::{c_char, CStr};
use std::path::{Path, PathBuf};
use tacho_abi as abi;

const PREFIX: &str = "libtacho_";
/// The recorder with its parts (`recorder_ros1`), libraries of tasks and what runs these are in the same folder, and
/// are no middleware.
const OTHERS: [&str; 3] = ["recorder", "tasks_", "node_tasks"];

/// A loaded middleware.
///
/// It stays loaded until the process ends: middlewares leave threads and thread-local destructors behind, and code that
/// these still call must not be unmapped.
#[derive(Clone, Copy)]
pub struct Middleware {
    pub(crate) table: &'static abi::Table,
    pub(crate) call_within: Option<abi::CallWithin>,
    pub(crate) wake: Option<abi::Wake>,
}

// SAFETY: the table is constant, and middleware.h requires that several threads may use a session.
unsafe impl Send for Middleware {}
unsafe impl Sync for Middleware {}

/// A plugin in a folder, usable or not.
#[derive(Debug)]
pub struct Found {
    /// Its name, such as `ros2`.
    pub name: String,
    /// Version of the layer below, `rcl 10.1.3, rmw_fastrtps_cpp 9.3.3`; or why it cannot be used.
    pub version: Result<String, Error>,
}

/// Lists every plugin in the folder, including those that the build left out, in the order of their names.
pub fn available(folder: &Path) -> Result<Vec<Found>, Error> {
    let of = |(name, left_out): (String, Option<Error>)| {
        let version = match left_out {
            Some(reason) => Err(reason),
            None => Middleware::load(folder, &name).and_then(|middleware| middleware.version()),
        };
        Found { name, version }
    };
    Ok(listed(folder)?.into_iter().map(of).collect())
}

/// Lists every plugin in the folder by name without loading it; with the reason, if the build left it out.
pub fn listed(folder: &Path) -> Result<Vec<(String, Option<Error>)>, Error> {
    let mut all: Vec<_> = names(folder, ".so")?.into_iter().map(|name| (name, None)).collect();
    for name in names(folder, ".missing")? {
        let reason = not_built(folder, &name)?;
        all.push((name, Some(reason)));
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(all)
}

fn names(folder: &Path, suffix: &str) -> Result<Vec<String>, Error> {
    let failed = |source| Error::Folder { folder: folder.into(), source };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let file = entry.map_err(failed)?.file_name();
        let name = file.to_str().and_then(|f| f.strip_prefix(PREFIX)).and_then(|f| f.strip_suffix(suffix));
        names.extend(name.filter(|name| !OTHERS.iter().any(|other| name.starts_with(other))).map(String::from));
    }
    names.sort();
    Ok(names)
}

/// Path of the plugin of that name, if it exists.
pub(crate) fn plugin(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{PREFIX}{name}.so"))
}

/// For each plugin that it leaves out, the build writes the reason into a file beside the plugins.
fn not_built(folder: &Path, name: &str) -> Result<Error, Error> {
    let path = folder.join(format!("{PREFIX}{name}.missing"));
    match std::fs::read_to_string(&path) {
        Ok(reason) => Ok(Error::NotBuilt { name: name.into(), reason: reason.trim().into() }),
        Err(source) => Err(Error::Folder { folder: path, source }),
    }
}

impl Middleware {
    /// Loads the plugin of that name from the folder.
    pub fn load(folder: &Path, name: &str) -> Result<Middleware, Error> {
        let path = plugin(folder, name);
        if !path.is_file() {
            if names(folder, ".missing")?.iter().any(|missing| missing == name) {
                return Err(not_built(folder, name)?);
            }
            return Err(Error::NotFound { name: name.into(), folder: folder.into(), found: names(folder, ".so")? });
        }
        Self::load_file(path)
    }

    fn load_file(path: PathBuf) -> Result<Middleware, Error> {
        let failed = |source| Error::Load { path: path.clone(), source };
        // SAFETY: plugins run code when they are loaded; the caller chooses a folder that it trusts, as for any program
        // in it.
        let library = unsafe { libloading::Library::new(&path) }.map_err(failed)?;
        // SAFETY: the symbol is part of the seam, and the ABI of its table is checked before anything else of it is
        // read.
        let table = unsafe {
            let entry = library.get::<abi::Entry>(b"tacho_middleware\0").map_err(failed)?;
            entry().as_ref()
        };
        let found = table.map_or(0, |table| table.abi);
        // SAFETY: the types are those of middleware.h. Most plugins lack the symbol and so the function.
        let call_within =
            unsafe { library.get::<abi::CallWithin>(b"tacho_call_within\0") }.ok().map(|function| *function);
        let wake = unsafe { library.get::<abi::Wake>(b"tacho_wake\0") }.ok().map(|function| *function);
        std::mem::forget(library);
        match table {
            Some(table) if found == abi::ABI => Ok(Middleware { table, call_within, wake }),
            _ => Err(Error::Abi { path, found, expected: abi::ABI }),
        }
    }

    /// Returns its name.
    pub fn name(&self) -> String {
        // SAFETY: the seam promises static NUL-terminated text.
        unsafe { CStr::from_ptr(self.table.name) }.to_string_lossy().into_owned()
    }

    /// Returns the transports that it offers, default first.
    pub fn transports(&self) -> Vec<String> {
        // SAFETY: as above, a list that ends with NULL.
        unsafe { list(self.table.transports) }
    }

    /// Returns the message types that it carries.
    pub fn types(&self) -> Vec<String> {
        // SAFETY: as above.
        unsafe { list(self.table.types) }
    }

    /// Returns the version of the layer that it found below.
    pub fn version(&self) -> Result<String, Error> {
        let mut text = [0 as c_char; 256];
        checked(
            || format!("version of {}", self.name()),
            |error| {
                // SAFETY: both buffers have the sizes that are passed.
                unsafe { (self.table.version)(text.as_mut_ptr(), text.len(), error) }
            },
        )?;
        // SAFETY: written by the plugin with its NUL, inside the buffer.
        Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// Whether its subscriptions have a descriptor to wait on, so that no thread of the middleware must wake the node.
    pub fn has_descriptors(&self) -> bool {
        self.table.descriptor.is_some()
    }

    /// Whether its subscriptions have [`call_within`](crate::Subscription::call_within).
    pub fn has_call_within(&self) -> bool {
        self.call_within.is_some()
    }

    /// Whether its subscriptions have a [`Waker`](crate::Waker), and so can wait without a limit.
    pub fn has_wake(&self) -> bool {
        self.wake.is_some()
    }
}

unsafe fn list(mut text: *const *const c_char) -> Vec<String> {
    let mut all = Vec::new();
    // SAFETY: the caller guarantees that the list ends with NULL.
    unsafe {
        while !(*text).is_null() {
            all.push(CStr::from_ptr(*text).to_string_lossy().into_owned());
            text = text.add(1);
        }
    }
    all
}
