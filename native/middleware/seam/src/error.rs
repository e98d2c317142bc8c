//! Errors: a text with what was found, what was expected and what would help.

use std::fmt::Display;

/// Why something was refused or failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(String);

/// A result of this seam.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Makes an error with this text; the seam puts the name of the middleware before it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Adds what was being done when another's error came.
pub trait Say<T> {
    /// Makes `doing: error`.
    fn say(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Display> Say<T> for std::result::Result<T, E> {
    fn say(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Error(format!("{}: {error}", doing())))
    }
}
