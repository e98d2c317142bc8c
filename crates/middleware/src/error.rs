//! Errors of loading and calling a middleware, by cause.

use std::path::PathBuf;

/// Why a middleware cannot be used, or its reason for refusing a request.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder has no such plugin.
    #[error(
        "no middleware \"{name}\" in {}: expected libtacho_{name}.so; there are: {}",
        folder.display(),
        list(found)
    )]
    NotFound {
        /// Name asked for.
        name: String,
        /// Folder that was searched.
        folder: PathBuf,
        /// Plugins in that folder.
        found: Vec<String>,
    },
    /// The build left it out and noted the reason.
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
    /// The dynamic linker refused it, most often because a library that it needs is missing.
    #[error("{}: cannot be loaded: {source}", path.display())]
    Load {
        /// Plugin.
        path: PathBuf,
        /// The dynamic linker's words.
        source: libloading::Error,
    },
    /// It was built against another middleware.h.
    #[error("{}: speaks ABI {found} of middleware.h, expected {expected}: build it again", path.display())]
    Abi {
        /// Plugin.
        path: PathBuf,
        /// The ABI that it has.
        found: u32,
        /// The ABI that this program expects.
        expected: u32,
    },
    /// A text with a NUL inside cannot be passed to C.
    #[error("{what} {text:?} has a NUL inside")]
    Text {
        /// Which text.
        what: &'static str,
        /// The text.
        text: String,
    },
    /// The middleware refused; the text is its own.
    #[error("{action}: {cause}")]
    Refused {
        /// The middleware's code for the reason: an errno, a DDS return code, an rcl_ret_t; 1 if it gives none.
        code: u32,
        /// What the caller asked for.
        action: String,
        /// The plugin's text: what it found, and what would help.
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
