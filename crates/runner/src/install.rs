//! Where the programs and libraries of this installation are.

use std::io;
use std::path::{Path, PathBuf};

/// The folder that `make build` fills: `tacho`, `tacho-node`, `lib/libtacho_*.so`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    home: PathBuf,
    node_program: PathBuf,
}

impl Installation {
    /// The folder in TACHO_HOME, else that of the running program.
    pub fn find() -> io::Result<Installation> {
        let home = match std::env::var_os("TACHO_HOME") {
            Some(home) => PathBuf::from(home),
            None => std::env::current_exe()?.canonicalize()?.parent().map(Path::to_path_buf).unwrap_or_default(),
        };
        if !home.join("lib").is_dir() {
            let text = format!("{}: holds no folder lib; expected what `make build` leaves, or TACHO_HOME set to it", home.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        Ok(Installation { node_program: home.join("tacho-node"), home })
    }

    /// With another program for node processes.
    pub fn with_node_program(self, node_program: PathBuf) -> Installation {
        Installation { node_program, ..self }
    }

    /// The program that a node process runs.
    pub fn node_program(&self) -> &Path {
        &self.node_program
    }

    /// Where middleware plugins are.
    pub fn plugins(&self) -> PathBuf {
        self.home.join("lib")
    }

    /// The library that is preloaded into programs under measurement.
    pub fn recorder(&self) -> PathBuf {
        self.home.join("lib").join("libtacho_recorder.so")
    }
}
