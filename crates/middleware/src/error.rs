//! What can go wrong, by cause.

use std::path::PathBuf;

/// Why a middleware cannot be had, or what it said when asked for something.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such plugin in the folder.
    #[error(
        "no middleware \"{name}\" in {}: expected libtacho_{name}.so; there are: {}",
        folder.display(),
        list(found)
    )]
    NotFound {
        /// Name asked for.
        name: String,
        /// Folder looked in.
        folder: PathBuf,
        /// Plugins that are there.
        found: Vec<String>,
    },
    /// The build left it out, and said why.
    #[error("middleware \"{name}\" was not built: {reason}")]
    NotBuilt {
        /// Plugin.
        name: String,
        /// The build's own words, with what to install.
        reason: String,
    },
    /// The folder of plugins cannot be read.
    #[error("{}: {source}", folder.display())]
    Folder {
        /// Folder.
        folder: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// The dynamic linker refused it: most often a library that it needs is not there.
    #[error("{}: cannot be loaded: {source}", path.display())]
    Load {
        /// Plugin.
        path: PathBuf,
        /// The dynamic linker's words.
        source: libloading::Error,
    },
    /// Built against another middleware.h.
    #[error("{}: speaks ABI {found} of middleware.h, expected {expected}: build it again", path.display())]
    Abi {
        /// Plugin.
        path: PathBuf,
        /// Its ABI.
        found: u32,
        /// Ours.
        expected: u32,
    },
    /// A text with a NUL inside cannot go to C.
    #[error("{what} {text:?} has a NUL inside")]
    Text {
        /// Which text.
        what: &'static str,
        /// The text.
        text: String,
    },
    /// The middleware refused, in its own words.
    #[error("{action}: {cause}")]
    Refused {
        /// What the middleware calls the reason: an errno, a DDS return code, an rcl_ret_t; 1 where it gives none.
        code: u32,
        /// What was asked for.
        action: String,
        /// The plugin's words: what was found, what would mend it.
        cause: String,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}
