//! Where the parts of tacho are on this machine.

use std::path::{Path, PathBuf};

/// A folder with `tacho`, `tacho-node` and `lib/libtacho_*.so`.
#[derive(Debug, Clone)]
pub struct Installation {
    folder: PathBuf,
    node: PathBuf,
}

/// A part is not where it should be.
#[derive(Debug, thiserror::Error)]
#[error("{path}: not there; expected {what}: build it with `make build`, or name the folder of a build in TACHO_HOME")]
pub struct NotInstalled {
    path: PathBuf,
    what: &'static str,
}

impl Installation {
    /// The folder that TACHO_HOME names, else that of the running program.
    pub fn find() -> Result<Installation, NotInstalled> {
        let folder = match std::env::var_os("TACHO_HOME") {
            Some(named) => PathBuf::from(named),
            None => std::env::current_exe().ok().and_then(|p| p.parent().map(Path::to_owned)).unwrap_or_default(),
        };
        Installation::at(folder)
    }

    /// The one in this folder.
    pub fn at(folder: PathBuf) -> Result<Installation, NotInstalled> {
        let installation = Installation { node: folder.join("tacho-node"), folder };
        if !installation.recorder().is_file() {
            return Err(NotInstalled { path: installation.recorder(), what: "the recorder" });
        }
        Ok(installation)
    }

    /// With another program for nodes.
    pub fn with_node(self, node: PathBuf) -> Installation {
        Installation { node, ..self }
    }

    /// Middleware plugins and the recorder.
    pub fn libraries(&self) -> PathBuf {
        self.folder.join("lib")
    }

    /// The library that is preloaded.
    pub fn recorder(&self) -> PathBuf {
        self.libraries().join("libtacho_recorder.so")
    }

    /// The program that a node process is.
    pub fn node(&self) -> Result<PathBuf, NotInstalled> {
        let path = self.node.clone();
        if path.is_file() {
            Ok(path)
        } else {
            Err(NotInstalled { path, what: "the program of nodes" })
        }
    }
}
